// SPDX-License-Identifier: Apache-2.0
// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2,
// ReduceSumSquare: fp32 in the order of reduce.h; float16 is computed in fp32
// and rounded once at the end. Integers wrap, their means and roots are the
// host's; of bools the largest is "any",
// the smallest "all".
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_axes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {
namespace {

constexpr TypeSet kInts =
    kInt32s | kInt64s | Types(DataType::kUint32, DataType::kUint64);

absl::Status Infer(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(auto axes, ResolveReduce(*graph, node));
  return SetOutput(graph, node, 0, InputOf(*graph, node, 0).type, axes.shape);
}

// Sums and products wrap; narrower types are folded in 64 bits and truncated,
// which is the same.
template <typename Wide>
Wide FoldIntegers(Fold fold, Wide acc, Wide x) {
  const auto a = static_cast<uint64_t>(acc), b = static_cast<uint64_t>(x);
  switch (fold) {
    case Fold::kSum:
      return static_cast<Wide>(a + b);
    case Fold::kProduct:
      return static_cast<Wide>(a * b);
    case Fold::kMax:
      return std::max(acc, x);
    case Fold::kMin:
      return std::min(acc, x);
  }
  return 0;
}

// The result for no elements, too: for minima and maxima the end of the type.
template <typename T>
T Start(Fold fold, DataType type) {
  switch (fold) {
    case Fold::kSum:
      return 0;
    case Fold::kProduct:
      return 1;
    case Fold::kMax:
      return std::numeric_limits<T>::min();
    case Fold::kMin:
      return type == DataType::kBool ? T{1} : std::numeric_limits<T>::max();
  }
  return 0;
}

template <typename Wide>
Wide Premapped(Premap premap, Wide x) {
  const auto u = static_cast<uint64_t>(x);
  switch (premap) {
    case Premap::kNone:
      return x;
    case Premap::kAbs:
      return x < 0 ? static_cast<Wide>(0 - u) : x;
    case Premap::kSquare:
      return static_cast<Wide>(u * u);
  }
  return x;
}

// A mean is rounded towards zero, a root downwards; of a sum that has wrapped
// below zero the root is 0.
template <typename T>
T Finished(Finish finish, int64_t count, T sum) {
  switch (finish) {
    case Finish::kNone:
      break;
    case Finish::kMean:
      if constexpr (std::is_same_v<T, uint64_t>) {
        return sum / static_cast<uint64_t>(std::max<int64_t>(count, 1));
      } else {
        return static_cast<T>(static_cast<int64_t>(sum) /
                              std::max<int64_t>(count, 1));
      }
    case Finish::kSqrt:
      return sum > 0 ? static_cast<T>(std::sqrt(static_cast<double>(sum))) : 0;
  }
  return sum;
}

// Of elements beside each other, in a few chains that do not wait for each
// other.
template <Fold fold, typename Wide>
Wide FoldRowOf(const Wide* x, int64_t count, Wide start) {
  constexpr int64_t kChains = 8;
  Wide acc[kChains];
  acc[0] = start;
  // (A sum or a product of nothing.)
  for (int64_t c = 1; c < kChains; ++c) {
    acc[c] = fold == Fold::kSum ? 0 : fold == Fold::kProduct ? 1 : start;
  }
  int64_t i = 0;
  for (; i + kChains <= count; i += kChains) {
    for (int64_t c = 0; c < kChains; ++c) {
      acc[c] = FoldIntegers(fold, acc[c], x[i + c]);
    }
  }
  for (; i < count; ++i) acc[0] = FoldIntegers(fold, acc[0], x[i]);
  for (int64_t c = 1; c < kChains; ++c) {
    acc[0] = FoldIntegers(fold, acc[0], acc[c]);
  }
  return acc[0];
}

template <typename Wide>
Wide FoldRow(Fold fold, const Wide* x, int64_t count, Wide start) {
  switch (fold) {
    case Fold::kSum:
      return FoldRowOf<Fold::kSum>(x, count, start);
    case Fold::kProduct:
      return FoldRowOf<Fold::kProduct>(x, count, start);
    case Fold::kMax:
      return FoldRowOf<Fold::kMax>(x, count, start);
    case Fold::kMin:
      return FoldRowOf<Fold::kMin>(x, count, start);
  }
  return start;
}

// The order does not matter: one pass over the stages as they are.
template <typename T>
void ReduceIntegers(const TensorData& x, const std::vector<ReduceStage>& stages,
                    const Reduction& reduction, TensorData* y) {
  using Wide =
      std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>;
  std::vector<Wide> values(x.count());
  Pace(x.count());
  std::copy_n(x.as<T>(), x.count(), values.begin());
  for (size_t i = 0; i < values.size() && reduction.premap != Premap::kNone;
       ++i) {
    PaceAt(i);
    values[i] = Premapped<Wide>(reduction.premap, values[i]);
  }
  for (const ReduceStage& s : stages) {
    std::vector<Wide> next(s.outer * s.inner, Start<T>(reduction.fold, x.type));
    for (int64_t o = 0; o < s.outer; ++o) {
      if (s.inner == 1) {
        Pace(s.count + 1);
        next[o] = FoldRow(reduction.fold, values.data() + o * s.count, s.count,
                          next[o]);
        continue;
      }
      for (int64_t k = 0; k < s.count; ++k) {
        Pace(s.inner + 1);
        for (int64_t i = 0; i < s.inner; ++i) {
          Wide& acc = next[o * s.inner + i];
          acc = FoldIntegers(reduction.fold, acc,
                             values[(o * s.count + k) * s.inner + i]);
        }
      }
    }
    values = std::move(next);
  }
  int64_t count = 1;
  for (const ReduceStage& s : stages) count *= s.count;
  for (size_t i = 0; i < values.size(); ++i) {
    PaceAt(i);
    y->as<T>()[i] =
        Finished(reduction.finish, count, static_cast<T>(values[i]));
  }
}

Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  ASSIGN_OR_RETURN(auto axes, ResolveReduce(graph, node, At(inputs, 1)));
  if (axes.noop()) return One(x);
  const Reduction& reduction = *FindReduction(node.op);
  const auto stages = ReduceStages(x.shape, axes.reduced);
  TensorData y = TensorData::Zeros(x.type, axes.shape);
  switch (x.type) {
    case DataType::kBool:
    case DataType::kUint8:
      ReduceIntegers<uint8_t>(x, stages, reduction, &y);
      break;
    case DataType::kInt8:
      ReduceIntegers<int8_t>(x, stages, reduction, &y);
      break;
    case DataType::kInt32:
      ReduceIntegers<int32_t>(x, stages, reduction, &y);
      break;
    case DataType::kInt64:
      ReduceIntegers<int64_t>(x, stages, reduction, &y);
      break;
    case DataType::kUint32:
      ReduceIntegers<uint32_t>(x, stages, reduction, &y);
      break;
    case DataType::kUint64:
      ReduceIntegers<uint64_t>(x, stages, reduction, &y);
      break;
    default:
      y = ReduceReals(x, axes.shape, stages, reduction);
  }
  return One(std::move(y));
}

// Axes are an attribute.
OperatorInfo WithAttribute(const char* op, int until, TypeSet types) {
  return Define(op, 1, until)
      .Inputs(1, 1, types)
      .Attr("axes", AttributeKind::kInts)
      .Attr("keepdims", AttributeKind::kInt)
      .Run(Infer, Evaluate);
}

// Axes are an input.
ExpandedOperator WithInput(const char* op, int since, int until,
                           TypeSet types) {
  Define define(op, since, until);
  define.Inputs(1, 2, types, kInt64s)
      .Attr("keepdims", AttributeKind::kInt)
      .Attr("noop_with_empty_axes", AttributeKind::kInt);
  return ExpandedOperator(define, ExpandComputedAxes, HasComputedAxes, Infer,
                          Evaluate);
}

// Both forms of an operator whose axes are an input from opset 18 on.
struct Both {
  Both(const char* op, TypeSet types)
      : with_attribute(WithAttribute(op, 17, types)),
        with_input(WithInput(op, 18, kMaxOpset, types)) {}
  OperatorRegistration with_attribute;
  ExpandedOperator with_input;
};

// ReduceMax and ReduceMin take bools, too, from opset 20 on.
constexpr TypeSet kOrdered = kRealsAndDouble | kInts | kQuantizedValues;
constexpr TypeSet kOrdered20 = kOrdered | Types(DataType::kBool);

const Both kReduceL1("ReduceL1", kRealsAndDouble | kInts);
const Both kReduceL2("ReduceL2", kRealsAndDouble | kInts);
const Both kReduceMean("ReduceMean", kRealsAndDouble | kInts);
const Both kReduceProd("ReduceProd", kRealsAndDouble | kInts);
const Both kReduceSumSquare("ReduceSumSquare", kRealsAndDouble | kInts);
const OperatorRegistration kReduceMax1(WithAttribute("ReduceMax", 17,
                                                     kOrdered));
const ExpandedOperator kReduceMax18(WithInput("ReduceMax", 18, 19, kOrdered));
const ExpandedOperator kReduceMax20(WithInput("ReduceMax", 20, kMaxOpset,
                                              kOrdered20));
const OperatorRegistration kReduceMin1(WithAttribute("ReduceMin", 17,
                                                     kOrdered));
const ExpandedOperator kReduceMin18(WithInput("ReduceMin", 18, 19, kOrdered));
const ExpandedOperator kReduceMin20(WithInput("ReduceMin", 20, kMaxOpset,
                                              kOrdered20));
const OperatorRegistration kReduceSum1(WithAttribute("ReduceSum", 12,
                                                     kRealsAndDouble | kInts));
const ExpandedOperator kReduceSum13(WithInput("ReduceSum", 13, kMaxOpset,
                                              kRealsAndDouble | kInts));

}  // namespace
}  // namespace heddle::compiler
