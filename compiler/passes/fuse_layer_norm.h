// SPDX-License-Identifier: Apache-2.0
// A layer normalisation in primitive operators between a DequantizeLinear and a
// QuantizeLinear, as exporters write it below opset 17,
//
//   c = x - ReduceMean(x), y = c / Sqrt(ReduceMean(c^2) + eps) * gamma + beta
//
// over the last axis, becomes one heddle.LayerNorm on the codes
// (ops/layer_norm.h), whose bits are other than those of the single operators.
#ifndef HEDDLE_COMPILER_PASSES_FUSE_LAYER_NORM_H_
#define HEDDLE_COMPILER_PASSES_FUSE_LAYER_NORM_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Needs inferred shapes. gamma and beta may be absent.
absl::Status FuseLayerNorm(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FUSE_LAYER_NORM_H_
