// SPDX-License-Identifier: Apache-2.0
// QLinearGlobalAveragePool: acc = sum(q) - HW*xz,
//   y = CRO(f32(f32(acc) * M), yz), M = f32(xs / f32(ys * f32(HW))).
// QLinearAveragePool: d = f32(f32(q - xz) * xs), t = f32(t + d) row by row,
//   y = RSO(f32(f32(f32(t / n) / ys) + f32(yz))); a window equal to the image
//   without padding is the global form.
#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/pool.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

enum Input { kX, kXScale, kXZero, kYScale, kYZero };

absl::Status CheckParameters(const Graph& graph, const Node& node) {
  const DataType type = InputOf(graph, node, kX).type;
  RETURN_IF_ERROR(CheckScalarParameters(graph, node, kXScale, type));
  return CheckScalarParameters(graph, node, kYScale, type);
}

Shape GlobalShape(const Shape& x) {
  Shape shape(x.size(), 1);
  shape[0] = x[0];
  shape[1] = x[1];
  return shape;
}

absl::Status InferGlobal(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(CheckParameters(*graph, node));
  const Tensor& x = InputOf(*graph, node, kX);
  return SetOutput(graph, node, 0, x.type, GlobalShape(x.shape));
}

Results EvaluateGlobal(const Graph&, const Node&, const Inputs& inputs) {
  const TensorData& x = *inputs[kX];
  TensorData y = TensorData::Zeros(x.type, GlobalShape(x.shape));
  const int64_t pixels =
      ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
  const int32_t xz = ZeroPoint(inputs[kXZero]);
  const int32_t yz = ZeroPoint(At(inputs, kYZero));
  const float multiplier = model::FDiv(
      ScalarF32(*inputs[kXScale]),
      model::FMul(ScalarF32(*inputs[kYScale]), static_cast<float>(pixels)));
  for (int64_t i = 0; i < y.count(); ++i) {
    uint32_t acc = 0;
    for (int64_t p = 0; p < pixels; ++p) {
      PaceAt(p);
      acc += static_cast<uint32_t>(LoadQuantized(x, i * pixels + p) - xz);
    }
    StoreQuantized(
        Requantize(static_cast<int32_t>(acc), multiplier, yz, y.type), i, &y);
  }
  return One(std::move(y));
}

absl::Status InferAverage(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(CheckParameters(*graph, node));
  const Tensor& x = InputOf(*graph, node, kX);
  ASSIGN_OR_RETURN(auto window, ResolvePool(node, x.shape));
  return SetOutput(graph, node, 0, x.type,
                   window.OutputShape(x.shape[0], x.shape[1]));
}

Results EvaluateAverage(const Graph& graph, const Node& node,
                        const Inputs& inputs) {
  const TensorData& x = *inputs[kX];
  ASSIGN_OR_RETURN(auto window, ResolvePool(node, x.shape));
  const Window& w = window;
  if (!w.HasPadding() && w.kernel[0] == w.in[0] && w.kernel[1] == w.in[1]) {
    return EvaluateGlobal(graph, node, inputs);
  }
  const bool include_pad = node.IntAttribute("count_include_pad", 0) != 0;
  const float xs = ScalarF32(*inputs[kXScale]);
  const float ys = ScalarF32(*inputs[kYScale]);
  const int32_t xz = ZeroPoint(inputs[kXZero]);
  const float yz = model::I32ToF32(ZeroPoint(At(inputs, kYZero)));
  TensorData y =
      TensorData::Zeros(x.type, w.OutputShape(x.shape[0], x.shape[1]));
  const bool is_signed = y.type == DataType::kInt8;
  const int64_t in_plane = w.in[0] * w.in[1], out_plane = w.out[0] * w.out[1];
  for (int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane) {
    ForEachWindow(w, [&](int64_t oy, int64_t ox) {
      float sum = 0;
      ForEachTap(w, oy, ox, [&](int64_t iy, int64_t ix) {
        const int32_t code =
            LoadQuantized(x, plane * in_plane + iy * w.in[1] + ix) - xz;
        sum = model::FAdd(sum, model::FMul(model::I32ToF32(code), xs));
      });
      const auto count =
          static_cast<float>(AverageCount(w, oy, ox, include_pad));
      const float v = model::FAdd(model::FDiv(model::FDiv(sum, count), ys), yz);
      StoreQuantized(model::Rso(v, is_signed),
                     plane * out_plane + oy * w.out[1] + ox, &y);
    });
  }
  return One(std::move(y));
}

bool HasImage(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, kX).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= 3 && shape.size() <= 5 &&
         ElementCount(Shape(shape.begin() + 2, shape.end())) < (1 << 24);
}

bool IsChannelsFirst(const Graph&, const Node& node, std::string*) {
  return node.IntAttribute("channels_last", 0) == 0;
}

const OperatorRegistration kGlobal(
    Define("QLinearGlobalAveragePool", 1, 1)
        .Domain("com.microsoft")
        .Inputs(4, 5, kQuantizedValues, kFloats, kQuantizedValues, kFloats,
                kQuantizedValues)
        .Attr("channels_last", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedShape,
              "input has rank 3 to 5 and at most 16777215 pixels", HasImage)
        .Rule(Rejection::kUnsupportedAttribute, "channels_last is 0",
              IsChannelsFirst)
        .Run(InferGlobal, EvaluateGlobal));
const OperatorRegistration kAverage(
    Define("QLinearAveragePool", 1, 1)
        .Domain("com.microsoft")
        .Inputs(4, 5, kQuantizedValues, kFloats, kQuantizedValues, kFloats,
                kQuantizedValues)
        .Attr("auto_pad", AttributeKind::kString)
        .Attr("ceil_mode", AttributeKind::kInt)
        .Attr("channels_last", AttributeKind::kInt)
        .Attr("count_include_pad", AttributeKind::kInt)
        .Attr("kernel_shape", AttributeKind::kInts, true)
        .Attr("pads", AttributeKind::kInts)
        .Attr("strides", AttributeKind::kInts)
        .Rules(WindowRules())
        .Rule(Rejection::kUnsupportedAttribute, "channels_last is 0",
              IsChannelsFirst)
        .Run(InferAverage, EvaluateAverage));

}  // namespace
}  // namespace heddle::compiler
