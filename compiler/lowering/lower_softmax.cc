// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax: for rows that fit SRAM together, the maximum of each
// row, then its sum of exponentials (of a fp32 Softmax they stay), what becomes
// of the sums, sixteen rows at a time, then the result, from one copy of the
// operand in SRAM. Longer rows: softmax_passes.h.
#include <algorithm>
#include <memory>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/reduction_loop.h"
#include "compiler/lowering/softmax_passes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/softmax.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kFloat = sizeof(float);
// Rows whose maxima and sums are kept at a time, and the share of SRAM that
// they take at most.
constexpr int64_t kRowsAtATime = 1024;
constexpr uint64_t kShare = 32;

// `ragged`: the last vector of a row has lanes that are not valid.
absl::StatusOr<Microprogram> MaxOfRow(bool in_lanes, bool ragged) {
  ProgramBuilder b;
  const Term acc = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  b.Assign(acc, b.ImmBits(0xff800000u));
  b.In(ProgramBuilder::kBody);
  const Term larger = b.Max(acc, b.A());
  b.Assign(acc, ragged ? b.Select(b.Valid(), larger, acc) : larger);
  b.In(ProgramBuilder::kEpilogue);
  b.Out(in_lanes ? b.Op(isa::MicroOp::kHmax, acc) : acc);
  return b.Finish();
}

absl::StatusOr<Microprogram> SumOfRow(bool in_lanes, bool ragged) {
  ProgramBuilder b;
  const Term acc = b.Variable();
  const Term e = ExpTerm(&b, b.A(), b.B());
  b.Assign(acc, b.Add(acc, ragged ? b.Select(b.Valid(), e, b.Imm(0)) : e));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(in_lanes ? b.Op(isa::MicroOp::kHsum, acc) : acc);
  return b.Finish();
}

absl::StatusOr<Microprogram> OfSum(bool log) {
  ProgramBuilder b;
  b.Out(RowTerm(&b, log, b.A()));
  return b.Finish();
}

// The exponentials wait where the results will be.
absl::StatusOr<Microprogram> Exponential() {
  ProgramBuilder b;
  b.Out(ExpTerm(&b, b.A(), b.B()));
  return b.Finish();
}

// Of these; lanes that are not valid read 0, which the sum does not see.
absl::StatusOr<Microprogram> SumOfExponentials(bool in_lanes) {
  ProgramBuilder b;
  const Term acc = b.Variable();
  b.Assign(acc, b.Add(acc, b.A()));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(in_lanes ? b.Op(isa::MicroOp::kHsum, acc) : acc);
  return b.Finish();
}

absl::StatusOr<Microprogram> Product() {
  ProgramBuilder b;
  b.Out(b.Mul(b.A(), b.B()));
  return b.Finish();
}

absl::StatusOr<Microprogram> Result(bool log) {
  ProgramBuilder b;
  b.Out(SoftmaxTerm(&b, log, b.A(), b.B(), b.C()));
  return b.Finish();
}

class SoftmaxOp : public ClonableOp<SoftmaxOp> {
 public:
  SoftmaxOp(const DeviceGraph& graph, const ReduceStage& stage,
            uint64_t sram_bytes, std::vector<Microprogram> programs, int from,
            int to)
      : view_(stage, sram_bytes),
        stage_(stage),
        in_type_(VectorType(graph.StorageOf(from).type)),
        out_type_(VectorType(graph.StorageOf(to).type)),
        programs_(std::move(programs)) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    // Rows of the tile that are worked on at a time.
    const int64_t of_a_row = view_.by_image() ? 1 : stage.inner;
    const int64_t all = view_.by_image() ? stage.inner : stage.outer;
    const int64_t rows =
        std::min<int64_t>(kRowsAtATime, sram_bytes / kShare / (2 * kFloat));
    step_ = std::min(all, std::max<int64_t>(1, rows / of_a_row));
    kept_ = step_ * of_a_row;
    temporary_bytes = 2 * kept_ * kFloat;
  }
  std::vector<Microprogram> Programs() const override { return programs_; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    for (int64_t done = 0; done < tile.rows; done += step_) {
      const int64_t row = tile.row0 + done;
      ReductionLoop lines = view_.LoopOf(std::min(step_, tile.rows - done));
      lines.in_lanes = stage_.inner == 1;
      const ReductionStream x = view_.Operand(tile.inputs[0], in_type_, row);
      const ReductionStream y = view_.Operand(tile.output, out_type_, row);
      ReductionStream maxima;
      maxima.base = tile.temporary;
      maxima.row = lines.inner * kFloat;
      maxima.inner = kFloat;
      ReductionStream sums = maxima;
      sums.base += kept_ * kFloat;
      EmitReductionLoop(emitter, emitter->Run(programs_[0]), lines, {x},
                        maxima);
      const bool keeps = programs_.size() == 5;
      if (keeps) {
        EmitElementLoop(emitter, emitter->Run(programs_[3]), lines, {x, maxima},
                        y);
        EmitReductionLoop(emitter, emitter->Run(programs_[4]), lines, {y},
                          sums);
      } else {
        EmitReductionLoop(emitter, emitter->Run(programs_[3]), lines,
                          {x, maxima}, sums);
      }
      ReductionLoop line;
      line.count = lines.rows * lines.inner;
      ReductionStream numbers = sums;
      numbers.step = kFloat;
      EmitElementLoop(emitter, emitter->Run(programs_[1]), line, {numbers},
                      numbers);
      if (keeps) {
        EmitElementLoop(emitter, emitter->Run(programs_[2]), lines, {y, sums},
                        y);
      } else {
        EmitElementLoop(emitter, emitter->Run(programs_[2]), lines,
                        {x, maxima, sums}, y);
      }
    }
  }

 private:
  ReductionView view_;
  ReduceStage stage_;
  isa::ElementType in_type_, out_type_;
  // Maximum, what becomes of a sum, result; then the sum, or exponential and
  // their sum.
  std::vector<Microprogram> programs_;
  int64_t step_ = 1, kept_ = 1;
};

template <bool log>
absl::Status LowerSoftmax(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  ASSIGN_OR_RETURN(auto stage, ResolveSoftmax(node, x.shape));
  const uint64_t sram = l->config().sram_bytes;
  if (NeedsPasses(stage, 2 * ElementBytes(x.type), sram)) {
    return LowerSoftmaxInPasses(l, node, stage, log);
  }
  const bool in_lanes = stage.inner == 1;
  const bool ragged = in_lanes && stage.count % isa::kVectorLanes != 0;
  // An exponential of fp32 is computed once and kept; other types would round
  // it.
  const bool keeps = !log && x.type == DataType::kFloat;
  std::vector<absl::StatusOr<Microprogram>> made = {
      MaxOfRow(in_lanes, ragged), OfSum(log), keeps ? Product() : Result(log)};
  if (keeps) {
    made.push_back(Exponential());
    made.push_back(SumOfExponentials(in_lanes));
  } else {
    made.push_back(SumOfRow(in_lanes, ragged));
  }
  std::vector<Microprogram> programs;
  for (auto& program : made) {
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
  }
  const ReductionView view(stage, sram);
  const int from = l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node),
                               view.OperandShape());
  const Tensor& y = l->tensor(node.outputs[0]);
  const int to =
      l->NewTemporary(y.name, y.type, view.OperandShape(), Layout::kDense);
  l->Add(std::make_unique<SoftmaxOp>(l->device(), stage, sram,
                                     std::move(programs), from, to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kSoftmax("", "Softmax", LowerSoftmax<false>);
const LoweringRegistration kLogSoftmax("", "LogSoftmax", LowerSoftmax<true>);

}  // namespace
}  // namespace heddle::compiler
