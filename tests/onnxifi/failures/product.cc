// SPDX-License-Identifier: Apache-2.0
#include "tests/onnxifi/failures/product.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <atomic>
#include <stdexcept>
#include <utility>

#include "tests/support/onnx_model.h"

namespace heddle::tests {
namespace {

constexpr int kStatusCodes = 0x500;
std::atomic<bool> noted[onnxifi::kFunctions][kStatusCodes];

void* Find(void* object, const char* name) {
  void* address = dlsym(object, name);
  if (address == nullptr) throw std::runtime_error(dlerror());
  return address;
}

// Dimensions of 0 become symbols.
void NameSymbols(OnnxModel* model) {
  auto* graph = model->proto()->mutable_graph();
  for (auto* value : {graph->mutable_input(0), graph->mutable_output(0)}) {
    auto* shape = value->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape->dim_size(); ++i) {
      if (shape->dim(i).dim_value() != 0) continue;
      shape->mutable_dim(i)->set_dim_param("N" + std::to_string(i));
    }
  }
}

}  // namespace

void Note(Function function, onnxStatus status) {
  noted[static_cast<int>(function)][status] = true;
}

bool Noted(Function function, onnxStatus status) {
  return noted[static_cast<int>(function)][status];
}

Library::Library(void* object)
    : GetBackendIDs(Function::kGetBackendIDs,
                    Find(object, "onnxGetBackendIDs")),
      ReleaseBackendID(Function::kReleaseBackendID,
                       Find(object, "onnxReleaseBackendID")),
      GetBackendInfo(Function::kGetBackendInfo,
                     Find(object, "onnxGetBackendInfo")),
      GetBackendCompatibility(Function::kGetBackendCompatibility,
                              Find(object, "onnxGetBackendCompatibility")),
      InitBackend(Function::kInitBackend, Find(object, "onnxInitBackend")),
      ReleaseBackend(Function::kReleaseBackend,
                     Find(object, "onnxReleaseBackend")),
      InitEvent(Function::kInitEvent, Find(object, "onnxInitEvent")),
      SignalEvent(Function::kSignalEvent, Find(object, "onnxSignalEvent")),
      GetEventState(Function::kGetEventState,
                    Find(object, "onnxGetEventState")),
      WaitEvent(Function::kWaitEvent, Find(object, "onnxWaitEvent")),
      ReleaseEvent(Function::kReleaseEvent, Find(object, "onnxReleaseEvent")),
      InitGraph(Function::kInitGraph, Find(object, "onnxInitGraph")),
      SetGraphIO(Function::kSetGraphIO, Find(object, "onnxSetGraphIO")),
      RunGraph(Function::kRunGraph, Find(object, "onnxRunGraph")),
      ReleaseGraph(Function::kReleaseGraph, Find(object, "onnxReleaseGraph")),
      GetExtensionFunctionAddress(
          Function::kGetExtensionFunctionAddress,
          Find(object, "onnxGetExtensionFunctionAddress")) {}

Library& Library::Get() {
  static Library* const library = [] {
    // Small networks of both sides, whose card must be among what fails.
    setenv("HEDDLE_PLACE", "card", 1);
    const std::string path = Runfile(getenv("EXTENDED_LIBRARY"));
    void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) throw std::runtime_error(dlerror());
    return new Library(object);
  }();
  return *library;
}

TestCard& TestCard::Get() {
  static TestCard card;
  return card;
}

TestCard::TestCard() {
  if (const char* given = getenv("HEDDLE_TEST_DEVICE"); given != nullptr) {
    setenv("HEDDLE_DEVICE", given, 1);
    return;
  }
  card_ = std::make_unique<VirtualCard>(socket(), CardOptions());
  driver_ = std::make_unique<HostedDriver>(folder_ / "driver",
                                           std::vector<std::string>{socket()});
  setenv("HEDDLE_DEVICE", driver_->device().c_str(), 1);
}

void TestCard::Replace(const CardOptions& options) {
  Remove();
  card_ = std::make_unique<VirtualCard>(socket(), options);
  ASSERT_TRUE(driver_->WaitForCards(1));
}

void TestCard::Remove() {
  card_->Kill();
  ASSERT_TRUE(driver_->WaitForCards(0));
}

Tensor::Tensor(std::string name_in, std::vector<uint64_t> shape_in,
               const void* data, uint64_t type)
    : name(std::move(name_in)), shape(std::move(shape_in)) {
  value.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  value.name = name.c_str();
  value.dataType = type;
  value.memoryType = ONNXIFI_MEMORY_TYPE_CPU;
  value.dimensions = static_cast<uint32_t>(shape.size());
  value.shape = shape.data();
  value.buffer = reinterpret_cast<onnxPointer>(data);
}

onnxMemoryFenceV1 Fence(onnxEvent event) {
  onnxMemoryFenceV1 fence = {};
  fence.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
  fence.type = ONNXIFI_SYNCHRONIZATION_EVENT;
  fence.event = event;
  return fence;
}

std::string ReluModel(const std::vector<int64_t>& shape) {
  OnnxModel model;
  model.Input("x", shape).Output("y", shape);
  model.Node("Relu", {"x"}, {"y"});
  NameSymbols(&model);
  return model.Bytes();
}

std::string MatMulModel(int64_t n, bool symbolic) {
  const int64_t rows = symbolic ? 0 : 1;
  OnnxModel model;
  model.Input("x", {rows, n}).Output("y", {rows, n});
  model.Weights("w", {n, n}, std::vector<float>(n * n, 0.5f));
  model.Node("MatMul", {"x", "w"}, {"y"});
  NameSymbols(&model);
  return model.Bytes();
}

std::string SplitModel(const std::vector<int64_t>& shape) {
  OnnxModel model;
  model.Input("x", shape).Output("y", shape);
  model.Node("Relu", {"x"}, {"a"});
  const auto cast = [&](const char* from, const char* to, int64_t type) {
    auto* attribute = model.Node("Cast", {from}, {to})->add_attribute();
    attribute->set_name("to");
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(type);
  };
  cast("a", "d", onnx::TensorProto::DOUBLE);
  model.Node("Transpose", {"d"}, {"t"});
  cast("t", "f", onnx::TensorProto::FLOAT);
  model.Node("Sigmoid", {"f"}, {"y"});
  return model.Bytes();
}

Objects::Objects() {
  TestCard::Get();
  Library& library = Library::Get();
  onnxBackendID ids[8];
  size_t count = 8;
  EXPECT_OK(library.GetBackendIDs(ids, &count));
  if (count == 0) {
    ADD_FAILURE() << "there is no card";
    return;
  }
  id = ids[0];
  for (size_t i = 1; i < count; ++i) {
    EXPECT_OK(library.ReleaseBackendID(ids[i]));
  }
  EXPECT_OK(library.InitBackend(id, nullptr, &backend));
  graph = Graph(ReluModel({4}));
  EXPECT_OK(library.SetGraphIO(graph, 1, &in.value, 1, &out.value));
}

Objects::~Objects() {
  Library& library = Library::Get();
  if (graph != nullptr) {
    EXPECT_OK(library.ReleaseGraph(graph));
  }
  if (backend != nullptr) {
    EXPECT_OK(library.ReleaseBackend(backend));
  }
  if (id != nullptr) {
    EXPECT_OK(library.ReleaseBackendID(id));
  }
}

onnxEvent Objects::Event(bool signalled) {
  onnxEvent event = nullptr;
  EXPECT_OK(Library::Get().InitEvent(backend, &event));
  if (signalled) {
    EXPECT_OK(Library::Get().SignalEvent(event));
  }
  return event;
}

onnxGraph Objects::Graph(const std::string& model) {
  onnxGraph made = nullptr;
  const onnxStatus status =
      Library::Get().InitGraph(backend, nullptr, model.size(), model.data(), 0,
                               nullptr, &made, 0, nullptr);
  // Some run partly on the host.
  if (status != ONNXIFI_STATUS_FALLBACK) {
    EXPECT_OK(status);
  }
  return made;
}

onnxStatus Objects::Start(onnxEvent input, onnxEvent* output) {
  const onnxMemoryFenceV1 before = Fence(input);
  onnxMemoryFenceV1 after = Fence();
  const onnxStatus status = Library::Get().RunGraph(graph, &before, &after);
  *output = after.event;
  return status;
}

onnxStatus Objects::Run() {
  Library& library = Library::Get();
  const onnxEvent input = Event(true);
  onnxEvent output = nullptr;
  onnxStatus status = Start(input, &output);
  if (status == ONNXIFI_STATUS_SUCCESS) {
    status = library.WaitEvent(output);
    EXPECT_OK(library.ReleaseEvent(output));
  }
  EXPECT_OK(library.ReleaseEvent(input));
  return status;
}

testing::AssertionResult SameStatus(const char*, const char* call,
                                    onnxStatus want, onnxStatus got) {
  if (want == got) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << call << " returned " << onnxifi::StatusName(got) << ", not "
         << onnxifi::StatusName(want);
}

}  // namespace heddle::tests
