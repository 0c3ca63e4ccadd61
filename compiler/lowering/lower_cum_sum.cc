// SPDX-License-Identifier: Apache-2.0
// heddle.CumSum: the axis is r1, the body adds and stores; lanes are columns or
// rows of the block [outer, count, inner].
#include <algorithm>
#include <memory>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/reduction_loop.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

absl::StatusOr<Microprogram> ScanProgram(bool integers) {
  ProgramBuilder b;
  const Term sum = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  b.Assign(sum, b.ImmBits(0));
  b.In(ProgramBuilder::kBody);
  b.Assign(sum, integers ? b.IAdd(sum, b.A()) : b.Add(sum, b.A()));
  b.Out(sum);
  return b.Finish();
}

class CumSumOp : public ClonableOp<CumSumOp> {
 public:
  CumSumOp(const DeviceGraph& graph, const ReductionView& view,
           Microprogram program, int from, int to)
      : view_(view),
        in_type_(VectorType(graph.StorageOf(from).type)),
        out_type_(VectorType(graph.StorageOf(to).type)),
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
    const ReductionLoop lines = view_.LoopOf(tile.rows);
    const ReductionStream x =
        view_.Operand(tile.inputs[0], in_type_, tile.row0);
    const ReductionStream y = view_.Operand(tile.output, out_type_, tile.row0);
    // The longer of both is the lanes.
    const bool rows = std::min<int64_t>(lines.rows, isa::kVectorLanes) >
                      std::min<int64_t>(lines.inner, isa::kVectorLanes);
    const int64_t lanes = rows ? lines.rows : lines.inner;
    const int64_t outer = rows ? lines.inner : lines.rows;
    for (int64_t l = 0; l < lanes; l += kMaxCount) {
      for (int64_t o = 0; o < outer; o += kMaxCount) {
        const auto stream = [&](const ReductionStream& s) {
          const int64_t lane = rows ? s.row : s.inner;
          const int64_t step = rows ? s.inner : s.row;
          isa::Stream out;
          out.base = s.base + static_cast<uint32_t>(l * lane + o * step);
          out.type = s.type;
          out.lane_stride = static_cast<int32_t>(lane);
          out.r1_stride = static_cast<int32_t>(s.step);
          out.o1_stride = static_cast<int32_t>(step);
          return out;
        };
        isa::Vrun run = emitter->Run(program_);
        run.store = isa::StoreMode::kBody;
        run.lanes = std::min(kMaxCount, lanes - l);
        run.n_r1 = lines.count;
        run.n_o1 = std::min(kMaxCount, outer - o);
        run.enable_a = true;
        run.SetA(stream(x));
        run.SetD(stream(y));
        emitter->Append(run);
      }
    }
  }

 private:
  static constexpr int64_t kMaxCount = 65535;
  ReductionView view_;
  isa::ElementType in_type_, out_type_;
  Microprogram program_;
};

absl::Status LowerCumSum(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  if (ElementBytes(x.type) > 4) {
    return RejectNode(Rejection::kUnsupportedDatatype, node,
                      "the card adds numbers of up to 32 bits, input 0 is ",
                      DataTypeName(x.type));
  }
  const int64_t axis = node.IntAttribute("axis", 0);
  ReduceStage stage;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    (at < axis    ? stage.outer
     : at == axis ? stage.count
                  : stage.inner) *= x.shape[i];
  }
  const ReductionView view(stage, l->config().sram_bytes);
  ASSIGN_OR_RETURN(auto program, ScanProgram(!Contains(kReals, x.type)));
  const int from = l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node),
                               view.OperandShape());
  const Tensor& y = l->tensor(node.outputs[0]);
  const int to =
      l->NewTemporary(y.name, y.type, view.OperandShape(), Layout::kDense);
  l->Add(std::make_unique<CumSumOp>(l->device(), view, std::move(program), from,
                                    to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kCumSum(kInternalDomain, "CumSum", LowerCumSum);

}  // namespace
}  // namespace heddle::compiler
