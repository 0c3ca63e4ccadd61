// SPDX-License-Identifier: Apache-2.0
// com.microsoft's DynamicQuantizeMatMul, made of DynamicQuantizeLinear and
// MatMulInteger: f32(f32(acc) * f32(as * bs[n])) + bias[n], as of the input's
// codes.
//
//   A              float [..., K]
//   B              uint8 or int8 [..., K, N]
//   b_scale        one, or [N]; b_zero_point too, or absent: 0
//   bias           [N], or absent
#include <cstdint>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

enum Place { kA, kB, kScale, kZero, kBias };

absl::Status Expand(Expansion* e) {
  const Shape b = e->T(e->In(kB)).shape;
  const int64_t columns = b.size() < 2 ? 1 : b.back();
  for (size_t i : {kScale, kZero, kBias}) {
    if (!e->HasIn(i)) continue;
    const Shape& own = e->T(e->In(i)).shape;
    if ((i != kBias && ElementCount(own) == 1) || own == Shape{columns}) {
      continue;
    }
    return RejectNode(Rejection::kMismatchingShape, e->node(), "input ", i,
                      " of ", ShapeToString(own), " must be of [", columns,
                      i == kBias ? "]" : "], or have one element");
  }
  const auto codes = e->AddAll(3, "DynamicQuantizeLinear", {e->In(kA)}, {}, 11);
  std::vector<TensorId> in = {codes[0], e->In(kB), codes[2]};
  if (e->HasIn(kZero)) {
    const bool one = ElementCount(e->T(e->In(kZero)).shape) == 1;
    in.push_back(one ? e->Reshape(e->In(kZero), Shape{}) : e->In(kZero));
  }
  const TensorId sum = e->Cast(e->Add("MatMulInteger", in), DataType::kFloat);
  const bool one = ElementCount(e->T(e->In(kScale)).shape) == 1;
  const TensorId scale = e->Add(
      "Mul",
      {codes[1], one ? e->Reshape(e->In(kScale), Shape{}) : e->In(kScale)});
  TensorId y = e->Add("Mul", {sum, scale});
  if (e->HasIn(kBias)) y = e->Add("Add", {y, e->In(kBias)});
  e->Return(0, y, DataType::kFloat);
  return absl::OkStatus();
}

const ExpandedOperator kDynamicQuantizeMatMul(
    Define("DynamicQuantizeMatMul", 1, 1)
        .Domain("com.microsoft")
        .Inputs(3, 5, kFloats, kQuantizedValues, kFloats, kQuantizedValues,
                kFloats),
    Expand);

}  // namespace
}  // namespace heddle::compiler
