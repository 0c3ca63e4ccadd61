// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/ops/normalization.h"
#include "compiler/ops/vector_math.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

BatchNormFactors FactorsOf(const TensorData& scale, const TensorData& bias,
                           const TensorData& mean, const TensorData& variance,
                           float epsilon) {
  const std::vector<float> s = ToFloats(scale), b = ToFloats(bias),
                           m = ToFloats(mean), v = ToFloats(variance);
  BatchNormFactors f;
  for (size_t c = 0; c < s.size(); ++c) {
    f.a.push_back(model::FDiv(s[c], model::FSqrt(model::FAdd(v[c], epsilon))));
    f.b.push_back(model::Fma(-m[c], f.a[c], b[c]));
  }
  return f;
}

std::vector<ReduceStage> PlaneStages(const Shape& shape) {
  std::vector<bool> reduced(shape.size(), true);
  reduced[0] = reduced[1] = false;
  std::vector<ReduceStage> stages = ReduceStages(shape, reduced);
  return stages;
}

LrnWindow LrnWindowOf(int64_t channel, int64_t channels, int64_t size) {
  const int64_t first = std::max<int64_t>(0, channel - (size - 1) / 2);
  const int64_t last = std::min(channels - 1, channel + size / 2);
  return {first, last - first + 1};
}

Term LrnTerm(ProgramBuilder* b, Term x, Term sum) {
  const Term t = b->Fma(sum, b->Arg(0), b->Arg(1));
  return b->Mul(x, Pow(b, t, b->Op(isa::MicroOp::kMov, b->Arg(2))));
}

std::array<uint32_t, 4> LrnArguments(const Node& node) {
  const auto size = static_cast<float>(node.IntAttribute("size", 1));
  return {model::Bits(model::FDiv(node.FloatAttribute("alpha", 1e-4f), size)),
          model::Bits(node.FloatAttribute("bias", 1.0f)),
          model::Bits(-node.FloatAttribute("beta", 0.75f)), 0};
}

}  // namespace heddle::compiler
