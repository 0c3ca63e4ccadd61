// SPDX-License-Identifier: Apache-2.0
// Quantized products whose weights, scales or zero points are computed at run
// time, made of other operators; the bytes are those of the definitions with
// constants:
//
// ConvInteger    a sum in int32 of float convolutions of (x - xz) with (w - wz)
//                over so few channels that no rounding occurs
// QLinearMatMul, QLinearConv
//                MatMulInteger or ConvInteger, the bias, f32(f32(acc) * M) with
//                M = f32(f32(xs * ws) / ys), QuantizeLinear with the scale 1
#ifndef HEDDLE_COMPILER_OPS_COMPUTED_CODES_H_
#define HEDDLE_COMPILER_OPS_COMPUTED_CODES_H_

#include <initializer_list>

#include "compiler/ops/expanded.h"

namespace heddle::compiler {

// Whether one of these inputs is there and no constant.
bool AnyComputed(const Graph& graph, const Node& node,
                 std::initializer_list<size_t> inputs);

// Parameters of operators in the order that QLinearMatMul and QLinearConv
// share: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias.
bool HasComputedParameters(const Graph& graph, const Node& node);
absl::Status ExpandComputedMatMul(Expansion* e);
absl::Status ExpandComputedConv(Expansion* e);

bool HasComputedWeights(const Graph& graph, const Node& node);  // ConvInteger
absl::Status ExpandComputedConvInteger(Expansion* e);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_COMPUTED_CODES_H_
