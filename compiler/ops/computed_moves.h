// SPDX-License-Identifier: Apache-2.0
// Operators that move elements by parameters which are computed at run time,
// made of Gather along each axis. The shape of the result is the one that the
// model declares; without a declaration, and where the parameters contradict it
// so that an index leaves its tensor, the node fails: when compiling, or when
// it runs (index_bounds). What `ends` and `limit` say beyond that shape is not
// looked at.
#ifndef HEDDLE_COMPILER_OPS_COMPUTED_MOVES_H_
#define HEDDLE_COMPILER_OPS_COMPUTED_MOVES_H_

#include "compiler/ops/expanded.h"

namespace heddle::compiler {

bool IsComputedSlice(const Graph& graph, const Node& node);
absl::Status ExpandComputedSlice(Expansion* e);

// Pads or value are computed; axes are not.
bool IsComputedPad(const Graph& graph, const Node& node);
absl::Status ExpandComputedPad(Expansion* e);

bool IsComputedRange(const Graph& graph, const Node& node);
absl::Status ExpandComputedRange(Expansion* e);

// x by indices along `axis`, in the place of which their dimensions are.
TensorId GatherAlong(Expansion* e, TensorId x, size_t axis, TensorId indices);

// The shape of the result, which the model must declare because `what` are
// computed: of this rank, without a dimension of 0.
absl::StatusOr<Shape> NeedDeclared(const Expansion& e, const char* what,
                                   size_t rank);

// Gather of computed indices along an axis that is not the first.
bool IsInnerGather(const Graph& graph, const Node& node);
absl::Status ExpandInnerGather(Expansion* e);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_COMPUTED_MOVES_H_
