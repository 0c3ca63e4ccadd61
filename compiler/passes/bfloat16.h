// SPDX-License-Identifier: Apache-2.0
// Operators on bfloat16 whose definition here is on float: operands become
// float, which loses nothing, and results are rounded once, to the nearest,
// ties to even. So each node rounds, as ONNX's types say. Operators that only
// move elements take bfloat16 as it is.
#ifndef HEDDLE_COMPILER_PASSES_BFLOAT16_H_
#define HEDDLE_COMPILER_PASSES_BFLOAT16_H_

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The opset from which on ONNX gives the operator bfloat16; 0: none to 26, or
// it moves elements, or converts them.
int Bfloat16Since(const std::string& op);

// Whether the node, whose operands have types, is such a one. What ONNX does
// not allow (an older opset, operands of two types) is none: the definition
// rejects it.
bool ComputesBfloat16(const Graph& graph, const Node& node);

// Casts of its operands, and behind them the node with results of its own.
std::vector<Node> ToFloat(const Node& node, Graph* graph);

// Of the last of these, once it is inferred: the results of `node`.
std::vector<Node> FromFloat(const Node& node, const Node& made, Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_BFLOAT16_H_
