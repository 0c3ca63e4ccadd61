// SPDX-License-Identifier: Apache-2.0
// Symbolic dimensions.
#include <limits>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

void RunWith(Context& t, onnxGraph graph, const std::vector<uint64_t>& shape) {
  Tensor x("x", shape), z("z", shape), y("y", shape);
  for (size_t i = 0; i < x.data.size(); ++i) {
    x.data[i] = static_cast<float>(i % 17);
    z.data[i] = static_cast<float>(i % 5) - 2;
    y.data[i] = std::numeric_limits<float>::quiet_NaN();
  }
  if (!t.Expect(t.SetIO(graph, {x.Describe(), z.Describe()}, {y.Describe()}),
                {ONNXIFI_STATUS_SUCCESS},
                "onnxSetGraphIO with values for symbolic dimensions")) {
    return;
  }
  const onnxEvent input = t.NewEvent();
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  const onnxMemoryFenceV1 in = EventFence(input);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  t.Expect(t.lib().RunGraph(graph, &in, &out), {ONNXIFI_STATUS_SUCCESS},
           "onnxRunGraph");
  t.Expect(t.lib().WaitEvent(out.event), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent");
  t.KeepEvent(out.event);
  bool right = true;
  for (size_t i = 0; i < y.data.size(); ++i) {
    right &= y.data[i] == t.op().apply(x.data[i], z.data[i]);
  }
  t.Check(right, "the result of a run is wrong");
}

void Batch(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE,
                   "SYMBOLIC_BATCH_SIZE");
  const std::string model = t.Elementwise({"N", 4}).Serialize();
  t.Expect(t.Compatibility(model),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendCompatibility of a symbolic batch size");
  const onnxGraph graph = t.NewGraph(model);
  for (const uint64_t n : {3, 1, 8, 3}) RunWith(t, graph, {n, 4});
}

void AnyDimension(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS,
                   "SYMBOLIC_SIZE_TENSORS");
  const std::string model = t.Elementwise({"N", 2, "M"}).Serialize();
  t.Expect(t.Compatibility(model),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendCompatibility of symbolic dimensions");
  const onnxGraph graph = t.NewGraph(model);
  RunWith(t, graph, {1, 2, 5});
  RunWith(t, graph, {4, 2, 1});
  RunWith(t, graph, {1, 2, 5});
}

void NotAdvertised(Context& t) {
  if (t.Has(ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS)) {
    t.Unsupported(
        "SYMBOLIC_SIZE_TENSORS is advertised, so symbolic "
        "dimensions are no fault");
  }
  const std::string model = t.Elementwise({2, "M"}).Serialize();
  t.ExpectRule(t.Compatibility(model), {ONNXIFI_STATUS_UNSUPPORTED_SHAPE},
               "onnxGetBackendCompatibility of symbolic dimensions that are "
               "not advertised");
  onnxGraph graph = nullptr;
  t.ExpectRule(t.TryGraph(model, &graph), {ONNXIFI_STATUS_UNSUPPORTED_SHAPE},
               "onnxInitGraph of symbolic dimensions that are not advertised");
}

void SameName(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE,
                   "SYMBOLIC_BATCH_SIZE");
  const onnxGraph graph = t.NewGraph(t.Elementwise({"N", 4}).Serialize());
  Tensor x("x", {3, 4}), z("z", {3, 4}), y("y", {5, 4});
  t.Expect(t.SetIO(graph, {x.Describe(), z.Describe()}, {y.Describe()}),
           {ONNXIFI_STATUS_MISMATCHING_SHAPE},
           "onnxSetGraphIO with two values for one symbolic dimension");
  Tensor w("y", {3, 6});
  t.Expect(t.SetIO(graph, {x.Describe(), z.Describe()}, {w.Describe()}),
           {ONNXIFI_STATUS_MISMATCHING_SHAPE},
           "onnxSetGraphIO with another value for a fixed dimension");
}

void ZeroValue(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE,
                   "SYMBOLIC_BATCH_SIZE");
  const onnxGraph graph = t.NewGraph(t.Elementwise({"N", 4}).Serialize());
  Tensor x("x", {1, 4}), z("z", {1, 4}), y("y", {1, 4});
  for (Tensor* tensor : {&x, &z, &y}) tensor->shape = {0, 4};
  t.Expect(t.SetIO(graph, {x.Describe(), z.Describe()}, {y.Describe()}),
           {ONNXIFI_STATUS_INVALID_SHAPE},
           "onnxSetGraphIO with 0 for a symbolic dimension");
}

void TooLarge(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE,
                   "SYMBOLIC_BATCH_SIZE");
  const onnxGraph graph = t.NewGraph(t.Elementwise({"N", 4}).Serialize());
  Tensor x("x", {1, 4}), z("z", {1, 4}), y("y", {1, 4});
  for (Tensor* tensor : {&x, &z, &y}) tensor->shape = {uint64_t{1} << 40, 4};
  t.Expect(
      t.SetIO(graph, {x.Describe(), z.Describe()}, {y.Describe()}),
      {ONNXIFI_STATUS_UNSUPPORTED_SHAPE, ONNXIFI_STATUS_NO_DEVICE_MEMORY,
       ONNXIFI_STATUS_NO_SYSTEM_MEMORY, ONNXIFI_STATUS_INVALID_MEMORY_LOCATION},
      "onnxSetGraphIO with 2^40 for a symbolic dimension");
}

void MaxSequence(Context& t) {
  if (t.abi() != Abi::kExtended) {
    t.Unsupported("maxSeqLength is an argument of the extended ABI only");
  }
  t.NeedCapability(ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE,
                   "SYMBOLIC_BATCH_SIZE");
  const std::string model = t.Elementwise({"N", 4}).Serialize();
  onnxGraph graph = nullptr;
  t.Expect(t.lib().InitGraph(t.backend(), nullptr, model.size(), model.data(),
                             0, nullptr, &graph, 8),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph with maxSeqLength 8");
  if (graph == nullptr) return;
  t.KeepGraph(graph);
  RunWith(t, graph, {8, 4});
  Tensor x("x", {9, 4}), z("z", {9, 4}), y("y", {9, 4});
  t.ExpectRule(t.SetIO(graph, {x.Describe(), z.Describe()}, {y.Describe()}),
               {ONNXIFI_STATUS_UNSUPPORTED_SHAPE},
               "onnxSetGraphIO with 9 where maxSeqLength is 8");
}

}  // namespace

std::vector<Case> SymbolicCases() {
  return {
      {"symbolic.batch",
       "a symbolic outer dimension has the value that onnxSetGraphIO gives",
       Batch},
      {"symbolic.any_dimension",
       "any symbolic dimension has the value that onnxSetGraphIO gives",
       AnyDimension},
      {"symbolic.not_advertised",
       "without the capability symbolic dimensions are UNSUPPORTED_SHAPE",
       NotAdvertised},
      {"symbolic.same_name",
       "one name has one value, and fixed dimensions stay fixed: "
       "MISMATCHING_SHAPE",
       SameName},
      {"symbolic.zero_value", "0 for a symbolic dimension is INVALID_SHAPE",
       ZeroValue},
      {"symbolic.too_large",
       "a value that no memory suffices for is UNSUPPORTED_SHAPE", TooLarge},
      {"symbolic.max_sequence", "maxSeqLength bounds symbolic dimensions",
       MaxSequence},
  };
}

}  // namespace heddle::conformance
