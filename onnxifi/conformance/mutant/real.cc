// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/mutant/real.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace onnxifi_mutant {
namespace {

struct Swap {
  const char* mutant;
  const char* function;
  onnxStatus from, to;
};

#define SWAP(mutant, function, from, to) \
  { mutant, function, ONNXIFI_STATUS_##from, ONNXIFI_STATUS_##to }
constexpr Swap kSwaps[] = {
    SWAP("ids_null_count_is_success", "GetBackendIDs", INVALID_POINTER,
         SUCCESS),
    SWAP("ids_release_twice", "ReleaseBackendID", INVALID_ID, SUCCESS),
    SWAP("ids_release_unavailable", "ReleaseBackendID", SUCCESS,
         BACKEND_UNAVAILABLE),
    SWAP("info_null_size_is_fallback", "GetBackendInfo", INVALID_POINTER,
         FALLBACK),
    SWAP("info_unknown_is_internal_error", "GetBackendInfo",
         UNSUPPORTED_ATTRIBUTE, INTERNAL_ERROR),
    SWAP("info_id_is_not_checked", "GetBackendInfo", INVALID_ID, FALLBACK),
    SWAP("compatibility_null_is_success", "GetBackendCompatibility",
         INVALID_POINTER, SUCCESS),
    SWAP("compatibility_size_zero", "GetBackendCompatibility", INVALID_SIZE,
         INVALID_PROTOBUF),
    SWAP("compatibility_takes_mismatching_shapes", "GetBackendCompatibility",
         MISMATCHING_SHAPE, SUCCESS),
    SWAP("compatibility_takes_any_operator", "GetBackendCompatibility",
         UNSUPPORTED_OPERATOR, SUCCESS),
    SWAP("compatibility_protobuf_is_model", "GetBackendCompatibility",
         INVALID_PROTOBUF, INVALID_MODEL),
    SWAP("compatibility_model_is_protobuf", "GetBackendCompatibility",
         INVALID_MODEL, INVALID_PROTOBUF),
    SWAP("compatibility_unlisted", "GetBackendCompatibility",
         UNSUPPORTED_OPERATOR, NO_DEVICE_MEMORY),
    SWAP("compatibility_verdict_is_not_kept", "GetBackendCompatibility",
         UNSUPPORTED_DATATYPE, SUCCESS),
    SWAP("compatibility_version_is_model", "GetBackendCompatibility",
         UNSUPPORTED_VERSION, INVALID_MODEL),
    SWAP("init_null_is_success", "InitBackend", INVALID_POINTER, SUCCESS),
    SWAP("init_property_codes_swapped", "InitBackend", INVALID_PROPERTY,
         UNSUPPORTED_PROPERTY),
    SWAP("init_release_twice", "ReleaseBackend", INVALID_BACKEND, SUCCESS),
    SWAP("events_null_is_success", "InitEvent", INVALID_POINTER, SUCCESS),
    SWAP("events_signal_twice", "SignalEvent", INVALID_STATE, SUCCESS),
    {"events_unknown_status", "SignalEvent", ONNXIFI_STATUS_INVALID_STATE,
     0x0999},
    SWAP("events_state_null", "GetEventState", INVALID_POINTER, SUCCESS),
    SWAP("events_release_twice", "ReleaseEvent", INVALID_EVENT, SUCCESS),
    SWAP("graphs_null_is_success", "InitGraph", INVALID_POINTER, SUCCESS),
    SWAP("graphs_model_is_internal_error", "InitGraph", INVALID_MODEL,
         INTERNAL_ERROR),
    SWAP("graphs_size_is_protobuf", "InitGraph", INVALID_SIZE,
         INVALID_PROTOBUF),
    SWAP("graphs_types_swapped", "InitGraph", MISMATCHING_DATATYPE,
         MISMATCHING_SHAPE),
    SWAP("weights_zero_dimension", "InitGraph", INVALID_SHAPE,
         MISMATCHING_SHAPE),
    SWAP("weights_memory_codes_swapped", "InitGraph", UNSUPPORTED_MEMORY_TYPE,
         INVALID_MEMORY_TYPE),
    SWAP("weights_null_buffer", "InitGraph", INVALID_MEMORY_LOCATION,
         INVALID_POINTER),
    SWAP("memory_full_is_internal_error", "InitGraph", NO_DEVICE_MEMORY,
         INTERNAL_ERROR),
    SWAP("memory_too_many_is_system_memory", "InitGraph", NO_DEVICE_RESOURCES,
         NO_SYSTEM_MEMORY),
    SWAP("io_pointer_is_name", "SetGraphIO", INVALID_POINTER,
         UNIDENTIFIED_NAME),
    SWAP("io_takes_any_name", "SetGraphIO", INVALID_NAME, SUCCESS),
    SWAP("io_missing_is_invalid_name", "SetGraphIO", UNIDENTIFIED_NAME,
         INVALID_NAME),
    SWAP("io_shape_is_not_checked", "SetGraphIO", MISMATCHING_SHAPE, SUCCESS),
    SWAP("io_null_buffer", "SetGraphIO", INVALID_MEMORY_LOCATION, SUCCESS),
    SWAP("io_zero_dimension", "SetGraphIO", INVALID_SHAPE, UNSUPPORTED_SHAPE),
    SWAP("io_tag_is_not_checked", "SetGraphIO", UNSUPPORTED_TAG, SUCCESS),
    SWAP("io_unlisted", "SetGraphIO", INVALID_DATATYPE, UNSUPPORTED_DATATYPE),
    SWAP("runs_null_fence", "RunGraph", INVALID_POINTER, INVALID_EVENT),
    SWAP("runs_fence_codes_swapped", "RunGraph", UNSUPPORTED_FENCE_TYPE,
         INVALID_FENCE_TYPE),
    SWAP("runs_internal_error", "RunGraph", INVALID_FENCE_TYPE, INTERNAL_ERROR),
    SWAP("runs_fence_tag", "RunGraph", UNSUPPORTED_TAG, INVALID_FENCE_TYPE),
    SWAP("runs_before_io_is_graph", "RunGraph", UNIDENTIFIED_NAME,
         INVALID_GRAPH),
    SWAP("release_graph_twice", "ReleaseGraph", INVALID_GRAPH, SUCCESS),
    SWAP("hotplug_id_becomes_invalid", "GetBackendInfo", BACKEND_UNAVAILABLE,
         INVALID_ID),
    SWAP("hotplug_init_is_internal_error", "InitBackend", BACKEND_UNAVAILABLE,
         INTERNAL_ERROR),
    SWAP("provoked_unplug_is_internal_error", "InitBackend",
         BACKEND_UNAVAILABLE, INTERNAL_ERROR),
    SWAP("provoked_blocked_wait_succeeds", "WaitEvent", BACKEND_UNAVAILABLE,
         SUCCESS),
    SWAP("scarcity_memory_is_protobuf", "InitGraph", NO_SYSTEM_MEMORY,
         INVALID_PROTOBUF),
    SWAP("foxi_offline_without_reader_is_internal_error", "InitGraph",
         INVALID_POINTER, INTERNAL_ERROR),
    SWAP("foxi_offline_input_is_taken", "SetGraphIO", INVALID_MEMORY_LOCATION,
         SUCCESS),
    SWAP("foxi_quantized_nothing_there", "SetGraphIO", INVALID_MEMORY_LOCATION,
         INVALID_POINTER),
    SWAP("foxi_quantized_shapes_swapped", "SetGraphIO", INVALID_SHAPE,
         MISMATCHING_SHAPE),
    SWAP("foxi_quantized_any_scale", "SetGraphIO", INVALID_DATATYPE, SUCCESS),
    SWAP("foxi_quantized_not_compared", "SetGraphIO", MISMATCHING_DATATYPE,
         SUCCESS),
    SWAP("foxi_wait_takes_null", "WaitEventFor", INVALID_POINTER, SUCCESS),
    SWAP("foxi_wait_of_null_is_pointer", "WaitEventFor", INVALID_EVENT,
         INVALID_POINTER),
    SWAP("foxi_trace_of_null_is_released", "ReleaseTraceEvents",
         INVALID_POINTER, SUCCESS),
    SWAP("foxi_batch_size_is_always_there", "GetCurrentBatchSize",
         INVALID_STATE, SUCCESS),
    SWAP("foxi_batch_size_null", "GetCurrentBatchSize", INVALID_POINTER,
         INVALID_STATE),
    SWAP("foxi_options_take_any_name", "SetOption", INVALID_NAME, SUCCESS),
    SWAP("foxi_options_know_any_name", "GetOption", INVALID_NAME, SUCCESS),
    SWAP("foxi_options_take_any_value", "SetOption", UNSUPPORTED_ATTRIBUTE,
         SUCCESS),
    SWAP("foxi_options_without_value", "SetOption", INVALID_POINTER,
         UNSUPPORTED_ATTRIBUTE),
    SWAP("foxi_options_without_length", "GetOption", INVALID_POINTER,
         INVALID_NAME),
    SWAP("extensions_run_without_outputs", "SetIOAndRunGraph", INVALID_POINTER,
         UNIDENTIFIED_NAME),
    SWAP("extensions_run_names", "SetIOAndRunGraph", INVALID_NAME,
         UNIDENTIFIED_NAME),
    SWAP("extensions_run_fence_tag", "SetIOAndRunGraph", UNSUPPORTED_TAG,
         INVALID_FENCE_TYPE),
    SWAP("scarcity_thread_is_device", "InitBackend", NO_SYSTEM_RESOURCES,
         NO_DEVICE_RESOURCES),
    SWAP("hotplug_io_is_internal_error", "SetGraphIO", BACKEND_UNAVAILABLE,
         INTERNAL_ERROR),
    SWAP("hotplug_state_is_invalid_event", "GetEventState", BACKEND_UNAVAILABLE,
         INVALID_EVENT),
    SWAP("extensions_unknown_resolves", "GetExtensionFunctionAddress",
         UNIDENTIFIED_NAME, SUCCESS),
    SWAP("extensions_id_is_not_checked", "GetExtensionFunctionAddress",
         INVALID_ID, SUCCESS),
};
#undef SWAP

template <typename T>
void Find(void* library, const char* name, T* function) {
  *function = reinterpret_cast<T>(dlsym(library, name));
}

Real Load() {
  const char* path = std::getenv("ONNXIFI_MUTANT_LIBRARY");
  void* library =
      path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "libonnxifi-mutant: ONNXIFI_MUTANT_LIBRARY: %s\n",
                 path == nullptr ? "not set" : dlerror());
    std::exit(1);
  }
  Real real = {};
#define FIND(name) Find(library, "onnx" #name, &real.name)
  FIND(GetBackendIDs);
  FIND(ReleaseBackendID);
  FIND(GetBackendInfo);
  FIND(GetBackendCompatibility);
  FIND(InitBackend);
  FIND(ReleaseBackend);
  FIND(InitEvent);
  FIND(SignalEvent);
  FIND(GetEventState);
  FIND(WaitEvent);
  FIND(ReleaseEvent);
  FIND(InitGraph);
  FIND(SetGraphIO);
  FIND(RunGraph);
  FIND(ReleaseGraph);
  FIND(GetExtensionFunctionAddress);
#undef FIND
  return real;
}

template <typename T>
T Get(const onnxTensorDescriptorV1* descriptors, uint32_t index,
      size_t offset) {
  T value;
  std::memcpy(&value,
              reinterpret_cast<const char*>(descriptors) +
                  index * DescriptorBytes() + offset,
              sizeof(value));
  return value;
}

}  // namespace

const Real& TheReal() {
  static const Real* real = new Real(Load());
  return *real;
}

static const char* Mutant() {
  static const char* const mutant = std::getenv("ONNXIFI_MUTANT");
  return mutant == nullptr ? "" : mutant;
}

bool Is(const char* name) { return std::strcmp(Mutant(), name) == 0; }

bool IsOneOf(const char* prefix) {
  return std::strncmp(Mutant(), prefix, std::strlen(prefix)) == 0;
}

bool IsNone() { return *Mutant() == '\0'; }

onnxStatus Swapped(const char* function, onnxStatus status) {
  for (const Swap& swap : kSwaps) {
    if (swap.from == status && std::strcmp(swap.function, function) == 0 &&
        Is(swap.mutant)) {
      return swap.to;
    }
  }
  return status;
}

int NodesOf(const void* model, size_t size) {
  const auto* at = static_cast<const uint8_t*>(model);
  const uint8_t* end = at + size;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; at < end && shift < 64; shift += 7) {
      value |= static_cast<uint64_t>(*at & 0x7F) << shift;
      if ((*at++ & 0x80) == 0) break;
    }
    return value;
  };
  // ModelProto.graph is field 7, GraphProto.node field 1 (repeated).
  bool in_graph = false;
  int nodes = 0;
  while (at < end) {
    const uint64_t key = varint();
    const uint64_t value = varint();
    if ((key & 7) == 0) continue;  // a number
    if ((key & 7) != 2 || value > static_cast<uint64_t>(end - at)) return 0;
    if (!in_graph && key >> 3 == 7) {
      in_graph = true;
      end = at + value;
      continue;
    }
    if (in_graph && key >> 3 == 1) ++nodes;
    at += value;
  }
  return nodes;
}

size_t DescriptorBytes() {
  const char* abi = std::getenv("ONNXIFI_MUTANT_ABI");
  return abi != nullptr && std::strcmp(abi, "onnx1") == 0 ? 56 : 96;
}

const char* NameOf(const onnxTensorDescriptorV1* descriptors, uint32_t index) {
  return Get<const char*>(descriptors, index, 8);
}

std::vector<uint64_t> ShapeOf(const onnxTensorDescriptorV1* descriptors,
                              uint32_t index) {
  const auto* shape = Get<const uint64_t*>(descriptors, index, 40);
  return std::vector<uint64_t>(shape,
                               shape + Get<uint32_t>(descriptors, index, 32));
}

bool IsQuantized(const onnxTensorDescriptorV1* descriptors, uint32_t index) {
  return DescriptorBytes() == 96 && Get<uint64_t>(descriptors, index, 56) > 0;
}

std::vector<Range> Memory(const onnxTensorDescriptorV1* descriptors,
                          uint32_t count) {
  std::vector<Range> ranges;
  for (uint32_t i = 0; i < count; ++i) {
    size_t bytes = 4;  // floats, as the kit's
    for (uint64_t dim : ShapeOf(descriptors, i)) bytes *= dim;
    ranges.push_back({reinterpret_cast<char*>(
                          Get<uint64_t>(descriptors, i, DescriptorBytes() - 8)),
                      bytes});
  }
  return ranges;
}

}  // namespace onnxifi_mutant
