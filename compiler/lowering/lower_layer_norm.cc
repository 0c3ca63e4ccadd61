// SPDX-License-Identifier: Apache-2.0
// heddle.LayerNorm (ops/layer_norm.h). Lanes are neighbours in a row for the
// sums and the elements, and rows for what is computed once per row. A tile is
// done some rows at a time, whose normalised elements wait in fp32 for the
// factors of their columns: a command has three operands. Where a row does not
// fit SRAM, each step is an operation of its own.
#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/mac.h"
#include "compiler/device_ops/reduction.h"
#include "compiler/ops/define.h"
#include "compiler/ops/layer_norm.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using Source = isa::Operand;

constexpr int64_t kWord = 4;  // bytes of a number
constexpr int64_t kLanes = isa::kVectorLanes;

int64_t Align(int64_t bytes) { return (bytes + 15) / 16 * 16; }

// The integer sum of a, or of its squares, over a part of the row; stream B is
// what the part before has left.
Microprogram SumProgram(bool squares, bool first, bool last) {
  Microprogram p;
  if (!first) {
    p.prologue = {Micro(MicroOp::kMov, Destination::kV0, Source::kStreamB)};
  }
  if (squares) {
    p.body = {
        Micro(MicroOp::kImul, Destination::kV1, Source::kStreamA,
              Source::kStreamA),
        Micro(MicroOp::kIadd, Destination::kV0, Source::kV0, Source::kV1)};
  } else {
    p.body = {
        Micro(MicroOp::kIadd, Destination::kV0, Source::kV0, Source::kStreamA)};
  }
  p.epilogue = {Micro(last ? MicroOp::kHisum : MicroOp::kMov, Destination::kOut,
                      Source::kV0)};
  return p;
}

struct NormPrograms {
  Microprogram sum, squares, deviation, shift, normalize, scale;
};

class LayerNorm : public ClonableOp<LayerNorm> {
 public:
  // `from` and `to` are [rows, d], both blocked or both dense. `constants`:
  // factors and summands of the columns.
  LayerNorm(Lowering* l, NormPrograms programs, std::array<uint32_t, 4> row,
            int32_t zero, const std::vector<float>& factors,
            const std::vector<float>& summands, int from, int to)
      : programs_(std::move(programs)),
        row_(row),
        zero_(zero),
        d_(l->device().values[to].shape[1]),
        blocked_(l->device().StorageOf(to).layout == Layout::kBlocked),
        in_type_(VectorType(l->device().StorageOf(from).type)),
        out_type_(VectorType(l->device().StorageOf(to).type)) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    std::vector<uint8_t> blob(2 * Align(d_ * kWord));
    std::memcpy(blob.data(), factors.data(), d_ * kWord);
    std::memcpy(blob.data() + Align(d_ * kWord), summands.data(), d_ * kWord);
    SetConstants(std::move(blob));
    const int64_t budget = l->config().sram_bytes / 8;
    const int64_t row_bytes = CodeBlocks(d_) * kLanes * kWord + 4 * kWord;
    rows_ = std::clamp<int64_t>(budget / row_bytes, 1,
                                l->device().values[to].shape[0]);
    temporary_bytes =
        4 * Align(rows_ * kWord) + rows_ * CodeBlocks(d_) * kLanes * kWord;
  }

  std::vector<Microprogram> Programs() const override {
    return {programs_.sum,   programs_.squares,   programs_.deviation,
            programs_.shift, programs_.normalize, programs_.scale};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    for (int64_t done = 0; done < tile.rows; done += rows_) {
      EmitRows(emitter, tile, tile.row0 + done,
               std::min(rows_, tile.rows - done));
    }
  }

 private:
  // Element (lane, row, block) of codes from `row` on.
  LoopOperand CodesOf(const TileView& v, isa::ElementType type,
                      int64_t row) const {
    LoopOperand o;
    o.base = RowBase(v, row);
    o.type = type;
    if (blocked_) {
      o.strides = {1, v.pitch, v.plane};
    } else {
      o.strides = {v.xstep, v.pitch, kLanes * v.xstep};
    }
    return o;
  }
  static LoopOperand Numbers(uint32_t base, int64_t lane, int64_t row,
                             int64_t block) {
    LoopOperand o;
    o.base = base;
    o.strides = {lane, row, block};
    return o;
  }

  // One number per row from the codes of the row.
  void EmitSums(Emitter* emitter, const Microprogram& program,
                const LoopOperand& codes, int64_t rows, uint32_t to) const {
    isa::Vrun run = emitter->Run(program);
    run.store = isa::StoreMode::kEpilogue;
    run.store_one = true;
    run.lanes = std::min(d_, kLanes);
    run.n_r1 = CodeBlocks(d_);
    run.tail = d_ > kLanes ? d_ % kLanes : 0;
    run.n_o1 = rows;
    run.enable_a = true;
    isa::Stream a, d;
    a.base = codes.base;
    a.type = codes.type;
    a.lane_stride = static_cast<int32_t>(codes.strides[0]);
    a.o1_stride = static_cast<int32_t>(codes.strides[1]);
    a.r1_stride = static_cast<int32_t>(codes.strides[2]);
    d.base = to;
    d.type = isa::ElementType::kS32;
    d.o1_stride = kWord;
    run.SetA(a);
    run.SetD(d);
    emitter->Append(run);
  }

  // One number per row from two.
  void EmitPerRow(Emitter* emitter, const Microprogram& program, uint32_t a,
                  uint32_t b, isa::ElementType b_type, int64_t rows,
                  uint32_t to) const {
    isa::Vrun run = emitter->Run(program);
    run.arg0 = row_[0];
    run.arg1 = row_[1];
    run.enable_a = run.enable_b = true;
    LoopOperand first = Numbers(a, kWord, 0, 0);
    LoopOperand second = Numbers(b, kWord, 0, 0);
    first.type = isa::ElementType::kS32;
    second.type = b_type;
    EmitLoop(emitter, run, {rows}, {first, second}, Numbers(to, kWord, 0, 0));
  }

  // All elements of the rows, a block of 16 neighbours at a time.
  void EmitElements(Emitter* emitter, isa::Vrun run, int64_t rows,
                    const std::vector<LoopOperand>& operands,
                    const LoopOperand& result) const {
    run.enable_a = run.enable_b = run.enable_c = true;
    const int64_t full = d_ / kLanes, rest = d_ % kLanes;
    if (full > 0) {
      EmitLoop(emitter, run, {kLanes, rows, full}, operands, result);
    }
    if (rest == 0) return;
    const auto moved = [&](LoopOperand o) {
      o.base += full * o.strides[2];
      return o;
    };
    std::vector<LoopOperand> last;
    for (const LoopOperand& o : operands) last.push_back(moved(o));
    EmitLoop(emitter, run, {rest, rows, 1}, last, moved(result));
  }

  void EmitRows(Emitter* emitter, const Tile& tile, int64_t row,
                int64_t rows) const {
    const uint32_t step = Align(rows_ * kWord);
    const uint32_t sums = tile.temporary, squares = sums + step,
                   deviations = squares + step, shifts = deviations + step,
                   elements = shifts + step;
    const LoopOperand x = CodesOf(tile.inputs[0], in_type_, row);
    EmitSums(emitter, programs_.sum, x, rows, sums);
    EmitSums(emitter, programs_.squares, x, rows, squares);
    EmitPerRow(emitter, programs_.deviation, sums, squares,
               isa::ElementType::kS32, rows, deviations);
    EmitPerRow(emitter, programs_.shift, sums, deviations,
               isa::ElementType::kF32, rows, shifts);
    const LoopOperand normalized =
        Numbers(elements, kWord, kLanes * kWord, rows * kLanes * kWord);
    EmitElements(
        emitter, emitter->Run(programs_.normalize), rows,
        {x, Numbers(deviations, 0, kWord, 0), Numbers(shifts, 0, kWord, 0)},
        normalized);
    isa::Vrun scale = emitter->Run(programs_.scale);
    scale.arg0 = static_cast<uint32_t>(zero_);
    const uint32_t summands =
        tile.constants + static_cast<uint32_t>(Align(d_ * kWord));
    EmitElements(emitter, scale, rows,
                 {normalized, Numbers(tile.constants, kWord, 0, kLanes * kWord),
                  Numbers(summands, kWord, 0, kLanes * kWord)},
                 CodesOf(tile.output, out_type_, row));
  }

  const NormPrograms programs_;
  std::array<uint32_t, 4> row_;  // arguments of what is computed per row
  int32_t zero_;
  int64_t d_;
  bool blocked_;
  isa::ElementType in_type_, out_type_;
  int64_t rows_ = 1;  // at a time
};

// The codes are dense, [rows, d]; so is the result.
absl::StatusOr<int> LowerInPasses(Lowering* l, const Node& node,
                                  const NormPrograms& programs,
                                  const std::array<uint32_t, 4>& row,
                                  int32_t zero,
                                  const std::vector<float>& factors,
                                  const std::vector<float>& summands,
                                  int from) {
  const Shape shape = l->device().values[from].shape;
  const int64_t rows = shape[0], d = shape[1];
  const Tensor y = l->tensor(node.outputs[0]);
  const auto sum = [&](bool squares) {
    Chain chain;
    chain.stage = {rows, d, 1};
    chain.in_lanes = true;
    chain.program = [=](bool first, bool last) {
      return SumProgram(squares, first, last);
    };
    return AddChain(l, node, chain, from, {},
                    y.name + (squares ? "/squares" : "/sums"),
                    DataType::kInt32);
  };
  const auto elementwise = [&](const char* what, DataType type,
                               const Shape& result, const Microprogram& program,
                               const std::array<uint32_t, 4>& arguments,
                               const std::vector<Operand>& operands) {
    const int to = l->NewTemporary(y.name + what, type, result, Layout::kDense);
    l->Add(MakeElementwise(&l->device(), program, arguments, operands, to),
           node);
    return to;
  };
  const auto of_columns = [&](const char* what, const std::vector<float>& v) {
    const Shape own = {1, d};
    return Operand::Of(ConstantValue(
        l, y.name + what, FromFloats(DataType::kFloat, own, v), own));
  };
  const Shape column = {rows, 1};
  ASSIGN_OR_RETURN(int sums, sum(false));
  ASSIGN_OR_RETURN(int squares, sum(true));
  sums = l->Reshaped(sums, column);
  squares = l->Reshaped(squares, column);
  const int deviations =
      elementwise("/deviations", DataType::kFloat, column, programs.deviation,
                  row, {Operand::Of(sums), Operand::Of(squares)});
  const int shifts =
      elementwise("/shifts", DataType::kFloat, column, programs.shift, row,
                  {Operand::Of(sums), Operand::Of(deviations)});
  const int normalized = elementwise(
      "/normalized", DataType::kFloat, shape, programs.normalize, row,
      {Operand::Of(from), Operand::Of(deviations), Operand::Of(shifts)});
  return elementwise("", y.type, shape, programs.scale,
                     {static_cast<uint32_t>(zero), 0, 0, 0},
                     {Operand::Of(normalized), of_columns("/factors", factors),
                      of_columns("/summands", summands)});
}

absl::Status LowerLayerNorm(Lowering* l, const Node& node) {
  using layer_norm::kBeta;
  using layer_norm::kGamma;
  using layer_norm::kXScale;
  using layer_norm::kXZero;
  using layer_norm::kYScale;
  using layer_norm::kYZero;
  const model::ScopedFpEnvironment environment;
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const Shape shape = l->tensor(out).shape;
  const int64_t d = shape.back();
  NormPrograms programs;
  programs.sum = SumProgram(false, true, true);
  programs.squares = SumProgram(true, true, true);
  const std::pair<Microprogram*, absl::StatusOr<Microprogram>> made[] = {
      {&programs.deviation, ReciprocalDeviationProgram(d)},
      {&programs.shift, ShiftProgram(d)},
      {&programs.normalize, NormalizeProgram()},
      {&programs.scale, ScaleCodesProgram()}};
  for (const auto& [to, program] : made) {
    if (!program.ok()) return program.status();
    *to = *program;
  }
  const std::array<uint32_t, 4> row = {
      static_cast<uint32_t>(ZeroOf(*l, node, kXZero)),
      FloatBits(EpsilonOfCodes(node.FloatAttribute("epsilon", 1e-5f),
                               ScaleOf(*l, node, kXScale))),
      0, 0};
  const float ys = ScaleOf(*l, node, kYScale);
  const int32_t zero = ZeroOf(*l, node, kYZero);
  const std::vector<float> factors = NormFactors(
                               *l->ConstantInput(node, kGamma), ys, d),
                           summands = NormFactors(
                               *l->ConstantInput(node, kBeta), ys, d);
  const bool matrix = shape.size() == 2;
  const Shape rows = {ElementCount(shape) / d, d};
  // Of one column: factor and summand, normalised element, codes on both sides.
  constexpr int64_t kColumnBytes = 3 * kWord + 2 * 2;
  if (d * kColumnBytes > static_cast<int64_t>(l->config().sram_bytes / 2)) {
    const int x = l->Reshaped(l->ValueIn(in, Layout::kDense, node), rows);
    ASSIGN_OR_RETURN(const int y, LowerInPasses(l, node, programs, row, zero,
                                                factors, summands, x));
    l->Bind(out, l->Reshaped(y, shape));
    return absl::OkStatus();
  }
  const Layout layout = matrix ? Layout::kBlocked : Layout::kDense;
  int from = l->ValueIn(in, layout, node);
  if (!matrix) from = l->Reshaped(from, rows);
  const int to = matrix ? l->NewValue(out, layout)
                        : l->NewTemporary(l->tensor(out).name,
                                          l->tensor(out).type, rows, layout);
  l->Add(std::make_unique<LayerNorm>(l, std::move(programs), row, zero, factors,
                                     summands, from, to),
         node);
  if (!matrix) l->Bind(out, l->Reshaped(to, shape));
  return absl::OkStatus();
}

const LoweringRegistration kLayerNorm(kInternalDomain, "LayerNorm",
                                      LowerLayerNorm);

}  // namespace
}  // namespace heddle::compiler
