// SPDX-License-Identifier: Apache-2.0
// ConvTranspose. Every result starts at the bias (+0 without one) and takes one
// chain of fused multiply-adds over input channel, input row, input column
// (innermost, increasing). The positions of the chain are those on which a tap
// falls; those outside of the image take part as 0. (So all results of one
// residue modulo the stride form an ordinary convolution.) A result without any
// position is the bias. float16 is computed in fp32 and rounded once,
// double in binary64 with a rounding of each product.
#include "compiler/ops/conv_transpose.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/accumulate.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/half.h"
#include "compiler/ops/volume.h"
#include "compiler/ops/window.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMaxExtent = 65535;

bool Within(const std::vector<int64_t>& values, int64_t low) {
  return std::all_of(values.begin(), values.end(),
                     [low](int64_t v) { return v >= low && v <= kMaxExtent; });
}

}  // namespace

Shape ConvTransposeShape::OutputShape() const {
  if (rank == 1) return {n, maps, out[1]};
  return {n, maps, out[0], out[1]};
}

std::vector<TransposePhase> ConvTransposeShape::Phases(int d) const {
  std::vector<TransposePhase> phases;
  const int64_t s = stride[d];
  for (int64_t first = 0; first < std::min(s, out[d]); ++first) {
    TransposePhase phase;
    phase.first = first;
    phase.count = (out[d] - first + s - 1) / s;
    phase.in_step = dilation[d] / std::gcd(dilation[d], s);
    for (int64_t k = kernel[d]; k-- > 0;) {
      const int64_t at = first + pad_begin[d] - k * dilation[d];
      if (at % s != 0) continue;
      if (phase.taps.empty()) phase.in_first = at / s;
      phase.taps.push_back(k);
    }
    phases.push_back(phase);
  }
  return phases;
}

absl::StatusOr<ConvTransposeShape> ResolveConvTranspose(const Node& node,
                                                        const Shape& x,
                                                        const Shape& w) {
  if (x.size() != 3 && x.size() != 4) {
    return RejectNode(Rejection::kUnsupportedShape, node,
                      "input must have rank 3 or 4, its shape is ",
                      ShapeToString(x));
  }
  if (w.size() != x.size()) {
    return RejectNode(Rejection::kMismatchingShape, node, "weights of shape ",
                      ShapeToString(w), " must have the rank of the input ",
                      ShapeToString(x));
  }
  ConvTransposeShape c;
  const size_t rank = x.size() - 2;
  c.rank = static_cast<int>(rank);
  const Shape kernel(w.begin() + 2, w.end());
  const Shape stated = node.IntsAttribute("kernel_shape", kernel);
  if (stated != kernel) {
    return RejectNode(Rejection::kMismatchingShape, node, "kernel_shape is ",
                      ShapeToString(stated), ", the weights have ",
                      ShapeToString(kernel));
  }
  const auto strides = node.IntsAttribute("strides", Shape(rank, 1));
  const auto dilations = node.IntsAttribute("dilations", Shape(rank, 1));
  const auto pads = node.IntsAttribute("pads", Shape(2 * rank, 0));
  const auto extra = node.IntsAttribute("output_padding", Shape(rank, 0));
  auto wanted = node.IntsAttribute("output_shape", {});
  // Some exporters state the whole shape.
  if (wanted.size() == rank + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (strides.size() != rank || dilations.size() != rank ||
      pads.size() != 2 * rank || extra.size() != rank ||
      (!wanted.empty() && wanted.size() != rank)) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "strides, dilations, output_padding and output_shape "
                      "need ",
                      rank, " values and pads ", 2 * rank,
                      " for an input of shape ", ShapeToString(x));
  }
  c.n = x[0];
  c.channels = x[1];
  c.group = node.IntAttribute("group", 1);
  if (c.group < 1 || c.channels % c.group != 0) {
    return RejectNode(Rejection::kInvalidModel, node, "group ", c.group,
                      " does not divide ", c.channels, " input channels");
  }
  if (w[0] != c.channels) {
    return RejectNode(Rejection::kMismatchingShape, node, "weights are for ",
                      w[0], " input channels, the input has ", c.channels);
  }
  if (w[1] > kMaxExtent * kMaxExtent / c.group) {
    return RejectNode(Rejection::kUnsupportedShape, node, "group ", c.group,
                      " of ", w[1], " output channels is too much");
  }
  c.maps = w[1] * c.group;
  const std::string mode = node.StringAttribute("auto_pad", "NOTSET");
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = i + 2 - rank;
    c.in[d] = x[2 + i];
    c.kernel[d] = kernel[i];
    c.stride[d] = strides[i];
    c.dilation[d] = dilations[i];
    if (!Within({c.kernel[d], c.stride[d], c.dilation[d]}, 1) || c.in[d] < 0 ||
        c.in[d] > (int64_t{1} << 31) || !Within({extra[i]}, 0)) {
      return RejectNode(Rejection::kUnsupportedShape, node,
                        "kernel, strides and dilations are 1 to ", kMaxExtent,
                        ", output_padding 0 to ", kMaxExtent,
                        ", but dimension ", i, " of ", x[2 + i], " has ",
                        c.kernel[d], ", ", c.stride[d], ", ", c.dilation[d],
                        " and ", extra[i]);
    }
    const int64_t natural = c.stride[d] * (c.in[d] - 1) + extra[i] +
                            (c.kernel[d] - 1) * c.dilation[d] + 1;
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (same || !wanted.empty()) {
      c.out[d] = wanted.empty() ? c.in[d] * c.stride[d] : wanted[i];
      const int64_t total = std::max<int64_t>(0, natural - c.out[d]);
      // The definition says so since opset 11; before, the other way round.
      const bool less_first = (mode == "SAME_UPPER") == (node.opset >= 11);
      c.pad_begin[d] = less_first ? total / 2 : total - total / 2;
    } else {
      c.pad_begin[d] = mode == "VALID" ? 0 : pads[i];
      const int64_t end = mode == "VALID" ? 0 : pads[rank + i];
      c.out[d] = natural - c.pad_begin[d] - end;
    }
    if (c.out[d] < 1 || c.out[d] > (int64_t{1} << 31)) {
      return RejectNode(Rejection::kMismatchingShape, node,
                        "the result would have ", c.out[d],
                        " elements along dimension ", i + 2);
    }
  }
  return c;
}

namespace {

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(auto c, ResolveConvTranspose(
                               node, x.shape, InputOf(*graph, node, 1).shape));
  if (HasInput(node, 2)) {
    const Tensor& bias = InputOf(*graph, node, 2);
    if (bias.shape != Shape{c.maps}) {
      return RejectNode(Rejection::kMismatchingShape, node,
                        "the bias has shape ", ShapeToString(bias.shape),
                        ", must be [", c.maps, "]");
    }
  }
  return SetOutput(graph, node, 0, x.type, c.OutputShape());
}

void Accumulate(float* acc, const float* x, float w, int64_t count) {
  AccumulateF32(acc, x, 1, w, count);
}
void Accumulate(double* acc, const double* x, double w, int64_t count) {
  AccumulateF64(acc, x, 1, w, count);
}
float Finished(float x) { return model::Canonical(x); }
double Finished(double x) { return x; }

// One phase of one image: acc is [maps][rows.count][columns.count].
template <typename Real>
void AccumulatePhase(const ConvTransposeShape& c, const TransposePhase& rows,
                     const TransposePhase& columns, const Real* x,
                     const Real* w, Real* acc) {
  if (rows.taps.empty() || columns.taps.empty()) return;
  const auto bounds = [](const TransposePhase& p, int64_t in, int64_t* low) {
    *low = std::min<int64_t>(0, p.in_first);
    const int64_t last = p.in_first + p.count - 1 +
                         static_cast<int64_t>(p.taps.size() - 1) * p.in_step;
    return std::max(in - 1, last) - *low + 1;
  };
  int64_t top = 0, left = 0;
  const int64_t height = bounds(rows, c.in[0], &top);
  const int64_t width = bounds(columns, c.in[1], &left);
  std::vector<Real> plane(static_cast<size_t>(height * width));
  const int64_t in_group = c.channels / c.group, out_group = c.maps / c.group;
  for (int64_t channel = 0; channel < c.channels; ++channel) {
    Pace(height * width);
    for (int64_t row = 0; row < c.in[0]; ++row) {
      std::copy_n(x + (channel * c.in[0] + row) * c.in[1], c.in[1],
                  plane.begin() + (row - top) * width - left);
    }
    for (int64_t m = 0; m < out_group; ++m) {
      const Real* kernel =
          w + (channel * out_group + m) * c.kernel[0] * c.kernel[1];
      Real* map = acc + (channel / in_group * out_group + m) * rows.count *
                            columns.count;
      for (size_t ty = 0; ty < rows.taps.size(); ++ty) {
        for (size_t tx = 0; tx < columns.taps.size(); ++tx) {
          Pace(rows.count * columns.count + 1);
          const int64_t iy =
              rows.in_first + static_cast<int64_t>(ty) * rows.in_step;
          const int64_t ix =
              columns.in_first + static_cast<int64_t>(tx) * columns.in_step;
          for (int64_t j = 0; j < rows.count; ++j) {
            Accumulate(map + j * columns.count,
                       plane.data() + (iy + j - top) * width + ix - left,
                       kernel[rows.taps[ty] * c.kernel[1] + columns.taps[tx]],
                       columns.count);
          }
        }
      }
    }
  }
}

template <typename Real>
void Transposed(const ConvTransposeShape& c, const TensorData& data,
                const TensorData& weights, const TensorData* bias,
                TensorData* y) {
  for (int64_t n = 0; n < c.n; ++n) {
    const Real* x = data.as<Real>() + n * c.channels * c.in[0] * c.in[1];
    Real* image = y->as<Real>() + n * c.maps * c.out[0] * c.out[1];
    for (const TransposePhase& rows : c.Phases(0)) {
      for (const TransposePhase& columns : c.Phases(1)) {
        const int64_t pixels = rows.count * columns.count;
        std::vector<Real> acc(static_cast<size_t>(c.maps * pixels));
        for (int64_t m = 0; bias != nullptr && m < c.maps; ++m) {
          std::fill_n(acc.begin() + m * pixels, pixels, bias->as<Real>()[m]);
        }
        AccumulatePhase(c, rows, columns, x, weights.as<Real>(), acc.data());
        for (size_t i = 0; i < acc.size(); ++i) {
          PaceAt(i);
          const auto at = static_cast<int64_t>(i);
          const int64_t m = at / pixels, row = at % pixels / columns.count,
                        column = at % columns.count;
          image[(m * c.out[0] + rows.first + row * c.stride[0]) * c.out[1] +
                columns.first + column * c.stride[1]] = Finished(acc[i]);
        }
      }
    }
  }
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const Widened wide(inputs);
  const TensorData &x = *wide[0], &w = *wide[1];
  ASSIGN_OR_RETURN(auto c, ResolveConvTranspose(node, x.shape, w.shape));
  TensorData y = TensorData::Zeros(x.type, c.OutputShape());
  if (x.type == DataType::kDouble) {
    Transposed<double>(c, x, w, wide[2], &y);
  } else {
    Transposed<float>(c, x, w, wide[2], &y);
  }
  return One(Narrowed(std::move(y), inputs[0]->type));
}

const ExpandedOperator kConvTranspose(
    Define("ConvTranspose", 1, kMaxOpset)
        .Inputs(2, 3, kRealsAndDouble)
        .Attr("auto_pad", AttributeKind::kString)
        .Attr("dilations", AttributeKind::kInts)
        .Attr("group", AttributeKind::kInt)
        .Attr("kernel_shape", AttributeKind::kInts)
        .Attr("output_padding", AttributeKind::kInts)
        .Attr("output_shape", AttributeKind::kInts)
        .Attr("pads", AttributeKind::kInts)
        .Attr("strides", AttributeKind::kInts)
        .Rules(VolumeRules())
        .Rule(Rejection::kInvalidModel, "output_padding is not negative",
              [](const Graph&, const Node& node, std::string* detail) {
                const auto values = node.IntsAttribute("output_padding", {});
                *detail =
                    absl::StrCat("output_padding = ", ShapeToString(values));
                return std::all_of(values.begin(), values.end(),
                                   [](int64_t v) { return v >= 0; });
              }),
    ExpandVolumeConvTranspose, IsVolume, Infer, Evaluate);

}  // namespace
}  // namespace heddle::compiler
