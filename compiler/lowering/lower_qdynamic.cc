// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear: the range of rows of the tensor, and again of these
// while they are many (a smallest element does not depend on the order), then
// scale and zero point from the ranges, then the codes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/ops/define.h"
#include "compiler/stream/microcode.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using Source = isa::Operand;

constexpr int64_t kMaxColumns = 4096;

// [rows, columns] fp32 to [rows, 2]: min(0, row) and max(0, row), NaNs left
// out.
class Ranges : public ClonableOp<Ranges> {
 public:
  Ranges(int64_t columns, int from, int to) : columns_(columns) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    for (int i = 0; i < 2; ++i) {
      // A NaN is neither below nor above what is held. Lanes beyond the last
      // read 0.
      const Source x = Source::kStreamA, held = Source::kV0;
      programs_[i].body = {
          Micro(MicroOp::kFlt, Destination::kV1, i == 0 ? x : held,
                i == 0 ? held : x),
          Micro(MicroOp::kSel, Destination::kV0, Source::kV1, x, held)};
      programs_[i].epilogue = {Micro(i == 0 ? MicroOp::kHmin : MicroOp::kHmax,
                                     Destination::kOut, Source::kV0)};
    }
  }

  std::vector<Microprogram> Programs() const override {
    return {programs_[0], programs_[1]};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    constexpr int64_t kLanes = isa::kVectorLanes;
    constexpr int64_t kMaxRows = 65535;
    for (int64_t row = 0; row < tile.rows; row += kMaxRows) {
      for (int i = 0; i < 2; ++i) {
        isa::Vrun run = emitter->Run(programs_[i]);
        run.enable_a = true;
        run.store = isa::StoreMode::kEpilogue;
        run.store_one = true;
        run.lanes = kLanes;
        run.n_r1 = (columns_ + kLanes - 1) / kLanes;
        run.tail = columns_ % kLanes;
        run.n_o1 = std::min(kMaxRows, tile.rows - row);
        isa::Stream a;
        a.type = isa::ElementType::kF32;
        a.base = RowBase(in, tile.row0 + row);
        a.lane_stride = in.xstep;
        a.r1_stride = kLanes * in.xstep;
        a.o1_stride = in.pitch;
        isa::Stream d = a;
        d.base = RowBase(out, tile.row0 + row) + i * out.xstep;
        d.lane_stride = out.xstep;
        d.r1_stride = 0;
        d.o1_stride = out.pitch;
        run.SetA(a);
        run.SetD(d);
        emitter->Append(run);
      }
    }
  }

 private:
  int64_t columns_;
  Microprogram programs_[2];
};

// From the ranges: the scale, or the zero point.
class RangeParameter : public ClonableOp<RangeParameter> {
 public:
  RangeParameter(const DeviceGraph& graph, bool zero_point, int from, int to)
      : rows_(graph.values[from].extent.h), zero_point_(zero_point) {
    engine = "vector";
    output = to;
    OpInput in;
    in.value = from;
    inputs = {in};
    // v0 = lo, v1 = hi, -0 as 0.
    program_.body = {
        Micro(MicroOp::kFmin, Destination::kV0, Source::kStreamA, Source::kV0),
        Micro(MicroOp::kFmax, Destination::kV1, Source::kStreamB, Source::kV1)};
    program_.epilogue = {
        Micro(MicroOp::kFsub, Destination::kV2, Source::kV1, Source::kV0),
        Micro(MicroOp::kFdiv, Destination::kV2, Source::kV2, Source::kImm,
              Source::kV0, FloatBits(255.0f)),
        Micro(MicroOp::kFeq, Destination::kV3, Source::kV1, Source::kV0),
        Micro(MicroOp::kSel, zero_point ? Destination::kV2 : Destination::kOut,
              Source::kV3, Source::kImm, Source::kV2, FloatBits(1.0f))};
    if (!zero_point) return;
    for (const isa::MicroInstruction& m :
         {Micro(MicroOp::kFdiv, Destination::kV2, Source::kV0, Source::kV2),
          Micro(MicroOp::kFsub, Destination::kV2, Source::kV4, Source::kV2),
          Micro(MicroOp::kFmax, Destination::kV2, Source::kV2, Source::kV4),
          Micro(MicroOp::kFmin, Destination::kV2, Source::kV2, Source::kImm,
                Source::kV0, FloatBits(255.0f)),
          Micro(MicroOp::kF2i, Destination::kOut, Source::kV2)}) {
      program_.epilogue.push_back(m);
    }
  }

  std::vector<Microprogram> Programs() const override { return {program_}; }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& in = tile.inputs[0];
    isa::Vrun run = emitter->Run(program_);
    run.enable_a = run.enable_b = true;
    run.store = isa::StoreMode::kEpilogue;
    run.lanes = 1;
    run.n_r1 = rows_;
    isa::Stream a;
    a.type = isa::ElementType::kF32;
    a.base = in.base;
    a.r1_stride = in.pitch;
    isa::Stream b = a;
    b.base += in.xstep;
    isa::Stream d;
    d.type = zero_point_ ? isa::ElementType::kU8 : isa::ElementType::kF32;
    d.base = tile.output.base;
    run.SetA(a);
    run.SetB(b);
    run.SetD(d);
    emitter->Append(run);
  }

 private:
  int64_t rows_;
  bool zero_point_;
  Microprogram program_;
};

// The ranges of the `count` elements at `value`, few enough for one operation
// to hold them.
int RangesOf(Lowering* l, const Node& node, int value, int64_t count) {
  constexpr int64_t kFloat = sizeof(float);
  constexpr int64_t kMaxRanges = 32768;
  const std::string name = l->tensor(node.outputs[0]).name + "/ranges";
  const auto sram = static_cast<int64_t>(l->config().sram_bytes);
  const int64_t most = std::min(kMaxColumns, sram / 16 / kFloat);
  while (true) {
    // As many columns as divide the tensor evenly, or if those are few, a row
    // that is shorter.
    int64_t columns = std::min(count, most);
    while (count % columns != 0) --columns;
    if (columns < std::min(count, most) / 4) columns = std::min(count, most);
    const int64_t rows = count / columns, rest = count % columns;
    const int64_t ranges = rows + (rest > 0);
    const int to =
        l->NewTemporary(name, DataType::kFloat, {ranges, 2}, Layout::kDense);
    const auto add = [&](int64_t first, int64_t r, int64_t c) {
      l->Add(std::make_unique<Ranges>(
                 c, l->Part(value, first * columns * kFloat, {r, c}),
                 l->Part(to, first * 2 * kFloat, {r, 2})),
             node);
    };
    add(0, rows, columns);
    if (rest > 0) add(rows, 1, rest);
    if (ranges <= kMaxRanges && 2 * ranges * kFloat <= sram / 16) return to;
    value = to;
    count = 2 * ranges;
  }
}

absl::Status LowerDynamic(Lowering* l, const Node& node) {
  const TensorId x = node.inputs[0];
  const Shape shape = l->tensor(x).shape;
  const std::string name = l->tensor(node.outputs[0]).name;
  const int dense = l->ValueIn(x, Layout::kDense, node);
  const int ranges = RangesOf(l, node, dense, ElementCount(shape));
  int parameters[2];
  for (size_t i = 0; i < 2; ++i) {
    const bool given =
        i + 1 < node.outputs.size() && node.outputs[i + 1] != kNoTensor;
    parameters[i] =
        given ? l->NewValue(node.outputs[i + 1], Layout::kDense)
              : l->NewTemporary(absl::StrCat(name, i ? "/zero" : "/scale"),
                                i ? DataType::kUint8 : DataType::kFloat, {},
                                Layout::kDense);
    l->Add(std::make_unique<RangeParameter>(l->device(), i == 1, ranges,
                                            parameters[i]),
           node);
  }
  const Shape ones(shape.size(), 1);
  const int to = l->NewValue(node.outputs[0], l->LayoutFor(node.outputs[0]));
  l->Add(MakeElementwise(
             &l->device(), QuantizeAxisProgram(), {0, 0, FloatBits(255.0f), 0},
             {Operand::Of(dense), Operand::Of(l->Reshaped(parameters[0], ones)),
              Operand::Of(l->Reshaped(parameters[1], ones))},
             to),
         node);
  return absl::OkStatus();
}

const LoweringRegistration kDynamic("", "DynamicQuantizeLinear", LowerDynamic);

}  // namespace
}  // namespace heddle::compiler
