// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/define.h"

namespace heddle::compiler {

std::string TypeSetToString(TypeSet set) {
  std::string text;
  for (int i = 1; i <= static_cast<int>(kLastDataType); ++i) {
    if (!Contains(set, static_cast<DataType>(i))) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    DataTypeName(static_cast<DataType>(i)));
  }
  return text;
}

std::vector<int64_t> ToInts(const TensorData& data) {
  std::vector<int64_t> values(static_cast<size_t>(data.count()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = data.type == DataType::kInt64 ? data.as<int64_t>()[i]
                                              : data.as<int32_t>()[i];
  }
  return values;
}

absl::Status InferSame(Graph* graph, const Node& node) {
  const Tensor& input = InputOf(*graph, node, 0);
  return SetOutput(graph, node, 0, input.type, input.shape);
}

absl::Status InferNothing(Graph*, const Node& node) {
  return absl::InternalError(node.Describe() + " has not been converted");
}

Results EvaluateNothing(const Graph&, const Node& node, const Inputs&) {
  return absl::InternalError(node.Describe() + " has not been converted");
}

bool NormalizeAxis(int64_t axis, size_t rank, size_t* normal) {
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit) return false;
  *normal = static_cast<size_t>(axis < 0 ? axis + limit : axis);
  return true;
}

}  // namespace heddle::compiler
