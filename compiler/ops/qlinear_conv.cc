// SPDX-License-Identifier: Apache-2.0
// QLinearConv: acc = bias + sum of (x - xz) * (w - wz[m]) in int32, wrapping;
// y = CRO(f32(f32(acc) * M[m]), yz), M[m] = f32(f32(xs * ws[m]) / ys).
// Padding counts as x = xz. Volumes: see volume.h.
#include <algorithm>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/accumulate.h"
#include "compiler/ops/computed_codes.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/ops/volume.h"

namespace heddle::compiler {
namespace {

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, kX);
  const Tensor& w = InputOf(*graph, node, kW);
  ASSIGN_OR_RETURN(auto shape, ResolveConv(node, x.shape, w.shape));
  const DataType y_type = InputOf(*graph, node, kYZero).type;
  RETURN_IF_ERROR(CheckScalarParameters(*graph, node, kXScale, x.type));
  RETURN_IF_ERROR(
      CheckChannelParameters(*graph, node, kWScale, w.type, shape.maps));
  RETURN_IF_ERROR(CheckScalarParameters(*graph, node, kYScale, y_type));
  if (y_type != x.type) {
    return RejectNode(Rejection::kUnsupportedDatatype, node, "the input is ",
                      DataTypeName(x.type), " and the output ",
                      DataTypeName(y_type), ", they must be equal");
  }
  if (HasInput(node, kBias) &&
      InputOf(*graph, node, kBias).shape != Shape{shape.maps}) {
    return RejectNode(Rejection::kMismatchingShape, node, "the bias has shape ",
                      ShapeToString(InputOf(*graph, node, kBias).shape),
                      ", must be [", shape.maps, "]");
  }
  return SetOutput(graph, node, 0, y_type,
                   shape.window.OutputShape(shape.n, shape.maps));
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[kX];
  const TensorData& w = *inputs[kW];
  const TensorData* bias = At(inputs, kBias);
  ASSIGN_OR_RETURN(auto shape, ResolveConv(node, x.shape, w.shape));
  const Window& window = shape.window;
  const int64_t image = shape.channels * window.in[0] * window.in[1];
  const int64_t pixels = window.out[0] * window.out[1];
  const int64_t taps = shape.maps == 0 ? 0 : w.count() / shape.maps;
  const auto xc = Centered(x, inputs[kXZero], 1, 0);
  const auto wc = Centered(w, inputs[kWZero], shape.maps, taps);
  const int32_t yz = ZeroPoint(inputs[kYZero]);
  TensorData y = TensorData::Zeros(inputs[kYZero]->type,
                                   window.OutputShape(shape.n, shape.maps));
  std::vector<int32_t> acc(static_cast<size_t>(shape.maps * pixels));
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t m = 0; m < shape.maps; ++m) {
      std::fill_n(acc.begin() + m * pixels, pixels,
                  bias != nullptr ? bias->as<int32_t>()[m] : 0);
    }
    ConvolveI32(window, shape.channels, shape.maps, shape.group,
                xc.data() + n * image, wc.data(), acc.data());
    for (int64_t m = 0; m < shape.maps; ++m) {
      const float multiplier =
          model::FDiv(model::FMul(ScalarF32(*inputs[kXScale]),
                                  ScaleAt(*inputs[kWScale], m)),
                      ScalarF32(*inputs[kYScale]));
      Requantize(acc.data() + m * pixels, pixels, multiplier, yz, y.type,
                 y.bytes.data() + (n * shape.maps + m) * pixels);
    }
  }
  return One(std::move(y));
}

bool IsExpandedConv(const Graph& graph, const Node& node) {
  return IsVolume(graph, node) || HasComputedParameters(graph, node);
}

absl::Status Expand(Expansion* e) {
  if (IsVolume(e->graph(), e->node())) {
    return ExpandVolumeOfCodes(e, kW, kXZero);
  }
  RETURN_IF_ERROR(e->Check(Infer));
  return ExpandComputedConv(e);
}

const ExpandedOperator kQLinearConv(
    Define("QLinearConv", 10, kMaxOpset)
        .Inputs(8, 9, kQuantizedValues, kFloats, kQuantizedValues,
                kQuantizedValues, kFloats, kQuantizedValues, kFloats,
                kQuantizedValues, kInt32s)
        .Attr("auto_pad", AttributeKind::kString)
        .Attr("dilations", AttributeKind::kInts)
        .Attr("group", AttributeKind::kInt)
        .Attr("kernel_shape", AttributeKind::kInts)
        .Attr("pads", AttributeKind::kInts)
        .Attr("strides", AttributeKind::kInts)
        .Rules(VolumeRules()),
    Expand, IsExpandedConv, Infer, Evaluate);

}  // namespace
}  // namespace heddle::compiler
