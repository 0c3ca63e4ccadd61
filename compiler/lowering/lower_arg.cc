// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: one search in each lane, lanes are results. Where elements
// of a result follow each other, they lie along the lanes, each lane searches
// every sixteenth, and the best of the lanes is the result's. Indices are int32
// on the card.
#include <memory>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/reduction_loop.h"
#include "compiler/ops/arg.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

struct Search {
  bool largest = false, last = false, integers = false;
};

// A part of the search: goes on from the best element (B) and its index (C) of
// the parts before, unless it is the `first`; argument 0 is the index of the
// part's first element. `finds_index`: what it leaves is the index, else the
// best element.
absl::StatusOr<Microprogram> SearchProgram(const Search& search, bool first,
                                           bool finds_index) {
  const auto [largest, last, integers] = search;
  ProgramBuilder b;
  const Term best = b.Variable(), index = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  const uint32_t worst = integers  ? largest ? 0x80000000u : 0x7fffffffu
                         : largest ? 0xff800000u
                                   : 0x7f800000u;
  b.Assign(best, first ? b.ImmBits(worst) : b.B());
  if (finds_index && !first) b.Assign(index, b.C());
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
  if (finds_index) {
    const Term here = first ? b.IndexR() : b.IAdd(b.IndexR(), b.Arg(0));
    const Term found =
        keep ? b.Select(mask, index, here) : b.Select(mask, here, index);
    b.Assign(best, value);
    b.Assign(index, found);
  } else {
    b.Assign(best, value);
  }
  b.In(ProgramBuilder::kEpilogue);
  b.Out(finds_index ? index : best);
  return b.Finish();
}

// The whole search of a row along the lanes. What has not found anything is,
// for the last one, in front of all elements. `ragged`: the last vector has
// lanes that are not valid.
absl::StatusOr<Microprogram> RowProgram(const Search& search, bool ragged) {
  const auto [largest, last, integers] = search;
  ProgramBuilder b;
  const Term best = b.Variable(), vector = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  b.Assign(best, b.ImmBits(integers  ? largest ? 0x80000000u : 0x7fffffffu
                           : largest ? 0xff800000u
                                     : 0x7f800000u));
  if (last) b.Assign(vector, b.ImmBits(~0u));
  b.In(ProgramBuilder::kBody);
  const Term x = ProgramBuilder::A();
  const Term lower = largest ? best : x, upper = largest ? x : best;
  Term better;
  if (!integers) {
    better = last ? b.LessEqual(lower, upper) : b.Less(lower, upper);
  } else if (last) {
    better = b.Xor(b.ILess(upper, lower), b.ImmBits(~0u));
  } else {
    better = b.ILess(lower, upper);
  }
  if (ragged) better = b.And(better, b.Valid());
  b.Assign(vector, b.Select(better, b.IndexR(), vector));
  b.Assign(best, b.Select(better, x, best));
  b.In(ProgramBuilder::kEpilogue);
  const isa::MicroOp join =
      integers  ? largest ? isa::MicroOp::kHimax : isa::MicroOp::kHimin
      : largest ? isa::MicroOp::kHmax
                : isa::MicroOp::kHmin;
  const Term found = b.Op(join, best);
  const Term equal = integers ? b.IEqual(best, found) : b.Equal(best, found);
  const Term index = b.IAdd(b.Shl(vector, 4), b.Lane());
  if (last) {
    const Term behind =
        b.Op(isa::MicroOp::kHimax, b.Select(equal, index, b.ImmBits(~0u)));
    b.Out(b.IMax(behind, b.ImmBits(0)));
  } else {
    b.Out(b.Op(isa::MicroOp::kHimin,
               b.Select(equal, index, b.ImmBits(0x7fffffffu))));
  }
  return b.Finish();
}

// In several parts, each is searched twice: for the index, then for the best
// element, which both go on from what the part before has left.
class ArgOp : public ClonableOp<ArgOp> {
 public:
  ArgOp(const DeviceGraph& graph, const ReductionView& view,
        const std::vector<Slice>& parts, bool in_lanes,
        std::vector<Microprogram> programs, uint64_t sram_bytes, int from,
        int to)
      : view_(view),
        in_lanes_(in_lanes),
        parts_(parts),
        in_type_(VectorType(graph.StorageOf(from).type)),
        state_type_(Contains(kReals, graph.StorageOf(from).type)
                        ? isa::ElementType::kF32
                        : isa::ElementType::kS32),
        programs_(std::move(programs)) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    view_.Cut(parts_, 2 * kWord, sram_bytes, this);
  }
  std::vector<Microprogram> Programs() const override { return programs_; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Slice& part = parts_[tile.group];
    const bool first = tile.group == 0,
               last = tile.group + 1 == static_cast<int>(parts_.size());
    ReductionLoop lines = view_.LoopOf(tile.rows);
    lines.count = part.count;
    lines.in_lanes = in_lanes_;
    ReductionStream x = view_.Operand(tile.inputs[0], in_type_, tile.row0);
    x.base += part.first * x.step;
    const ReductionStream index =
        view_.State(tile.temporary, isa::ElementType::kS32, 1);
    const ReductionStream best =
        view_.State(tile.temporary + temporary_bytes / 2, state_type_, 1);
    std::vector<ReductionStream> operands = {x};
    if (!first) operands = {x, best, index};
    isa::Vrun run = emitter->Run(programs_[first ? 0 : 1]);
    run.arg0 = static_cast<uint32_t>(part.first);
    EmitReductionLoop(
        emitter, run, lines, operands,
        last ? view_.Result(tile.output, isa::ElementType::kS32, tile.row0)
             : index);
    if (last) return;
    if (!first) operands = {x, best};
    EmitReductionLoop(emitter, emitter->Run(programs_[first ? 2 : 3]), lines,
                      operands, best);
  }

 private:
  static constexpr int64_t kWord = 4;
  ReductionView view_;
  bool in_lanes_;  // in one part, with the one program for it
  std::vector<Slice> parts_;
  isa::ElementType in_type_, state_type_;
  // The index in the first part and in those after it, the best element in the
  // same.
  std::vector<Microprogram> programs_;
};

absl::Status LowerArg(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  if (x.type == DataType::kInt64 || x.type == DataType::kUint32) {
    return RejectNode(
        Rejection::kUnsupportedDatatype, node,
        "the card compares integers of up to 32 bits with sign, or fewer "
        "without, input 0 is ",
        DataTypeName(x.type));
  }
  ASSIGN_OR_RETURN(auto search, ResolveArg(node, x.shape));
  const uint64_t sram = l->config().sram_bytes;
  const ReductionView view(search.stage, sram);
  const std::vector<Slice> parts =
      view.Parts(false, ElementBytes(x.type), sram);
  const Search kind{search.largest, search.last, !Contains(kReals, x.type)};
  constexpr int64_t kLanes = isa::kVectorLanes;
  const bool in_lanes = parts.size() == 1 && search.stage.inner == 1 &&
                        search.stage.count >= 2 * kLanes;
  std::vector<Microprogram> programs;
  if (in_lanes) {
    ASSIGN_OR_RETURN(auto program,
                     RowProgram(kind, search.stage.count % kLanes != 0));
    programs.push_back(std::move(program));
  }
  for (const bool finds_index : {true, false}) {
    for (const bool first : {true, false}) {
      if (in_lanes || (parts.size() == 1 && !(first && finds_index))) continue;
      ASSIGN_OR_RETURN(auto program, SearchProgram(kind, first, finds_index));
      programs.push_back(std::move(program));
    }
  }
  const int from = l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node),
                               view.OperandShape());
  const Tensor& y = l->tensor(node.outputs[0]);
  const int to = l->NewTemporary(y.name, DataType::kInt32, view.ResultShape(),
                                 Layout::kDense);
  l->Add(std::make_unique<ArgOp>(l->device(), view, parts, in_lanes,
                                 std::move(programs), sram, from, to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kArgMax("", "ArgMax", LowerArg, true);
const LoweringRegistration kArgMin("", "ArgMin", LowerArg, true);

}  // namespace
}  // namespace heddle::compiler
