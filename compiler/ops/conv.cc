// SPDX-License-Identifier: Apache-2.0
// Conv: the accumulator starts at the bias (+0 without one) and takes one chain
// of fused multiply-adds over input channel, ky, kx (innermost); padding takes
// part as 0. Volumes: see volume.h. float16 is computed in fp32 and rounded
// once, at the end, double in binary64, where products are rounded, too.
#include "compiler/ops/conv.h"

#include <algorithm>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/accumulate.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/half.h"
#include "compiler/ops/volume.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

absl::StatusOr<ConvShape> ResolveConv(const Node& node, const Shape& x,
                                      const Shape& w) {
  if (w.size() != x.size()) {
    return RejectNode(Rejection::kMismatchingShape, node, "weights of shape ",
                      ShapeToString(w), " do not fit the input of shape ",
                      ShapeToString(x));
  }
  const Shape kernel(w.begin() + std::min<size_t>(2, w.size()), w.end());
  const Shape stated = node.IntsAttribute("kernel_shape", kernel);
  if (stated != kernel) {
    return RejectNode(Rejection::kMismatchingShape, node, "kernel_shape is ",
                      ShapeToString(stated), ", the weights have ",
                      ShapeToString(kernel));
  }
  ASSIGN_OR_RETURN(auto window, ResolveWindow(node, x, kernel));
  ConvShape shape;
  shape.n = x[0];
  shape.channels = x[1];
  shape.maps = w[0];
  shape.group = node.IntAttribute("group", 1);
  shape.window = window;
  if (shape.group < 1 || shape.channels % shape.group != 0 ||
      shape.maps % shape.group != 0) {
    return RejectNode(Rejection::kInvalidModel, node, "group ", shape.group,
                      " does not divide ", shape.channels, " input and ",
                      shape.maps, " output channels");
  }
  if (w[1] != shape.channels / shape.group) {
    return RejectNode(Rejection::kMismatchingShape, node, "weights have ", w[1],
                      " input channels per group, the input has ",
                      shape.channels / shape.group);
  }
  return shape;
}

namespace {

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Tensor& w = InputOf(*graph, node, 1);
  ASSIGN_OR_RETURN(auto shape, ResolveConv(node, x.shape, w.shape));
  if (HasInput(node, 2)) {
    const Tensor& bias = InputOf(*graph, node, 2);
    if (bias.shape != Shape{shape.maps}) {
      return RejectNode(Rejection::kMismatchingShape, node,
                        "the bias has shape ", ShapeToString(bias.shape),
                        ", must be [", shape.maps, "]");
    }
  }
  return SetOutput(graph, node, 0, x.type,
                   shape.window.OutputShape(shape.n, shape.maps));
}

template <typename Real, typename Convolution>
void Convolve(const ConvShape& shape, const Real* x, const Real* w,
              const TensorData* bias, Real* y, Convolution convolution) {
  const Window& window = shape.window;
  const int64_t in_image = shape.channels * window.in[0] * window.in[1];
  const int64_t pixels = window.out[0] * window.out[1];
  for (int64_t n = 0; n < shape.n; ++n) {
    Real* image = y + n * shape.maps * pixels;
    for (int64_t m = 0; m < shape.maps; ++m) {
      const Real initial = bias != nullptr ? bias->as<Real>()[m] : 0;
      std::fill_n(image + m * pixels, pixels, initial);
    }
    convolution(window, shape.channels, shape.maps, shape.group,
                x + n * in_image, w, image);
  }
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const Widened wide(inputs);
  const TensorData &x = *wide[0], &w = *wide[1];
  ASSIGN_OR_RETURN(auto shape, ResolveConv(node, x.shape, w.shape));
  TensorData y =
      TensorData::Zeros(x.type, shape.window.OutputShape(shape.n, shape.maps));
  if (x.type == DataType::kDouble) {
    Convolve(shape, x.as<double>(), w.as<double>(), wide[2], y.as<double>(),
             ConvolveF64);
    return One(std::move(y));
  }
  Convolve(shape, x.as<float>(), w.as<float>(), wide[2], y.as<float>(),
           ConvolveF32);
  float* values = y.as<float>();
  for (int64_t i = 0; i < y.count(); ++i) {
    PaceAt(i);
    values[i] = model::Canonical(values[i]);
  }
  return One(Narrowed(std::move(y), inputs[0]->type));
}

const ExpandedOperator kConv(Define("Conv", 1, kMaxOpset)
                                 .Inputs(2, 3, kRealsAndDouble)
                                 .Attr("auto_pad", AttributeKind::kString)
                                 .Attr("dilations", AttributeKind::kInts)
                                 .Attr("group", AttributeKind::kInt)
                                 .Attr("kernel_shape", AttributeKind::kInts)
                                 .Attr("pads", AttributeKind::kInts)
                                 .Attr("strides", AttributeKind::kInts)
                                 .Rules(VolumeRules()),
                             ExpandVolumeConv, IsVolume, Infer, Evaluate);

}  // namespace
}  // namespace heddle::compiler
