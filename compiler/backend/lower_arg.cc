// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: one search in each lane, lanes are results. The index goes
// to the low half of an int64, a second command clears the high half.
#include <memory>

#include "compiler/backend/lines.h"
#include "compiler/backend/loops.h"
#include "compiler/backend/lowering.h"
#include "compiler/ops/arg.h"
#include "compiler/ops/define.h"

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

absl::StatusOr<Microprogram> ZeroProgram() {
  ProgramBuilder b;
  b.Out(b.ImmBits(0));
  return b.Finish();
}

class ArgOp : public DeviceOp {
 public:
  ArgOp(const DeviceGraph& graph, const ReduceStage& stage,
        std::vector<Microprogram> programs, int from, int to)
      : view_(stage),
        in_type_(VectorType(graph.StorageOf(from).type)),
        programs_(std::move(programs)) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = RowMap::kSame;
    inputs = {in};
  }
  std::vector<Microprogram> Programs() const override { return programs_; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Lines lines = view_.LinesOf(tile.rows);
    LineStream low =
        view_.Result(tile.output, isa::ElementType::kS32, tile.row0);
    EmitLines(emitter, emitter->Run(programs_[0]), lines,
              {view_.Operand(tile.inputs[0], in_type_, tile.row0)}, low);
    Lines results = lines;
    results.count = 1;
    low.base += sizeof(int32_t);
    EmitEach(emitter, emitter->Run(programs_[1]), results, {}, low);
  }

 private:
  LineView view_;
  isa::ElementType in_type_;
  std::vector<Microprogram> programs_;  // search, zero
};

absl::Status LowerArg(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  if (x.type == DataType::kInt64) {
    return RefuseNode(
        Refusal::kUnsupportedDatatype, node,
        "the card compares integers of up to 32 bits, input 0 is ",
        DataTypeName(x.type));
  }
  if (!l->consumers(node.outputs[0]).empty()) {
    return RefuseNode(Refusal::kUnsupportedDatatype, node, "its int64 result '",
                      l->tensor(node.outputs[0]).name,
                      "' can only be an output of the network");
  }
  auto search = ResolveArg(node, x.shape);
  if (!search.ok()) return search.status();
  if (auto s = CheckVectorLimits(node, {search->stage.count}); !s.ok()) {
    return s;
  }
  std::vector<Microprogram> programs;
  for (auto program :
       {SearchProgram(search->largest, search->last, !Contains(kReals, x.type)),
        ZeroProgram()}) {
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
  }
  const LineView view(search->stage);
  const int from = l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node),
                               view.OperandShape());
  const Tensor& y = l->tensor(node.outputs[0]);
  const int to =
      l->NewTemporary(y.name, y.type, view.ResultShape(), Layout::kDense);
  l->Add(std::make_unique<ArgOp>(l->device(), search->stage,
                                 std::move(programs), from, to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kArgMax("", "ArgMax", LowerArg);
const LoweringRegistration kArgMin("", "ArgMin", LowerArg);

}  // namespace
}  // namespace heddle::compiler
