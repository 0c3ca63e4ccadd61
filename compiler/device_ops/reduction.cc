// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/reduction.h"

#include <algorithm>
#include <memory>
#include <string>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/reduction_loop.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroInstruction;
using isa::MicroOp;
using isa::Operand;

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

isa::ElementType StateType(isa::ElementType of) {
  switch (of) {
    case isa::ElementType::kF32:
    case isa::ElementType::kF16:
    case isa::ElementType::kBf16:
      return isa::ElementType::kF32;
    default:
      return isa::ElementType::kS32;
  }
}

class ChainOp : public ClonableOp<ChainOp> {
 public:
  ChainOp(const DeviceGraph& graph, const ReductionView& view,
          const Chain& chain, const std::vector<Slice>& parts,
          std::vector<Microprogram> programs, int from,
          const std::vector<int>& others, uint64_t sram_bytes, int to)
      : view_(view),
        in_lanes_(chain.in_lanes),
        argument_(chain.argument),
        parts_(parts),
        programs_(std::move(programs)),
        out_type_(VectorType(graph.StorageOf(to).type)) {
    engine = "vector";
    output = to;
    tileable = true;
    std::vector<int> operands = {from};
    operands.insert(operands.end(), others.begin(), others.end());
    for (int value : operands) {
      OpInput in;
      in.value = value;
      in.rows.kind = AxisNeed::kSame;
      inputs.push_back(in);
      types_.push_back(VectorType(graph.StorageOf(value).type));
    }
    view_.Cut(parts_, StateWords() * 4, sram_bytes, this);
  }

  std::vector<Microprogram> Programs() const override { return programs_; }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Slice& part = parts_[tile.group];
    const bool first = tile.group == 0,
               last = tile.group + 1 == static_cast<int>(parts_.size());
    isa::Vrun run = emitter->Run(ProgramOf(first, last));
    run.arg0 = argument_;
    ReductionLoop lines = view_.LoopOf(tile.rows);
    lines.count = part.count;
    lines.in_lanes = in_lanes_;
    std::vector<ReductionStream> operands = {
        view_.Operand(tile.inputs[0], types_[0], tile.row0)};
    operands[0].base += part.first * operands[0].step;
    for (size_t i = 1; i < inputs.size(); ++i) {
      operands.push_back(view_.Result(tile.inputs[i], types_[i], tile.row0));
    }
    const ReductionStream state =
        view_.State(tile.temporary, StateType(types_[0]), StateWords());
    if (!first) operands.push_back(state);
    EmitReductionLoop(
        emitter, run, lines, operands,
        last ? view_.Result(tile.output, out_type_, tile.row0) : state);
  }

 private:
  int64_t StateWords() const { return in_lanes_ ? isa::kVectorLanes : 1; }
  // Programs are those of the parts that there are: the only one, or the first,
  // the last, and those between.
  const Microprogram& ProgramOf(bool first, bool last) const {
    return programs_[first ? 0 : last ? 1 : 2];
  }

  ReductionView view_;
  bool in_lanes_;
  uint32_t argument_;
  std::vector<Slice> parts_;
  std::vector<Microprogram> programs_;
  std::vector<isa::ElementType> types_;
  isa::ElementType out_type_;
};

// Microprogram of one part of a stage: `finish` has argument 0 (the count of a
// mean). `in_lanes`: the 16-lane reduction; `tail`: its last step may have
// lanes that are not valid. `integers`: int32 instead of fp32.
Microprogram ReduceProgram(const Reduction& reduction, bool in_lanes, bool tail,
                           bool integers, bool first, bool last_part) {
  const FoldOps ops = OpsOf(reduction.fold, integers);
  const bool extreme =
      reduction.fold == Fold::kMax || reduction.fold == Fold::kMin;
  // v0: result so far; v2: the element.
  Microprogram p;
  p.prologue = {
      first ? Micro(MicroOp::kMov, Destination::kV0, Operand::kImm,
                    Operand::kV0, Operand::kV0, ops.start)
            : Micro(MicroOp::kMov, Destination::kV0, Operand::kStreamB)};
  Operand x = Operand::kStreamA;
  auto body = [&](const MicroInstruction& m) { p.body.push_back(m); };
  if (reduction.premap != Premap::kNone) {
    body(Micro(MicroOp::kMov, Destination::kV2, x));
    x = Operand::kV2;
  }
  bool folded = false;
  switch (reduction.premap) {
    case Premap::kNone:
      break;
    case Premap::kAbs:
      if (integers) {
        body(Micro(MicroOp::kIsub, Destination::kV3, Operand::kImm, x));
        body(Micro(MicroOp::kImax, Destination::kV2, Operand::kV3, x));
      } else {
        body(Micro(MicroOp::kIand, Destination::kV2, x, Operand::kImm,
                   Operand::kV0, 0x7fffffffu));
      }
      break;
    case Premap::kSquare:
      if (integers) {
        body(Micro(MicroOp::kImul, Destination::kV2, x, x));
      } else {
        body(Micro(MicroOp::kFfma, Destination::kV0, x, x, Operand::kV0));
        folded = true;
      }
      break;
  }
  // Lanes that are not valid read 0, which a sum does not see.
  if (extreme && in_lanes && tail) {
    body(Micro(ops.lane, Destination::kV3, Operand::kV0, x));
    body(Micro(MicroOp::kSel, Destination::kV0, Operand::kValid, Operand::kV3,
               Operand::kV0));
  } else if (!folded) {
    body(Micro(ops.lane, Destination::kV0, Operand::kV0, x));
  }
  auto last = [&](const MicroInstruction& m) { p.epilogue.push_back(m); };
  if (in_lanes && last_part) {
    last(Micro(ops.tree, Destination::kV0, Operand::kV0));
  }
  switch (last_part ? reduction.finish : Finish::kNone) {
    case Finish::kNone:
      last(Micro(MicroOp::kMov, Destination::kOut, Operand::kV0));
      break;
    case Finish::kMean:
      last(Micro(MicroOp::kFdiv, Destination::kOut, Operand::kV0,
                 Operand::kArg0));
      break;
    case Finish::kSqrt:
      last(Micro(MicroOp::kFsqrt, Destination::kOut, Operand::kV0));
      break;
  }
  return p;
}

}  // namespace

absl::StatusOr<int> AddChain(Lowering* l, const Node& node, const Chain& chain,
                             int from, const std::vector<int>& others,
                             const std::string& name, DataType type) {
  const uint64_t sram = l->config().sram_bytes;
  const ReductionView view(chain.stage, sram);
  const int operand = l->Reshaped(from, view.OperandShape());
  std::vector<int> rows;
  for (int value : others) {
    rows.push_back(l->Reshaped(value, view.ResultShape()));
  }
  const int to =
      l->NewTemporary(name, type, view.ResultShape(), Layout::kDense);
  const std::vector<Slice> parts = view.Parts(
      chain.in_lanes, ElementBytes(l->device().StorageOf(from).type), sram);
  std::vector<Microprogram> programs;
  const auto add = [&](bool first, bool last) {
    absl::StatusOr<Microprogram> program = chain.program(first, last);
    if (program.ok()) programs.push_back(*std::move(program));
    return program.status();
  };
  const bool one = parts.size() == 1;
  RETURN_IF_ERROR(add(true, one));
  if (!one) {
    RETURN_IF_ERROR(add(false, true));
  }
  if (parts.size() > 2) {
    RETURN_IF_ERROR(add(false, false));
  }
  l->Add(
      std::make_unique<ChainOp>(l->device(), view, chain, parts,
                                std::move(programs), operand, rows, sram, to),
      node);
  return l->Reshaped(to, {chain.stage.outer, chain.stage.inner});
}

absl::StatusOr<int> AddReduction(Lowering* l, const Node& node, int from,
                                 const std::vector<ReduceStage>& stages,
                                 const Reduction& reduction, DataType type) {
  const DataType wide = Contains(kReals, type) ? DataType::kFloat : type;
  for (size_t i = 0; i < stages.size(); ++i) {
    const bool last_stage = i + 1 == stages.size();
    Reduction part = reduction;
    if (i > 0) part.premap = Premap::kNone;
    if (!last_stage) part.finish = Finish::kNone;
    Chain chain;
    chain.stage = stages[i];
    chain.in_lanes = stages[i].InLanes(reduction.fold);
    chain.argument = model::Bits(ReducedCount(stages));
    const bool tail = stages[i].count % isa::kVectorLanes != 0;
    const bool integers = !Contains(kReals, l->device().StorageOf(from).type);
    chain.program = [=](bool first, bool last) {
      return ReduceProgram(part, chain.in_lanes, tail, integers, first, last);
    };
    auto result = AddChain(l, node, chain, from, {},
                           absl::StrCat(l->tensor(node.outputs[0]).name,
                                        last_stage ? "" : "/partial"),
                           last_stage ? type : wide);
    if (!result.ok()) return result;
    from = *result;
  }
  return from;
}

}  // namespace heddle::compiler
