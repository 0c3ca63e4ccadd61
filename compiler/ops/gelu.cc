// SPDX-License-Identifier: Apache-2.0
// heddle.Gelu, what a pass makes of x * 0.5 * (1 + erf(x / sqrt(2))) in
// primitive operators (passes/fuse_gelu.h), of fp32:
//   y = f32(f32(x * 0.5) * f32(erf(f32(x * f32(1 / sqrt(2)))) + 1))
// with erf of vector_math.h: a product instead of the division, which takes the
// vector engine 32 cycles for 16 elements.
#include "compiler/ops/program_operator.h"
#include "compiler/ops/vector_math.h"

namespace heddle::compiler {
namespace {

absl::StatusOr<std::vector<ElementwiseStep>> GeluSteps(const Graph&,
                                                       const Node&) {
  ProgramBuilder b;
  const Term half = b.Mul(b.A(), b.Imm(0.5f));
  const Term erf = Erf(&b, b.Mul(b.A(), b.Imm(0x1.6a09e6p-1f)));
  b.Out(b.Mul(half, b.Add(erf, b.Imm(1.0f))));
  return OneStep(b, {0});
}

const ProgramOperator kGelu(
    Define("Gelu", 1, kMaxOpset).Domain(kInternalDomain).Inputs(1, 1, kFloats),
    InferSame, GeluSteps);

}  // namespace
}  // namespace heddle::compiler
