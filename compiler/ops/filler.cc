// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/filler.h"

#include "compiler/ops/define.h"

namespace heddle::compiler {

absl::StatusOr<TensorData> FillerOf(const Node& node) {
  const auto it = node.attributes.find("value");
  if (it == node.attributes.end())
    return TensorData::Zeros(DataType::kFloat, {1});
  const auto& value = std::get<std::shared_ptr<const TensorData>>(it->second);
  if (value->count() != 1 || ElementBytes(value->type) == 0) {
    return RejectNode(Rejection::kInvalidModel, node, "value has shape ",
                      ShapeToString(value->shape), ", must have one element");
  }
  return *value;
}

}  // namespace heddle::compiler
