// SPDX-License-Identifier: Apache-2.0
// Tensors whose size values decide that are known at run time only: results of
// NonZero, Compress, Unique, NonMaxSuppression and of a TopK whose k is
// computed, and of what follows them. In a graph their shape is an upper bound;
// how much of it there is, a run says. Only the host has them. What it runs
// there are operators of which is known that a smaller operand gives a smaller
// result: the definition is applied to the operands as they are, and what the
// table here says is which axes may come out smaller. Shape and Size tell the
// size that there is. Others are refused by name, as are those here where a
// smaller operand might give a larger result.
#ifndef HEDDLE_COMPILER_OPS_BOUNDED_H_
#define HEDDLE_COMPILER_OPS_BOUNDED_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/open_sizes.h"

namespace heddle::compiler {

// A bit for each axis of a tensor whose size is an upper bound.
using AxisSet = uint64_t;

// Of kInternalDomain: integers of which the user says the most (bound.cc).
inline constexpr char kBoundOp[] = "Bound";

// By tensor, for all of a graph. Empty tables stand for "none".
class BoundedTensors {
 public:
  AxisSet of(TensorId id) const {
    return id >= 0 && static_cast<size_t>(id) < axes_.size() ? axes_[id] : 0;
  }
  // Values that a run decides, of which the most is known; null: they are no
  // such list, or constants.
  const OpenSizes* sizes(TensorId id) const {
    const auto it = sizes_.find(id);
    return it == sizes_.end() ? nullptr : it->second.get();
  }
  FindSizes find_sizes() const {
    return [this](TensorId id) { return sizes(id); };
  }
  bool any() const { return any_; }
  void Set(TensorId id, AxisSet axes);
  void SetSizes(TensorId id, std::shared_ptr<const OpenSizes> sizes);
  // As another has them; a tensor may be another there.
  void Copy(const BoundedTensors& from, TensorId id, TensorId to);
  // The node's outputs, from its inputs; the node has been checked, shapes are
  // known. kUnsupportedOperator: it reads a bounded tensor and cannot follow.
  absl::Status Add(const Graph& graph, const Node& node);
  // Whether it reads or writes one, or such values.
  bool Touches(const Node& node) const;

 private:
  absl::Status AddBound(const Graph& graph, const Node& node);

  std::vector<AxisSet> axes_;
  std::map<TensorId, std::shared_ptr<const OpenSizes>> sizes_;
  bool any_ = false;
};

// Of a graph whose nodes have been checked; `inputs` are known.
absl::StatusOr<BoundedTensors> FindBounded(const Graph& graph,
                                           BoundedTensors inputs = {});

// Whether `shape` is `stated`, less where that is a bound.
bool IsWithin(const Shape& shape, const Shape& stated, AxisSet bounded);

// EvaluateNode with the shapes that the operands have, not those of the graph.
// InvalidArgument: the definition does not take these.
absl::StatusOr<std::vector<TensorData>> EvaluateActual(
    const Graph& graph, const Node& node,
    const std::vector<const TensorData*>& inputs);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_BOUNDED_H_
