// SPDX-License-Identifier: Apache-2.0
// Rewriting of products between DequantizeLinear and QuantizeLinear before
// fusion, so that attention layers compute with integers. It changes the codes
// (by a rounding less), so it is part of the contract.
#ifndef HEDDLE_COMPILER_PASSES_QUANTIZE_PRODUCTS_H_
#define HEDDLE_COMPILER_PASSES_QUANTIZE_PRODUCTS_H_

#include "compiler/passes/rewriter.h"

namespace heddle::compiler {

// What stands between a MatMul of dequantized operands and the QuantizeLinear:
//   - a product with or a division by a positive constant of one element
//     becomes part of the scale: Q(f * x, s) is Q(x, f32(s / f));
//   - a constant bias, the same in all rows, makes the MatMul with a constant
//     matrix a Gemm.
// A stack of rows times a constant matrix becomes the product of two matrices,
// with a Reshape of the codes before and behind it.
void FoldIntoProducts(Rewriter* rewriter);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_QUANTIZE_PRODUCTS_H_
