// SPDX-License-Identifier: Apache-2.0
// Where: a if the condition holds, else b, with numpy's broadcasting, as a
// microprogram.
#include <cstring>

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

// Types that lanes do not have.
Results WideWhere(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData &condition = *inputs[0], &a = *inputs[1], &b = *inputs[2];
  Shape chosen, shape;
  if (!BroadcastShapes(a.shape, b.shape, &chosen) ||
      !BroadcastShapes(condition.shape, chosen, &shape)) {
    return absl::InternalError(node.Describe() + ": operands do not fit");
  }
  TensorData y = TensorData::Zeros(a.type, shape);
  const auto by = BroadcastStrides(condition.shape, shape);
  const uint8_t* const holds = condition.bytes.data();
  uint64_t* const out = y.as<uint64_t>();
  for (const bool wanted : {true, false}) {
    const TensorData& given = wanted ? a : b;
    const uint64_t* const from = given.as<uint64_t>();
    ForEachBroadcast(shape, by, BroadcastStrides(given.shape, shape),
                     [=](int64_t i, int64_t c, int64_t k) {
                       // (The first result is zeros, where it is not chosen.)
                       out[i] = (holds[c] != 0) == wanted ? from[k] : out[i];
                     });
  }
  return One(std::move(y));
}

constexpr TypeSet kValues =
    kNumbers | Types(DataType::kBool, DataType::kDouble);

// 1: the result is one of the two inputs behind the condition.
const ProgramOperator kWhere(
    Define("Where", 9, kMaxOpset).Inputs(3, 3, Types(DataType::kBool), kValues),
    InferWhere, WhereSteps, kAllTypes, WideWhere, 1);

}  // namespace
}  // namespace heddle::compiler
