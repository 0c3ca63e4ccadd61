// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear: q = CRO(f32(x / s), z), a true division.
// DequantizeLinear: y = f32(f32(q - z) * s).
// Per tensor, or (opset 13) per channel along `axis`.
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

// Elements per channel run and the number of channels along the axis.
struct Channels {
  int64_t count = 1;
  int64_t block = 1;
  int64_t of(int64_t element) const {
    return count == 1 ? 0 : element / block % count;
  }
};

absl::StatusOr<Channels> ResolveChannels(const Node& node, const Shape& x,
                                         const Shape& scale,
                                         const Shape* zero_point) {
  Channels channels;
  channels.count = ElementCount(scale);
  const bool zero_fits =
      zero_point == nullptr || ElementCount(*zero_point) == channels.count;
  if (channels.count == 1 && zero_fits) return channels;
  size_t axis = 0;
  const int64_t given = node.IntAttribute("axis", 1);
  if (node.attributes.count("axis") != 0 &&
      !NormalizeAxis(given, x.size(), &axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ", given,
                      " lies outside an input of rank ", x.size());
  }
  if (node.opset < 13 || scale.size() != 1 || !zero_fits ||
      !NormalizeAxis(given, x.size(), &axis) || x[axis] != channels.count) {
    return RejectNode(
        Rejection::kMismatchingShape, node, "scale of shape ",
        ShapeToString(scale),
        zero_point ? " and zero point of shape " + ShapeToString(*zero_point)
                   : "",
        " must have one element or, from opset 13, one per channel of axis ",
        given, " of an input of shape ", ShapeToString(x));
  }
  channels.block = ElementCount(Shape(x.begin() + axis + 1, x.end()));
  return channels;
}

absl::Status CheckParameters(const Graph& graph, const Node& node) {
  const Tensor& x = InputOf(graph, node, 0);
  const Shape* zero =
      HasInput(node, 2) ? &InputOf(graph, node, 2).shape : nullptr;
  return ResolveChannels(node, x.shape, InputOf(graph, node, 1).shape, zero)
      .status();
}

absl::Status InferQuantize(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(CheckParameters(*graph, node));
  const DataType type =
      HasInput(node, 2) ? InputOf(*graph, node, 2).type : DataType::kUint8;
  return SetOutput(graph, node, 0, type, InputOf(*graph, node, 0).shape);
}

Results EvaluateQuantize(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const TensorData& scale = *inputs[1];
  const TensorData* zero = At(inputs, 2);
  ASSIGN_OR_RETURN(auto channels,
                   ResolveChannels(node, x.shape, scale.shape,
                                   zero ? &zero->shape : nullptr));
  TensorData y =
      TensorData::Zeros(zero ? zero->type : DataType::kUint8, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t c = channels.of(i);
    const float value = x.type == DataType::kInt32
                            ? model::I32ToF32(x.as<int32_t>()[i])
                            : x.as<float>()[i];
    StoreQuantized(ToCode(model::FDiv(value, ScaleAt(scale, c)),
                          ZeroPointAt(zero, c), y.type),
                   i, &y);
  }
  return One(std::move(y));
}

absl::Status InferDequantize(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(CheckParameters(*graph, node));
  const Tensor& x = InputOf(*graph, node, 0);
  if (HasInput(node, 2) && InputOf(*graph, node, 2).type != x.type) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "the zero point has type ",
                      DataTypeName(InputOf(*graph, node, 2).type),
                      ", the input ", DataTypeName(x.type));
  }
  return SetOutput(graph, node, 0, DataType::kFloat, x.shape);
}

Results EvaluateDequantize(const Graph&, const Node& node,
                           const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const TensorData& scale = *inputs[1];
  const TensorData* zero = At(inputs, 2);
  ASSIGN_OR_RETURN(auto channels,
                   ResolveChannels(node, x.shape, scale.shape,
                                   zero ? &zero->shape : nullptr));
  TensorData y = TensorData::Zeros(DataType::kFloat, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t c = channels.of(i);
    const int32_t difference =
        model::WrapSub(LoadQuantized(x, i), ZeroPointAt(zero, c));
    y.as<float>()[i] =
        model::FMul(model::I32ToF32(difference), ScaleAt(scale, c));
  }
  return One(std::move(y));
}

const OperatorRegistration kQuantizeLinear(
    Define("QuantizeLinear", 10, kMaxOpset)
        .Inputs(2, 3, kFloats | kInt32s, kFloats, kQuantizedValues)
        .Attr("axis", AttributeKind::kInt)
        .Run(InferQuantize, EvaluateQuantize));
const OperatorRegistration kDequantizeLinear(
    Define("DequantizeLinear", 10, kMaxOpset)
        .Inputs(2, 3, kQuantizedValues | kInt32s, kFloats,
                kQuantizedValues | kInt32s)
        .Attr("axis", AttributeKind::kInt)
        .Run(InferDequantize, EvaluateDequantize));

}  // namespace
}  // namespace heddle::compiler
