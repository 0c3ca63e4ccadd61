// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: one search in each lane, lanes are results. Indices are
// int32 on the card.
#include <memory>

#include "compiler/lowering/lowering.h"
#include "compiler/lowering/reduction_loop.h"
#include "compiler/ops/arg.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

absl::StatusOr<Microprogram> SearchProgram(bool largest, bool last,
                                           bool integers) {
  ProgramBuilder b;
  const Term best = b.Variable(), index = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  const uint32_t worst = integers  ? largest ? 0x80000000u : 0x7fffffffu
                         : largest ? 0xff800000u
                                   : 0x7f800000u;
  b.Assign(best, b.ImmBits(worst));
  b.In(ProgramBuilder::kBody);
  const Term x = b.Op(isa::MicroOp::kMov, b.A());
  const Term lower = largest ? best : x, upper = largest ? x : best;
  // Integers have no <=: what is kept is then the other way round.
  const bool keep = integers && last;
  const Term mask = integers
                        ? keep ? b.ILess(upper, lower) : b.ILess(lower, upper)
                    : last ? b.LessEqual(lower, upper)
                           : b.Less(lower, upper);
  const Term value = keep ? b.Select(mask, best, x) : b.Select(mask, x, best);
  const Term found = keep ? b.Select(mask, index, b.IndexR())
                          : b.Select(mask, b.IndexR(), index);
  b.Assign(best, value);
  b.Assign(index, found);
  b.In(ProgramBuilder::kEpilogue);
  b.Out(index);
  return b.Finish();
}

class ArgOp : public DeviceOp {
 public:
  ArgOp(const DeviceGraph& graph, const ReduceStage& stage,
        Microprogram program, int from, int to)
      : view_(stage),
        in_type_(VectorType(graph.StorageOf(from).type)),
        program_(std::move(program)) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    EmitReductionLoop(
        emitter, emitter->Run(program_), view_.LoopOf(tile.rows),
        {view_.Operand(tile.inputs[0], in_type_, tile.row0)},
        view_.Result(tile.output, isa::ElementType::kS32, tile.row0));
  }

 private:
  ReductionView view_;
  isa::ElementType in_type_;
  Microprogram program_;
};

absl::Status LowerArg(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  if (x.type == DataType::kInt64) {
    return RejectNode(
        Rejection::kUnsupportedDatatype, node,
        "the card compares integers of up to 32 bits, input 0 is ",
        DataTypeName(x.type));
  }
  auto search = ResolveArg(node, x.shape);
  if (!search.ok()) return search.status();
  if (auto s = CheckVectorLimits(node, {search->stage.count}); !s.ok()) {
    return s;
  }
  auto program =
      SearchProgram(search->largest, search->last, !Contains(kReals, x.type));
  if (!program.ok()) return program.status();
  const ReductionView view(search->stage);
  const int from = l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node),
                               view.OperandShape());
  const Tensor& y = l->tensor(node.outputs[0]);
  const int to = l->NewTemporary(y.name, DataType::kInt32, view.ResultShape(),
                                 Layout::kDense);
  l->Add(std::make_unique<ArgOp>(l->device(), search->stage,
                                 *std::move(program), from, to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kArgMax("", "ArgMax", LowerArg, true);
const LoweringRegistration kArgMin("", "ArgMin", LowerArg, true);

}  // namespace
}  // namespace heddle::compiler
