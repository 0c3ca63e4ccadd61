// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/testing/fixture.h"

#include <onnx/onnx_pb.h>

#include <cctype>
#include <utility>

namespace heddle::onnxifi {
namespace {

void Fill(const TestTensor& tensor, onnx::ValueInfoProto* info) {
  info->set_name(tensor.name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(tensor.type);
  type->mutable_shape();
  for (const std::string& dim : tensor.dims) {
    auto* added = type->mutable_shape()->add_dim();
    if (std::isdigit(static_cast<unsigned char>(dim[0]))) {
      added->set_dim_value(std::stoll(dim));
    } else if (dim != "?") {
      added->set_dim_param(dim);
    }
  }
}

}  // namespace

testing::AssertionResult SameStatus(const char*, const char* call,
                                    onnxStatus want, onnxStatus got) {
  if (want == got) return testing::AssertionSuccess();
  return testing::AssertionFailure() << call << " returned " << StatusName(got)
                                     << ", not " << StatusName(want);
}

std::string Serialize(const TestModel& model) {
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(17);
  proto.set_doc_string(std::string(model.padding, 'x'));
  auto* graph = proto.mutable_graph();
  graph->set_name("test");
  for (const auto& tensor : model.inputs) Fill(tensor, graph->add_input());
  for (const auto& tensor : model.outputs) Fill(tensor, graph->add_output());
  for (const auto& tensor : model.initializers) {
    auto* data = graph->add_initializer();
    data->set_name(tensor.name);
    data->set_data_type(tensor.type);
  }
  return proto.SerializeAsString();
}

TestDescriptor::TestDescriptor(std::string name_in,
                               std::vector<uint64_t> shape_in, void* data,
                               uint64_t type)
    : name(std::move(name_in)), shape(std::move(shape_in)), value() {
  value.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  value.name = name.c_str();
  value.dataType = type;
  value.dimensions = static_cast<uint32_t>(shape.size());
  value.shape = shape.data();
  value.buffer = reinterpret_cast<onnxPointer>(data);
}

onnxMemoryFenceV1 EventFence(onnxEvent event) {
  onnxMemoryFenceV1 fence = {};
  fence.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
  fence.type = ONNXIFI_SYNCHRONIZATION_EVENT;
  fence.event = event;
  return fence;
}

void OnnxifiTest::SetUp() {
  world().Reset();
  ASSERT_EQ(world().live_graphs(), 0);
  ASSERT_EQ(world().live_devices(), 0);
  const auto ids = ListIds();
  ASSERT_EQ(ids.size(), 1u);
  id_ = ids[0];
  ASSERT_OK(onnxInitBackend(id_, nullptr, &backend_));
}

void OnnxifiTest::TearDown() {
  world().Reset();
  if (backend_ != nullptr) {
    EXPECT_OK(onnxReleaseBackend(backend_));
  }
  for (onnxBackendID id : listed_) EXPECT_OK(onnxReleaseBackendID(id));
  EXPECT_EQ(world().live_graphs(), 0);
  EXPECT_EQ(world().live_devices(), 0);
  EXPECT_EQ(world().memory_used("card0"), 0u);
}

std::vector<onnxBackendID> OnnxifiTest::ListIds() {
  size_t count = 16;
  std::vector<onnxBackendID> ids(count);
  EXPECT_OK(onnxGetBackendIDs(ids.data(), &count));
  ids.resize(count);
  listed_.insert(listed_.end(), ids.begin(), ids.end());
  return ids;
}

onnxGraph OnnxifiTest::MakeGraph(const TestModel& model) {
  const std::string bytes = Serialize(model);
  onnxGraph graph = nullptr;
  EXPECT_OK(onnxInitGraph(backend_, nullptr, bytes.size(), bytes.data(), 0,
                          nullptr, &graph, 0, nullptr));
  return graph;
}

onnxEvent OnnxifiTest::MakeEvent() {
  onnxEvent event = nullptr;
  EXPECT_OK(onnxInitEvent(backend_, &event));
  return event;
}

onnxStatus OnnxifiTest::SetIo(onnxGraph graph, void* x, void* y) {
  const TestDescriptor in("x", {4}, x), out("y", {4}, y);
  return onnxSetGraphIO(graph, 1, &in.value, 1, &out.value);
}

onnxStatus OnnxifiTest::Run(onnxGraph graph, onnxEvent input,
                            onnxEvent* output) {
  const onnxMemoryFenceV1 in = EventFence(input);
  onnxMemoryFenceV1 out = EventFence(reinterpret_cast<onnxEvent>(0x1234));
  const onnxStatus status = onnxRunGraph(graph, &in, &out);
  *output = out.event;
  return status;
}

onnxStatus OnnxifiTest::RunToEnd(onnxGraph graph) {
  onnxEvent input = MakeEvent(), output = nullptr;
  EXPECT_OK(onnxSignalEvent(input));
  onnxStatus status = Run(graph, input, &output);
  if (status == ONNXIFI_STATUS_SUCCESS) {
    status = onnxWaitEvent(output);
    EXPECT_OK(onnxReleaseEvent(output));
  } else {
    EXPECT_EQ(output, nullptr);
  }
  EXPECT_OK(onnxReleaseEvent(input));
  return status;
}

}  // namespace heddle::onnxifi
