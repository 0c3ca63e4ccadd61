// SPDX-License-Identifier: Apache-2.0
// Symbolic dimensions.
#include <algorithm>
#include <cstddef>
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

// NonZero of x [2,3], and the Shape of that; at most so many columns.
struct Found {
  explicit Found(uint64_t most)
      : limit(most), rows(2 * most + 1, -1), rows_shape{2, most} {}
  uint64_t limit;
  std::vector<int64_t> rows;  // and one behind them
  std::vector<uint64_t> rows_shape, size_shape = {2};
  int64_t size[2] = {-1, -1};

  std::vector<Descriptor> Describe() {
    Descriptor found, tells;
    found.name = "rows";
    found.shape = rows_shape.data();
    found.buffer = reinterpret_cast<uint64_t>(rows.data());
    tells.name = "size";
    tells.shape = size_shape.data();
    tells.buffer = reinterpret_cast<uint64_t>(size);
    for (Descriptor* d : {&found, &tells}) {
      d->data_type = ONNXIFI_DATATYPE_INT64;
      d->dimensions = d == &found ? 2 : 1;
    }
    return {found, tells};
  }
};

// A run in which so many elements are not 0; how it ended.
onnxStatus Find(Context& t, onnxGraph graph, Tensor* x, size_t count) {
  std::fill(x->data.begin(), x->data.end(), 0.0f);
  std::fill(x->data.end() - static_cast<std::ptrdiff_t>(count), x->data.end(),
            2.0f);
  const onnxEvent input = t.NewEvent();
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  const onnxMemoryFenceV1 in = EventFence(input);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  if (!t.Expect(t.lib().RunGraph(graph, &in, &out), {ONNXIFI_STATUS_SUCCESS},
                "onnxRunGraph")) {
    return ONNXIFI_STATUS_INTERNAL_ERROR;
  }
  const onnxStatus status = t.lib().WaitEvent(out.event);
  t.KeepEvent(out.event);
  return status;
}

void VariableOutputs(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_VARIABLE_SIZE_OUTPUTS,
                   "VARIABLE_SIZE_OUTPUTS");
  Model model;
  model.opset = 9;
  model.nodes = {{"NonZero", {"x"}, {"rows"}, "", {}},
                 {"Shape", {"rows"}, {"size"}, "", {}}};
  model.inputs = {{"x", {2, 3}, ONNXIFI_DATATYPE_FLOAT32}};
  model.outputs = {{"rows", {2, "found"}, ONNXIFI_DATATYPE_INT64},
                   {"size", {2}, ONNXIFI_DATATYPE_INT64}};
  const std::string bytes = model.Serialize();
  onnxGraph graph = nullptr;
  const onnxStatus made = t.TryGraph(bytes, &graph);
  if (made == ONNXIFI_STATUS_UNSUPPORTED_OPERATOR) {
    t.Unsupported("NonZero or Shape is rejected");
  }
  if (!t.Expect(made, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
                "onnxInitGraph of data-dependent outputs")) {
    return;
  }
  t.Expect(t.Compatibility(bytes),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendCompatibility of data-dependent outputs");
  Tensor x("x", {2, 3});
  // All that there can be, more, and less.
  for (const uint64_t limit : {6, 10, 4}) {
    Found found(limit);
    if (!t.Expect(t.SetIO(graph, {x.Describe()}, found.Describe()),
                  {ONNXIFI_STATUS_SUCCESS},
                  absl::StrCat("onnxSetGraphIO with the upper limit ", limit,
                               " of a data-dependent dimension"))) {
      return;
    }
    for (const size_t count : {4, 1}) {
      t.Expect(Find(t, graph, &x, count), {ONNXIFI_STATUS_SUCCESS},
               "onnxWaitEvent of a run within the upper limit");
      t.Check(
          found.size[0] == 2 && found.size[1] == static_cast<int64_t>(count),
          absl::StrCat("a Shape says [", found.size[0], ",", found.size[1],
                       "] of an output that is [2,", count, "]"));
      bool dense = true;
      for (size_t i = 0; i < count; ++i) {
        const auto at = static_cast<int64_t>(6 - count + i);
        dense &= found.rows[i] == at / 3 && found.rows[count + i] == at % 3;
      }
      t.Rule(dense, "the elements are not dense at the buffer's beginning");
      t.Check(found.rows[2 * limit] == -1, "a byte past the limit changed");
    }
  }
  Found small(4);
  t.Expect(t.SetIO(graph, {x.Describe()}, small.Describe()),
           {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
  t.ExpectRule(Find(t, graph, &x, 5), {ONNXIFI_STATUS_INTERNAL_ERROR},
               "onnxWaitEvent of a run beyond the upper limit");
  t.Check(small.rows[8] == -1, "a byte past the limit changed");
}

}  // namespace

std::vector<Case> SymbolicCases() {
  return {
      {"symbolic.batch",
       "a symbolic outer dimension takes the value that onnxSetGraphIO gives",
       Batch},
      {"symbolic.any_dimension",
       "any symbolic dimension takes the value that onnxSetGraphIO gives",
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
       "a value for which no memory suffices is UNSUPPORTED_SHAPE", TooLarge},
      {"symbolic.max_sequence", "maxSeqLength bounds symbolic dimensions",
       MaxSequence},
      {"symbolic.variable_outputs",
       "the shape of a data-dependent output is an upper limit, and a Shape "
       "operator reports what it is",
       VariableOutputs},
  };
}

}  // namespace heddle::conformance
