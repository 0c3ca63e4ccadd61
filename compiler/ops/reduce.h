// SPDX-License-Identifier: Apache-2.0
// Reductions: which order the elements are taken in, and what is computed.
//
// Reduced dimensions that lie beside each other (dimensions of 1 do not count)
// are one run. Runs are reduced one after another, the last first, each in one
// stage; a run of more than kMaxRun elements is first cut into the smallest
// number of equal pieces of 2 to kMaxRun elements (if there is such a number up
// to kMaxPieces), and the pieces' results are reduced in the stage after, by
// the same rule. A stage sees [outer, count, inner]
// and computes, for each of outer * inner results,
// - where inner is 1 (the elements lie beside each other), the 16-lane
//   reduction of ISA.md: element i goes to lane i mod 16 in increasing i, and
//   the 16 partial results are combined by lane xor 8, 4, 2, 1;
// - elsewhere, and for products always, one chain in increasing index.
// The order follows from shape and axes alone, never from tiles, layout or
// configuration.
#ifndef HEDDLE_COMPILER_OPS_REDUCE_H_
#define HEDDLE_COMPILER_OPS_REDUCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Longest run of one stage.
constexpr int64_t kMaxRun = 4096;
constexpr int64_t kMaxPieces = 65535;

// Sum of x[0], x[step], ... (count elements) with f32 additions from +0, in 16
// lanes.
float SumLanes(const float* x, int64_t step, int64_t count);

enum class Fold {
  kSum,      // acc = f32(acc + x) from +0
  kProduct,  // acc = f32(acc * x) from 1
  kMax,      // acc = fmax(acc, x) from -inf
  kMin,      // acc = fmin(acc, x) from +inf
};
// What happens to an element before the first stage folds it.
enum class Premap {
  kNone,
  kAbs,     // sign cleared
  kSquare,  // acc = fma(x, x, acc); with kSum only
};
// What happens to the result of the last stage.
enum class Finish {
  kNone,
  kMean,  // f32(acc / f32(number of elements reduced))
  kSqrt,  // f32(sqrt(acc))
};
struct Reduction {
  Fold fold = Fold::kSum;
  Premap premap = Premap::kNone;
  Finish finish = Finish::kNone;
};

struct ReduceStage {
  int64_t outer = 1, count = 1, inner = 1;
  bool InLanes(Fold fold) const { return inner == 1 && fold != Fold::kProduct; }
};
// At least one; of count 1 if nothing is reduced.
std::vector<ReduceStage> ReduceStages(const Shape& shape,
                                      const std::vector<bool>& reduced);

// Elements that become one, as fp32: what a mean divides by.
float ReducedCount(const std::vector<ReduceStage>& stages);

// What a Reduce node reduces. `reduced` is empty for a node that does nothing
// (noop_with_empty_axes).
struct ReduceAxes {
  std::vector<bool> reduced;
  Shape shape;  // of the result
  bool noop() const { return reduced.empty(); }
};
// Axes are an attribute or, from opset 18 on (ReduceSum: 13), input 1: `axes`,
// or where that is null a constant of the graph. The rejection names the node.
absl::StatusOr<ReduceAxes> ResolveReduce(const Graph& graph, const Node& node,
                                         const TensorData* axes = nullptr);

// The operators of this family: ReduceSum, ReduceMean, ... null for others.
const Reduction* FindReduction(const std::string& op);

// The reference semantics in fp32, or of doubles, which the card does not have,
// in binary64 and the same order.
template <typename Real>
std::vector<Real> Reduce(std::vector<Real> x,
                         const std::vector<ReduceStage>& stages,
                         const Reduction& reduction);

// Elements of a float or float16 tensor as fp32, and back with one rounding.
std::vector<float> ToFloats(const TensorData& data);
TensorData FromFloats(DataType type, const Shape& shape,
                      const std::vector<float>& values);

// Reduce() of a tensor of a real type, with a result of `shape`.
TensorData ReduceReals(const TensorData& x, const Shape& shape,
                       const std::vector<ReduceStage>& stages,
                       const Reduction& reduction);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_REDUCE_H_
