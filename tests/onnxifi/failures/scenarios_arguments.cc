// SPDX-License-Identifier: Apache-2.0
// Statuses that a program's own arguments lead to.
#include <string>
#include <vector>

#include "tests/onnxifi/failures/product.h"
#include "tests/onnxifi/failures/scenarios.h"
#include "tests/support/onnx_model.h"

namespace heddle::tests {
namespace {

using onnx::TensorProto;

Library& library() { return Library::Get(); }

// What no handle is.
void* const kWild = reinterpret_cast<void*>(0x1234);

// {ID, value} pairs, each list wrong in one way.
constexpr uint64_t kBadLevel[] = {ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, 99,
                                  ONNXIFI_BACKEND_PROPERTY_NONE};
constexpr uint64_t kUnknown[] = {0x7777, 1, ONNXIFI_BACKEND_PROPERTY_NONE};

void WrongIds(onnxBackendID id) {
  size_t count = 0;
  onnxBackendID ids[8];
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                library().GetBackendIDs(ids, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                library().GetBackendIDs(nullptr, &count));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_ID, library().ReleaseBackendID(kWild));
  char text[256];
  size_t size = 0;
  EXPECT_STATUS(
      ONNXIFI_STATUS_FALLBACK,
      library().GetBackendInfo(id, ONNXIFI_BACKEND_NAME, text, &size));
  EXPECT_OK(library().GetBackendInfo(id, ONNXIFI_BACKEND_NAME, text, &size));
  EXPECT_STATUS(
      ONNXIFI_STATUS_INVALID_POINTER,
      library().GetBackendInfo(id, ONNXIFI_BACKEND_NAME, text, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                library().GetBackendInfo(id, 9, text, &size));
  EXPECT_STATUS(
      ONNXIFI_STATUS_INVALID_ID,
      library().GetBackendInfo(kWild, ONNXIFI_BACKEND_NAME, text, &size));
  onnxBackend backend = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_ID,
                library().InitBackend(kWild, nullptr, &backend));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                library().InitBackend(id, nullptr, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_PROPERTY,
                library().InitBackend(id, kBadLevel, &backend));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_PROPERTY,
                library().InitBackend(id, kUnknown, &backend));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_BACKEND,
                library().ReleaseBackend(kWild));
}

void WrongEvents(Objects* objects) {
  onnxEvent event = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_BACKEND,
                library().InitEvent(kWild, &event));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                library().InitEvent(objects->backend, nullptr));
  event = objects->Event(true);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_STATE, library().SignalEvent(event));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT, library().SignalEvent(kWild));
  onnxEventState state;
  EXPECT_OK(library().GetEventState(event, &state));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                library().GetEventState(event, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT,
                library().GetEventState(kWild, &state));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT, library().WaitEvent(kWild));
  EXPECT_OK(library().WaitEvent(event));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT, library().ReleaseEvent(kWild));
  EXPECT_OK(library().ReleaseEvent(event));
}

void WrongRuns(Objects* objects) {
  const onnxEvent event = objects->Event(true);
  const onnxMemoryFenceV1 right = Fence(event);
  onnxMemoryFenceV1 wrong = right, out = Fence();
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                library().RunGraph(objects->graph, nullptr, &out));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_GRAPH,
                library().RunGraph(kWild, &right, &out));
  wrong.type = 3;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_FENCE_TYPE,
                library().RunGraph(objects->graph, &wrong, &out));
  wrong.type = ONNXIFI_SYNCHRONIZATION_IMPLICIT;
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE,
                library().RunGraph(objects->graph, &wrong, &out));
  wrong = right;
  wrong.tag = 1;
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_TAG,
                library().RunGraph(objects->graph, &wrong, &out));
  wrong = Fence(kWild);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT,
                library().RunGraph(objects->graph, &wrong, &out));
  const onnxGraph bare = objects->Graph(ReluModel({4}));
  EXPECT_STATUS(ONNXIFI_STATUS_UNIDENTIFIED_NAME,
                library().RunGraph(bare, &right, &out));
  EXPECT_OK(library().ReleaseGraph(bare));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_GRAPH, library().ReleaseGraph(bare));
  EXPECT_OK(library().ReleaseEvent(event));
}

// A descriptor of `right` with one thing changed.
template <typename Change>
onnxTensorDescriptorV1 With(const Tensor& right, Change change) {
  onnxTensorDescriptorV1 descriptor = right.value;
  change(&descriptor);
  return descriptor;
}

struct WrongDescriptor {
  onnxStatus status;
  onnxTensorDescriptorV1 value;
};

// What is wrong with a descriptor wherever it is.
std::vector<WrongDescriptor> WrongIn(const Tensor& right) {
  static const uint64_t kNothing[] = {0}, kLarger[] = {5};
  using D = onnxTensorDescriptorV1*;
  return {
      {ONNXIFI_STATUS_INVALID_SHAPE,
       With(right, [](D d) { d->shape = kNothing; })},
      {ONNXIFI_STATUS_INVALID_DATATYPE,
       With(right, [](D d) { d->dataType = 99; })},
      {ONNXIFI_STATUS_INVALID_MEMORY_TYPE,
       With(right, [](D d) { d->memoryType = 99; })},
      {ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE,
       With(right,
            [](D d) { d->memoryType = ONNXIFI_MEMORY_TYPE_CUDA_BUFFER; })},
      {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
       With(right, [](D d) { d->buffer = 0; })},
      {ONNXIFI_STATUS_MISMATCHING_SHAPE,
       With(right, [](D d) { d->shape = kLarger; })},
      {ONNXIFI_STATUS_MISMATCHING_DATATYPE,
       With(right, [](D d) { d->dataType = ONNXIFI_DATATYPE_INT32; })},
  };
}

onnxStatus Init(const Objects& objects, const std::string& model,
                const onnxTensorDescriptorV1* weight,
                const uint64_t* properties = nullptr,
                uint32_t max_sequence = 0) {
  onnxGraph graph = nullptr;
  const onnxStatus status = library().InitGraph(
      objects.backend, properties, model.size(), model.data(),
      weight != nullptr ? 1 : 0, weight, &graph, max_sequence, nullptr);
  if (graph != nullptr) {
    EXPECT_OK(library().ReleaseGraph(graph));
  }
  return status;
}

// ---- Models

OnnxModel Relu() {
  OnnxModel model;
  model.Input("x", {4}).Output("y", {4});
  model.Node("Relu", {"x"}, {"y"})->set_name("node");
  return model;
}

std::string Declared(const std::vector<int64_t>& shape, int32_t type) {
  OnnxModel model;
  model.Input("x", {4}).Output("y", shape, type);
  model.Node("Relu", {"x"}, {"y"});
  return model.Bytes();
}

std::string Pool(const std::vector<int64_t>& shape, int64_t stride) {
  OnnxModel model;
  model.Input("x", shape).Output("y", shape);
  auto* node = model.Node("MaxPool", {"x"}, {"y"});
  const std::vector<int64_t> ones(shape.size() - 2, 1);
  OnnxModel::Ints(node, "kernel_shape", ones);
  OnnxModel::Ints(node, "strides",
                  std::vector<int64_t>(shape.size() - 2, stride));
  return model.Bytes();
}

void AddBytes(OnnxModel* model, const char* name, int32_t type,
              const std::vector<int64_t>& shape, size_t bytes) {
  auto* tensor = model->proto()->mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t dim : shape) tensor->add_dims(dim);
  tensor->set_raw_data(std::string(bytes, type == TensorProto::FLOAT ? 0 : 1));
  if (type == TensorProto::FLOAT) {
    const float one = 1;
    tensor->set_raw_data(&one, sizeof(one));
  }
}

// Runs only as something larger than it is: a convolution of two groups.
std::string Grouped() {
  OnnxModel model;
  model.Input("x", {1, 4, 5, 5}, TensorProto::UINT8);
  model.Output("y", {1, 4, 5, 5}, TensorProto::UINT8);
  for (const char* scale : {"xs", "ws", "ys"}) {
    AddBytes(&model, scale, TensorProto::FLOAT, {}, sizeof(float));
  }
  AddBytes(&model, "xz", TensorProto::UINT8, {}, 1);
  AddBytes(&model, "wz", TensorProto::UINT8, {}, 1);
  AddBytes(&model, "yz", TensorProto::UINT8, {}, 1);
  AddBytes(&model, "w", TensorProto::UINT8, {4, 2, 1, 1}, 8);
  auto* node = model.Node(
      "QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"}, {"y"});
  auto* group = node->add_attribute();
  group->set_name("group");
  group->set_type(onnx::AttributeProto::INT);
  group->set_i(2);
  return model.Bytes();
}

}  // namespace

void WrongArguments() {
  Objects objects;
  WrongIds(objects.id);
  WrongEvents(&objects);
  WrongRuns(&objects);
  EXPECT_OK(objects.Run());
  const std::string model = ReluModel({4});
  EXPECT_STATUS(
      ONNXIFI_STATUS_INVALID_ID,
      library().GetBackendCompatibility(kWild, model.size(), model.data()));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                library().GetBackendCompatibility(objects.id, 1, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_SIZE,
                library().GetBackendCompatibility(objects.id, 0, model.data()));
}

void WrongDescriptors() {
  Objects objects;
  float data[4] = {1, 2, 3, 4};
  // Weights.
  OnnxModel weighted;
  weighted.Input("x", {4}).Input("w", {4}).Output("y", {4});
  weighted.Node("Add", {"x", "w"}, {"y"});
  const std::string model = weighted.Bytes();
  const Tensor weight("w", {4}, data);
  EXPECT_OK(Init(objects, model, &weight.value));
  for (const WrongDescriptor& wrong : WrongIn(weight)) {
    EXPECT_STATUS(wrong.status, Init(objects, model, &wrong.value));
  }
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_PROPERTY,
                Init(objects, model, &weight.value, kBadLevel));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_PROPERTY,
                Init(objects, model, &weight.value, kUnknown));
  onnxGraph graph = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_BACKEND,
                library().InitGraph(kWild, nullptr, model.size(), model.data(),
                                    1, &weight.value, &graph, 0, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                library().InitGraph(objects.backend, nullptr, 1, nullptr, 0,
                                    nullptr, &graph, 0, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_SIZE,
                library().InitGraph(objects.backend, nullptr, 0, model.data(),
                                    0, nullptr, &graph, 0, nullptr));
  // Locations.
  const auto set = [&](onnxGraph to, const onnxTensorDescriptorV1& in,
                       const onnxTensorDescriptorV1* out) {
    return library().SetGraphIO(to, 1, &in, 1, out);
  };
  for (const WrongDescriptor& wrong : WrongIn(objects.in)) {
    EXPECT_STATUS(wrong.status,
                  set(objects.graph, wrong.value, &objects.out.value));
  }
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_GRAPH,
                set(kWild, objects.in.value, &objects.out.value));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                set(objects.graph, objects.in.value, nullptr));
  const Tensor unknown("z", {4}, data);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_NAME,
                set(objects.graph, unknown.value, &objects.out.value));
  EXPECT_STATUS(
      ONNXIFI_STATUS_UNIDENTIFIED_NAME,
      library().SetGraphIO(objects.graph, 0, nullptr, 1, &objects.out.value));
  EXPECT_STATUS(
      ONNXIFI_STATUS_UNSUPPORTED_TAG,
      set(objects.graph,
          With(objects.in, [](onnxTensorDescriptorV1* d) { d->tag = 1; }),
          &objects.out.value));
  const std::string symbolic = ReluModel({0});
  EXPECT_OK(library().InitGraph(objects.backend, nullptr, symbolic.size(),
                                symbolic.data(), 0, nullptr, &graph, 2,
                                nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_SHAPE,
                set(graph, objects.in.value, &objects.out.value));
  EXPECT_OK(library().ReleaseGraph(graph));
  EXPECT_OK(set(objects.graph, objects.in.value, &objects.out.value));
}

void RefusedModels() {
  Objects objects;
  OnnxModel version = Relu(), unknown = Relu(), unsound = Relu(), strings(13);
  version.proto()->set_ir_version(99);
  unknown.proto()->mutable_graph()->mutable_node(0)->set_op_type("Nonsense");
  unsound.proto()->mutable_graph()->mutable_node(0)->set_input(0, "nowhere");
  strings.Input("x", {4}, TensorProto::STRING);
  strings.Output("y", {4}, TensorProto::STRING);
  strings.Node("Identity", {"x"}, {"y"});
  const struct {
    onnxStatus status;
    std::string model;
  } cases[] = {
      {ONNXIFI_STATUS_SUCCESS, Relu().Bytes()},
      {ONNXIFI_STATUS_FALLBACK, Grouped()},
      {ONNXIFI_STATUS_INVALID_PROTOBUF, "\xff\xff\xff not a model"},
      {ONNXIFI_STATUS_INVALID_MODEL, unsound.Bytes()},
      {ONNXIFI_STATUS_UNSUPPORTED_VERSION, version.Bytes()},
      {ONNXIFI_STATUS_UNSUPPORTED_OPERATOR, unknown.Bytes()},
      {ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE, Pool({1, 1, 4, 4}, 70000)},
      {ONNXIFI_STATUS_UNSUPPORTED_SHAPE, Pool({1, 1, 4, 4, 4, 4}, 1)},
      {ONNXIFI_STATUS_UNSUPPORTED_DATATYPE, strings.Bytes()},
      {ONNXIFI_STATUS_MISMATCHING_SHAPE, Declared({5}, TensorProto::FLOAT)},
      {ONNXIFI_STATUS_MISMATCHING_DATATYPE, Declared({4}, TensorProto::INT32)},
  };
  for (const auto& tested : cases) {
    EXPECT_STATUS(tested.status,
                  library().GetBackendCompatibility(
                      objects.id, tested.model.size(), tested.model.data()));
    EXPECT_STATUS(tested.status, Init(objects, tested.model, nullptr));
  }
}

}  // namespace heddle::tests
