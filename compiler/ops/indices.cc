// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/indices.h"

#include "compiler/ops/define.h"

namespace heddle::compiler {

absl::StatusOr<size_t> AxisOf(const Node& node, size_t rank, int64_t fallback) {
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", fallback), rank, &axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ",
                      node.IntAttribute("axis", fallback),
                      " lies outside an input of rank ", rank);
  }
  return axis;
}

absl::Status CheckIndices(const Node& node, const Tensor& indices,
                          const Shape& sizes) {
  if (!indices.is_constant()) return absl::OkStatus();
  size_t i = 0;
  for (int64_t index : ToInts(*indices.constant)) {
    const int64_t size = sizes[i++ % sizes.size()];
    if (index >= -size && index < size) continue;
    return RejectNode(Rejection::kInvalidModel, node, "index ", index,
                      " lies outside a dimension of size ", size);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> PlaceOf(const Node& node, int64_t index, int64_t size) {
  if (index < -size || index >= size) {
    return absl::OutOfRangeError(
        absl::StrCat(node.Describe(), ": index ", index,
                     " lies outside a dimension of size ", size));
  }
  return index < 0 ? index + size : index;
}

Shape AboutAxis(const Shape& shape, size_t axis) {
  const auto at = shape.begin() + static_cast<int64_t>(axis);
  return {ElementCount(Shape(shape.begin(), at)), *at,
          ElementCount(Shape(at + 1, shape.end()))};
}

}  // namespace heddle::compiler
