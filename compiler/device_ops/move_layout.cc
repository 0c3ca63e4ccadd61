// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/move_layout.h"

namespace heddle::compiler {

Layout MoveLayout(Lowering* l, const std::vector<TensorId>& operands,
                  const std::vector<TensorId>& tensors) {
  bool blocked = false;
  for (TensorId id : operands) {
    if (l->tensor(id).is_constant()) continue;
    const int value = l->ValueOf(id, Node());
    if (l->device().StorageOf(value).layout != Layout::kBlocked) {
      return Layout::kDense;
    }
    blocked = true;
  }
  for (TensorId id : tensors) {
    const Shape& shape = l->tensor(id).shape;
    blocked = blocked && (shape.size() == 3 || shape.size() == 4) &&
              shape[1] % 16 == 0 && shape[1] > 0;
  }
  return blocked ? Layout::kBlocked : Layout::kDense;
}

Shape MoveShape(Shape shape, Layout layout) {
  if (layout == Layout::kBlocked) shape[1] /= 16;
  return shape;
}

}  // namespace heddle::compiler
