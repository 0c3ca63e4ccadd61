// SPDX-License-Identifier: Apache-2.0
// Rewriting of QuantizeLinear/DequantizeLinear pairs before fusion. It changes
// the codes, so it is part of the contract.
#ifndef HEDDLE_COMPILER_PASSES_QUANTIZE_PAIRS_H_
#define HEDDLE_COMPILER_PASSES_QUANTIZE_PAIRS_H_

#include "compiler/passes/rewriter.h"

namespace heddle::compiler {

// Q1 DQ1 Q2 DQ2 in a row becomes Q1 DQ2 with the intersection of both ranges.
void MergeDoublePairs(Rewriter* rewriter);

// Q moves backward and DQ forward across MaxPool (opset >= 12), Reshape,
// Transpose, Squeeze, Unsqueeze and Slice, by inserting pairs on the other
// side.
void MovePairs(Rewriter* rewriter);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_QUANTIZE_PAIRS_H_
