// SPDX-License-Identifier: Apache-2.0
// MatMulInteger, ConvInteger: the int32 accumulator of (a - az) * (b - bz),
// modulo 2^32. Padding counts as x = xz. Volumes: see volume.h.
// DynamicQuantizeLinear: lo = min(0, min x), hi = max(0, max x) over the
// numbers of x (NaNs do not count), s = f32(f32(hi - lo) / 255), 1 if hi == lo,
// z = RNE(clamp(f32(0 - f32(lo / s)), 0, 255)), q = CRO(f32(x / s), z).
#include <algorithm>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/accumulate.h"
#include "compiler/ops/computed_codes.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/define.h"
#include "compiler/ops/matmul.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/ops/volume.h"

namespace heddle::compiler {
namespace {

// Zero point i, if given, has the type of the operand and one element, or one
// for each of `channels`.
absl::Status CheckZero(const Graph& graph, const Node& node, size_t i,
                       DataType type, int64_t channels) {
  if (!HasInput(node, i)) return absl::OkStatus();
  const Tensor& zero = InputOf(graph, node, i);
  if (zero.type != type) {
    return RejectNode(Rejection::kInvalidModel, node, "zero point '", zero.name,
                      "' has type ", DataTypeName(zero.type), ", must be ",
                      DataTypeName(type));
  }
  const int64_t count = ElementCount(zero.shape);
  if (count == 1 || (zero.shape.size() == 1 && count == channels)) {
    return absl::OkStatus();
  }
  // MatMulInteger's definition has zero points per row too, of rank 2 or more
  // for stacks; no other shape has a meaning.
  const Shape& operand = InputOf(graph, node, i - 2).shape;
  const bool per_row =
      node.op == "MatMulInteger" &&
      (zero.shape.size() > 1 ||
       (i == 2 && operand.size() > 1 && count == operand[operand.size() - 2]));
  return RejectNode(
      per_row ? Rejection::kUnsupportedShape : Rejection::kMismatchingShape,
      node, "zero point '", zero.name, "' has shape ",
      ShapeToString(zero.shape), ", must have 1 element",
      channels > 1 ? absl::StrCat(" or ", channels) : "");
}

absl::Status InferMatMul(Graph* graph, const Node& node) {
  const Tensor& a = InputOf(*graph, node, 0);
  const Tensor& b = InputOf(*graph, node, 1);
  ASSIGN_OR_RETURN(auto shape, ResolveMatMul(node, a.shape, b.shape));
  for (const absl::Status& s : {CheckZero(*graph, node, 2, a.type, 1),
                                CheckZero(*graph, node, 3, b.type, shape.n)}) {
    RETURN_IF_ERROR(s);
  }
  return SetOutput(graph, node, 0, DataType::kInt32, shape.output);
}

Results EvaluateMatMul(const Graph&, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(auto shape,
                   ResolveMatMul(node, inputs[0]->shape, inputs[1]->shape));
  const auto a = Centered(*inputs[0], At(inputs, 2), 1, 0);
  const auto b = Centered(*inputs[1], At(inputs, 3), shape.n, 1);
  TensorData y = TensorData::Zeros(DataType::kInt32, shape.output);
  for (int64_t i = 0; i < shape.batches; ++i) {
    MultiplyI32(shape.m, shape.k, shape.n,
                a.data() + shape.a_matrix[i] * shape.m * shape.k,
                b.data() + shape.b_matrix[i] * shape.k * shape.n,
                y.as<int32_t>() + i * shape.m * shape.n);
  }
  return One(std::move(y));
}

absl::Status InferConv(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Tensor& w = InputOf(*graph, node, 1);
  ASSIGN_OR_RETURN(auto shape, ResolveConv(node, x.shape, w.shape));
  for (const absl::Status& s :
       {CheckZero(*graph, node, 2, x.type, 1),
        CheckZero(*graph, node, 3, w.type, shape.maps)}) {
    RETURN_IF_ERROR(s);
  }
  return SetOutput(graph, node, 0, DataType::kInt32,
                   shape.window.OutputShape(shape.n, shape.maps));
}

Results EvaluateConv(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& w = *inputs[1];
  ASSIGN_OR_RETURN(auto shape, ResolveConv(node, inputs[0]->shape, w.shape));
  const Window& window = shape.window;
  const int64_t taps = shape.maps == 0 ? 0 : w.count() / shape.maps;
  const auto xc = Centered(*inputs[0], At(inputs, 2), 1, 0);
  const auto wc = Centered(w, At(inputs, 3), shape.maps, taps);
  TensorData y = TensorData::Zeros(DataType::kInt32,
                                   window.OutputShape(shape.n, shape.maps));
  const int64_t image = shape.channels * window.in[0] * window.in[1];
  const int64_t result = shape.maps * window.out[0] * window.out[1];
  for (int64_t n = 0; n < shape.n; ++n) {
    ConvolveI32(window, shape.channels, shape.maps, shape.group,
                xc.data() + n * image, wc.data(), y.as<int32_t>() + n * result);
  }
  return One(std::move(y));
}

absl::Status InferDynamic(Graph* graph, const Node& node) {
  const Shape shape = InputOf(*graph, node, 0).shape;
  for (const absl::Status& s :
       {SetOutput(graph, node, 0, DataType::kUint8, shape),
        SetOutput(graph, node, 1, DataType::kFloat, {}),
        SetOutput(graph, node, 2, DataType::kUint8, {})}) {
    RETURN_IF_ERROR(s);
  }
  return absl::OkStatus();
}

Results EvaluateDynamic(const Graph&, const Node&, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  float low = 0, high = 0;
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    if (x.as<float>()[i] < low) low = x.as<float>()[i];
    if (x.as<float>()[i] > high) high = x.as<float>()[i];
  }
  const float scale =
      high == low ? 1.0f : model::FDiv(model::FSub(high, low), 255.0f);
  const float offset = model::FSub(0.0f, model::FDiv(low, scale));
  const int32_t zero = model::ClampRne(offset, 0.0f, 255.0f);
  std::vector<TensorData> results = {
      TensorData::Zeros(DataType::kUint8, x.shape),
      TensorData::Zeros(DataType::kFloat, {}),
      TensorData::Zeros(DataType::kUint8, {})};
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    StoreQuantized(
        ToCode(model::FDiv(x.as<float>()[i], scale), zero, DataType::kUint8), i,
        &results[0]);
  }
  results[1].as<float>()[0] = scale;
  StoreQuantized(zero, 0, &results[2]);
  return results;
}

const OperatorRegistration kMatMulInteger(Define("MatMulInteger", 10, kMaxOpset)
                                              .Inputs(2, 4, kQuantizedValues)
                                              .Run(InferMatMul,
                                                   EvaluateMatMul));
bool IsExpandedConv(const Graph& graph, const Node& node) {
  return IsVolume(graph, node) || HasComputedWeights(graph, node);
}

absl::Status ExpandConv(Expansion* e) {
  if (IsVolume(e->graph(), e->node())) return ExpandVolumeOfCodes(e, 1, 2);
  RETURN_IF_ERROR(e->Check(InferConv));
  return ExpandComputedConvInteger(e);
}

const ExpandedOperator kConvInteger(
    Define("ConvInteger", 10, kMaxOpset)
        .Inputs(2, 4, kQuantizedValues)
        .Attr("auto_pad", AttributeKind::kString)
        .Attr("dilations", AttributeKind::kInts)
        .Attr("group", AttributeKind::kInt)
        .Attr("kernel_shape", AttributeKind::kInts)
        .Attr("pads", AttributeKind::kInts)
        .Attr("strides", AttributeKind::kInts)
        .Rules(VolumeRules()),
    ExpandConv, IsExpandedConv, InferConv, EvaluateConv);
const OperatorRegistration kDynamicQuantizeLinear(
    Define("DynamicQuantizeLinear", 11, kMaxOpset)
        .Inputs(1, 1, kFloats)
        .Outputs(3)
        .Run(InferDynamic, EvaluateDynamic));

}  // namespace
}  // namespace heddle::compiler
