// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/define.h"
#include "compiler/ops/layer_normalization.h"

namespace heddle::compiler {

ReduceStage RowsToNormalize(const Node& node, const Shape& shape) {
  size_t axis = 0;
  NormalizeAxis(node.IntAttribute("axis", -1), shape.size(), &axis);
  ReduceStage rows;
  rows.outer = ElementCount(Shape(shape.begin(), shape.begin() + axis));
  rows.count = ElementCount(Shape(shape.begin() + axis, shape.end()));
  return rows;
}

std::vector<float> PerElement(const TensorData* data, int64_t count,
                              float absent) {
  std::vector<float> values(static_cast<size_t>(count), absent);
  if (data == nullptr) return values;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = data->as<float>()[data->count() > 1 ? i : 0];
  }
  return values;
}

}  // namespace heddle::compiler
