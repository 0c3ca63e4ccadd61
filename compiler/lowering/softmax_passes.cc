// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/softmax_passes.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/reduction.h"
#include "compiler/device_ops/reduction_loop.h"
#include "compiler/ops/softmax.h"

namespace heddle::compiler {
namespace {

// Stream B is what the part before has left.
absl::StatusOr<Microprogram> MaxOfPart(bool in_lanes, bool first, bool last) {
  ProgramBuilder b;
  const Term acc = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  b.Assign(acc, first ? b.Imm(-std::numeric_limits<float>::infinity()) : b.B());
  b.In(ProgramBuilder::kBody);
  const Term larger = b.Max(acc, b.A());
  b.Assign(acc, in_lanes ? b.Select(b.Valid(), larger, acc) : larger);
  b.In(ProgramBuilder::kEpilogue);
  b.Out(in_lanes && last ? b.Op(isa::MicroOp::kHmax, acc) : acc);
  return b.Finish();
}

// Stream B is the maximum, stream C what the part before has left.
absl::StatusOr<Microprogram> SumOfPart(bool log, bool in_lanes, bool first,
                                       bool last) {
  ProgramBuilder b;
  const Term acc = b.Variable();
  if (!first) {
    b.In(ProgramBuilder::kPrologue);
    b.Assign(acc, b.C());
    b.In(ProgramBuilder::kBody);
  }
  const Term e = ExpTerm(&b, b.A(), b.B());
  b.Assign(acc, b.Add(acc, in_lanes ? b.Select(b.Valid(), e, b.Imm(0)) : e));
  b.In(ProgramBuilder::kEpilogue);
  if (!last) {
    b.Out(acc);
    return b.Finish();
  }
  const Term sum = in_lanes ? b.Op(isa::MicroOp::kHsum, acc) : acc;
  b.Out(RowTerm(&b, log, sum));
  return b.Finish();
}

}  // namespace

bool NeedsPasses(const ReduceStage& stage, int64_t element_bytes,
                 uint64_t sram_bytes) {
  const ReductionView view(stage, sram_bytes);
  const bool in_lanes = stage.inner == 1;
  const int64_t row =
      stage.count * (view.by_image() ? 1 : stage.inner) * element_bytes;
  return row > static_cast<int64_t>(sram_bytes / 4) ||
         view.Parts(in_lanes, 1, sram_bytes).size() > 1;
}

absl::Status LowerSoftmaxInPasses(Lowering* l, const Node& node,
                                  const ReduceStage& stage, bool log) {
  const Tensor& y = l->tensor(node.outputs[0]);
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  Chain chain;
  chain.stage = stage;
  chain.in_lanes = stage.inner == 1;
  const bool in_lanes = chain.in_lanes;
  chain.program = [=](bool first, bool last) {
    return MaxOfPart(in_lanes, first, last);
  };
  ASSIGN_OR_RETURN(auto maxima, AddChain(l, node, chain, from, {},
                                         y.name + "/maxima", DataType::kFloat));
  chain.program = [=](bool first, bool last) {
    return SumOfPart(log, in_lanes, first, last);
  };
  ASSIGN_OR_RETURN(auto sums, AddChain(l, node, chain, from, {maxima},
                                       y.name + "/sums", DataType::kFloat));
  ProgramBuilder b;
  b.Out(SoftmaxTerm(&b, log, b.A(), b.B(), b.C()));
  ASSIGN_OR_RETURN(auto program, b.Finish());
  // Cut along rows and columns, or along the block's three dimensions.
  const Shape all = in_lanes ? Shape{stage.outer, stage.count}
                             : Shape{stage.outer, stage.count, 1, stage.inner};
  const Shape row =
      in_lanes ? Shape{stage.outer, 1} : Shape{stage.outer, 1, 1, stage.inner};
  const int to = l->NewTemporary(y.name, y.type, all, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), program, {},
                         {Operand::Of(l->Reshaped(from, all)),
                          Operand::Of(l->Reshaped(maxima, row)),
                          Operand::Of(l->Reshaped(sums, row))},
                         to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

}  // namespace heddle::compiler
