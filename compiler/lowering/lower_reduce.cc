// SPDX-License-Identifier: Apache-2.0
// The Reduce operators and the global pools of fp32 and float16; Reduce
// operators on integers of up to 32 bits.
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/reduction.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

absl::Status LowerOver(Lowering* l, const Node& node,
                       const std::vector<bool>& reduced) {
  const Tensor& x = l->tensor(node.inputs[0]);
  const Tensor& y = l->tensor(node.outputs[0]);
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  ASSIGN_OR_RETURN(auto value,
                   AddReduction(l, node, from, ReduceStages(x.shape, reduced),
                                *FindReduction(node.op), y.type));
  l->Bind(node.outputs[0], l->Reshaped(value, y.shape));
  return absl::OkStatus();
}

absl::Status LowerReduce(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  ASSIGN_OR_RETURN(auto axes, ResolveReduce(l->graph(), node));
  if (axes.noop()) {
    const int value = l->ValueOf(node.inputs[0], node);
    l->Bind(node.outputs[0], value);
    return absl::OkStatus();
  }
  if (x.type == DataType::kInt64 || x.type == DataType::kUint32) {
    return RejectNode(Rejection::kUnsupportedDatatype, node,
                      "the card reduces integers that have a sign and up to 32 "
                      "bits, or no sign and 8, input 0 is ",
                      DataTypeName(x.type));
  }
  if (x.type != DataType::kFloat && x.type != DataType::kFloat16 &&
      FindReduction(node.op)->finish != Finish::kNone) {
    return RejectNode(Rejection::kUnsupportedDatatype, node,
                      "the card has means and roots of floats, input 0 is ",
                      DataTypeName(x.type));
  }
  return LowerOver(l, node, axes.reduced);
}

absl::Status LowerGlobalPool(Lowering* l, const Node& node) {
  std::vector<bool> spatial(l->tensor(node.inputs[0]).shape.size(), true);
  spatial[0] = spatial[1] = false;
  return LowerOver(l, node, spatial);
}

const LoweringRegistration kReduceL1("", "ReduceL1", LowerReduce);
const LoweringRegistration kReduceL2("", "ReduceL2", LowerReduce);
const LoweringRegistration kReduceMax("", "ReduceMax", LowerReduce);
const LoweringRegistration kReduceMean("", "ReduceMean", LowerReduce);
const LoweringRegistration kReduceMin("", "ReduceMin", LowerReduce);
const LoweringRegistration kReduceProd("", "ReduceProd", LowerReduce);
const LoweringRegistration kReduceSum("", "ReduceSum", LowerReduce);
const LoweringRegistration kReduceSumSquare("", "ReduceSumSquare", LowerReduce);
const LoweringRegistration kGlobalAverage("", "GlobalAveragePool",
                                          LowerGlobalPool);
const LoweringRegistration kGlobalMax("", "GlobalMaxPool", LowerGlobalPool);

}  // namespace
}  // namespace heddle::compiler
