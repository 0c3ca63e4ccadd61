// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/reduction.h"

#include <algorithm>
#include <memory>
#include <string>

#include "compiler/lowering/reduction_loop.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroInstruction;
using isa::MicroOp;
using isa::Operand;

MicroInstruction Step(MicroOp op, Destination d, Operand a,
                      Operand b = Operand::kV0, Operand c = Operand::kV0,
                      uint32_t imm = 0) {
  MicroInstruction m;
  m.op = op;
  m.d = d;
  m.a = a;
  m.b = b;
  m.c = c;
  m.imm = imm;
  return m;
}

struct FoldOps {
  MicroOp lane, tree;
  uint32_t start;
};

FoldOps OpsOf(Fold fold, bool integers) {
  switch (fold) {
    case Fold::kSum:
      return integers ? FoldOps{MicroOp::kIadd, MicroOp::kHisum, 0}
                      : FoldOps{MicroOp::kFadd, MicroOp::kHsum, 0};
    case Fold::kProduct:  // has no tree, see ReduceStage::InLanes
      return integers ? FoldOps{MicroOp::kImul, MicroOp::kMov, 1}
                      : FoldOps{MicroOp::kFmul, MicroOp::kMov, 0x3f800000u};
    case Fold::kMax:
      return integers ? FoldOps{MicroOp::kImax, MicroOp::kHimax, 0x80000000u}
                      : FoldOps{MicroOp::kFmax, MicroOp::kHmax, 0xff800000u};
    case Fold::kMin:
      return integers ? FoldOps{MicroOp::kImin, MicroOp::kHimin, 0x7fffffffu}
                      : FoldOps{MicroOp::kFmin, MicroOp::kHmin, 0x7f800000u};
  }
  return {};
}

class ReduceOp : public DeviceOp {
 public:
  ReduceOp(const DeviceGraph& graph, const ReduceStage& stage,
           const Reduction& reduction, float divisor, int from, int to)
      : view_(stage),
        in_lanes_(stage.InLanes(reduction.fold)),
        in_type_(VectorType(graph.StorageOf(from).type)),
        out_type_(VectorType(graph.StorageOf(to).type)),
        divisor_(divisor) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    program_ =
        ReduceProgram(reduction, in_lanes_, stage.count % isa::kVectorLanes,
                      !Contains(kReals, graph.StorageOf(from).type));
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    isa::Vrun run = emitter->Run(program_);
    run.arg0 = model::Bits(divisor_);
    ReductionLoop lines = view_.LoopOf(tile.rows);
    lines.in_lanes = in_lanes_;
    EmitReductionLoop(emitter, run, lines,
                      {view_.Operand(tile.inputs[0], in_type_, tile.row0)},
                      view_.Result(tile.output, out_type_, tile.row0));
  }

 private:
  ReductionView view_;
  bool in_lanes_;
  isa::ElementType in_type_, out_type_;
  float divisor_;
  Microprogram program_;
};

}  // namespace

Microprogram ReduceProgram(const Reduction& reduction, bool in_lanes, bool tail,
                           bool integers) {
  const FoldOps ops = OpsOf(reduction.fold, integers);
  const bool extreme =
      reduction.fold == Fold::kMax || reduction.fold == Fold::kMin;
  // v0: result so far; v1: all ones while there was no NaN; v2: the element.
  const bool nan = extreme && !integers;
  Microprogram p;
  auto immediate = [&](Destination d, uint32_t value) {
    p.prologue.push_back(Step(MicroOp::kMov, d, Operand::kImm, Operand::kV0,
                              Operand::kV0, value));
  };
  immediate(Destination::kV0, ops.start);
  if (nan) immediate(Destination::kV1, ~0u);
  Operand x = Operand::kStreamA;
  auto body = [&](const MicroInstruction& m) { p.body.push_back(m); };
  if (nan || reduction.premap != Premap::kNone) {
    body(Step(MicroOp::kMov, Destination::kV2, x));
    x = Operand::kV2;
  }
  bool folded = false;
  switch (reduction.premap) {
    case Premap::kNone:
      break;
    case Premap::kAbs:
      if (integers) {
        body(Step(MicroOp::kIsub, Destination::kV3, Operand::kImm, x));
        body(Step(MicroOp::kImax, Destination::kV2, Operand::kV3, x));
      } else {
        body(Step(MicroOp::kIand, Destination::kV2, x, Operand::kImm,
                  Operand::kV0, 0x7fffffffu));
      }
      break;
    case Premap::kSquare:
      if (integers) {
        body(Step(MicroOp::kImul, Destination::kV2, x, x));
      } else {
        body(Step(MicroOp::kFfma, Destination::kV0, x, x, Operand::kV0));
        folded = true;
      }
      break;
  }
  if (nan) {
    body(Step(MicroOp::kFeq, Destination::kV3, x, x));
    body(Step(MicroOp::kIand, Destination::kV1, Operand::kV1, Operand::kV3));
  }
  // Lanes that are not valid read 0, which a sum does not see.
  if (extreme && in_lanes && tail) {
    body(Step(ops.lane, Destination::kV3, Operand::kV0, x));
    body(Step(MicroOp::kSel, Destination::kV0, Operand::kValid, Operand::kV3,
              Operand::kV0));
  } else if (!folded) {
    body(Step(ops.lane, Destination::kV0, Operand::kV0, x));
  }
  auto last = [&](const MicroInstruction& m) { p.epilogue.push_back(m); };
  if (in_lanes) {
    last(Step(ops.tree, Destination::kV0, Operand::kV0));
    if (nan) last(Step(MicroOp::kHimax, Destination::kV1, Operand::kV1));
  }
  if (nan) {
    last(Step(MicroOp::kSel, Destination::kV0, Operand::kV1, Operand::kV0,
              Operand::kImm, model::kNan));
  }
  switch (reduction.finish) {
    case Finish::kNone:
      last(Step(MicroOp::kMov, Destination::kOut, Operand::kV0));
      break;
    case Finish::kMean:
      last(Step(MicroOp::kFdiv, Destination::kOut, Operand::kV0,
                Operand::kArg0));
      break;
    case Finish::kSqrt:
      last(Step(MicroOp::kFsqrt, Destination::kOut, Operand::kV0));
      break;
  }
  return p;
}

absl::StatusOr<int> AddReduction(Lowering* l, const Node& node, int from,
                                 const std::vector<ReduceStage>& stages,
                                 const Reduction& reduction, DataType type) {
  const DataType wide = Contains(kReals, type) ? DataType::kFloat : type;
  for (size_t i = 0; i < stages.size(); ++i) {
    const ReduceStage& stage = stages[i];
    const bool last = i + 1 == stages.size();
    const int64_t steps =
        stage.InLanes(reduction.fold)
            ? (stage.count + isa::kVectorLanes - 1) / isa::kVectorLanes
            : stage.count;
    if (auto s = CheckVectorLimits(node, {steps}); !s.ok()) return s;
    Reduction part = reduction;
    if (i > 0) part.premap = Premap::kNone;
    if (!last) part.finish = Finish::kNone;
    const ReductionView view(stage);
    from = l->Reshaped(from, view.OperandShape());
    const int to = l->NewTemporary(
        absl::StrCat(l->tensor(node.outputs[0]).name, last ? "" : "/partial"),
        last ? type : wide, view.ResultShape(), Layout::kDense);
    l->Add(std::make_unique<ReduceOp>(l->device(), stage, part,
                                      ReducedCount(stages), from, to),
           node);
    from = to;
  }
  return from;
}

}  // namespace heddle::compiler
