// SPDX-License-Identifier: Apache-2.0
// An ONNXIFI library that forwards to another one (ONNXIFI_MUTANT_LIBRARY) and
// breaks the rule that ONNXIFI_MUTANT names; without a name none. The names are
// those of data/mutants.txt: what replaces one status by another is in the
// table of real.cc, what breaks an extension in extensions.cc, the others are
// here.
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "onnxifi/conformance/mutant/real.h"

namespace onnxifi_mutant {
namespace {

// What mutants have to remember, under one lock. Never destroyed.
struct State {
  std::mutex mutex;
  std::map<void*, void*> ids;  // of ids_change: a handle of its own
  std::set<void*> dead_ids;    // of ids_are_not_counted
  void* listed = nullptr;      // of hotplug_device_stays_listed
  uint64_t count = 0;
  std::atomic<int> probes{0};

  // Graphs of which nothing is done before they are used.
  struct Lazy {
    onnxBackend backend;
    const void* model;
    size_t size;
    std::string copy;
    uint32_t weights;
    const onnxTensorDescriptorV1* descriptors;
    uint32_t max_sequence;
    void* reader;
    onnxGraph real;
  };
  std::map<void*, Lazy> lazy;

  struct Io {
    uint32_t inputs, outputs;
    const onnxTensorDescriptorV1 *in, *out;
  };
  std::map<void*, Io> io;
  std::map<void*, std::vector<uint64_t>> first_shape;
  std::map<void*, std::vector<Range>> inputs, outputs;  // of graphs
  std::map<void*, std::vector<Range>> results;          // of output events
  std::map<void*, std::vector<std::pair<Range, std::string>>> early;
  std::map<void*, std::vector<void*>> events;  // output events of graphs
  std::deque<std::pair<void*, bool>> order;    // input events, signalled
  std::set<void*> waited;
  std::atomic<void*> last_event{nullptr};
  std::thread::id thread;
  void* volatile kept = nullptr;  // so that no optimizer takes it for unused
};
State& S() {
  static auto* state = new State;
  return *state;
}

const pid_t kLoadedBy = getpid();

// Reads bytes that nobody has said are there.
void ReadAll(const void* from, size_t bytes) {
  const auto* at = static_cast<const volatile char*>(from);
  for (size_t i = 0; i < bytes; ++i) (void)at[i];
}

void KeepThread() {
  std::thread([] {
    for (;;) pause();
  }).detach();
}

void KeepMemory(size_t bytes) {
  void* memory = std::malloc(bytes);
  std::memset(memory, 1, bytes);
  S().kept = memory;
}

}  // namespace

onnxBackendID IdOf(onnxBackendID id) {
  if (!Is("ids_change")) return id;
  std::lock_guard<std::mutex> lock(S().mutex);
  const auto found = S().ids.find(id);
  return found == S().ids.end() ? id : found->second;
}

namespace {

onnxGraph GraphOf(onnxGraph graph) {
  if (!Is("graphs_model_is_read_late") && !Is("weights_are_read_late")) {
    return graph;
  }
  std::lock_guard<std::mutex> lock(S().mutex);
  const auto found = S().lazy.find(graph);
  if (found == S().lazy.end()) return graph;
  State::Lazy& l = found->second;
  if (l.real == nullptr) {
    const void* model = Is("weights_are_read_late") ? l.copy.data() : l.model;
    Discard(TheReal().InitGraph(l.backend, nullptr, l.size, model, l.weights,
                                l.descriptors, &l.real, l.max_sequence,
                                l.reader));
  }
  return l.real;
}

// Loading that is not quiet.
struct AtLoad {
  AtLoad() {
    if (Is("loader_starts_threads")) {
      for (int i = 0; i < 4; ++i) KeepThread();
    }
    if (Is("loader_dies_at_exit")) {
      std::atexit([] { std::abort(); });
    }
  }
} at_load;

// ---- Information -----------------------------------------------------------

// The answer, broken. False: no answer.
bool Broken(onnxBackendInfo info, std::string* value) {
  uint64_t number = 0;
  if (value->size() == 8) std::memcpy(&number, value->data(), 8);
  const auto set = [value](uint64_t n) {
    value->assign(reinterpret_cast<const char*>(&n), 8);
  };
  const auto text = [value] { return std::string(value->c_str()); };
  const auto set_text = [value](const std::string& s) {
    value->assign(s.c_str(), s.size() + 1);
  };
  switch (info) {
    case ONNXIFI_BACKEND_ONNXIFI_VERSION:
      if (Is("info_version_is_1")) set(1);
      break;
    case ONNXIFI_BACKEND_VENDOR:
      if (Is("info_vendor_is_latin1")) set_text("Acm\xE9");
      break;
    case ONNXIFI_BACKEND_VERSION:
      if (Is("info_version_is_not_ascii")) set_text("1.0 \xC3\xA9");
      break;
    case ONNXIFI_BACKEND_EXTENSIONS:
      if (Is("extensions_are_not_listed")) set_text("");
      if (Is("extensions_list_too_much")) set_text(text() + " acme_nothing");
      break;
    case ONNXIFI_BACKEND_DEVICE_TYPE:
      if (Is("info_two_device_types")) set(3);
      break;
    case ONNXIFI_BACKEND_ONNX_IR_VERSION:
      if (Is("info_ir_lie")) set_text(text() + " 99");
      break;
    case ONNXIFI_BACKEND_OPSET_VERSION:
      if (Is("info_opset_lie")) set_text("ai.onnx:99");
      if (Is("info_opset_format")) set_text("ai.onnx 7");
      break;
    case ONNXIFI_BACKEND_CAPABILITIES:
      if (Is("info_capability_alone")) set((number | 4) & ~uint64_t{2});
      break;
    case ONNXIFI_BACKEND_INIT_PROPERTIES:
      if (Is("info_low_property_bits")) set(number | 4);
      break;
    case ONNXIFI_BACKEND_MACS_FP32:
      if (Is("info_rate_is_exceeded")) set(1000);
      break;
    case ONNXIFI_BACKEND_MEMORY_SIZE:
      if (Is("info_changes")) {
        std::lock_guard<std::mutex> lock(S().mutex);
        set(number + ++S().count);
      }
      break;
    default:
      break;
  }
  if (Is("info_no_terminator") && value->size() != 8 && !value->empty() &&
      value->back() == '\0') {
    value->pop_back();
  }
  if (Is("info_number_of_4_bytes") && info == ONNXIFI_BACKEND_MAX_GRAPH_COUNT) {
    value->resize(4);
  }
  // What a known implementation answers of the seventeen.
  static const std::set<onnxBackendInfo> kSeven = {
      ONNXIFI_BACKEND_ONNXIFI_VERSION, ONNXIFI_BACKEND_NAME,
      ONNXIFI_BACKEND_VENDOR,          ONNXIFI_BACKEND_VERSION,
      ONNXIFI_BACKEND_EXTENSIONS,      ONNXIFI_BACKEND_DEVICE,
      ONNXIFI_BACKEND_DEVICE_TYPE};
  return !Is("info_seven_of_seventeen") || kSeven.count(info) != 0;
}

}  // namespace
}  // namespace onnxifi_mutant

using namespace onnxifi_mutant;

extern "C" {

onnxStatus onnxGetBackendIDs(onnxBackendID* ids, size_t* count) {
  if (Is("fork_child_hangs") && getpid() != kLoadedBy) {
    for (;;) pause();
  }
  if (Is("logging_to_stdout")) {
    std::printf("acme: looking for devices\n");
    std::fflush(stdout);
  }
  if (Is("ids_null_count_crashes")) ReadAll(count, sizeof(*count));
  if (Is("ids_other_vendor_fails")) return ONNXIFI_STATUS_INTERNAL_ERROR;
  const size_t before = count == nullptr ? 0 : *count;
  onnxStatus status = TheReal().GetBackendIDs(ids, count);
  if (status == ONNXIFI_STATUS_SUCCESS && ids != nullptr &&
      Is("hotplug_device_stays_listed")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    if (*count > 0) {
      S().listed = ids[0];
    } else if (before > 0 && S().listed != nullptr) {
      ids[0] = S().listed;
      *count = 1;
      ++S().count;
    }
  }
  if (status == ONNXIFI_STATUS_FALLBACK && ids == nullptr) {
    if (Is("ids_count_is_success")) status = ONNXIFI_STATUS_SUCCESS;
    if (Is("ids_count_is_not_stored") ||
        (Is("ids_count_of_all_ones") && before == ~size_t{0})) {
      *count = before;
    }
  }
  if (status == ONNXIFI_STATUS_FALLBACK && ids != nullptr &&
      Is("ids_short_buffer_written")) {
    ids[0] = nullptr;
  }
  if (status == ONNXIFI_STATUS_SUCCESS && ids != nullptr) {
    if (Is("ids_written_behind") && before > *count) ids[*count] = nullptr;
    std::lock_guard<std::mutex> lock(S().mutex);
    if (Is("ids_change")) {
      for (size_t i = 0; i < *count; ++i) {
        void* own = reinterpret_cast<void*>(0x7000 + ++S().count);
        S().ids[own] = ids[i];
        ids[i] = own;
      }
    }
    if (Is("ids_of_all_devices_are_one")) {
      // Two devices, of which nobody can tell which is which.
      if (before > *count) ids[(*count)++] = ids[0];
    }
    for (size_t i = 0; i < *count; ++i) S().dead_ids.erase(ids[i]);
    if (Is("ids_capacity_returned")) *count = before;
  }
  return Swapped("GetBackendIDs", status);
}

onnxStatus onnxReleaseBackendID(onnxBackendID id) {
  if (Is("hotplug_device_stays_listed")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    if (S().count > 0) {  // the library has not listed it
      --S().count;
      return ONNXIFI_STATUS_SUCCESS;
    }
  }
  const onnxStatus status = TheReal().ReleaseBackendID(IdOf(id));
  if (Is("ids_are_not_counted")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    S().dead_ids.insert(id);
  }
  return Swapped("ReleaseBackendID", status);
}

onnxStatus onnxGetBackendInfo(onnxBackendID id, onnxBackendInfo info,
                              void* value, size_t* size) {
  // Needs no memory itself unless it breaks something.
  if (!IsOneOf("info_") && !IsOneOf("ids_") && !IsOneOf("extensions_")) {
    return Swapped("GetBackendInfo",
                   TheReal().GetBackendInfo(IdOf(id), info, value, size));
  }
  if (Is("ids_are_not_counted")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    if (S().dead_ids.count(id) != 0) return ONNXIFI_STATUS_INVALID_ID;
  }
  size_t need = 0;
  onnxStatus status = TheReal().GetBackendInfo(
      IdOf(id), info, nullptr, size == nullptr ? nullptr : &need);
  if (status == ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE &&
      Is("info_unknown_is_zero") && size != nullptr) {
    *size = 8;
    return ONNXIFI_STATUS_FALLBACK;
  }
  if (status != ONNXIFI_STATUS_FALLBACK) {
    return Swapped("GetBackendInfo", status);
  }
  std::string answer(need, '\0');
  status = TheReal().GetBackendInfo(IdOf(id), info, &answer[0], &need);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  if (!Broken(info, &answer)) return ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
  const size_t room = *size;
  const size_t enough = answer.size() + (Is("info_exact_refused") ? 1 : 0);
  if (value == nullptr) {
    *size = answer.size();
    return Is("info_size_is_success") ? ONNXIFI_STATUS_SUCCESS
                                      : ONNXIFI_STATUS_FALLBACK;
  }
  if (room < enough) {
    if (Is("info_short_written") && room > 0) {
      std::memcpy(value, answer.data(), std::min(room, answer.size()));
    }
    if (!Is("info_short_size_kept")) *size = answer.size();
    return ONNXIFI_STATUS_FALLBACK;
  }
  std::memcpy(value, answer.data(), answer.size());
  if (Is("info_written_behind")) static_cast<char*>(value)[answer.size()] = 0;
  if (!Is("info_size_kept")) *size = answer.size();
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxGetBackendCompatibility(onnxBackendID id, size_t size,
                                       const void* model) {
  const onnxStatus status =
      TheReal().GetBackendCompatibility(IdOf(id), size, model);
  if (Is("compatibility_is_slow")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (Is("clients_probes_run_out") && ++S().probes > 5000) {
    return ONNXIFI_STATUS_UNSUPPORTED_OPERATOR;
  }
  // Weights of the kit's models are called w, and stand before the inputs.
  if (status == ONNXIFI_STATUS_SUCCESS && Is("compatibility_sees_weights") &&
      std::string(static_cast<const char*>(model), size).find("\x42\x01w") !=
          std::string::npos) {
    return ONNXIFI_STATUS_FALLBACK;
  }
  if (status == ONNXIFI_STATUS_UNSUPPORTED_OPERATOR &&
      Is("compatibility_takes_parts") && NodesOf(model, size) > 1) {
    return ONNXIFI_STATUS_SUCCESS;
  }
  return Swapped("GetBackendCompatibility", status);
}

onnxStatus onnxInitBackend(onnxBackendID id, const uint64_t* properties,
                           onnxBackend* backend) {
  const onnxBackend before = backend == nullptr ? nullptr : *backend;
  onnxStatus status = TheReal().InitBackend(IdOf(id), properties, backend);
  if ((status == ONNXIFI_STATUS_UNSUPPORTED_PROPERTY &&
       Is("init_takes_any_property")) ||
      (status == ONNXIFI_STATUS_INVALID_PROPERTY &&
       Is("init_takes_any_value"))) {
    status = TheReal().InitBackend(IdOf(id), nullptr, backend);
  }
  if (status != ONNXIFI_STATUS_SUCCESS && backend != nullptr &&
      Is("init_handle_is_kept")) {
    *backend = before;
  }
  if (Is("resources_are_missed_for_ever") && backend != nullptr) {
    static std::atomic<bool> missed{false};
    const int fd = open("/dev/null", O_RDONLY);
    if (fd < 0) missed = true;
    if (fd >= 0) close(fd);
    if (missed) {
      if (status == ONNXIFI_STATUS_SUCCESS) {
        Discard(TheReal().ReleaseBackend(*backend));
      }
      *backend = nullptr;
      return ONNXIFI_STATUS_NO_SYSTEM_RESOURCES;
    }
  }
  if (Is("scarcity_memory_is_missed_for_ever") && backend != nullptr) {
    static std::atomic<bool> missed{false};
    if (status == ONNXIFI_STATUS_NO_SYSTEM_MEMORY) missed = true;
    if (missed) {
      if (status == ONNXIFI_STATUS_SUCCESS) {
        Discard(TheReal().ReleaseBackend(*backend));
      }
      *backend = nullptr;
      return ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
    }
  }
  // A device of which somebody has to have a file open.
  if (Is("scarcity_descriptor_is_internal_error") &&
      status == ONNXIFI_STATUS_SUCCESS) {
    const int fd = open("/dev/null", O_RDONLY);
    if (fd < 0) {
      Discard(TheReal().ReleaseBackend(*backend));
      *backend = nullptr;
      return ONNXIFI_STATUS_INTERNAL_ERROR;
    }
    close(fd);
  }
  if (Is("release_leaves_a_thread")) KeepThread();
  if (Is("threads_are_told_apart")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    S().thread = std::this_thread::get_id();
  }
  return Swapped("InitBackend", status);
}

onnxStatus onnxReleaseBackend(onnxBackend backend) {
  return Swapped("ReleaseBackend", TheReal().ReleaseBackend(backend));
}

onnxStatus onnxInitEvent(onnxBackend backend, onnxEvent* event) {
  const onnxEvent before = event == nullptr ? nullptr : *event;
  const onnxStatus status = TheReal().InitEvent(backend, event);
  if (status == ONNXIFI_STATUS_SUCCESS) S().last_event = *event;
  if (status == ONNXIFI_STATUS_SUCCESS && Is("events_are_born_signalled")) {
    Discard(TheReal().SignalEvent(*event));
  }
  if (status != ONNXIFI_STATUS_SUCCESS && event != nullptr &&
      Is("events_handle_is_kept")) {
    *event = before;
  }
  if (status == ONNXIFI_STATUS_NO_SYSTEM_MEMORY &&
      Is("scarcity_handle_is_kept")) {
    *event = &S().last_event;
  }
  if (Is("release_events_leave_memory")) KeepMemory(4096);
  return Swapped("InitEvent", status);
}

onnxStatus onnxSignalEvent(onnxEvent event) {
  std::unique_lock<std::mutex> lock(S().mutex);
  if (Is("runs_read_inputs_early")) {
    for (const auto& saved : S().early[event]) {
      std::memcpy(saved.first.at, saved.second.data(), saved.first.bytes);
    }
    S().early.erase(event);
  }
  if (Is("runs_keep_their_order")) {
    auto& order = S().order;
    bool known = false;
    for (auto& run : order) {
      if (run.first == event) run.second = known = true;
    }
    if (known) {
      while (!order.empty() && order.front().second) {
        Discard(TheReal().SignalEvent(order.front().first));
        order.pop_front();
      }
      return ONNXIFI_STATUS_SUCCESS;
    }
  }
  lock.unlock();
  if (Is("events_signals_change_others") && S().last_event != event) {
    Discard(TheReal().SignalEvent(S().last_event));
  }
  return Swapped("SignalEvent", TheReal().SignalEvent(event));
}

onnxStatus onnxGetEventState(onnxEvent event, onnxEventState* state) {
  const onnxEventState before = state == nullptr ? 0 : *state;
  const onnxStatus status = TheReal().GetEventState(event, state);
  if (status != ONNXIFI_STATUS_SUCCESS && state != nullptr &&
      Is("events_state_is_kept")) {
    *state = before;
  }
  if (status == ONNXIFI_STATUS_SUCCESS && Is("events_state_is_stale")) {
    *state = ONNXIFI_EVENT_STATE_NONSIGNALLED;
  }
  return Swapped("GetEventState", status);
}

onnxStatus onnxWaitEvent(onnxEvent event) {
  onnxEventState state = ONNXIFI_EVENT_STATE_INVALID;
  if (Is("events_wait_returns")) return TheReal().GetEventState(event, &state);
  if (Is("events_wait_never_returns")) {
    for (;;) pause();
  }
  if (Is("events_wait_takes_a_processor")) {
    while (TheReal().GetEventState(event, &state) == ONNXIFI_STATUS_SUCCESS &&
           state == ONNXIFI_EVENT_STATE_NONSIGNALLED) {
    }
  }
  if (Is("events_wait_is_interrupted")) {
    while (TheReal().GetEventState(event, &state) == ONNXIFI_STATUS_SUCCESS &&
           state == ONNXIFI_EVENT_STATE_NONSIGNALLED) {
      const timespec pause = {0, 1000000};
      if (nanosleep(&pause, nullptr) != 0 && errno == EINTR) {
        return ONNXIFI_STATUS_INTERNAL_ERROR;
      }
    }
  }
  if (Is("events_have_one_waiter")) {
    std::unique_lock<std::mutex> lock(S().mutex);
    const bool first = S().waited.insert(event).second;
    lock.unlock();
    if (!first) {
      for (;;) pause();
    }
  }
  onnxStatus status = TheReal().WaitEvent(event);
  if (status == ONNXIFI_STATUS_BACKEND_UNAVAILABLE) {
    if (Is("hotplug_waiters_sleep_on")) {
      for (;;) pause();
    }
    if (Is("hotplug_waiters_succeed")) status = ONNXIFI_STATUS_SUCCESS;
  }
  if (Is("runs_results_are_wrong") || Is("foxi_quantized_result_is_wrong")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    for (const Range& range : S().results[event]) {
      range.at[range.bytes - 1] ^= 1;
    }
    S().results.erase(event);
  }
  if (Is("symbolic_size_is_the_limit")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    const std::vector<Range>& results = S().results[event];
    // The outputs of symbolic.variable_outputs: int64 [2,limit] and [2].
    if (status == ONNXIFI_STATUS_SUCCESS && results.size() == 2) {
      const auto limit = static_cast<int64_t>(results[0].bytes / 8);
      std::memcpy(results[1].at + 8, &limit, sizeof(limit));
    }
  }
  if (Is("events_have_one_waiter")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    S().waited.erase(event);
  }
  return Swapped("WaitEvent", status);
}

onnxStatus onnxReleaseEvent(onnxEvent event) {
  return Swapped("ReleaseEvent", TheReal().ReleaseEvent(event));
}

// Its header declares it with seven arguments.
__attribute__((visibility("default"))) onnxStatus MutantInitGraph(
    onnxBackend backend, const uint64_t* properties, size_t size,
    const void* model, uint32_t weights,
    const onnxTensorDescriptorV1* descriptors, onnxGraph* graph,
    uint32_t max_sequence, void* reader) __asm__("onnxInitGraph");

onnxStatus MutantInitGraph(onnxBackend backend, const uint64_t* properties,
                           size_t size, const void* model, uint32_t weights,
                           const onnxTensorDescriptorV1* descriptors,
                           onnxGraph* graph, uint32_t max_sequence,
                           void* reader) {
  if (Is("weights_tag_is_looked_at_late") && descriptors != nullptr) {
    ReadAll(descriptors, weights * DescriptorBytes());
  }
  if (Is("clients_reader_is_read") && DescriptorBytes() == 96 &&
      reader != nullptr) {
    ReadAll(reader, 4);
  }
  if (Is("clients_untyped_outputs") && model != nullptr && graph != nullptr &&
      std::string(static_cast<const char*>(model), size)
              .find("\x62\x03\x0A\x01y") != std::string::npos) {
    *graph = nullptr;
    return ONNXIFI_STATUS_INVALID_MODEL;
  }
  if (Is("symbolic_limit_is_what_was_there")) {
    // What lies behind seven arguments of a caller's nine.
    max_sequence = 1;
    reader = nullptr;
  }
  const onnxGraph before = graph == nullptr ? nullptr : *graph;
  const uint64_t* list = Is("graphs_take_any_property") ? nullptr : properties;
  onnxStatus status =
      TheReal().InitGraph(backend, list, size, model, weights, descriptors,
                          graph, max_sequence, reader);
  const bool made =
      status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK;
  if (status == ONNXIFI_STATUS_NO_SYSTEM_MEMORY && Is("scarcity_kills")) {
    std::abort();
  }
  if (Is("memory_refusals_leave_something") && graph != nullptr) {
    static std::atomic<int> left{0};
    if (status == ONNXIFI_STATUS_NO_DEVICE_MEMORY) left = 2;
    if (made && left > 0 && --left == 0) {
      Discard(TheReal().ReleaseGraph(*graph));
      *graph = nullptr;
      return ONNXIFI_STATUS_NO_DEVICE_MEMORY;
    }
  }
  if (!made && graph != nullptr && Is("graphs_handle_is_kept")) *graph = before;
  if (made && (Is("graphs_fallback_differs") || Is("clients_fallback"))) {
    status = ONNXIFI_STATUS_FALLBACK;
  }
  if (made && Is("release_graphs_leave_memory")) KeepMemory(1 << 20);
  if (made && Is("release_graphs_leave_descriptors")) {
    (void)!open("/dev/null", O_RDONLY);
  }
  if (!made && Is("release_failures_leave_descriptors")) {
    (void)!open("/dev/null", O_RDONLY);
  }
  if (Is("logging_is_chatty")) {
    std::fprintf(stderr, "acme: a graph of %zu bytes\n", size);
  }
  if (made &&
      (Is("graphs_model_is_read_late") || Is("weights_are_read_late"))) {
    Discard(TheReal().ReleaseGraph(*graph));
    std::lock_guard<std::mutex> lock(S().mutex);
    *graph = reinterpret_cast<void*>(0x900000 + ++S().count);
    S().lazy[*graph] = {
        backend,      model,
        size,         std::string(static_cast<const char*>(model), size),
        weights,      descriptors,
        max_sequence, reader,
        nullptr};
  }
  return Swapped("InitGraph", status);
}

onnxStatus onnxSetGraphIO(onnxGraph graph, uint32_t inputs,
                          const onnxTensorDescriptorV1* in, uint32_t outputs,
                          const onnxTensorDescriptorV1* out) {
  if (Is("io_tag_is_looked_at_late")) {
    if (in != nullptr) ReadAll(in, inputs * DescriptorBytes());
    if (out != nullptr) ReadAll(out, outputs * DescriptorBytes());
  }
  if (Is("io_failure_keeps_locations") && out == nullptr) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  if (Is("io_descriptors_are_read_late") && in != nullptr && out != nullptr) {
    std::lock_guard<std::mutex> lock(S().mutex);
    S().io[graph] = {inputs, outputs, in, out};
    return ONNXIFI_STATUS_SUCCESS;
  }
  if (Is("io_order_matters") && in != nullptr && inputs == 2 &&
      std::strcmp(NameOf(in, 0), NameOf(in, 1)) > 0) {
    return ONNXIFI_STATUS_INVALID_NAME;
  }
  if (Is("foxi_quantized_refused") && in != nullptr && inputs > 0 &&
      IsQuantized(in, 0)) {
    return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
  }
  if (Is("symbolic_first_shape_stays") && in != nullptr && inputs > 0) {
    const std::vector<uint64_t> shape = ShapeOf(in, 0);
    std::lock_guard<std::mutex> lock(S().mutex);
    if (S().first_shape.insert({graph, shape}).first->second != shape) {
      return ONNXIFI_STATUS_MISMATCHING_SHAPE;
    }
  }
  if (Is("symbolic_limit_is_exact") && out != nullptr && outputs == 2 &&
      ShapeOf(out, 0) != std::vector<uint64_t>{2, 6}) {
    return ONNXIFI_STATUS_MISMATCHING_SHAPE;
  }
  if (Is("io_first_locations_stay")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    if (S().io.count(graph) != 0) return ONNXIFI_STATUS_SUCCESS;
  }
  const onnxStatus status =
      TheReal().SetGraphIO(GraphOf(graph), inputs, in, outputs, out);
  if (status == ONNXIFI_STATUS_SUCCESS && !IsOneOf("scarcity_") && !IsNone()) {
    std::lock_guard<std::mutex> lock(S().mutex);
    S().io[graph] = {inputs, outputs, in, out};
    S().inputs[graph] = Memory(in, inputs);
    S().outputs[graph] = Memory(out, outputs);
  }
  if (status != ONNXIFI_STATUS_SUCCESS && Is("io_failures_are_internal")) {
    return ONNXIFI_STATUS_INTERNAL_ERROR;
  }
  return Swapped("SetGraphIO", status);
}

onnxStatus onnxRunGraph(onnxGraph graph, const onnxMemoryFenceV1* in,
                        onnxMemoryFenceV1* out) {
  if (Is("runs_fence_tag_is_looked_at_late")) {
    if (in != nullptr) ReadAll(in, sizeof(*in));
    if (out != nullptr) ReadAll(out, sizeof(*out));
  }
  if (Is("threads_are_told_apart") &&
      S().thread != std::this_thread::get_id()) {
    return ONNXIFI_STATUS_INVALID_GRAPH;
  }
  if (Is("io_descriptors_are_read_late")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    const auto found = S().io.find(graph);
    if (found != S().io.end()) {
      const State::Io& io = found->second;
      Discard(
          TheReal().SetGraphIO(graph, io.inputs, io.in, io.outputs, io.out));
      S().io.erase(found);
    }
  }
  // Not beyond the tag, whose check is the library's.
  const bool readable = out != nullptr && in != nullptr &&
                        out->tag == ONNXIFI_TAG_MEMORY_FENCE_V1 &&
                        in->tag == ONNXIFI_TAG_MEMORY_FENCE_V1;
  const onnxEvent before = readable ? out->event : nullptr;
  if (readable && Is("clients_signalled_input_is_missed")) {
    onnxEventState state = ONNXIFI_EVENT_STATE_INVALID;
    Discard(TheReal().GetEventState(in->event, &state));
    while (state == ONNXIFI_EVENT_STATE_SIGNALLED) pause();
  }
  const onnxStatus status = TheReal().RunGraph(GraphOf(graph), in, out);
  if (status != ONNXIFI_STATUS_SUCCESS) {
    if (readable && Is("runs_failure_keeps_the_event")) out->event = before;
    return Swapped("RunGraph", status);
  }
  if (IsOneOf("scarcity_") || IsNone()) return status;
  std::unique_lock<std::mutex> lock(S().mutex);
  S().events[graph].push_back(out->event);
  S().results[out->event] = S().outputs[graph];
  if (Is("runs_read_inputs_early")) {
    auto& saved = S().early[in->event];
    for (const Range& range : S().inputs[graph]) {
      saved.push_back({range, std::string(range.at, range.bytes)});
    }
  }
  if (Is("runs_keep_their_order")) {
    onnxEventState state = ONNXIFI_EVENT_STATE_INVALID;
    Discard(TheReal().GetEventState(in->event, &state));
    if (state == ONNXIFI_EVENT_STATE_NONSIGNALLED) {
      S().order.push_back({in->event, false});
    }
  }
  lock.unlock();
  if (Is("runs_are_synchronous")) Discard(TheReal().WaitEvent(out->event));
  if (Is("runs_signal_at_once")) Discard(TheReal().SignalEvent(out->event));
  if (Is("runs_signal_their_input")) Discard(TheReal().SignalEvent(in->event));
  if (Is("runs_store_no_event")) out->event = nullptr;
  if (Is("runs_take_the_callers_event") && before != nullptr) {
    Discard(TheReal().WaitEvent(out->event));
    Discard(TheReal().SignalEvent(before));
    out->event = before;
  }
  if (Is("clients_output_event_is_signalled") && before != nullptr) {
    Discard(TheReal().SignalEvent(before));
  }
  if (Is("runs_change_the_fence")) out->type = ONNXIFI_SYNCHRONIZATION_IMPLICIT;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxReleaseGraph(onnxGraph graph) {
  if (Is("general_handles_are_read")) ReadAll(graph, 8);
  if (Is("release_returns_at_once")) {
    std::thread([graph] { Discard(TheReal().ReleaseGraph(graph)); }).detach();
    return ONNXIFI_STATUS_SUCCESS;
  }
  if (Is("release_keeps_graphs")) return ONNXIFI_STATUS_SUCCESS;
  if (Is("hotplug_release_waits_for_runs") ||
      Is("provoked_blocked_release_sleeps_on")) {
    std::unique_lock<std::mutex> lock(S().mutex);
    const std::vector<void*> events = S().events[graph];
    lock.unlock();
    onnxEventState state = ONNXIFI_EVENT_STATE_INVALID;
    for (onnxEvent event : events) {
      while (TheReal().GetEventState(event, &state) ==
             ONNXIFI_STATUS_BACKEND_UNAVAILABLE) {
        usleep(1000);
      }
    }
  }
  const onnxStatus status = TheReal().ReleaseGraph(GraphOf(graph));
  if (Is("release_takes_events_along")) {
    std::lock_guard<std::mutex> lock(S().mutex);
    for (onnxEvent event : S().events[graph]) {
      Discard(TheReal().ReleaseEvent(event));
    }
    S().events.erase(graph);
  }
  return Swapped("ReleaseGraph", status);
}

}  // extern "C"
