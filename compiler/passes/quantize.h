// SPDX-License-Identifier: Apache-2.0
// From QuantizeLinear/DequantizeLinear pairs to operators on codes, by the
// rules of ONNX Runtime's optimizer (double pairs, moved pairs, fused
// patterns), so that the codes are those of its integer kernels. int8 models
// use the integer formulas on int8 codes.
#ifndef HEDDLE_COMPILER_PASSES_QUANTIZE_H_
#define HEDDLE_COMPILER_PASSES_QUANTIZE_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes and a simplified graph; leaves shapes inferred. A fused
// node writes the tensor of the QuantizeLinear it replaces, under its ONNX
// name, and lists the replaced nodes in `sources`. A group that stays float is
// in graph->float_groups, with the reason.
absl::Status FuseQuantization(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_QUANTIZE_H_
