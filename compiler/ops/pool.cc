// SPDX-License-Identifier: Apache-2.0
// MaxPool: acc = fmax(acc, x) over the window row by row, from -inf (integers:
// the lowest value); padding is skipped.
// AveragePool: acc = f32(acc + x) over the window row by row, from +0, then one
// division by the count.
// GlobalAveragePool: the 16-lane reduction of ISA.md, then one division.
#include "compiler/ops/pool.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "compiler/ops/define.h"
#include "compiler/ops/reduce.h"
#include "compiler/ops/window.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

absl::StatusOr<Window> ResolvePool(const Node& node, const Shape& x) {
  return ResolveWindow(node, x, node.IntsAttribute("kernel_shape", {}));
}

int64_t AverageCount(const Window& w, int64_t oy, int64_t ox,
                     bool count_include_pad) {
  const int64_t at[2] = {oy, ox};
  int64_t count = 1;
  for (int d = 0; d < 2; ++d) {
    // With count_include_pad the padding counts, what lies beyond it (the
    // overhang of ceil_mode) does not.
    const int64_t low = count_include_pad ? -w.pad_begin[d] : 0;
    const int64_t high = w.in[d] + (count_include_pad ? w.pad_end[d] : 0);
    int64_t inside = 0;
    for (int64_t k = 0; k < w.kernel[d]; ++k) {
      const int64_t i =
          at[d] * w.stride[d] - w.pad_begin[d] + k * w.dilation[d];
      if (i >= low && i < high) ++inside;
    }
    count *= inside;
  }
  return count;
}

namespace {

absl::Status InferPool(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  auto window = ResolvePool(node, x.shape);
  if (!window.ok()) return window.status();
  return SetOutput(graph, node, 0, x.type,
                   window->OutputShape(x.shape[0], x.shape[1]));
}

template <typename T>
T Larger(T acc, T x) {
  return std::max(acc, x);
}
template <>
float Larger(float acc, float x) {
  return model::FMax(acc, x);
}

template <typename T>
void MaxPool(const Window& w, int64_t planes, const T* x, T* y) {
  const T lowest = std::is_floating_point<T>::value
                       ? -std::numeric_limits<T>::infinity()
                       : std::numeric_limits<T>::lowest();
  for (int64_t plane = 0; plane < planes; ++plane) {
    ForEachWindow(w, [&](int64_t oy, int64_t ox) {
      T acc = lowest;
      ForEachTap(w, oy, ox, [&](int64_t iy, int64_t ix) {
        acc = Larger(acc, x[iy * w.in[1] + ix]);
      });
      y[oy * w.out[1] + ox] = acc;
    });
    x += w.in[0] * w.in[1];
    y += w.out[0] * w.out[1];
  }
}

Results EvaluateMaxPool(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  auto window = ResolvePool(node, x.shape);
  if (!window.ok()) return window.status();
  TensorData y =
      TensorData::Zeros(x.type, window->OutputShape(x.shape[0], x.shape[1]));
  const int64_t planes = x.shape[0] * x.shape[1];
  if (x.type == DataType::kFloat) {
    MaxPool(*window, planes, x.as<float>(), y.as<float>());
  } else if (x.type == DataType::kUint8) {
    MaxPool(*window, planes, x.as<uint8_t>(), y.as<uint8_t>());
  } else {
    MaxPool(*window, planes, x.as<int8_t>(), y.as<int8_t>());
  }
  return One(std::move(y));
}

Results EvaluateAveragePool(const Graph&, const Node& node,
                            const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  auto window = ResolvePool(node, x.shape);
  if (!window.ok()) return window.status();
  const Window& w = *window;
  const bool include_pad = node.IntAttribute("count_include_pad", 0) != 0;
  TensorData y =
      TensorData::Zeros(x.type, w.OutputShape(x.shape[0], x.shape[1]));
  const float* in = x.as<float>();
  float* out = y.as<float>();
  for (int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane) {
    ForEachWindow(w, [&](int64_t oy, int64_t ox) {
      float acc = 0;
      ForEachTap(w, oy, ox, [&](int64_t iy, int64_t ix) {
        acc = model::FAdd(acc, in[iy * w.in[1] + ix]);
      });
      const int64_t count = AverageCount(w, oy, ox, include_pad);
      out[oy * w.out[1] + ox] = model::FDiv(acc, static_cast<float>(count));
    });
    in += w.in[0] * w.in[1];
    out += w.out[0] * w.out[1];
  }
  return One(std::move(y));
}

absl::Status InferGlobal(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  Shape shape(x.shape.size(), 1);
  shape[0] = x.shape[0];
  shape[1] = x.shape[1];
  return SetOutput(graph, node, 0, x.type, shape);
}

Results EvaluateGlobalAveragePool(const Graph&, const Node&,
                                  const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  Shape shape(x.shape.size(), 1);
  shape[0] = x.shape[0];
  shape[1] = x.shape[1];
  TensorData y = TensorData::Zeros(x.type, shape);
  const int64_t pixels =
      ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
  for (int64_t i = 0; i < y.count(); ++i) {
    y.as<float>()[i] =
        model::FDiv(SumLanes(x.as<float>() + i * pixels, 1, pixels),
                    static_cast<float>(pixels));
  }
  return One(std::move(y));
}

Define Pool(const char* op, int since, TypeSet types) {
  Define define(op, since, kMaxOpset);
  define.Inputs(1, 1, types)
      .Attr("auto_pad", AttributeKind::kString)
      .Attr("ceil_mode", AttributeKind::kInt)
      .Attr("kernel_shape", AttributeKind::kInts, true)
      .Attr("pads", AttributeKind::kInts)
      .Attr("strides", AttributeKind::kInts)
      .Rules(WindowRules());
  return define;
}

const OperatorRegistration kMaxPool(Pool("MaxPool", 1, kFloats | kCodes)
                                        .Attr("dilations", AttributeKind::kInts)
                                        .Attr("storage_order",
                                              AttributeKind::kInt)
                                        .Run(InferPool, EvaluateMaxPool));
const OperatorRegistration kAveragePool(Pool("AveragePool", 7, kFloats)
                                            .Attr("count_include_pad",
                                                  AttributeKind::kInt)
                                            .Run(InferPool,
                                                 EvaluateAveragePool));
const OperatorRegistration kGlobalAveragePool(
    Define("GlobalAveragePool", 1, kMaxOpset)
        .Inputs(1, 1, kFloats)
        .Rule(Refusal::kUnsupportedShape, "input has rank 3 to 5",
              [](const Graph& graph, const Node& node, std::string* detail) {
                const Shape& shape = InputOf(graph, node, 0).shape;
                *detail = absl::StrCat("its shape is ", ShapeToString(shape));
                return shape.size() >= 3 && shape.size() <= 5;
              })
        .Run(InferGlobal, EvaluateGlobalAveragePool));

}  // namespace
}  // namespace heddle::compiler
