// SPDX-License-Identifier: Apache-2.0
// Layer normalisations over the last axis in primitive operators, as exporters
// write them below opset 17,
//
//   c = x - ReduceMean(x), y = c / Sqrt(ReduceMean(c^2) + eps) * gamma + beta
//
// become one operator, whose bits are its own: between a DequantizeLinear and a
// QuantizeLinear heddle.LayerNorm on the codes (ops/layer_norm.h), as does a
// LayerNormalization there; else, of fp32, a LayerNormalization
// (ops/layer_normalization.h).
#ifndef HEDDLE_COMPILER_PASSES_FUSE_LAYER_NORM_H_
#define HEDDLE_COMPILER_PASSES_FUSE_LAYER_NORM_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes. gamma and beta may be absent.
absl::Status FuseLayerNorm(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FUSE_LAYER_NORM_H_
