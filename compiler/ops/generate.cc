// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape and Range: tensors made of parameters. A Range of parameters
// that are computed is in computed_moves.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_moves.h"
#include "compiler/ops/define.h"
#include "compiler/ops/filler.h"

namespace heddle::compiler {

namespace {

absl::StatusOr<const TensorData*> ConstantInput(const Graph& graph,
                                                const Node& node, size_t i) {
  const Tensor& tensor = InputOf(graph, node, i);
  if (tensor.is_constant()) return tensor.constant.get();
  return RejectNode(
      Rejection::kUnsupportedShape, node, "input ", i, " '", tensor.name,
      "' determines the output's shape and must be a constant, or have "
      "a bound (--bound NAME=N, or metadata heddle.bound.NAME)");
}

absl::Status InferFill(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(auto filler, FillerOf(node));
  ASSIGN_OR_RETURN(auto given, ConstantInput(*graph, node, 0));
  if (given->shape.size() != 1) {
    return RejectNode(Rejection::kInvalidModel, node, "input 0 has shape ",
                      ShapeToString(given->shape), ", must have rank 1");
  }
  const Shape shape = ToInts(*given);
  for (int64_t dimension : shape) {
    if (dimension < 0) {
      return RejectNode(Rejection::kInvalidModel, node, "input 0 is ",
                        ShapeToString(shape), ", must not be negative");
    }
  }
  return SetOutput(graph, node, 0, filler.type, shape);
}

Results EvaluateFill(const Graph&, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(auto filler, FillerOf(node));
  TensorData data = TensorData::Zeros(filler.type, ToInts(*inputs[0]));
  const size_t element = filler.bytes.size();
  for (size_t at = 0; at < data.bytes.size(); at += element) {
    PaceAt(at);
    std::memcpy(&data.bytes[at], filler.bytes.data(), element);
  }
  return One(std::move(data));
}

double ToDouble(const TensorData& data) {
  switch (data.type) {
    case DataType::kFloat:
      return data.as<float>()[0];
    case DataType::kDouble:
      return data.as<double>()[0];
    case DataType::kInt16:
      return data.as<int16_t>()[0];
    case DataType::kInt32:
      return data.as<int32_t>()[0];
    default:
      return static_cast<double>(data.as<int64_t>()[0]);
  }
}

// Number of elements from start to limit in steps of delta.
absl::StatusOr<int64_t> RangeCount(const Node& node, const Inputs& inputs) {
  double values[3];
  for (size_t i = 0; i < 3; ++i) {
    if (inputs[i]->count() != 1) {
      return RejectNode(Rejection::kInvalidModel, node, "input ", i,
                        " has shape ", ShapeToString(inputs[i]->shape),
                        ", must be a scalar");
    }
    values[i] = ToDouble(*inputs[i]);
    if (!std::isfinite(values[i])) {
      return RejectNode(Rejection::kInvalidModel, node, "input ", i,
                        " is not finite");
    }
  }
  if (values[2] == 0) {
    return RejectNode(Rejection::kInvalidModel, node, "delta is 0");
  }
  // In double, as ONNX defines it.
  const double count = std::ceil((values[1] - values[0]) / values[2]);
  constexpr double kMost = 1e15;  // far beyond what a tensor may have
  return static_cast<int64_t>(std::min(std::max(count, 0.0), kMost));
}

absl::Status InferRange(Graph* graph, const Node& node) {
  const DataType type = InputOf(*graph, node, 0).type;
  for (size_t i = 1; i < 3; ++i) {
    if (InputOf(*graph, node, i).type != type) {
      return RejectNode(
          Rejection::kInvalidModel, node, "input ", i, " has type ",
          DataTypeName(InputOf(*graph, node, i).type), ", input 0 has ",
          DataTypeName(type), "; they must be equal");
    }
  }
  Inputs inputs;
  for (size_t i = 0; i < 3; ++i) {
    ASSIGN_OR_RETURN(auto input, ConstantInput(*graph, node, i));
    inputs.push_back(input);
  }
  ASSIGN_OR_RETURN(auto count, RangeCount(node, inputs));
  return SetOutput(graph, node, 0, type, {count});
}

inline float Next(float a, float b) { return a + b; }
inline double Next(double a, double b) { return a + b; }
// The count keeps the elements in range; this keeps a hostile model's defined.
template <typename T>
T Next(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// As ONNX's function body: each element is the one before plus delta.
template <typename T>
void FillRange(const TensorData& start, const TensorData& delta,
               TensorData* data) {
  T value = start.as<T>()[0];
  for (int64_t i = 0; i < data->count(); ++i) {
    PaceAt(i);
    if (i != 0) value = Next(value, delta.as<T>()[0]);
    data->as<T>()[i] = value;
  }
}

Results EvaluateRange(const Graph&, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(auto count, RangeCount(node, inputs));
  TensorData data = TensorData::Zeros(inputs[0]->type, {count});
  switch (data.type) {
    case DataType::kFloat:
      FillRange<float>(*inputs[0], *inputs[2], &data);
      break;
    case DataType::kDouble:
      FillRange<double>(*inputs[0], *inputs[2], &data);
      break;
    case DataType::kInt16:
      FillRange<int16_t>(*inputs[0], *inputs[2], &data);
      break;
    case DataType::kInt32:
      FillRange<int32_t>(*inputs[0], *inputs[2], &data);
      break;
    default:
      FillRange<int64_t>(*inputs[0], *inputs[2], &data);
  }
  return One(std::move(data));
}

constexpr TypeSet kRangeTypes =
    Types(DataType::kFloat, DataType::kDouble, DataType::kInt16,
          DataType::kInt32, DataType::kInt64);

const OperatorRegistration kConstantOfShape(Define("ConstantOfShape", 9,
                                                   kMaxOpset)
                                                .Inputs(1, 1, kInt64s)
                                                .Attr("value",
                                                      AttributeKind::kTensor)
                                                .Run(InferFill, EvaluateFill));
const ExpandedOperator kRange(
    Define("Range", 11, kMaxOpset).Inputs(3, 3, kRangeTypes),
    ExpandComputedRange, IsComputedRange, InferRange, EvaluateRange);

}  // namespace
}  // namespace heddle::compiler
