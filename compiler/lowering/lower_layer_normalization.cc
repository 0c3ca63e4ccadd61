// SPDX-License-Identifier: Apache-2.0
// LayerNormalization (ops/layer_normalization.h): mean, reciprocal deviation
// and results of rows that fit SRAM, from one copy of them. Where a row does
// not fit, the factors are computed, or means and deviations are wanted, each
// step is an operation of its own.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/mac.h"
#include "compiler/device_ops/reduction.h"
#include "compiler/device_ops/reduction_loop.h"
#include "compiler/lowering/softmax_passes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/layer_normalization.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kFloat = sizeof(float);
// Rows whose means and deviations are kept at a time, and the share of SRAM
// that they take at most.
constexpr int64_t kRowsAtATime = 1024;
constexpr uint64_t kShare = 32;

// Stream B is what the part before has left; argument 0 is D.
absl::StatusOr<Microprogram> MeanOfPart(bool first, bool last) {
  ProgramBuilder b;
  const Term sum = b.Variable();
  if (!first) {
    b.In(ProgramBuilder::kPrologue);
    b.Assign(sum, b.B());
    b.In(ProgramBuilder::kBody);
  }
  // Lanes that are not valid read 0, which the sum does not see.
  b.Assign(sum, b.Add(sum, b.A()));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(last ? b.Div(b.Op(isa::MicroOp::kHsum, sum), b.Arg(0)) : sum);
  return b.Finish();
}

// Stream B is the mean, stream C what the part before has left; argument 0 is
// D, the immediate epsilon.
absl::StatusOr<Microprogram> FactorOfPart(float epsilon, bool first,
                                          bool last) {
  ProgramBuilder b;
  const Term sum = b.Variable();
  if (!first) {
    b.In(ProgramBuilder::kPrologue);
    b.Assign(sum, b.C());
    b.In(ProgramBuilder::kBody);
  }
  const Term d = b.Sub(b.A(), b.B());
  b.Assign(sum, b.Fma(d, d, sum));
  b.In(ProgramBuilder::kEpilogue);
  if (!last) {
    b.Out(sum);
    return b.Finish();
  }
  const Term v = b.Div(b.Op(isa::MicroOp::kHsum, sum), b.Arg(0));
  b.Out(b.Div(b.Imm(1), b.Sqrt(b.Add(v, b.Imm(epsilon)))));
  return b.Finish();
}

// The same for rows that are in one part, in four programs, of which the second
// and the fourth divide for sixteen rows at a time. With D a power of two
// nothing is divided by it: argument 0 is 1 / D, whose products are the same
// numbers, and the first program leaves the mean.
bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

absl::StatusOr<Microprogram> SumOfRow(bool mean) {
  ProgramBuilder b;
  const Term sum = b.Variable();
  b.Assign(sum, b.Add(sum, b.A()));
  b.In(ProgramBuilder::kEpilogue);
  const Term all = b.Op(isa::MicroOp::kHsum, sum);
  b.Out(mean ? b.Mul(all, b.Arg(0)) : all);
  return b.Finish();
}

absl::StatusOr<Microprogram> MeanOfSum() {
  ProgramBuilder b;
  b.Out(b.Div(b.A(), b.Arg(0)));
  return b.Finish();
}

absl::StatusOr<Microprogram> SquaresOfRow() {
  ProgramBuilder b;
  const Term sum = b.Variable();
  const Term d = b.Sub(b.A(), b.B());
  // Lanes that are not valid read 0 from either stream.
  b.Assign(sum, b.Fma(d, d, sum));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(b.Op(isa::MicroOp::kHsum, sum));
  return b.Finish();
}

absl::StatusOr<Microprogram> FactorOfSquares(float epsilon, bool product) {
  ProgramBuilder b;
  const Term v = product ? b.Mul(b.A(), b.Arg(0)) : b.Div(b.A(), b.Arg(0));
  b.Out(b.Div(b.Imm(1), b.Sqrt(b.Add(v, b.Imm(epsilon)))));
  return b.Finish();
}

// a = x, b = mean, c = r
absl::StatusOr<Microprogram> Normalized() {
  ProgramBuilder b;
  b.Out(b.Mul(b.Sub(b.A(), b.B()), b.C()));
  return b.Finish();
}

absl::StatusOr<Microprogram> Scaled() {
  ProgramBuilder b;
  b.Out(b.Fma(b.A(), b.B(), b.C()));
  return b.Finish();
}

class LayerNormalizationOp : public ClonableOp<LayerNormalizationOp> {
 public:
  LayerNormalizationOp(const ReduceStage& rows, uint64_t sram_bytes,
                       std::vector<Microprogram> programs,
                       const std::vector<float>& scale,
                       const std::vector<float>& bias, int from, int to)
      : view_(rows, sram_bytes),
        count_(rows.count),
        product_(IsPowerOfTwo(count_)),
        bias_(static_cast<uint32_t>((count_ * kFloat + 15) / 16 * 16)),
        programs_(std::move(programs)) {
    engine = "vector";
    output = to;
    tileable = late_constants = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    std::vector<uint8_t> blob(2 * size_t{bias_});
    std::memcpy(blob.data(), scale.data(), count_ * kFloat);
    std::memcpy(blob.data() + bias_, bias.data(), count_ * kFloat);
    SetConstants(std::move(blob));
    const auto most = static_cast<int64_t>(sram_bytes / kShare / (2 * kFloat));
    step_ = std::clamp<int64_t>(std::min(kRowsAtATime, most), 1, rows.outer);
    temporary_bytes = 2 * step_ * kFloat;
    // Of a vector seven instructions and accesses of lines, of a row two trees.
    const auto vectors = (count_ + isa::kVectorLanes - 1) / isa::kVectorLanes;
    vector_cycles = static_cast<double>(rows.outer * (7 * vectors + 8));
  }

  std::vector<Microprogram> Programs() const override { return programs_; }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    constexpr isa::ElementType kType = isa::ElementType::kF32;
    for (int64_t done = 0; done < tile.rows; done += step_) {
      const int64_t row = tile.row0 + done;
      ReductionLoop lines = view_.LoopOf(std::min(step_, tile.rows - done));
      lines.in_lanes = true;
      const ReductionStream x = view_.Operand(tile.inputs[0], kType, row);
      const ReductionStream y = view_.Operand(tile.output, kType, row);
      const auto of_rows = [&](int64_t offset) {
        ReductionStream s;
        s.base = static_cast<uint32_t>(tile.temporary + offset);
        s.row = kFloat;
        return s;
      };
      const auto of_columns = [&](uint32_t offset) {
        ReductionStream s;
        s.base = tile.constants + offset;
        s.step = kFloat;
        return s;
      };
      const auto run = [&](size_t program) {
        isa::Vrun run = emitter->Run(programs_[program]);
        const auto count = static_cast<float>(count_);
        run.arg0 = model::Bits(product_ ? 1 / count : count);
        return run;
      };
      const ReductionStream means = of_rows(0),
                            factors = of_rows(step_ * kFloat);
      EmitReductionLoop(emitter, run(0), lines, {x}, means);
      if (!product_) EmitForRows(emitter, run(1), lines.rows, means);
      EmitReductionLoop(emitter, run(2), lines, {x, means}, factors);
      EmitForRows(emitter, run(3), lines.rows, factors);
      // The scaled elements take the place of the normalised ones.
      EmitElementLoop(emitter, run(4), lines, {x, means, factors}, y);
      EmitColumns(emitter, run(5), lines, y, of_columns(0), of_columns(bias_));
    }
  }

 private:
  // A number for each row, in place.
  static void EmitForRows(Emitter* emitter, const isa::Vrun& run, int64_t rows,
                          ReductionStream numbers) {
    ReductionLoop line;
    line.count = rows;
    numbers.step = numbers.row;
    EmitElementLoop(emitter, run, line, {numbers}, numbers);
  }

  // Elements in place, with two numbers for each column. Columns are the
  // outermost loop, so that the rows of a strip read the same ones.
  void EmitColumns(Emitter* emitter, isa::Vrun run, const ReductionLoop& lines,
                   const ReductionStream& elements,
                   const ReductionStream& scale,
                   const ReductionStream& bias) const {
    constexpr int64_t kLanes = isa::kVectorLanes, kMaxCount = 65535;
    const auto stream = [](const ReductionStream& s, int64_t column) {
      isa::Stream out;
      out.base = s.base + static_cast<uint32_t>(column * s.step);
      out.type = s.type;
      out.lane_stride = static_cast<int32_t>(s.step);
      out.o1_stride = static_cast<int32_t>(s.row);
      out.o2_stride = static_cast<int32_t>(kLanes * s.step);
      return out;
    };
    const int64_t whole = count_ / kLanes * kLanes;
    for (int64_t column = 0; column < count_;) {
      run.lanes =
          static_cast<uint32_t>(column < whole ? kLanes : count_ - whole);
      run.n_o1 = static_cast<uint32_t>(lines.rows);
      run.n_o2 = column < whole ? static_cast<uint32_t>(std::min(
                                      (whole - column) / kLanes, kMaxCount))
                                : 1;
      run.store = isa::StoreMode::kBody;
      run.enable_a = run.enable_b = run.enable_c = true;
      run.SetA(stream(elements, column));
      run.SetB(stream(scale, column));
      run.SetC(stream(bias, column));
      run.SetD(stream(elements, column));
      emitter->Append(run);
      column += static_cast<int64_t>(run.lanes) * run.n_o2;
    }
  }

  ReductionView view_;
  int64_t count_;
  bool product_;   // by 1 / count instead of a division
  uint32_t bias_;  // where it lies in the constants, behind the scale
  // Sum, mean, squares, factor, normalised, scaled.
  std::vector<Microprogram> programs_;
  int64_t step_ = 1;
};

// Scale or bias as an operand of a [rows, D] operation.
Operand FactorOf(Lowering* l, const Node& node, size_t i,
                 const ReduceStage& rows, float absent) {
  if (HasInput(node, i) && l->ConstantInput(node, i) == nullptr) {
    const int64_t count = ElementCount(l->tensor(node.inputs[i]).shape);
    const int value = l->ValueIn(node.inputs[i], Layout::kDense, node);
    return Operand::Of(l->Reshaped(value, {1, count}));
  }
  const Shape shape = {1, rows.count};
  const TensorData data = FromFloats(
      DataType::kFloat, shape,
      PerElement(HasInput(node, i) ? l->ConstantInput(node, i) : nullptr,
                 rows.count, absent));
  return Operand::Of(ConstantValue(
      l, absl::StrCat(l->tensor(node.outputs[0]).name, "/factor", i), data,
      shape));
}

absl::Status LowerInPasses(Lowering* l, const Node& node,
                           const ReduceStage& rows, float epsilon, int from,
                           int to) {
  const std::string name = l->tensor(node.outputs[0]).name;
  Chain chain;
  chain.stage = rows;
  chain.in_lanes = true;
  chain.argument = model::Bits(static_cast<float>(rows.count));
  chain.program = MeanOfPart;
  ASSIGN_OR_RETURN(
      const int means,
      AddChain(l, node, chain, from, {}, name + "/means", DataType::kFloat));
  chain.program = [epsilon](bool first, bool last) {
    return FactorOfPart(epsilon, first, last);
  };
  ASSIGN_OR_RETURN(const int factors,
                   AddChain(l, node, chain, from, {means}, name + "/factors",
                            DataType::kFloat));
  ASSIGN_OR_RETURN(auto normalized_program, Normalized());
  ASSIGN_OR_RETURN(auto scaled_program, Scaled());
  const Shape shape = {rows.outer, rows.count}, column = {rows.outer, 1};
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const TensorId id = node.outputs[i];
    if (id == kNoTensor) continue;
    l->Bind(id, l->Reshaped(i == 1 ? means : factors, l->tensor(id).shape));
  }
  const int normalized = l->NewTemporary(name + "/normalized", DataType::kFloat,
                                         shape, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), normalized_program, {},
                         {Operand::Of(l->Reshaped(from, shape)),
                          Operand::Of(l->Reshaped(means, column)),
                          Operand::Of(l->Reshaped(factors, column))},
                         normalized),
         node);
  l->Add(
      MakeElementwise(&l->device(), scaled_program, {},
                      {Operand::Of(normalized), FactorOf(l, node, 1, rows, 1),
                       FactorOf(l, node, 2, rows, 0)},
                      to),
      node);
  return absl::OkStatus();
}

absl::Status LowerLayerNormalization(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  const Tensor& y = l->tensor(node.outputs[0]);
  const ReduceStage rows = RowsToNormalize(node, x.shape);
  const uint64_t sram = l->config().sram_bytes;
  const float epsilon = node.FloatAttribute("epsilon", 1e-5f);
  const Shape shape = {rows.outer, rows.count};
  const int from =
      l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node), shape);
  const int to = l->NewTemporary(y.name, y.type, shape, Layout::kDense);
  const bool computed =
      (l->ConstantInput(node, 1) == nullptr) ||
      (HasInput(node, 2) && l->ConstantInput(node, 2) == nullptr);
  const bool more = std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                                [](TensorId id) { return id != kNoTensor; });
  // Operand, result, and both factors of an element.
  if (computed || more || NeedsPasses(rows, 4 * kFloat, sram)) {
    RETURN_IF_ERROR(LowerInPasses(l, node, rows, epsilon, from, to));
  } else {
    const bool product = IsPowerOfTwo(rows.count);
    std::vector<Microprogram> programs;
    for (auto program :
         {SumOfRow(product), MeanOfSum(), SquaresOfRow(),
          FactorOfSquares(epsilon, product), Normalized(), Scaled()}) {
      if (!program.ok()) return program.status();
      programs.push_back(*std::move(program));
    }
    l->Add(
        std::make_unique<LayerNormalizationOp>(
            rows, sram, std::move(programs),
            PerElement(l->ConstantInput(node, 1), rows.count, 1),
            PerElement(HasInput(node, 2) ? l->ConstantInput(node, 2) : nullptr,
                       rows.count, 0),
            from, to),
        node);
  }
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kLayerNormalization("", "LayerNormalization",
                                               LowerLayerNormalization);

}  // namespace
}  // namespace heddle::compiler
