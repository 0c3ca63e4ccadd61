// SPDX-License-Identifier: Apache-2.0
// Compress: what is at true conditions, along an axis or, without one, of all
// elements in order. A condition that is computed decides the size: the shape
// has room for all (bounded.h).
#include <algorithm>
#include <cstring>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/indices.h"

namespace heddle::compiler {
namespace {

bool HasListOfConditions(const Graph& graph, const Node& node,
                         std::string* detail) {
  const Shape& shape = InputOf(graph, node, 1).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() == 1;
}

bool HasAxis(const Graph& graph, const Node& node, std::string* detail) {
  if (node.attributes.count("axis") == 0) return true;
  *detail = absl::StrCat("axis = ", node.IntAttribute("axis", 0));
  size_t axis = 0;
  return NormalizeAxis(node.IntAttribute("axis", 0),
                       InputOf(graph, node, 0).shape.size(), &axis);
}

// [before, size, after] of what is chosen from.
Shape ChosenFrom(const Node& node, const Shape& shape) {
  size_t axis = 0;
  if (node.attributes.count("axis") == 0 ||
      !NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), &axis)) {
    return {1, ElementCount(shape), 1};
  }
  return AboutAxis(shape, axis);
}

Shape ResultShape(const Node& node, const Shape& shape, int64_t count) {
  size_t axis = 0;
  if (node.attributes.count("axis") == 0 ||
      !NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), &axis)) {
    return {count};
  }
  Shape result = shape;
  result[axis] = count;
  return result;
}

// Conditions beyond the axis choose nothing.
int64_t Chosen(const TensorData& conditions, int64_t size) {
  int64_t count = 0;
  for (int64_t i = 0; i < std::min(size, conditions.count()); ++i) {
    count += conditions.bytes[i] != 0;
  }
  return count;
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Tensor& conditions = InputOf(*graph, node, 1);
  const int64_t size = ChosenFrom(node, x.shape)[1];
  const int64_t count = conditions.is_constant()
                            ? Chosen(*conditions.constant, size)
                            : std::min(size, ElementCount(conditions.shape));
  return SetOutput(graph, node, 0, x.type, ResultShape(node, x.shape, count));
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const TensorData& conditions = *inputs[1];
  const Shape about = ChosenFrom(node, x.shape);
  const int64_t size = about[1];
  const auto bytes = about[2] * static_cast<int64_t>(ElementBytes(x.type));
  TensorData y = TensorData::Zeros(
      x.type, ResultShape(node, x.shape, Chosen(conditions, size)));
  uint8_t* to = y.bytes.data();
  for (int64_t before = 0; bytes > 0 && before < about[0]; ++before) {
    for (int64_t i = 0; i < std::min(size, conditions.count()); ++i) {
      Pace(about[2]);
      if (conditions.bytes[i] == 0) continue;
      std::memcpy(to, x.bytes.data() + (before * size + i) * bytes, bytes);
      to += bytes;
    }
  }
  return One(std::move(y));
}

const OperatorRegistration kCompress(
    Define("Compress", 9, kMaxOpset)
        .Inputs(2, 2, kMovable, Types(DataType::kBool))
        .Attr("axis", AttributeKind::kInt)
        .Rule(Rejection::kInvalidModel, "the condition has one dimension",
              HasListOfConditions)
        .Rule(Rejection::kInvalidModel, "axis is one of x", HasAxis)
        .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
