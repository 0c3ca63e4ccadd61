// SPDX-License-Identifier: Apache-2.0
// Where: a if the condition holds, else b, with numpy's broadcasting, as a
// microprogram.
#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/program_operator.h"

namespace heddle::compiler {
namespace {

absl::StatusOr<std::vector<ElementwiseStep>> WhereSteps(const Graph&,
                                                        const Node&) {
  ProgramBuilder b;
  b.Out(b.Select(b.A(), b.B(), b.C()));
  return OneStep(b, {0, 1, 2});
}

absl::Status InferWhere(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(InferBroadcast(graph, node));
  const Tensor& a = InputOf(*graph, node, 1);
  const Tensor& b = InputOf(*graph, node, 2);
  if (a.type != b.type) {
    return RejectNode(Rejection::kInvalidModel, node, "inputs have types ",
                      DataTypeName(a.type), " and ", DataTypeName(b.type),
                      ", which must be equal");
  }
  const Shape shape = graph->tensors[node.outputs[0]].shape;
  return SetOutput(graph, node, 0, a.type, shape);
}

constexpr TypeSet kValues = kReals | kQuantizedValues | kInt32s |
                            Types(DataType::kInt16, DataType::kUint16,
                                  DataType::kUint32, DataType::kBool);

const ProgramOperator kWhere(
    Define("Where", 9, kMaxOpset).Inputs(3, 3, Types(DataType::kBool), kValues),
    InferWhere, WhereSteps);

}  // namespace
}  // namespace heddle::compiler
