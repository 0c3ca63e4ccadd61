// SPDX-License-Identifier: Apache-2.0
// The functions of a whole ONNXIFI backend, as small as they can be: a CPU as
// the device, a few operators, everything that the interface demands. A
// template for others: replace Program by a compiler and Backend by a device.
//
// Each function looks for faults in the order of the header's list, and an
// output handle is NULL until there is something to store.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "onnxifi/conformance/reference/interface.h"

namespace onnxifi_reference {
namespace {

// One device, whose ID is the same in every call. It is valid while it has been
// listed more often than released.
void* const kId = reinterpret_cast<void*>(uintptr_t{0x1D00000001});
std::mutex id_mutex;
uint64_t id_listings = 0;

}  // namespace

// Never destroyed: threads may use them while the process ends.
Device& TheDevice() {
  static auto* device = new Device;
  return *device;
}
Handles<Backend>& Backends() {
  static auto* table = new Handles<Backend>(0xB0);
  return *table;
}
Handles<BackendEvent>& Events() {
  static auto* table = new Handles<BackendEvent>(0xE0);
  return *table;
}
Handles<Graph>& Graphs() {
  static auto* table = new Handles<Graph>(0x60);
  return *table;
}

bool IsId(void* id) {
  std::lock_guard<std::mutex> lock(id_mutex);
  return id == kId && id_listings > 0;
}

namespace {

bool KnownType(uint64_t type) {
  return (type >= 1 && type <= 7) || (type >= 10 && type <= 16);
}

// ---- Descriptors -----------------------------------------------------------

// What descriptors of weights, inputs and outputs have in common.
onnxStatus CheckDescriptor(const onnxTensorDescriptorV1& d) {
  if (d.tag != ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1) {
    return ONNXIFI_STATUS_UNSUPPORTED_TAG;
  }
  if (d.name == nullptr) return ONNXIFI_STATUS_INVALID_NAME;
  if (!KnownType(d.dataType)) return ONNXIFI_STATUS_INVALID_DATATYPE;
  if (d.memoryType != ONNXIFI_MEMORY_TYPE_CPU) {
    const bool known = d.memoryType == 1 || d.memoryType == 2 ||
                       d.memoryType == 4 || d.memoryType == 8;
    return known ? ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE
                 : ONNXIFI_STATUS_INVALID_MEMORY_TYPE;
  }
  if (d.dimensions > 0 && d.shape == nullptr) {
    return ONNXIFI_STATUS_INVALID_SHAPE;
  }
  for (uint32_t i = 0; i < d.dimensions; ++i) {
    if (d.shape[i] == 0) return ONNXIFI_STATUS_INVALID_SHAPE;
  }
#ifndef ONNXIFI_REFERENCE_ONNX1
  if (d.isOffline != 0) return ONNXIFI_STATUS_INVALID_MEMORY_LOCATION;
#endif
  if (d.buffer == 0) return ONNXIFI_STATUS_INVALID_MEMORY_LOCATION;
  return ONNXIFI_STATUS_SUCCESS;
}

Shape ShapeOf(const onnxTensorDescriptorV1& d) {
  return Shape(d.shape, d.shape + d.dimensions);
}

onnxStatus ReadWeights(const onnxTensorDescriptorV1* descriptors,
                       uint32_t count, std::map<std::string, Weight>* weights) {
  for (uint32_t i = 0; i < count; ++i) {
    const onnxTensorDescriptorV1& d = descriptors[i];
    const onnxStatus status = CheckDescriptor(d);
#ifndef ONNXIFI_REFERENCE_ONNX1
    // No reader that onnxInitGraph could be given is known here.
    if (status == ONNXIFI_STATUS_INVALID_MEMORY_LOCATION && d.isOffline != 0) {
      return ONNXIFI_STATUS_INVALID_POINTER;
    }
#endif
    if (status != ONNXIFI_STATUS_SUCCESS) return status;
    if (d.dataType != ONNXIFI_DATATYPE_FLOAT32) {
      return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
    }
    Weight weight;
    weight.shape = ShapeOf(d);
    uint64_t elements = 1;
    for (uint64_t dim : weight.shape) {
      elements *= dim;
      // Not read before it is known to fit.
      if (elements > TheDevice().memory_bytes()) {
        return ONNXIFI_STATUS_NO_DEVICE_MEMORY;
      }
    }
    weight.data.resize(elements);
    std::memcpy(weight.data.data(), reinterpret_cast<const void*>(d.buffer),
                elements * sizeof(float));
    if (!weights->insert({d.name, std::move(weight)}).second) {
      return ONNXIFI_STATUS_INVALID_NAME;
    }
  }
  return ONNXIFI_STATUS_SUCCESS;
}

#ifndef ONNXIFI_REFERENCE_ONNX1
// What a descriptor says of how its tensor is quantized, which it need not say:
// `model` is what the model says, or null.
onnxStatus CheckQuantization(const onnxTensorDescriptorV1& d,
                             const Quantization* model) {
  const uint64_t count = d.quantizationParams;
  if (count == 0) return ONNXIFI_STATUS_SUCCESS;
  if (d.scales == nullptr || d.biases == nullptr) {
    return ONNXIFI_STATUS_INVALID_MEMORY_LOCATION;
  }
  if (d.quantizationAxis >= d.dimensions ||
      d.shape[d.quantizationAxis] % count != 0) {
    return ONNXIFI_STATUS_INVALID_SHAPE;
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (!std::isfinite(d.scales[i]) || d.scales[i] <= 0) {
      return ONNXIFI_STATUS_INVALID_DATATYPE;
    }
  }
  if (d.dataType != ONNXIFI_DATATYPE_UINT8) {
    return ONNXIFI_STATUS_INVALID_DATATYPE;
  }
  bool same = model != nullptr && model->scales.size() == count &&
              (count == 1 || model->axis == d.quantizationAxis);
  for (uint64_t i = 0; same && i < count; ++i) {
    same = model->scales[i] == d.scales[i] &&
           model->zeros[i] == static_cast<float>(d.biases[i]);
  }
  return same ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_MISMATCHING_DATATYPE;
}
#endif

// Finds each declared tensor among the descriptors; gives names their values.
onnxStatus Match(const Graph& graph, const std::vector<Declared>& declared,
                 const onnxTensorDescriptorV1* descriptors, uint32_t count,
                 std::map<std::string, uint64_t>* values,
                 std::map<std::string, const onnxTensorDescriptorV1*>* found) {
  for (uint32_t i = 0; i < count; ++i) {
    const onnxTensorDescriptorV1& d = descriptors[i];
    const onnxStatus status = CheckDescriptor(d);
    if (status != ONNXIFI_STATUS_SUCCESS) return status;
    const Declared* match = nullptr;
    for (const Declared& one : declared) {
      if (one.name == d.name) match = &one;
    }
    if (match == nullptr || !found->insert({match->name, &d}).second) {
      return ONNXIFI_STATUS_INVALID_NAME;
    }
    if (d.dataType != (match->integer ? ONNXIFI_DATATYPE_INT64
                       : match->byte  ? ONNXIFI_DATATYPE_UINT8
                                      : ONNXIFI_DATATYPE_FLOAT32)) {
      return ONNXIFI_STATUS_MISMATCHING_DATATYPE;
    }
    if (d.dimensions != match->shape.size()) {
      return ONNXIFI_STATUS_MISMATCHING_SHAPE;
    }
    for (uint32_t k = 0; k < d.dimensions; ++k) {
      const Dimension& dim = match->shape[k];
      uint64_t want = dim.value;
      if (!dim.name.empty()) {
        if (graph.max_sequence > 0 && d.shape[k] > graph.max_sequence) {
          return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
        }
        want = values->insert({dim.name, d.shape[k]}).first->second;
      }
      if (d.shape[k] != want) return ONNXIFI_STATUS_MISMATCHING_SHAPE;
    }
#ifndef ONNXIFI_REFERENCE_ONNX1
    const onnxStatus quantized =
        CheckQuantization(d, graph.program.QuantizationOf(match->name));
    if (quantized != ONNXIFI_STATUS_SUCCESS) return quantized;
#endif
  }
  return found->size() == declared.size() ? ONNXIFI_STATUS_SUCCESS
                                          : ONNXIFI_STATUS_UNIDENTIFIED_NAME;
}

}  // namespace

onnxStatus MakeLocations(const Graph& graph, uint32_t inputs_count,
                         const onnxTensorDescriptorV1* inputs,
                         uint32_t outputs_count,
                         const onnxTensorDescriptorV1* outputs,
                         Locations* locations) {
  if (outputs == nullptr || (inputs == nullptr && inputs_count > 0)) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  std::map<std::string, uint64_t> values;
  std::map<std::string, const onnxTensorDescriptorV1*> in, out;
  onnxStatus status =
      Match(graph, graph.program.inputs(), inputs, inputs_count, &values, &in);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  status = Match(graph, graph.program.outputs(), outputs, outputs_count,
                 &values, &out);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  for (const auto& input : in) {
    locations->shapes[input.first] = ShapeOf(*input.second);
    locations->inputs[input.first] =
        reinterpret_cast<const void*>(input.second->buffer);
  }
  status = graph.program.Infer(&locations->shapes);
  if (status != ONNXIFI_STATUS_SUCCESS) {
    return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
  }
  for (const auto& output : out) {
    Shape shape = ShapeOf(*output.second);
    const Shape& program = locations->shapes[output.first];
    if (graph.program.IsBounded(output.first) && shape.size() == 2) {
      locations->most[output.first] = shape;
      shape[1] = program[1];  // any limit
    }
    if (program != shape) return ONNXIFI_STATUS_MISMATCHING_SHAPE;
    locations->outputs[output.first] =
        reinterpret_cast<void*>(output.second->buffer);
  }
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus CheckFence(const onnxMemoryFenceV1* fence) {
  if (fence->tag != ONNXIFI_TAG_MEMORY_FENCE_V1) {
    return ONNXIFI_STATUS_UNSUPPORTED_TAG;
  }
  if (fence->type == ONNXIFI_SYNCHRONIZATION_IMPLICIT) {
    return ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE;
  }
  return fence->type == ONNXIFI_SYNCHRONIZATION_EVENT
             ? ONNXIFI_STATUS_SUCCESS
             : ONNXIFI_STATUS_INVALID_FENCE_TYPE;
}

namespace {

// The output event of a run, ready to be stored.
onnxEvent NewEvent(const std::shared_ptr<Backend>& backend,
                   std::shared_ptr<Event>* event) {
  auto object = std::make_shared<BackendEvent>();
  object->event = std::make_shared<Event>(backend->device, backend->generation);
  object->backend = backend;
  *event = object->event;
  return Events().Add(std::move(object));
}

}  // namespace

onnxStatus StartWithEvent(const std::shared_ptr<Graph>& graph,
                          std::shared_ptr<const Locations> locations,
                          Event* input, onnxMemoryFenceV1* output_fence,
                          Timing timing) {
  std::shared_ptr<Event> output;
  const onnxEvent handle = NewEvent(graph->backend, &output);
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  try {
    status = Start(graph, std::move(locations), input, std::move(output),
                   std::move(timing));
  } catch (...) {
    Events().Take(handle);
    throw;
  }
  if (status == ONNXIFI_STATUS_SUCCESS) {
    output_fence->event = handle;
  } else {
    Events().Take(handle);
  }
  return status;
}

namespace {

// ---- Information -----------------------------------------------------------

// An answer; it needs no memory, for the want of which onnxGetBackendInfo has
// no status.
struct Value {
  const void* data() const {
    return text != nullptr ? static_cast<const void*>(text) : &number;
  }
  size_t size = 0;
  const char* text = nullptr;
  uint64_t number = 0;
};

// False: no such question.
bool Answer(onnxBackendInfo info, Value* value) {
  const auto number = [value](uint64_t n) {
    value->number = n;
    value->size = sizeof(n);
    return true;
  };
  const auto text = [value](const char* string) {
    value->text = string;
    value->size = std::strlen(string) + 1;
    return true;
  };
  switch (info) {
    case ONNXIFI_BACKEND_ONNXIFI_VERSION:
      return number(UINT64_C(0x0000000100000000));
    case ONNXIFI_BACKEND_NAME:
      return text("Reference");
    case ONNXIFI_BACKEND_VENDOR:
      return text("ONNXIFI conformance kit");
    case ONNXIFI_BACKEND_VERSION:
      return text("1.0");
    case ONNXIFI_BACKEND_EXTENSIONS:
      return text(kExtensions);
    case ONNXIFI_BACKEND_DEVICE:
      return text("CPU");
    case ONNXIFI_BACKEND_DEVICE_TYPE:
      return number(ONNXIFI_DEVICE_TYPE_CPU);
    case ONNXIFI_BACKEND_ONNX_IR_VERSION:
      return text(kIrVersions);
    case ONNXIFI_BACKEND_OPSET_VERSION:
      return text(kOpsets);
    case ONNXIFI_BACKEND_CAPABILITIES:
      return number(
          ONNXIFI_CAPABILITY_THREAD_SAFE |
          ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE |
          ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS |
          ONNXIFI_CAPABILITY_VARIABLE_BATCH_SIZE |
          ONNXIFI_CAPABILITY_VARIABLE_SIZE_OUTPUTS |
          (TheDevice().hot_pluggable() ? ONNXIFI_CAPABILITY_HOT_PLUGGABLE : 0));
    case ONNXIFI_BACKEND_INIT_PROPERTIES:
    case ONNXIFI_BACKEND_GRAPH_INIT_PROPERTIES:
    case ONNXIFI_BACKEND_MEMORY_TYPES:           // CPU alone
    case ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES:  // events alone
      return number(0);
    case ONNXIFI_BACKEND_MEMORY_SIZE:
    case ONNXIFI_BACKEND_MAX_GRAPH_SIZE:
      return number(TheDevice().memory_bytes());
    case ONNXIFI_BACKEND_MAX_GRAPH_COUNT:
      return number(Device::kGraphs);
    case ONNXIFI_BACKEND_MACS_FP32:
      // What one thread of today's processors does at most.
      return number(UINT64_C(64000000000));
    case ONNXIFI_BACKEND_MACS_FP16:
      return number(0);
    default:
      return false;
  }
}

// Pairs of property and value, ended by NONE.
onnxStatus ReadProperties(const uint64_t* list, Backend* backend) {
  for (; list != nullptr && *list != ONNXIFI_BACKEND_PROPERTY_NONE; list += 2) {
    const uint64_t value = list[1];
    if (*list == ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION) {
#ifdef ONNXIFI_OPTIMIZATION_AOT
      constexpr uint64_t kLast = ONNXIFI_OPTIMIZATION_AOT;
#else
      constexpr uint64_t kLast = ONNXIFI_OPTIMIZATION_LOW_DELAY;
#endif
      if (value > kLast) return ONNXIFI_STATUS_INVALID_PROPERTY;
    } else if (*list == ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL) {
      if (value < ONNXIFI_LOG_LEVEL_DEBUG || value > ONNXIFI_LOG_LEVEL_ERROR) {
        return ONNXIFI_STATUS_INVALID_PROPERTY;
      }
      backend->log_level = static_cast<int>(value);
    } else {
      return ONNXIFI_STATUS_UNSUPPORTED_PROPERTY;
    }
  }
  return ONNXIFI_STATUS_SUCCESS;
}

}  // namespace
}  // namespace onnxifi_reference

using namespace onnxifi_reference;

extern "C" {

onnxStatus onnxGetBackendIDs(onnxBackendID* ids, size_t* count) {
  if (count == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  const size_t capacity = *count;
  *count = TheDevice().present() ? 1 : 0;
  if (ids == nullptr || capacity < *count) return ONNXIFI_STATUS_FALLBACK;
  if (*count == 0) return ONNXIFI_STATUS_SUCCESS;
  std::lock_guard<std::mutex> lock(id_mutex);
  ++id_listings;
  ids[0] = kId;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxReleaseBackendID(onnxBackendID id) {
  std::lock_guard<std::mutex> lock(id_mutex);
  if (id != kId || id_listings == 0) return ONNXIFI_STATUS_INVALID_ID;
  --id_listings;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxGetBackendInfo(onnxBackendID id, onnxBackendInfo info,
                              void* value, size_t* size) {
  if (!IsId(id)) return ONNXIFI_STATUS_INVALID_ID;
  if (size == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  if (!TheDevice().present()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  Value answer;
  if (!Answer(info, &answer)) return ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
  const size_t room = *size;
  *size = answer.size;
  if (value == nullptr || room < answer.size) return ONNXIFI_STATUS_FALLBACK;
  std::memcpy(value, answer.data(), answer.size);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxGetBackendCompatibility(onnxBackendID id, size_t size,
                                       const void* model) {
  if (!IsId(id)) return ONNXIFI_STATUS_INVALID_ID;
  if (model == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  if (size == 0) return ONNXIFI_STATUS_INVALID_SIZE;
  if (!TheDevice().present()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  return Guarded(
      [&]() -> onnxStatus { return Program().Load(model, size, {}); });
}

onnxStatus onnxInitBackend(onnxBackendID id, const uint64_t* properties,
                           onnxBackend* backend) {
  if (backend == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *backend = nullptr;
  if (!IsId(id)) return ONNXIFI_STATUS_INVALID_ID;
  if (!TheDevice().present()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  return Guarded([&]() -> onnxStatus {
    auto object = std::make_shared<Backend>(&TheDevice());
    const onnxStatus status = ReadProperties(properties, object.get());
    if (status == ONNXIFI_STATUS_SUCCESS) {
      *backend = Backends().Add(std::move(object));
    }
    return status;
  });
}

onnxStatus onnxReleaseBackend(onnxBackend backend) {
  return Backends().Take(backend) != nullptr ? ONNXIFI_STATUS_SUCCESS
                                             : ONNXIFI_STATUS_INVALID_BACKEND;
}

onnxStatus onnxInitEvent(onnxBackend backend, onnxEvent* event) {
  if (event == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *event = nullptr;
  const std::shared_ptr<Backend> of = Backends().Find(backend);
  if (of == nullptr) return ONNXIFI_STATUS_INVALID_BACKEND;
  if (of->gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  return Guarded([&]() -> onnxStatus {
    std::shared_ptr<Event> object;
    *event = NewEvent(of, &object);
    return ONNXIFI_STATUS_SUCCESS;
  });
}

onnxStatus onnxSignalEvent(onnxEvent event) {
  const auto object = Events().Find(event);
  if (object == nullptr) return ONNXIFI_STATUS_INVALID_EVENT;
  if (object->event->gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  return object->event->Signal();
}

onnxStatus onnxGetEventState(onnxEvent event, onnxEventState* state) {
  if (state == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *state = ONNXIFI_EVENT_STATE_INVALID;
  const auto object = Events().Find(event);
  if (object == nullptr) return ONNXIFI_STATUS_INVALID_EVENT;
  if (object->event->gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  *state = object->event->signalled() ? ONNXIFI_EVENT_STATE_SIGNALLED
                                      : ONNXIFI_EVENT_STATE_NONSIGNALLED;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxWaitEvent(onnxEvent event) {
  const auto object = Events().Find(event);
  return object == nullptr ? ONNXIFI_STATUS_INVALID_EVENT
                           : object->event->Wait();
}

onnxStatus onnxReleaseEvent(onnxEvent event) {
  const auto object = Events().Take(event);
  if (object == nullptr) return ONNXIFI_STATUS_INVALID_EVENT;
  object->event->Release();
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxInitGraph(onnxBackend backend, const uint64_t* properties,
                         size_t size, const void* model, uint32_t weights_count,
                         const onnxTensorDescriptorV1* weight_descriptors,
                         onnxGraph* graph
#ifndef ONNXIFI_REFERENCE_ONNX1
                         ,
                         uint32_t max_sequence, void* /*deferred_reader*/
#endif
) {
  if (graph == nullptr) return ONNXIFI_STATUS_INVALID_POINTER;
  *graph = nullptr;
  const std::shared_ptr<Backend> of = Backends().Find(backend);
  if (of == nullptr) return ONNXIFI_STATUS_INVALID_BACKEND;
  if (of->gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  if (properties != nullptr && *properties != ONNXIFI_GRAPH_PROPERTY_NONE) {
    return ONNXIFI_STATUS_UNSUPPORTED_PROPERTY;
  }
  if (model == nullptr ||
      (weights_count > 0 && weight_descriptors == nullptr)) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  if (size == 0) return ONNXIFI_STATUS_INVALID_SIZE;
  return Guarded([&]() -> onnxStatus {
    std::map<std::string, Weight> weights;
    onnxStatus status =
        ReadWeights(weight_descriptors, weights_count, &weights);
    if (status != ONNXIFI_STATUS_SUCCESS) return status;
    auto object = std::make_shared<Graph>(of);
#ifndef ONNXIFI_REFERENCE_ONNX1
    object->max_sequence = max_sequence;
#endif
    const onnxStatus verdict =
        object->program.Load(model, size, std::move(weights));
    if (verdict != ONNXIFI_STATUS_SUCCESS &&
        verdict != ONNXIFI_STATUS_FALLBACK) {
      return verdict;
    }
    status = object->Reserve(object->program.weight_bytes());
    if (status != ONNXIFI_STATUS_SUCCESS) return status;
    if (of->log_level <= ONNXIFI_LOG_LEVEL_INFO) {
      std::fprintf(stderr, "reference: a graph with %zu inputs\n",
                   object->program.inputs().size());
    }
    *graph = Graphs().Add(std::move(object));
    return verdict;
  });
}

onnxStatus onnxSetGraphIO(onnxGraph graph, uint32_t inputs_count,
                          const onnxTensorDescriptorV1* inputs,
                          uint32_t outputs_count,
                          const onnxTensorDescriptorV1* outputs) {
  const std::shared_ptr<Graph> object = Graphs().Find(graph);
  if (object == nullptr) return ONNXIFI_STATUS_INVALID_GRAPH;
  if (object->backend->gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  std::shared_ptr<Locations> locations;
  const onnxStatus status = Guarded([&] {
    auto made = std::make_shared<Locations>();
    const onnxStatus verdict = MakeLocations(
        *object, inputs_count, inputs, outputs_count, outputs, made.get());
    if (verdict == ONNXIFI_STATUS_SUCCESS) locations = std::move(made);
    return verdict;
  });
  // A failure leaves none; runs in flight keep theirs.
  std::lock_guard<std::mutex> lock(object->mutex);
  object->locations = std::move(locations);
  return status;
}

onnxStatus onnxRunGraph(onnxGraph graph, const onnxMemoryFenceV1* input_fence,
                        onnxMemoryFenceV1* output_fence) {
  if (input_fence == nullptr || output_fence == nullptr) {
    return ONNXIFI_STATUS_INVALID_POINTER;
  }
  const std::shared_ptr<Graph> object = Graphs().Find(graph);
  if (object == nullptr) return ONNXIFI_STATUS_INVALID_GRAPH;
  if (object->backend->gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  onnxStatus status = CheckFence(output_fence);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  output_fence->event = nullptr;
  status = CheckFence(input_fence);
  if (status != ONNXIFI_STATUS_SUCCESS) return status;
  const auto input = Events().Find(input_fence->event);
  if (input == nullptr || input->backend.lock() != object->backend) {
    return ONNXIFI_STATUS_INVALID_EVENT;
  }
  std::shared_ptr<const Locations> locations;
  {
    std::lock_guard<std::mutex> lock(object->mutex);
    locations = object->locations;
  }
  if (locations == nullptr) return ONNXIFI_STATUS_UNIDENTIFIED_NAME;
  return Guarded([&]() -> onnxStatus {
    return StartWithEvent(object, std::move(locations), input->event.get(),
                          output_fence);
  });
}

onnxStatus onnxReleaseGraph(onnxGraph graph) {
  const std::shared_ptr<Graph> object = Graphs().Take(graph);
  if (object == nullptr) return ONNXIFI_STATUS_INVALID_GRAPH;
  object->Close();
  // The last run may hold the object for a moment more.
  object->GiveBack();
  return ONNXIFI_STATUS_SUCCESS;
}

}  // extern "C"
