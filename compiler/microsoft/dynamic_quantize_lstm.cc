// SPDX-License-Identifier: Apache-2.0
// com.microsoft's DynamicQuantizeLSTM, made of LSTM: the weights are what their
// codes mean, f32(f32(q - z) * s), and lie the other way round. X and the state
// stay floats: ONNX Runtime gives them codes of 8 bits at each product, which
// costs its results what such codes cost.
//
//   W, R           uint8 or int8 [directions, input or hidden size,
//                  4 * hidden size]
//   their scales   [directions], or [directions, 4 * hidden size]; zero points
//                  too
//   others         as LSTM has them
#include <cstdint>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

enum Place { kW = 1, kR, kScaleW = 8, kZeroW, kScaleR, kZeroR };

// Input i, a parameter of codes of `shape`, as fp32 that broadcasts to them.
absl::StatusOr<TensorId> Parameter(Expansion* e, size_t i, const Shape& codes) {
  const Shape& own = e->T(e->In(i)).shape;
  const bool each = own == Shape{codes[0], codes[2]};
  if (!each && own != Shape{codes[0]}) {
    return RejectNode(Rejection::kMismatchingShape, e->node(), "input ", i,
                      " of ", ShapeToString(own), " must be of [", codes[0],
                      "] or [", codes[0], ",", codes[2], "]");
  }
  return e->Reshape(e->Cast(e->In(i), DataType::kFloat),
                    {codes[0], 1, each ? codes[2] : 1});
}

// fp32 [directions, 4 * hidden size, columns] of the codes that input i has.
absl::StatusOr<TensorId> Weights(Expansion* e, size_t i, size_t scale,
                                 size_t zero) {
  const Tensor codes = e->T(e->In(i));
  if (codes.shape.size() != 3 || e->T(e->In(zero)).type != codes.type) {
    return RejectNode(Rejection::kInvalidModel, e->node(), "input ", i, " of ",
                      ShapeToString(codes.shape),
                      " must have rank 3, and the type of its zero points");
  }
  ASSIGN_OR_RETURN(const TensorId s, Parameter(e, scale, codes.shape));
  ASSIGN_OR_RETURN(const TensorId z, Parameter(e, zero, codes.shape));
  const TensorId w = e->Add(
      "Mul", {e->Add("Sub", {e->Cast(e->In(i), DataType::kFloat), z}), s});
  return e->Add("Transpose", {w}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
}

absl::Status Expand(Expansion* e) {
  std::vector<TensorId> in(e->node().inputs.begin(),
                           e->node().inputs.begin() + kScaleW);
  ASSIGN_OR_RETURN(in[kW], Weights(e, kW, kScaleW, kZeroW));
  ASSIGN_OR_RETURN(in[kR], Weights(e, kR, kScaleR, kZeroR));
  const std::vector<TensorId> out =
      e->AddAll(3, "LSTM", in, e->node().attributes, 14);
  for (size_t i = 0; i < out.size(); ++i) {
    e->Return(i, out[i], DataType::kFloat);
  }
  return absl::OkStatus();
}

const ExpandedOperator kDynamicQuantizeLstm(
    Define("DynamicQuantizeLSTM", 1, 1)
        .Domain("com.microsoft")
        .Inputs(12, 12, kFloats, kQuantizedValues, kQuantizedValues, kFloats,
                kInt32s, kFloats, kFloats, kFloats, kFloats, kQuantizedValues,
                kFloats, kQuantizedValues)
        .Optional(3, 4, 5, 6, 7)
        .Outputs(3)
        .Attr("activation_alpha", AttributeKind::kFloats)
        .Attr("activation_beta", AttributeKind::kFloats)
        .Attr("activations", AttributeKind::kStrings)
        .Attr("clip", AttributeKind::kFloat)
        .Attr("direction", AttributeKind::kString)
        .Attr("hidden_size", AttributeKind::kInt)
        .Attr("input_forget", AttributeKind::kInt),
    Expand);

}  // namespace
}  // namespace heddle::compiler
