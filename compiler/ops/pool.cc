// SPDX-License-Identifier: Apache-2.0
// MaxPool: acc = fmax(acc, x) over the window row by row, from -inf (integers:
// the lowest value); padding is skipped.
// Volumes and Indices: see volume.h and max_pool_index.h.
// AveragePool: acc = f32(acc + x) over the window row by row, from +0, then one
// division by the count.
// GlobalAveragePool, GlobalMaxPool: ReduceMean and ReduceMax over the spatial
// dimensions, in the order of reduce.h.
// float16 is computed in fp32 and rounded once at the end.
#include "compiler/ops/pool.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/max_pool_index.h"
#include "compiler/ops/reduce.h"
#include "compiler/ops/volume.h"
#include "compiler/ops/window.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

namespace {

absl::Status InferPool(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(auto window, ResolvePool(node, x.shape));
  return SetOutput(graph, node, 0, x.type,
                   window.OutputShape(x.shape[0], x.shape[1]));
}

template <typename T>
T Larger(T acc, T x) {
  return std::max(acc, x);
}
template <>
float Larger(float acc, float x) {
  return model::FMax(acc, x);
}

template <>
double Larger(double acc, double x) {
  return acc > x || acc != acc ? acc : x;
}

float Plus(float a, float b) { return model::FAdd(a, b); }
double Plus(double a, double b) { return a + b; }
float Quotient(float a, float b) { return model::FDiv(a, b); }
double Quotient(double a, double b) { return a / b; }

template <typename T>
void MaxPool(const Window& w, int64_t planes, const T* x, T* y) {
  const T lowest = std::is_floating_point<T>::value
                       ? -std::numeric_limits<T>::infinity()
                       : std::numeric_limits<T>::lowest();
  for (int64_t plane = 0; plane < planes; ++plane) {
    std::fill(y, y + w.out[0] * w.out[1], lowest);
    ForEachTapOfPlane(w, x, y, [](T acc, T v) { return Larger<T>(acc, v); });
    x += w.in[0] * w.in[1];
    y += w.out[0] * w.out[1];
  }
}

Results EvaluateMaxPool(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  ASSIGN_OR_RETURN(auto window, ResolvePool(node, x.shape));
  TensorData y =
      TensorData::Zeros(x.type, window.OutputShape(x.shape[0], x.shape[1]));
  const int64_t planes = x.shape[0] * x.shape[1];
  if (x.type == DataType::kDouble) {
    MaxPool(window, planes, x.as<double>(), y.as<double>());
  } else if (Contains(kReals, x.type)) {
    std::vector<float> out(y.count());
    MaxPool(window, planes, ToFloats(x).data(), out.data());
    y = FromFloats(x.type, y.shape, out);
  } else if (x.type == DataType::kUint8) {
    MaxPool(window, planes, x.as<uint8_t>(), y.as<uint8_t>());
  } else {
    MaxPool(window, planes, x.as<int8_t>(), y.as<int8_t>());
  }
  return One(std::move(y));
}

template <typename Real>
void AveragePool(const Window& w, int64_t planes, bool include_pad,
                 const Real* x, Real* y) {
  std::vector<Real> counts;  // the same for each plane
  ForEachWindow(w, [&](int64_t oy, int64_t ox) {
    counts.push_back(static_cast<Real>(AverageCount(w, oy, ox, include_pad)));
  });
  for (int64_t plane = 0; plane < planes; ++plane) {
    // From +0.
    ForEachTapOfPlane(w, x, y, [](Real acc, Real v) { return Plus(acc, v); });
    for (size_t i = 0; i < counts.size(); ++i) y[i] = Quotient(y[i], counts[i]);
    x += w.in[0] * w.in[1];
    y += w.out[0] * w.out[1];
  }
}

Results EvaluateAveragePool(const Graph&, const Node& node,
                            const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  ASSIGN_OR_RETURN(auto w, ResolvePool(node, x.shape));
  const bool include_pad = node.IntAttribute("count_include_pad", 0) != 0;
  const int64_t planes = x.shape[0] * x.shape[1];
  TensorData y =
      TensorData::Zeros(x.type, w.OutputShape(x.shape[0], x.shape[1]));
  if (x.type == DataType::kDouble) {
    AveragePool(w, planes, include_pad, x.as<double>(), y.as<double>());
    return One(std::move(y));
  }
  std::vector<float> results(y.count());
  AveragePool(w, planes, include_pad, ToFloats(x).data(), results.data());
  return One(FromFloats(x.type, y.shape, results));
}

Shape GlobalShape(const Shape& x) {
  Shape shape(x.size(), 1);
  shape[0] = x[0];
  shape[1] = x[1];
  return shape;
}

absl::Status InferGlobal(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  return SetOutput(graph, node, 0, x.type, GlobalShape(x.shape));
}

Results EvaluateGlobal(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  std::vector<bool> spatial(x.shape.size(), true);
  spatial[0] = spatial[1] = false;
  return One(ReduceReals(x, GlobalShape(x.shape),
                         ReduceStages(x.shape, spatial),
                         *FindReduction(node.op)));
}

OperatorInfo Global(const char* op) {
  return Define(op, 1, kMaxOpset)
      .Inputs(1, 1, kRealsAndDouble)
      .Rule(Rejection::kUnsupportedShape, "input has rank 3 to 5",
            [](const Graph& graph, const Node& node, std::string* detail) {
              const Shape& shape = InputOf(graph, node, 0).shape;
              *detail = absl::StrCat("its shape is ", ShapeToString(shape));
              return shape.size() >= 3 && shape.size() <= 5;
            })
      .Run(InferGlobal, EvaluateGlobal);
}

Define Pool(const char* op, int since, int until, TypeSet types) {
  Define define(op, since, until);
  define.Inputs(1, 1, types)
      .Attr("auto_pad", AttributeKind::kString)
      .Attr("kernel_shape", AttributeKind::kInts, true)
      .Attr("pads", AttributeKind::kInts)
      .Attr("strides", AttributeKind::kInts)
      .Rules(VolumeRules());
  if (since >= 10) define.Attr("ceil_mode", AttributeKind::kInt);
  return define;
}

Define MaxPooling(int since, int until) {
  Define define =
      Pool("MaxPool", since, until, kRealsAndDouble | kQuantizedValues);
  if (since >= 8) define.Outputs(2).Attr("storage_order", AttributeKind::kInt);
  if (since >= 10) define.Attr("dilations", AttributeKind::kInts);
  return define;
}

const ExpandedOperator kMaxPool1(MaxPooling(1, 7), ExpandMaxPool,
                                 IsExpandedMaxPool, InferPool, EvaluateMaxPool);
const ExpandedOperator kMaxPool8(MaxPooling(8, 9), ExpandMaxPool,
                                 IsExpandedMaxPool, InferPool, EvaluateMaxPool);
const ExpandedOperator kMaxPool10(MaxPooling(10, kMaxOpset), ExpandMaxPool,
                                  IsExpandedMaxPool, InferPool,
                                  EvaluateMaxPool);
const ExpandedOperator kAveragePool1(Pool("AveragePool", 1, 6, kRealsAndDouble),
                                     ExpandVolumePool, IsVolume, InferPool,
                                     EvaluateAveragePool);
const ExpandedOperator kAveragePool7(Pool("AveragePool", 7, 9, kRealsAndDouble)
                                         .Attr("count_include_pad",
                                               AttributeKind::kInt),
                                     ExpandVolumePool, IsVolume, InferPool,
                                     EvaluateAveragePool);
const ExpandedOperator kAveragePool10(
    Pool("AveragePool", 10, 18, kRealsAndDouble)
        .Attr("count_include_pad", AttributeKind::kInt),
    ExpandVolumePool, IsVolume, InferPool, EvaluateAveragePool);
const ExpandedOperator kAveragePool19(
    Pool("AveragePool", 19, kMaxOpset, kRealsAndDouble)
        .Attr("count_include_pad", AttributeKind::kInt)
        .Attr("dilations", AttributeKind::kInts),
    ExpandVolumePool, IsVolume, InferPool, EvaluateAveragePool);
const OperatorRegistration kGlobalAveragePool(Global("GlobalAveragePool"));
const OperatorRegistration kGlobalMaxPool(Global("GlobalMaxPool"));

}  // namespace
}  // namespace heddle::compiler
