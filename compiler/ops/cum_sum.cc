// SPDX-License-Identifier: Apache-2.0
// CumSum: additions in the order of the elements, in fp32
// from +0, each result rounded to its type; integers wrap.
//
// heddle.CumSum is the sum up to and with each element, along an axis of at
// most kMaxScan elements. CumSum is made of it: in reverse by reversing the
// input and the result, exclusive by what is one place before, and longer ones
// piece by piece, each with the last sum of the one before it as its first
// element: the same additions.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/reduce.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// A row of it and of its result fit any SRAM.
constexpr int64_t kMaxScan = 1024;
constexpr int64_t kMaxLength = int64_t{1} << 18;
constexpr size_t kMostAxes = 8;  // of which a computed one is one

// [outer, count, inner]
struct Extents {
  int64_t outer = 1, count = 1, inner = 1;
};
Extents ExtentsOf(const Shape& shape, int64_t axis) {
  Extents e;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    (at < axis ? e.outer : at == axis ? e.count : e.inner) *= shape[i];
  }
  return e;
}

template <typename T, typename Sum>
void Scan(const Extents& e, std::vector<T>* values, Sum sum) {
  for (int64_t o = 0; o < e.outer; ++o) {
    for (int64_t i = 0; i < e.inner; ++i) {
      T total = 0;
      for (int64_t k = 0; k < e.count; ++k) {
        PaceAt(k);
        T& v = (*values)[(o * e.count + k) * e.inner + i];
        v = total = sum(total, v);
      }
    }
  }
}

template <typename T>
Results ScanAs(const TensorData& x, const Extents& e) {
  TensorData y = x;
  std::vector<T> values(x.as<T>(), x.as<T>() + x.count());
  Scan(e, &values, [](T a, T b) { return static_cast<T>(a + b); });
  std::copy(values.begin(), values.end(), y.as<T>());
  return One(std::move(y));
}

Results EvaluateScan(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const Extents e = ExtentsOf(x.shape, node.IntAttribute("axis", 0));
  switch (x.type) {
    case DataType::kInt32:
    case DataType::kUint32:
      return ScanAs<uint32_t>(x, e);
    case DataType::kInt64:
    case DataType::kUint64:
      return ScanAs<uint64_t>(x, e);
    default: {
      std::vector<float> values = ToFloats(x);
      Scan(e, &values, model::FAdd);
      return One(FromFloats(x.type, x.shape, values));
    }
  }
}

// The sums along one axis, in the type of the input.
TensorId SumsAlong(Expansion* e, size_t axis) {
  const Shape shape = e->T(e->In(0)).shape;
  const int64_t length = shape[axis];
  const auto at = static_cast<int64_t>(axis);
  const DataType type = e->T(e->In(0)).type;
  const auto slice = [&](TensorId x, int64_t from, int64_t to, int64_t step) {
    return e->Add("Slice", {x, e->Ints({from}), e->Ints({to}), e->Ints({at}),
                            e->Ints({step})});
  };
  const auto concat = [&](const std::vector<TensorId>& parts) {
    return parts.size() == 1 ? parts[0]
                             : e->Add("Concat", parts, {{"axis", at}});
  };
  const auto scan = [&](TensorId x) {
    return e->Add("heddle.CumSum", {x}, {{"axis", at}});
  };
  const bool reverse = e->node().IntAttribute("reverse", 0) != 0;
  TensorId x = e->In(0);
  // float16 is not rounded between pieces.
  if (length > kMaxScan) x = e->Wide(x);
  if (reverse) x = slice(x, -1, INT64_MIN, -1);
  if (length <= kMaxScan) {
    x = scan(x);
  } else {
    std::vector<TensorId> parts = {scan(slice(x, 0, kMaxScan, 1))};
    for (int64_t done = kMaxScan; done < length;) {
      const TensorId carry = slice(parts.back(), -1, INT64_MAX, 1);
      const int64_t end = std::min(length, done + kMaxScan - 1);
      const TensorId sums = scan(concat({carry, slice(x, done, end, 1)}));
      parts.push_back(slice(sums, 1, INT64_MAX, 1));
      done = end;
    }
    x = concat(parts);
  }
  if (e->node().IntAttribute("exclusive", 0) != 0 && length > 0) {
    Shape first = shape;
    first[axis] = 1;
    const TensorId zeros = e->Constant(TensorData::Zeros(e->T(x).type, first));
    x = length == 1 ? e->Add("Identity", {zeros})
                    : concat({zeros, slice(x, 0, length - 1, 1)});
  }
  if (reverse) x = slice(x, -1, INT64_MIN, -1);
  return e->Cast(x, type);
}

absl::Status Expand(Expansion* e) {
  const Tensor& given = e->T(e->In(1));
  const Shape shape = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  if (ElementCount(given.shape) != 1 || shape.empty()) {
    return RejectNode(Rejection::kInvalidModel, e->node(), "axis of shape ",
                      ShapeToString(given.shape), " for an input of rank ",
                      shape.size());
  }
  std::vector<size_t> axes;
  if (given.is_constant()) {
    size_t axis;
    if (!NormalizeAxis(ToInts(*given.constant)[0], shape.size(), &axis)) {
      return RejectNode(Rejection::kInvalidModel, e->node(), "axis ",
                        ToInts(*given.constant)[0],
                        " is not an axis of a tensor of rank ", shape.size());
    }
    axes = {axis};
  } else {
    for (size_t i = 0; i < shape.size(); ++i) axes.push_back(i);
  }
  if (axes.size() > kMostAxes) {
    return RejectNode(Rejection::kUnsupportedAttribute, e->node(), "axis '",
                      given.name, "' is computed at run time, one of ",
                      axes.size(), "; make it an initializer");
  }
  for (size_t axis : axes) {
    if (shape[axis] <= kMaxLength) continue;
    return RejectNode(Rejection::kUnsupportedShape, e->node(), "axis ", axis,
                      " has ", shape[axis], " elements, at most ", kMaxLength,
                      " are supported");
  }
  TensorId y = SumsAlong(e, axes[0]);
  const auto count = static_cast<int64_t>(axes.size());
  TensorId wanted = kNoTensor;
  if (count > 1) {
    // From either end; a number that is no axis fails when it runs.
    TensorData numbers = TensorData::Zeros(DataType::kInt32, {count});
    std::iota(numbers.as<int32_t>(), numbers.as<int32_t>() + count, 0);
    wanted = e->Add("Gather", {e->Constant(std::move(numbers)),
                               e->Reshape(e->In(1), Shape{})});
  }
  for (size_t i = 1; i < axes.size(); ++i) {
    TensorData number = TensorData::Zeros(DataType::kInt32, {});
    *number.as<int32_t>() = static_cast<int32_t>(i);
    const TensorId here =
        e->Add("Equal", {wanted, e->Constant(std::move(number))});
    y = e->Add("Where", {here, SumsAlong(e, axes[i]), y});
  }
  e->Return(0, y, type);
  return absl::OkStatus();
}

// Of double there is no expansion: the host adds.
bool IsExpandedSum(const Graph& graph, const Node& node) {
  return InputOf(graph, node, 0).type != DataType::kDouble;
}

Results EvaluateDouble(const Graph&, const Node& node, const Inputs& inputs) {
  TensorData y = *inputs[0];
  size_t axis = 0;
  if (inputs[1]->count() != 1 ||
      !NormalizeAxis(ToInts(*inputs[1])[0], y.shape.size(), &axis)) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "'axis' is not an axis of a tensor of rank ",
                      y.shape.size());
  }
  const bool exclusive = node.IntAttribute("exclusive", 0) != 0;
  const bool reverse = node.IntAttribute("reverse", 0) != 0;
  const Extents e = ExtentsOf(y.shape, static_cast<int64_t>(axis));
  // The sums of neighbours in the last dimension grow together.
  std::vector<double> totals(static_cast<size_t>(e.inner));
  double* const total = totals.data();
  double* const values = y.as<double>();
  for (int64_t o = 0; o < e.outer; ++o) {
    std::fill(totals.begin(), totals.end(), 0.0);
    for (int64_t k = 0; k < e.count; ++k) {
      Pace(e.inner);
      const int64_t at = reverse ? e.count - 1 - k : k;
      double* const v = values + (o * e.count + at) * e.inner;
      for (int64_t i = 0; i < e.inner; ++i) {
        const double before = total[i];
        total[i] += v[i];
        v[i] = exclusive ? before : total[i];
      }
    }
  }
  return One(std::move(y));
}

constexpr TypeSet kSummed = kReals | Types(DataType::kInt32, DataType::kUint32,
                                           DataType::kInt64, DataType::kUint64);

const OperatorRegistration kScan(Define("CumSum", 1, kMaxOpset)
                                     .Domain(kInternalDomain)
                                     .Inputs(1, 1, kSummed)
                                     .Attr("axis", AttributeKind::kInt, true)
                                     .Run(InferSame, EvaluateScan));
const ExpandedOperator kCumSum(
    Define("CumSum", 11, kMaxOpset)
        .Inputs(2, 2, kSummed | Types(DataType::kDouble), kIndices)
        .Attr("exclusive", AttributeKind::kInt)
        .Attr("reverse", AttributeKind::kInt),
    Expand, IsExpandedSum, InferSame, EvaluateDouble);

}  // namespace
}  // namespace heddle::compiler
