// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/layer_norm.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

Term Count(int64_t d) {
  return ProgramBuilder::ImmBits(static_cast<uint32_t>(d));
}
Term CountF32(int64_t d) { return ProgramBuilder::Imm(static_cast<float>(d)); }

}  // namespace

absl::StatusOr<Microprogram> ReciprocalDeviationProgram(int64_t d) {
  ProgramBuilder b;
  const Term z = ProgramBuilder::Arg(0);
  // s1 = sum - D z; s2 = squares - z (sum + s1).
  const Term sum = b.Op(isa::MicroOp::kMov, ProgramBuilder::A());
  const Term s1 = b.ISub(sum, b.IMul(z, Count(d)));
  const Term s2 = b.ISub(ProgramBuilder::B(), b.IMul(z, b.IAdd(sum, s1)));
  const Term c = b.Round(b.Div(b.FromInt(s1), CountF32(d)));
  const Term t1 = b.ISub(s1, b.IMul(c, Count(d)));
  const Term t2 = b.ISub(s2, b.IMul(c, b.IAdd(s1, t1)));
  const Term rest = b.FromInt(t1);
  const Term minus = b.Sub(ProgramBuilder::Imm(0), rest);
  const Term v = b.Fma(b.Div(rest, CountF32(d)), minus, b.FromInt(t2));
  const Term variance = b.Add(b.Div(v, CountF32(d)), ProgramBuilder::Arg(1));
  const Term r = b.Div(ProgramBuilder::Imm(1), b.Sqrt(variance));
  b.Out(b.Select(t2, r, ProgramBuilder::Imm(0)));
  return b.Finish();
}

absl::StatusOr<Microprogram> ShiftProgram(int64_t d) {
  ProgramBuilder b;
  const Term mean = b.Div(b.FromInt(ProgramBuilder::A()), CountF32(d));
  b.Out(b.Sub(ProgramBuilder::Imm(0), b.Mul(mean, ProgramBuilder::B())));
  return b.Finish();
}

absl::StatusOr<Microprogram> NormalizeProgram() {
  ProgramBuilder b;
  b.Out(b.Fma(b.FromInt(ProgramBuilder::A()), ProgramBuilder::B(),
              ProgramBuilder::C()));
  return b.Finish();
}

absl::StatusOr<Microprogram> ScaleCodesProgram() {
  ProgramBuilder b;
  const Term y =
      b.Fma(ProgramBuilder::A(), ProgramBuilder::B(), ProgramBuilder::C());
  b.Out(b.IAdd(b.Round(y), ProgramBuilder::Arg(0)));
  return b.Finish();
}

float EpsilonOfCodes(float epsilon, float x_scale) {
  return static_cast<float>(double{epsilon} / (double{x_scale} * x_scale));
}

std::vector<float> NormFactors(const TensorData& data, float y_scale,
                               int64_t d) {
  std::vector<float> factors(static_cast<size_t>(d));
  for (int64_t i = 0; i < d; ++i) {
    factors[i] =
        model::FDiv(data.as<float>()[data.count() > 1 ? i : 0], y_scale);
  }
  return factors;
}

}  // namespace heddle::compiler
