// SPDX-License-Identifier: Apache-2.0
// Constant, Shape and Size: values that are known when compiling. A
// sparse_value is dense already: the importer expands it.
#include <algorithm>
#include <cstring>

#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/narrow.h"

namespace heddle::compiler {
namespace {

template <typename T>
TensorData FromValues(DataType type, const T* values, size_t count,
                      Shape shape) {
  TensorData data = TensorData::Zeros(type, std::move(shape));
  if (count != 0) std::memcpy(data.bytes.data(), values, count * sizeof(T));
  return data;
}

absl::StatusOr<TensorData> ConstantValue(const Node& node) {
  if (node.attributes.size() != 1) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "must have exactly one value attribute, but has ",
                      node.attributes.size());
  }
  const Attribute& value = node.attributes.begin()->second;
  if (const auto* t = std::get_if<std::shared_ptr<const TensorData>>(&value)) {
    return **t;
  }
  if (const auto* f = std::get_if<float>(&value)) {
    return FromValues(DataType::kFloat, f, 1, {});
  }
  if (const auto* i = std::get_if<int64_t>(&value)) {
    return FromValues(DataType::kInt64, i, 1, {});
  }
  if (const auto* f = std::get_if<std::vector<float>>(&value)) {
    return FromValues(DataType::kFloat, f->data(), f->size(),
                      {static_cast<int64_t>(f->size())});
  }
  if (const auto* i = std::get_if<std::vector<int64_t>>(&value)) {
    return FromValues(DataType::kInt64, i->data(), i->size(),
                      {static_cast<int64_t>(i->size())});
  }
  return RejectNode(Rejection::kUnsupportedDatatype, node,
                    "string values are not supported");
}

absl::Status InferConstant(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(auto value, ConstantValue(node));
  return SetOutput(graph, node, 0, value.type, value.shape);
}

Results EvaluateConstant(const Graph&, const Node& node, const Inputs&) {
  ASSIGN_OR_RETURN(auto value, ConstantValue(node));
  return One(std::move(value));
}

// The part of the shape that attributes start and end (opset 15) select.
Shape SelectedShape(const Node& node, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clamp = [rank](int64_t i) {
    if (i < 0) i += rank;
    return std::min(std::max<int64_t>(i, 0), rank);
  };
  const int64_t start = clamp(node.IntAttribute("start", 0));
  const int64_t end = clamp(node.IntAttribute("end", rank));
  if (start >= end) return {};
  return Shape(shape.begin() + start, shape.begin() + end);
}

absl::Status InferShape(Graph* graph, const Node& node) {
  const Shape shape = SelectedShape(node, InputOf(*graph, node, 0).shape);
  return SetOutput(graph, node, 0, DataType::kInt64,
                   {static_cast<int64_t>(shape.size())});
}

Results EvaluateShape(const Graph&, const Node& node, const Inputs& inputs) {
  const Shape shape = SelectedShape(node, inputs[0]->shape);
  return One(FromValues(DataType::kInt64, shape.data(), shape.size(),
                        {static_cast<int64_t>(shape.size())}));
}

absl::Status InferSize(Graph* graph, const Node& node) {
  return SetOutput(graph, node, 0, DataType::kInt64, {});
}

Results EvaluateSize(const Graph&, const Node&, const Inputs& inputs) {
  const int64_t count = inputs[0]->count();
  return One(FromValues(DataType::kInt64, &count, 1, {}));
}

const OperatorRegistration kConstant1(Define("Constant", 1, 10)
                                          .Inputs(0, 0)
                                          .Attr("value", AttributeKind::kTensor)
                                          .Run(InferConstant,
                                               EvaluateConstant));
const OperatorRegistration kConstant11(
    Define("Constant", 11, 11)
        .Inputs(0, 0)
        .Attr("value", AttributeKind::kTensor)
        .Attr("sparse_value", AttributeKind::kTensor)
        .Run(InferConstant, EvaluateConstant));
const OperatorRegistration kConstant12(
    Define("Constant", 12, kMaxOpset)
        .Inputs(0, 0)
        .Attr("value", AttributeKind::kTensor)
        .Attr("sparse_value", AttributeKind::kTensor)
        .Attr("value_float", AttributeKind::kFloat)
        .Attr("value_floats", AttributeKind::kFloats)
        .Attr("value_int", AttributeKind::kInt)
        .Attr("value_ints", AttributeKind::kInts)
        .Attr("value_string", AttributeKind::kString)
        .Attr("value_strings", AttributeKind::kStrings)
        .Run(InferConstant, EvaluateConstant));
const OperatorRegistration kShape1(Define("Shape", 1, 14)
                                       .Inputs(1, 1, kMovable)
                                       .Run(InferShape, EvaluateShape));
const MovingOperator kShape15(15, 19, [](const MovedTypes& m) {
  OperatorRegistration(Define("Shape", m.since, m.until)
                           .Inputs(1, 1, m.types)
                           .Attr("start", AttributeKind::kInt)
                           .Attr("end", AttributeKind::kInt)
                           .Run(InferShape, EvaluateShape));
});
const MovingOperator kSize(1, 19, [](const MovedTypes& m) {
  OperatorRegistration(Define("Size", m.since, m.until)
                           .Inputs(1, 1, m.types)
                           .Run(InferSize, EvaluateSize));
});

}  // namespace
}  // namespace heddle::compiler
