// SPDX-License-Identifier: Apache-2.0
// What the extended ABI (foxi's headers) adds, of which no specification
// speaks: waiting with a limit, timelines of runs, the batch size of a
// request, options, quantized descriptors, weights that are not there yet. What
// holds here are the fields' and functions' names and the comments at them; so
// all of it is a matter of quality.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

constexpr onnxStatus kSuccess = ONNXIFI_STATUS_SUCCESS;
constexpr onnxStatus kInvalidPointer = ONNXIFI_STATUS_INVALID_POINTER;

void NeedExtended(Context& t) {
  if (t.abi() != Abi::kExtended) {
    t.Unsupported("descriptors of the ABI of ONNX 1.x have no such fields");
  }
}

// By either spelling, with and without Function at the end.
onnxExtensionFunctionPointer Find(Context& t, const std::string& name) {
  if (!t.lib().has_extension_function()) {
    t.Unsupported("onnxGetExtensionFunctionAddress is not exported");
  }
  onnxExtensionFunctionPointer function = nullptr;
  for (const std::string& spelling : {name + "Function", name}) {
    if (t.lib().GetExtensionFunctionAddress(t.id(), spelling.c_str(),
                                            &function) == kSuccess) {
      return function;
    }
  }
  t.Unsupported(name + " is not resolved");
}

// ---- onnxWaitEventFor ------------------------------------------------------

using WaitEventFor = onnxStatus (*)(onnxEvent, uint32_t, onnxEventState*,
                                    onnxStatus*, char*, size_t*);

void WaitsFor(Context& t) {
  const auto wait = ExtensionAs<WaitEventFor>(Find(t, "onnxWaitEventFor"));
  onnxEventState state = ONNXIFI_EVENT_STATE_INVALID;
  onnxStatus end = ONNXIFI_STATUS_INTERNAL_ERROR;
  char message[256];
  size_t length = sizeof(message);
  const onnxEvent event = t.NewEvent();
  t.ExpectRule(wait(event, 10, nullptr, &end, message, &length),
               {kInvalidPointer}, "onnxWaitEventFor without a state");
  t.ExpectRule(wait(event, 10, &state, nullptr, message, &length),
               {kInvalidPointer}, "onnxWaitEventFor without a status");
  t.ExpectRule(wait(event, 10, &state, &end, nullptr, &length),
               {kInvalidPointer}, "onnxWaitEventFor without a message");
  t.ExpectRule(wait(event, 10, &state, &end, message, nullptr),
               {kInvalidPointer}, "onnxWaitEventFor without a length");
  t.ExpectRule(wait(nullptr, 10, &state, &end, message, &length),
               {ONNXIFI_STATUS_INVALID_EVENT}, "onnxWaitEventFor of NULL");
  const auto before = std::chrono::steady_clock::now();
  // (So long that a busy machine makes no short wait of that length.)
  t.ExpectRule(wait(event, 400, &state, &end, message, &length), {kSuccess},
               "onnxWaitEventFor whose time passes");
  t.Rule(std::chrono::steady_clock::now() - before >=
             std::chrono::milliseconds(400),
         "onnxWaitEventFor has not waited for 400 ms");
  t.Rule(state == ONNXIFI_EVENT_STATE_NONSIGNALLED,
         "onnxWaitEventFor says that an event was signalled that was not");
  // A run, with a limit that is never reached and without one (0).
  for (const uint32_t limit : {uint32_t{60000}, uint32_t{0}}) {
    Job job(t);
    job.MustSetIO();
    const onnxEvent input = t.NewEvent();
    const onnxEvent output = job.Start(input);
    t.Expect(t.lib().SignalEvent(input), {kSuccess}, "onnxSignalEvent");
    length = sizeof(message);
    t.ExpectRule(wait(output, limit, &state, &end, message, &length),
                 {kSuccess}, "onnxWaitEventFor of a run");
    t.Rule(state == ONNXIFI_EVENT_STATE_SIGNALLED && end == kSuccess,
           "onnxWaitEventFor does not report that a run has succeeded");
    t.Rule(length < sizeof(message) && std::strlen(message) == length,
           "onnxWaitEventFor stores a message of another length");
    t.Rule(job.Right(), "the result of a run is wrong");
    t.KeepEvent(output);
  }
  // Without a limit it waits as long as it takes.
  const onnxEvent late = t.NewEvent();
  std::thread signaller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    t.Expect(t.lib().SignalEvent(late), {kSuccess}, "onnxSignalEvent");
  });
  length = sizeof(message);
  state = ONNXIFI_EVENT_STATE_INVALID;
  const onnxStatus waited = wait(late, 0, &state, &end, message, &length);
  signaller.join();
  t.ExpectRule(waited, {kSuccess}, "onnxWaitEventFor without a limit");
  t.Rule(state == ONNXIFI_EVENT_STATE_SIGNALLED,
         "onnxWaitEventFor without a limit has not waited for the signal");
  // Little room: nothing behind it is written.
  t.Expect(t.lib().SignalEvent(event), {kSuccess}, "onnxSignalEvent");
  std::memset(message, 'x', sizeof(message));
  length = 1;
  t.ExpectRule(wait(event, 0, &state, &end, message, &length), {kSuccess},
               "onnxWaitEventFor with room for one byte");
  t.Rule(message[1] == 'x',
         "onnxWaitEventFor writes past the end of the buffer");
}

// ---- Timelines -------------------------------------------------------------

struct TraceEvent {
  char name[33];
  char type;
  uint64_t timestamp;
  uint32_t thread;
  uint64_t duration;
};
struct TraceEventList {
  uint64_t count;
  TraceEvent** events;
};
using TracedRun = onnxStatus (*)(onnxGraph, uint32_t,
                                 const onnxTensorDescriptorV1*, uint32_t,
                                 const onnxTensorDescriptorV1*,
                                 onnxMemoryFenceV1*, TraceEventList*);
using ReleaseTrace = onnxStatus (*)(TraceEventList*);

void Traces(Context& t) {
  const auto release =
      ExtensionAs<ReleaseTrace>(Find(t, "onnxReleaseTraceEvents"));
  // Only this spelling has the seventh argument.
  onnxExtensionFunctionPointer function = nullptr;
  if (t.lib().GetExtensionFunctionAddress(
          t.id(), "onnxSetIOAndRunGraphFunction", &function) != kSuccess) {
    t.Unsupported("onnxSetIOAndRunGraphFunction is not resolved");
  }
  const auto run = ExtensionAs<TracedRun>(function);
  Job job(t);
  const DescriptorArray in(t.abi(), {job.x.Describe(), job.z.Describe()});
  const DescriptorArray out(t.abi(), {job.y.Describe()});
  for (const bool traced : {false, true}) {
    TraceEventList list = {};
    onnxMemoryFenceV1 fence = EventFence(nullptr);
    job.Refill();
    if (!t.Expect(run(job.graph, 2, in.data(), 1, out.data(), &fence,
                      traced ? &list : nullptr),
                  {kSuccess}, "onnxSetIOAndRunGraph of seven arguments")) {
      return;
    }
    t.Expect(t.lib().WaitEvent(fence.event), {kSuccess}, "onnxWaitEvent");
    t.KeepEvent(fence.event);
    t.Rule(job.Right(), "the result of a run is wrong");
    uint64_t last = 0;
    for (uint64_t i = 0; i < list.count; ++i) {
      const TraceEvent& event = *list.events[i];
      t.Rule(event.timestamp >= last, "the timeline of a run goes back");
      last = event.timestamp;
      t.Rule(std::memchr(event.name, 0, sizeof(event.name)) != nullptr &&
                 std::strchr("BEIX", event.type) != nullptr,
             "an entry of a timeline has no name or no type");
    }
    t.ExpectRule(release(&list), {kSuccess}, "onnxReleaseTraceEvents");
  }
  t.ExpectRule(release(nullptr), {kInvalidPointer},
               "onnxReleaseTraceEvents of NULL");
}

// ---- Requests and options --------------------------------------------------

// Of the request in which the library calls its caller, as custom operators
// are. The kit has none, so there is never one.
void BatchSize(Context& t) {
  const auto get =
      ExtensionAs<onnxStatus (*)(int64_t*)>(Find(t, "onnxGetCurrentBatchSize"));
  t.ExpectRule(get(nullptr), {kInvalidPointer},
               "onnxGetCurrentBatchSize without a place for it");
  Job job(t);
  job.MustSetIO();
  for (int i = 0; i < 2; ++i) {
    int64_t size = static_cast<int64_t>(kCanary);
    t.ExpectRule(get(&size), {ONNXIFI_STATUS_INVALID_STATE},
                 "onnxGetCurrentBatchSize outside a request");
    t.Rule(size == static_cast<int64_t>(kCanary),
           "onnxGetCurrentBatchSize fails and stores a size");
    job.Run();  // and after one
  }
}

// The options that implementations are known to have.
constexpr const char* kOptions[] = {"glow_num_devices", "heddle_log"};
constexpr char kNoValue[] = "\x01 the value of no option";

void Options(Context& t) {
  const auto set = ExtensionAs<onnxStatus (*)(const char*, const char*)>(
      Find(t, "onnxSetOption"));
  const auto get = ExtensionAs<onnxStatus (*)(const char*, char*, size_t*)>(
      Find(t, "onnxGetOption"));
  char value[256];
  size_t length = sizeof(value);
  t.ExpectRule(set(nullptr, "1"), {kInvalidPointer},
               "onnxSetOption without a name");
  t.ExpectRule(set(kOptions[0], nullptr), {kInvalidPointer},
               "onnxSetOption without a value");
  t.ExpectRule(get(nullptr, value, &length), {kInvalidPointer},
               "onnxGetOption without a name");
  t.ExpectRule(get(kOptions[0], nullptr, &length), {kInvalidPointer},
               "onnxGetOption without a value");
  t.ExpectRule(get(kOptions[0], value, nullptr), {kInvalidPointer},
               "onnxGetOption without a length");
  constexpr char kNobody[] = "acme_no_such_option";
  t.ExpectRule(set(kNobody, "1"), {ONNXIFI_STATUS_INVALID_NAME},
               "onnxSetOption of an option that there is not");
  t.ExpectRule(get(kNobody, value, &length), {ONNXIFI_STATUS_INVALID_NAME},
               "onnxGetOption of an option that there is not");
  bool any = false;
  for (const char* option : kOptions) {
    length = sizeof(value);
    const onnxStatus known = get(option, value, &length);
    if (known == ONNXIFI_STATUS_INVALID_NAME) continue;
    any = true;
    if (!t.ExpectRule(known, {kSuccess}, "onnxGetOption")) return;
    t.Rule(length < sizeof(value) && std::strlen(value) == length,
           "onnxGetOption stores a value of another length");
    const std::string before(value, std::min(length, sizeof(value)));
    t.ExpectRule(set(option, kNoValue), {ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE},
                 "onnxSetOption with a value that no option has");
    t.ExpectRule(set(option, before.c_str()), {kSuccess},
                 "onnxSetOption with the value that it has");
    length = sizeof(value);
    t.ExpectRule(get(option, value, &length), {kSuccess}, "onnxGetOption");
    t.Rule(std::string(value, std::min(length, sizeof(value))) == before,
           "an option has another value than the one that was set");
  }
  if (!any) t.Note("no option that is known is among this library's");
}

// ---- Quantized descriptors -------------------------------------------------

// y = DequantizeLinear(x): bytes of one scale and zero point, or of one each
// for the second axis.
struct Quantized {
  Quantized(Context& t, size_t params)
      : scales(params), biases(params), x(kElements), y("y", {2, 4}) {
    Model model = t.NewModel();
    model.opset = std::min<int64_t>(13, t.MaxOpset());
    model.ir_version = t.IrVersions().back();
    Node node = {"DequantizeLinear", {"x", "s", "b"}, {"y"}, "", {}};
    if (params > 1) node.attributes = {{"axis", 2, 1, {}}};
    model.nodes = {node};
    model.inputs = {{"x", {2, 4}, ONNXIFI_DATATYPE_UINT8}};
    model.outputs = {{"y", {2, 4}}};
    std::string zeros;
    for (size_t i = 0; i < params; ++i) {
      scales[i] = std::ldexp(1.0F, static_cast<int>(i) - 2);
      biases[i] = 100 + static_cast<int32_t>(i);
      zeros += static_cast<char>(biases[i]);
    }
    for (size_t i = 0; i < kElements; ++i) x[i] = static_cast<uint8_t>(i * 30);
    std::vector<int64_t> shape;
    if (params > 1) shape = {static_cast<int64_t>(params)};
    model.initializers = {{"s", shape, 1, RawFloats(scales)},
                          {"b", shape, ONNXIFI_DATATYPE_UINT8, zeros}};
    bytes = model.Serialize();
  }
  Descriptor Describe() {
    Descriptor d;
    d.name = "x";
    d.data_type = ONNXIFI_DATATYPE_UINT8;
    d.dimensions = 2;
    d.shape = kShape;
    d.quantization_axis = 1;
    d.quantization_params = scales.size();
    d.scales = scales.data();
    d.biases = biases.data();
    d.buffer = reinterpret_cast<uint64_t>(x.data());
    return d;
  }
  bool Right() const {
    for (size_t i = 0; i < kElements; ++i) {
      const size_t p = scales.size() > 1 ? i % 4 : 0;
      const float want =
          static_cast<float>(int32_t{x[i]} - biases[p]) * scales[p];
      if (y.data[i] != want) return false;
    }
    return true;
  }

  static constexpr size_t kElements = 8;
  static constexpr uint64_t kShape[2] = {2, 4};
  std::vector<float> scales;
  std::vector<int32_t> biases;
  std::vector<uint8_t> x;
  Tensor y;
  std::string bytes;
};

onnxGraph QuantizedGraph(Context& t, const Quantized& q) {
  onnxGraph graph = nullptr;
  const onnxStatus status = t.TryGraph(q.bytes, &graph);
  if (graph == nullptr) {
    t.Unsupported(absl::StrCat("onnxInitGraph of DequantizeLinear says ",
                               StatusName(status)));
  }
  return graph;
}

void QuantizedInputs(Context& t) {
  NeedExtended(t);
  for (const size_t params : {size_t{1}, size_t{4}}) {
    Quantized q(t, params);
    const onnxGraph graph = QuantizedGraph(t, q);
    Descriptor none = q.Describe();
    none.quantization_params = 0;
    none.scales = nullptr;
    none.biases = nullptr;
    for (const Descriptor& d : {none, q.Describe()}) {
      q.y.data.assign(Quantized::kElements, 0);
      if (!t.ExpectRule(
              t.SetIO(graph, {d}, {q.y.Describe()}), {kSuccess},
              absl::StrCat("onnxSetGraphIO with ", d.quantization_params,
                           " quantization parameters"))) {
        return;
      }
      const onnxEvent input = t.NewEvent();
      t.Expect(t.lib().SignalEvent(input), {kSuccess}, "onnxSignalEvent");
      const onnxMemoryFenceV1 from = EventFence(input);
      onnxMemoryFenceV1 to = EventFence(nullptr);
      if (!t.Expect(t.lib().RunGraph(graph, &from, &to), {kSuccess},
                    "onnxRunGraph")) {
        return;
      }
      t.KeepEvent(to.event);
      t.Expect(t.lib().WaitEvent(to.event), {kSuccess}, "onnxWaitEvent");
      t.Rule(q.Right(), "a dequantized tensor is wrong");
    }
  }
}

void QuantizedRefusals(Context& t) {
  NeedExtended(t);
  Quantized q(t, 4);
  const onnxGraph graph = QuantizedGraph(t, q);
  const auto refused = [&](const Descriptor& d, onnxStatus want,
                           const char* what) {
    t.ExpectRule(t.SetIO(graph, {d}, {q.y.Describe()}), {want},
                 absl::StrCat("onnxSetGraphIO with ", what));
  };
  Descriptor d = q.Describe();
  d.scales = nullptr;
  refused(d, ONNXIFI_STATUS_INVALID_MEMORY_LOCATION, "no scales");
  d = q.Describe();
  d.biases = nullptr;
  refused(d, ONNXIFI_STATUS_INVALID_MEMORY_LOCATION, "no biases");
  d = q.Describe();
  d.quantization_axis = 2;
  refused(d, ONNXIFI_STATUS_INVALID_SHAPE, "an axis beyond the rank");
  d = q.Describe();
  d.quantization_params = 3;
  refused(d, ONNXIFI_STATUS_INVALID_SHAPE, "parameters that divide no axis");
  std::vector<float> scales = q.scales;
  d = q.Describe();
  d.scales = scales.data();
  for (const float wrong : {0.0F, -1.0F, HUGE_VALF}) {
    scales[1] = wrong;
    refused(d, ONNXIFI_STATUS_INVALID_DATATYPE, "an impossible scale");
  }
  scales[1] = q.scales[1] * 2;
  refused(d, ONNXIFI_STATUS_MISMATCHING_DATATYPE, "a scale not the model's");
  std::vector<int32_t> biases = q.biases;
  biases[2] += 1;
  d = q.Describe();
  d.biases = biases.data();
  refused(d, ONNXIFI_STATUS_MISMATCHING_DATATYPE, "a bias not the model's");
  d = q.Describe();
  d.quantization_params = 1;
  refused(d, ONNXIFI_STATUS_MISMATCHING_DATATYPE, "one parameter for four");
  Descriptor y = q.y.Describe();
  y.quantization_params = 1;
  y.scales = q.scales.data();
  y.biases = q.biases.data();
  t.ExpectRule(t.SetIO(graph, {q.Describe()}, {y}),
               {ONNXIFI_STATUS_INVALID_DATATYPE},
               "onnxSetGraphIO with parameters of a float tensor");
  // And then it works.
  t.ExpectRule(t.SetIO(graph, {q.Describe()}, {q.y.Describe()}), {kSuccess},
               "onnxSetGraphIO with right quantization parameters");
}

// ---- Weights that are not there yet ----------------------------------------

void OfflineWithoutReader(Context& t) {
  NeedExtended(t);
  const std::string model = t.Weighted({2, 3}).Serialize();
  Tensor w("w", {2, 3});
  Descriptor offline = w.Describe();
  offline.is_offline = 1;
  onnxGraph graph = nullptr;
  t.ExpectRule(t.TryGraph(model, &graph, {offline}), {kInvalidPointer},
               "onnxInitGraph with an offline weight and no reader");
  // Where it is no weight, nobody can read it.
  Job job(t);
  Descriptor x = job.x.Describe();
  x.is_offline = 1;
  t.ExpectRule(t.SetIO(job.graph, {x, job.z.Describe()}, {job.y.Describe()}),
               {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION},
               "onnxSetGraphIO with an offline input");
  job.MustSetIO();
  job.Run();
}

}  // namespace

std::vector<Case> FoxiCases() {
  return {
      {"foxi.wait_for",
       "onnxWaitEventFor keeps its time limit and reports completion", WaitsFor,
       kRuleOnly},
      {"foxi.trace", "the timeline of a run is in order and can be released",
       Traces, kRuleOnly},
      {"foxi.batch_size", "the batch size outside a request is INVALID_STATE",
       BatchSize, kRuleOnly},
      {"foxi.options",
       "unknown options are INVALID_NAME, wrong values are "
       "UNSUPPORTED_ATTRIBUTE",
       Options, kRuleOnly},
      {"foxi.quantized_inputs",
       "a descriptor may say how its tensor is quantized, or not",
       QuantizedInputs, kRuleOnly},
      {"foxi.quantized_refusals",
       "a descriptor quantized differently from the model is rejected",
       QuantizedRefusals, kRuleOnly},
      {"foxi.offline_without_reader",
       "an offline weight without a reader, and an offline input, are rejected",
       OfflineWithoutReader, kRuleOnly},
  };
}

}  // namespace heddle::conformance
