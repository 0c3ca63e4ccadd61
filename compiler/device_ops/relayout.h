// SPDX-License-Identifier: Apache-2.0
// Operations that move a tensor without changing its values.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_RELAYOUT_H_
#define HEDDLE_COMPILER_DEVICE_OPS_RELAYOUT_H_

#include <memory>

#include "compiler/ir/graph.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

class Lowering;

// Between dense, blocked and packed storages of one shape.
std::unique_ptr<DeviceOp> MakeRelayout(DeviceGraph* graph, int from, int to);

// Appends the copy between two dense storages of one shape and any size.
void AddDenseCopy(Lowering* lowering, const Node& node, int from, int to);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_RELAYOUT_H_
