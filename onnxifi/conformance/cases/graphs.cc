// SPDX-License-Identifier: Apache-2.0
// onnxInitGraph without weight descriptors.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"
#include "onnxifi/conformance/cases/models.h"

namespace heddle::conformance {
namespace {

void GraphNull(Context& t) {
  const std::string model = t.Elementwise({2, 3}).Serialize();
  t.Expect(t.lib().InitGraph(t.backend(), nullptr, model.size(), model.data(),
                             0, nullptr, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxInitGraph without a place for the graph");
}

void ModelNull(Context& t) {
  onnxGraph graph = CanaryPointer();
  t.Expect(
      t.lib().InitGraph(t.backend(), nullptr, 100, nullptr, 0, nullptr, &graph),
      {ONNXIFI_STATUS_INVALID_POINTER}, "onnxInitGraph of NULL");
  t.Check(graph == nullptr, "onnxInitGraph did not set the handle to NULL");
}

void SizeZero(Context& t) {
  const std::string model = t.Elementwise({2, 3}).Serialize();
  onnxGraph graph = CanaryPointer();
  t.Expect(t.lib().InitGraph(t.backend(), nullptr, 0, model.data(), 0, nullptr,
                             &graph),
           {ONNXIFI_STATUS_INVALID_SIZE}, "onnxInitGraph with the size 0");
  t.Check(graph == nullptr, "onnxInitGraph did not set the handle to NULL");
}

void WeightsNull(Context& t) {
  const std::string model = t.Weighted({2, 3}).Serialize();
  onnxGraph graph = CanaryPointer();
  t.Expect(t.lib().InitGraph(t.backend(), nullptr, model.size(), model.data(),
                             1, nullptr, &graph),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxInitGraph with weightsCount 1 and no descriptors");
  t.Check(graph == nullptr, "onnxInitGraph did not set the handle to NULL");
}

void ExpectInitRejections(Context& t, const std::vector<BadModel>& models) {
  for (const BadModel& model : models) {
    onnxGraph graph = nullptr;
    const onnxStatus status = t.TryGraph(model.bytes, &graph);
    bool right = false;
    for (onnxStatus allowed : model.allowed) right |= status == allowed;
    t.Check(right, absl::StrCat("onnxInitGraph of ", model.what, " returned ",
                                StatusName(status), ", not ",
                                StatusName(model.allowed[0])));
  }
}

void Protobuf(Context& t) { ExpectInitRejections(t, BrokenProtobufs(t)); }
void Invalid(Context& t) { ExpectInitRejections(t, InvalidModels(t)); }
void UnknownOperator(Context& t) {
  ExpectInitRejections(t, UnknownOperators(t));
}
void Mismatching(Context& t) { ExpectInitRejections(t, MismatchingModels(t)); }
void UnsupportedType(Context& t) {
  ExpectInitRejections(t, UnsupportedTypes(t));
}

void UnknownProperty(Context& t) {
  const std::string model = t.Elementwise({2, 3}).Serialize();
  const uint64_t vendor = t.InfoNumber(ONNXIFI_BACKEND_GRAPH_INIT_PROPERTIES);
  std::vector<uint64_t> unknown = {77, 1000};
  for (int bit = 32; bit < 64; ++bit) {
    if ((vendor >> bit & 1) == 0) {
      unknown.push_back(uint64_t{1} << bit);
      break;
    }
  }
  for (const uint64_t id : unknown) {
    const uint64_t list[] = {id, 0, ONNXIFI_GRAPH_PROPERTY_NONE,
                             ONNXIFI_GRAPH_PROPERTY_NONE};
    onnxGraph graph = CanaryPointer();
    t.Expect(t.lib().InitGraph(t.backend(), list, model.size(), model.data(), 0,
                               nullptr, &graph),
             {ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
             absl::StrCat("onnxInitGraph with the unknown property ", id));
    t.Check(graph == nullptr, "onnxInitGraph did not set the handle to NULL");
  }
}

void EmptyProperties(Context& t) {
  const std::string model = t.Elementwise({2, 3}).Serialize();
  const uint64_t list[] = {ONNXIFI_GRAPH_PROPERTY_NONE};
  onnxGraph graph = nullptr;
  t.Expect(t.lib().InitGraph(t.backend(), list, model.size(), model.data(), 0,
                             nullptr, &graph),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph with an empty list");
  if (graph != nullptr) t.KeepGraph(graph);
}

void ModelMayVanish(Context& t) {
  const std::string model = t.Elementwise({2, 3}).Serialize();
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = (model.size() + page - 1) / page * page;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // The last byte of the model is the last of the memory.
  char* at = static_cast<char*>(memory) + bytes - model.size();
  std::memcpy(at, model.data(), model.size());
  onnxGraph graph = nullptr;
  const onnxStatus status = t.lib().InitGraph(
      t.backend(), nullptr, model.size(), at, 0, nullptr, &graph);
  munmap(memory, bytes);
  t.Expect(status, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph");
  if (graph == nullptr) return;
  t.KeepGraph(graph);
  Job job(t);
  std::swap(job.graph, graph);
  job.MustSetIO();
  job.Run();
}

void Independent(Context& t) {
  // The same names, other shapes and data.
  Job first(t, {2, 3}), second(t, {5});
  first.MustSetIO();
  second.MustSetIO();
  for (int i = 0; i < 3; ++i) {
    first.Run();
    second.Run();
    first.Refill();
    second.Refill();
  }
  second.Release();
  first.Run();
}

void LaterIr(Context& t) {
  bool listed = false;
  for (int64_t version : t.IrVersions()) listed |= version == 4;
  if (!listed) t.Unsupported("IR version 4 is not listed in ONNX_IR_VERSION");
  Model model = t.Weighted({2, 3});
  model.ir_version = 4;
  model.inputs.pop_back();  // w is an initializer alone
  model.initializers = {{"w", {2, 3}, 1, RawFloats({1, 2, 3, 4, 5, 6})}};
  const onnxGraph graph = t.NewGraph(model.Serialize());
  Tensor x("x", {2, 3}), y("y", {2, 3});
  t.Expect(t.SetIO(graph, {x.Describe()}, {y.Describe()}),
           {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
}

void AfterFailure(Context& t) {
  Model bad = t.Elementwise({2, 3});
  bad.nodes[0].op = "NoSuchOperatorOfOnnx";
  const std::string bytes = bad.Serialize();
  for (int i = 0; i < 50; ++i) {
    onnxGraph graph = nullptr;
    t.Check(t.TryGraph(bytes, &graph) != ONNXIFI_STATUS_SUCCESS,
            "a bad model was initialised");
  }
  Job job(t);
  job.MustSetIO();
  job.Run();
}

}  // namespace

std::vector<Case> GraphCases() {
  return {
      {"graphs.graph_null", "graph NULL is INVALID_POINTER", GraphNull},
      {"graphs.model_null", "onnxModel NULL is INVALID_POINTER", ModelNull},
      {"graphs.size_zero", "onnxModelSize 0 is INVALID_SIZE", SizeZero},
      {"graphs.weights_null",
       "weightDescriptors NULL with a count is INVALID_POINTER", WeightsNull},
      {"graphs.protobuf",
       "bytes that are not a ModelProto are INVALID_PROTOBUF", Protobuf},
      {"graphs.invalid_model", "models that violate ONNX are INVALID_MODEL",
       Invalid},
      {"graphs.unknown_operator", "unknown operators are rejected",
       UnknownOperator},
      {"graphs.mismatching",
       "declared shapes and types that contradict the inferred ones are "
       "MISMATCHING_SHAPE and MISMATCHING_DATATYPE",
       Mismatching},
      {"graphs.unsupported_type",
       "a data type is supported or UNSUPPORTED_DATATYPE", UnsupportedType},
      {"graphs.unknown_property", "unknown properties are UNSUPPORTED_PROPERTY",
       UnknownProperty},
      {"graphs.empty_properties", "an empty property list is accepted",
       EmptyProperties},
      {"graphs.model_may_vanish",
       "the model is not read after the call, nor past its end",
       ModelMayVanish},
      {"graphs.independent", "graphs with the same names are independent",
       Independent},
      {"graphs.later_ir",
       "initializers that are not inputs are accepted from IR version 4 on",
       LaterIr},
      {"graphs.after_failure",
       "a model that fails leaves the backend as usable as before",
       AfterFailure},
  };
}

}  // namespace heddle::conformance
