// SPDX-License-Identifier: Apache-2.0
// heddle.TopK: the indices of the k largest or smallest elements along an axis,
// in order; of equal ones (-0 equals +0) the first comes first. A NaN is larger
// than all numbers.
//
// TopK is made of it: the values are what the indices choose. A long axis is
// searched in parts, and what the parts have found once more: an element's
// place among equal ones stays what it is. `sorted` = 0 allows any order, hence
// this one. A k that only a run says is the host's: the results have room for
// the whole axis (bounded.h).
#include <algorithm>
#include <cstring>
#include <numeric>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/indices.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {
namespace {

// An axis of as many elements is searched as a whole.
constexpr int64_t kMaxPart = 1024;
// A search for more is not split: its parts would find too little less.
constexpr int64_t kMaxFound = 64;
// Indices are exact as float, which is what a constant is made of.
constexpr int64_t kMaxLength = int64_t{1} << 24;

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  Shape shape = x.shape;
  shape[node.IntAttribute("axis", 0)] = node.IntAttribute("k", 0);
  return SetOutput(graph, node, 0, DataType::kInt32, shape);
}

template <typename T>
void Search(const Node& node, const Shape& about, const T* x, int32_t* y) {
  const int64_t k = node.IntAttribute("k", 0);
  const bool largest = node.IntAttribute("largest", 1) != 0;
  const auto less = [](T a, T b) {
    // Only a NaN is not itself.
    if (a != a) return false;
    return b != b || a < b;
  };
  const int64_t count = about[1], inner = about[2];
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (int64_t o = 0; o < about[0]; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Pace(count);
      const auto at = [&](int64_t p) { return x[(o * count + p) * inner + i]; };
      std::iota(order.begin(), order.end(), int64_t{0});
      std::partial_sort(order.begin(), order.begin() + k, order.end(),
                        [&](int64_t a, int64_t b) {
                          Pace(1);
                          const T u = at(a), v = at(b);
                          if (largest ? less(v, u) : less(u, v)) return true;
                          if (largest ? less(u, v) : less(v, u)) return false;
                          return a < b;
                        });
      for (int64_t p = 0; p < k; ++p) {
        y[(o * k + p) * inner + i] =
            static_cast<int32_t>(order[static_cast<size_t>(p)]);
      }
    }
  }
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const auto axis = static_cast<size_t>(node.IntAttribute("axis", 0));
  Shape shape = x.shape;
  shape[axis] = node.IntAttribute("k", 0);
  TensorData y = TensorData::Zeros(DataType::kInt32, shape);
  const Shape about = AboutAxis(x.shape, axis);
  int32_t* out = y.as<int32_t>();
  switch (x.type) {
    case DataType::kUint8:
      Search(node, about, x.as<uint8_t>(), out);
      break;
    case DataType::kInt8:
      Search(node, about, x.as<int8_t>(), out);
      break;
    case DataType::kUint16:
      Search(node, about, x.as<uint16_t>(), out);
      break;
    case DataType::kInt16:
      Search(node, about, x.as<int16_t>(), out);
      break;
    case DataType::kUint32:
      Search(node, about, x.as<uint32_t>(), out);
      break;
    case DataType::kInt32:
      Search(node, about, x.as<int32_t>(), out);
      break;
    case DataType::kUint64:
      Search(node, about, x.as<uint64_t>(), out);
      break;
    case DataType::kInt64:
      Search(node, about, x.as<int64_t>(), out);
      break;
    case DataType::kDouble:
      Search(node, about, x.as<double>(), out);
      break;
    default:
      Search(node, about, ToFloats(x).data(), out);
  }
  return One(std::move(y));
}

// Indices of the k first along `axis`, and the elements.
struct Found {
  TensorId values, indices;
};

Found Search(Expansion* e, TensorId x, int64_t axis, int64_t k, bool largest) {
  const int64_t count = e->T(x).shape[static_cast<size_t>(axis)];
  const auto pick = [&](TensorId from, TensorId indices) {
    return e->Add("GatherElements", {from, indices}, {{"axis", axis}});
  };
  if (count <= kMaxPart || k > kMaxFound) {
    const TensorId indices =
        e->Add("heddle.TopK", {x},
               {{"axis", axis}, {"k", k}, {"largest", int64_t{largest}}});
    return {pick(x, indices), indices};
  }
  std::vector<TensorId> values, indices;
  for (int64_t first = 0; first < count; first += kMaxPart) {
    const int64_t end = std::min(count, first + kMaxPart);
    const TensorId part =
        e->Add("Slice", {x, e->Ints({first}), e->Ints({end}), e->Ints({axis})});
    const Found found =
        Search(e, part, axis, std::min(k, end - first), largest);
    values.push_back(found.values);
    const auto before = static_cast<float>(first);  // exact
    indices.push_back(
        first == 0 ? found.indices
                   : e->Add("Add", {found.indices,
                                    e->Scalar(DataType::kInt32, before)}));
  }
  const auto concat = [&](const std::vector<TensorId>& parts) {
    return e->Add("Concat", parts, {{"axis", axis}});
  };
  const TensorId candidates = concat(values);
  const Found best = Search(e, candidates, axis, k, largest);
  return {best.values, pick(concat(indices), best.indices)};
}

absl::Status CheckLength(const Node& node, int64_t length) {
  if (length <= kMaxLength) return absl::OkStatus();
  return RejectNode(Rejection::kUnsupportedShape, node, "the axis has ", length,
                    " elements, at most ", kMaxLength, " are supported");
}

absl::Status CheckCount(const Node& node, const Tensor& k) {
  if (ElementCount(k.shape) == 1) return absl::OkStatus();
  return RejectNode(Rejection::kInvalidModel, node, "k of shape ",
                    ShapeToString(k.shape), " must be one element");
}

bool HasConstantK(const Graph& graph, const Node& node) {
  return !HasInput(node, 1) || InputOf(graph, node, 1).is_constant();
}

// Of a k that a run decides.
absl::Status InferAll(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Shape shape = x.shape;
  const DataType type = x.type;
  RETURN_IF_ERROR(CheckCount(node, InputOf(*graph, node, 1)));
  ASSIGN_OR_RETURN(const size_t axis, AxisOf(node, shape.size(), -1));
  RETURN_IF_ERROR(CheckLength(node, shape[axis]));
  RETURN_IF_ERROR(SetOutput(graph, node, 0, type, shape));
  return SetOutput(graph, node, 1, DataType::kInt64, shape);
}

Results EvaluateFirst(const Graph& graph, const Node& node,
                      const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  ASSIGN_OR_RETURN(const size_t axis, AxisOf(node, x.shape.size(), -1));
  const int64_t k = ToInts(*inputs[1])[0];
  if (k < 0 || k > x.shape[axis]) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.Describe(), ": k = ", k, " of a dimension of size ", x.shape[axis],
        ", must not be negative and not more than that"));
  }
  Node search = node;
  search.attributes["axis"] = static_cast<int64_t>(axis);
  search.attributes["k"] = k;
  ASSIGN_OR_RETURN(auto found, Evaluate(graph, search, {&x}));
  const TensorData& places = found[0];
  const Shape about = AboutAxis(x.shape, axis);
  const size_t bytes = ElementBytes(x.type);
  std::vector<TensorData> results = {
      TensorData::Zeros(x.type, places.shape),
      TensorData::Zeros(DataType::kInt64, places.shape)};
  for (int64_t i = 0; i < places.count(); ++i) {
    PaceAt(i);
    const int64_t place = places.as<int32_t>()[i];
    const int64_t from =
        (i / about[2] / k * about[1] + place) * about[2] + i % about[2];
    std::memcpy(results[0].bytes.data() + i * bytes,
                x.bytes.data() + from * bytes, bytes);
    results[1].as<int64_t>()[i] = place;
  }
  return results;
}

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Shape shape = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  ASSIGN_OR_RETURN(const size_t axis, AxisOf(node, shape.size(), -1));
  int64_t k = node.IntAttribute("k", 0);
  if (e->HasIn(1)) {
    const Tensor& given = e->T(e->In(1));
    RETURN_IF_ERROR(CheckCount(node, given));
    k = ToInts(*given.constant)[0];
  }
  if (k < 1 || k > shape[axis]) {
    return RejectNode(Rejection::kInvalidModel, node, "k = ", k,
                      " of a dimension of size ", shape[axis],
                      ", must be at least 1 and not more than that");
  }
  RETURN_IF_ERROR(CheckLength(node, shape[axis]));
  const Found found = Search(e, e->In(0), static_cast<int64_t>(axis), k,
                             node.IntAttribute("largest", 1) != 0);
  e->Return(0, found.values, type);
  e->Return(1, found.indices, DataType::kInt64);
  return absl::OkStatus();
}

constexpr TypeSet kOrdered = kNumbers | Types(DataType::kDouble);

const OperatorRegistration kSearch(Define("TopK", 1, kMaxOpset)
                                       .Domain(kInternalDomain)
                                       .Inputs(1, 1, kOrdered)
                                       .Attr("axis", AttributeKind::kInt, true)
                                       .Attr("k", AttributeKind::kInt, true)
                                       .Attr("largest", AttributeKind::kInt)
                                       .Run(Infer, Evaluate));
const ExpandedOperator kTopK1(Define("TopK", 1, 9)
                                  .Inputs(1, 1,
                                          kReals | Types(DataType::kDouble))
                                  .Outputs(2)
                                  .Attr("axis", AttributeKind::kInt)
                                  .Attr("k", AttributeKind::kInt, true),
                              Expand);
const ExpandedOperator kTopK10(Define("TopK", 10, 10)
                                   .Inputs(2, 2,
                                           kReals | Types(DataType::kDouble),
                                           kInt64s)
                                   .Outputs(2)
                                   .Attr("axis", AttributeKind::kInt),
                               Expand, HasConstantK, InferAll, EvaluateFirst);
const ExpandedOperator kTopK11(Define("TopK", 11, kMaxOpset)
                                   .Inputs(2, 2, kOrdered, kInt64s)
                                   .Outputs(2)
                                   .Attr("axis", AttributeKind::kInt)
                                   .Attr("largest", AttributeKind::kInt)
                                   .Attr("sorted", AttributeKind::kInt),
                               Expand, HasConstantK, InferAll, EvaluateFirst);

}  // namespace
}  // namespace heddle::compiler
