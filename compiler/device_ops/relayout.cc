// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/relayout.h"

#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/move.h"

namespace heddle::compiler {
std::unique_ptr<DeviceOp> MakeRelayout(DeviceGraph* graph, int from, int to) {
  return MakeElementwise(graph, CopyProgram(), {}, {Operand::Of(from)}, to);
}

void AddDenseCopy(Lowering* lowering, const Node& node, int from, int to) {
  const Shape& shape = lowering->device().values[to].shape;
  AddMove(lowering, node, {from}, {WholeBox(0, shape, RowMajor(shape))}, to);
}

}  // namespace heddle::compiler
