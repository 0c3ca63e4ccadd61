// SPDX-License-Identifier: Apache-2.0
// Types of tensors that the card does not hold or compute with.
#ifndef HEDDLE_COMPILER_BACKEND_CARD_TYPES_H_
#define HEDDLE_COMPILER_BACKEND_CARD_TYPES_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// `role`: what the tensor is called in the message.
absl::Status CheckType(const Tensor& t, const char* role);
// Of what the node computes, and of int64 tensors that it reads.
absl::Status CheckTypes(const Graph& graph, const Node& node);
// Of inputs, outputs and all nodes.
absl::Status CheckTypes(const Graph& graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_CARD_TYPES_H_
