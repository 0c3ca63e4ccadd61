// SPDX-License-Identifier: Apache-2.0
// MaxPool and AveragePool: fp32 and float16 on the vector engine, MaxPool on
// codes on the matrix engine.
#include <algorithm>
#include <cstring>
#include <memory>

#include "compiler/lowering/elementwise.h"
#include "compiler/lowering/lowering.h"
#include "compiler/lowering/window_input.h"
#include "compiler/ops/define.h"
#include "compiler/ops/pool.h"
#include "compiler/schedule/conv_window.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroInstruction;
using isa::MicroOp;
using isa::Operand;

MicroInstruction Step(MicroOp op, Destination d, Operand a, Operand b) {
  MicroInstruction m;
  m.op = op;
  m.d = d;
  m.a = a;
  m.b = b;
  return m;
}

// out = f32(sum / count), the sum from +0 in the order of the window. The count
// is argument 0, or with `varies` that of the column (B) times that of the row
// (C).
Microprogram AverageProgram(bool varies) {
  Microprogram p;
  p.body = {
      Step(MicroOp::kFadd, Destination::kV0, Operand::kV0, Operand::kStreamA)};
  if (varies) {
    p.epilogue = {
        Step(MicroOp::kFmul, Destination::kV1, Operand::kStreamB,
             Operand::kStreamC),
        Step(MicroOp::kFdiv, Destination::kOut, Operand::kV0, Operand::kV1)};
  } else {
    p.epilogue = {
        Step(MicroOp::kFdiv, Destination::kOut, Operand::kV0, Operand::kArg0)};
  }
  return p;
}

// Lanes are columns, windows in r1 (kx) and r2 (ky). Subclasses say what the
// padding holds and which program folds a window.
class WindowPool : public DeviceOp {
 public:
  WindowPool(const DeviceGraph& graph, const Window& window, uint32_t padding,
             int from, int to)
      : window_(window),
        in_type_(VectorType(graph.StorageOf(from).type)),
        out_type_(VectorType(graph.StorageOf(to).type)) {
    engine = "vector";
    output = to;
    tileable = columns_tileable = channels_tileable = true;
    inputs = {WindowInput(from, window, padding)};
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Window& w = window_;
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    isa::Vrun run = emitter->Run(program_);
    run.enable_a = true;
    run.store = isa::StoreMode::kEpilogue;
    run.lanes = tile.columns;
    run.n_r1 = w.kernel[1];
    run.n_r2 = w.kernel[0];
    run.n_o1 = tile.rows;
    run.n_o2 = tile.channels;
    isa::Stream a;
    a.type = in_type_;
    a.base = WindowBase(in, w, tile);
    a.lane_stride = w.stride[1] * in.xstep;
    a.r1_stride = w.dilation[1] * in.xstep;
    a.r2_stride = w.dilation[0] * in.pitch;
    a.o1_stride = w.stride[0] * in.pitch;
    a.o2_stride = in.plane;
    isa::Stream d;
    d.type = out_type_;
    d.base = AddressOf(out, tile.channel0, tile.row0, tile.column0);
    d.lane_stride = out.xstep;
    d.o1_stride = out.pitch;
    d.o2_stride = out.plane;
    run.SetA(a);
    run.SetD(d);
    Complete(tile, &run);
    emitter->Append(run);
  }

 protected:
  virtual void Complete(const Tile&, isa::Vrun*) const {}
  const Window& window() const { return window_; }
  Microprogram program_;

 private:
  Window window_;
  isa::ElementType in_type_, out_type_;
};

class FloatMaxPool : public WindowPool {
 public:
  FloatMaxPool(const DeviceGraph& graph, const Window& window, int from, int to)
      : WindowPool(graph, window, kPoolPadding, from, to) {
    program_ = MaxProgram(!inputs[0].halo.empty());
  }
};

// Padding is +0: a sum that began with +0 does not see it.
class FloatAveragePool : public WindowPool {
 public:
  FloatAveragePool(DeviceGraph* graph, const Window& window,
                   bool count_include_pad, int from, int to)
      : WindowPool(*graph, window, 0, from, to) {
    // Elements that count are rows times columns.
    std::vector<float> columns, rows;
    for (int d = 0; d < 2; ++d) {
      // The other dimension counts 1.
      Window one = window;
      const int o = 1 - d;
      one.in[o] = one.kernel[o] = one.stride[o] = one.dilation[o] = 1;
      one.pad_begin[o] = one.pad_end[o] = 0;
      for (int64_t i = 0; i < window.out[d]; ++i) {
        const int64_t count = AverageCount(one, d == 0 ? i : 0, d == 1 ? i : 0,
                                           count_include_pad);
        (d == 0 ? rows : columns).push_back(static_cast<float>(count));
      }
    }
    auto uniform = [](const std::vector<float>& v) {
      return std::all_of(v.begin(), v.end(),
                         [&](float x) { return x == v[0]; });
    };
    varies_ = !uniform(columns) || !uniform(rows);
    program_ = AverageProgram(varies_);
    count_ = columns[0] * rows[0];
    if (!varies_) return;
    row_counts_ = columns.size() * sizeof(float);
    columns.insert(columns.end(), rows.begin(), rows.end());
    std::vector<uint8_t> bytes(columns.size() * sizeof(float));
    std::memcpy(bytes.data(), columns.data(), bytes.size());
    groups = {graph->constants.Add(bytes)};
  }

 protected:
  void Complete(const Tile& tile, isa::Vrun* run) const override {
    run->arg0 = model::Bits(count_);
    if (!varies_) return;
    isa::Stream column, row;
    column.type = row.type = isa::ElementType::kF32;
    column.base = tile.constants + tile.column0 * sizeof(float);
    column.lane_stride = sizeof(float);
    row.base = tile.constants + row_counts_ + tile.row0 * sizeof(float);
    row.o1_stride = sizeof(float);
    run->enable_b = run->enable_c = true;
    run->SetB(column);
    run->SetC(row);
  }

 private:
  bool varies_ = false;
  float count_ = 1;
  uint32_t row_counts_ = 0;  // offset of the rows' counts
};

// 8-bit MaxPool: mode maxpool of the matrix engine, on codes.
class CodeMaxPool : public DeviceOp {
 public:
  CodeMaxPool(const Window& window, bool is_signed, int from, int to)
      : window_(window), signed_(is_signed) {
    engine = "matrix";
    output = to;
    tileable = columns_tileable = channels_tileable = true;
    OpInput in;
    in.value = from;
    in.rows = WindowNeed(window, 0);
    in.columns = ColumnNeed(window);
    in.channels.kind = AxisNeed::kSame;
    inputs = {in};
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    constexpr uint32_t kWord = isa::kWordBytes;
    const TileView& out = tile.output;
    const int64_t block = tile.channel0 / kCodeBlock;
    isa::Conv c;
    c.mode = isa::MatrixMode::kMaxpool;
    c.in_signed = signed_;
    c.out_type = signed_ ? isa::OutType::kS8 : isa::OutType::kU8;
    SetWindow(window_, inputs[0].columns, tile, tile.inputs[0], block, false,
              &c);
    c.out_addr = AddressOf(out, block, tile.row0, tile.column0) / kWord;
    c.out_pitch = out.pitch / kWord;
    c.out_plane = out.plane / kWord;
    c.out_rows = tile.rows;
    c.out_row0 = tile.row0;
    c.ci = c.co = tile.channels;
    emitter->Append(c);
  }

 private:
  Window window_;
  bool signed_;
};

absl::Status CheckWindowLimits(const Node& node, const Window& w,
                               int64_t channels) {
  return CheckVectorLimits(
      node, {w.out[0], w.out[1], w.kernel[0], w.kernel[1], channels});
}

absl::Status LowerFloatMaxPool(Lowering* l, const Node& node,
                               const Window& window) {
  const Tensor& x = l->tensor(node.inputs[0]);
  int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  if (x.type == DataType::kFloat16 && !HaloOf(window).empty()) {
    // float16 has no NaN that the program could tell from the data's.
    const int wide = l->NewTemporary(absl::StrCat(x.name, "/wide"),
                                     DataType::kFloat, x.shape, Layout::kDense);
    l->Add(MakeElementwise(&l->device(), ScaleProgram(),
                           {model::Bits(1.0f), 0, 0, 0},
                           {heddle::compiler::Operand::Of(from)}, wide),
           node);
    from = wide;
  }
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(std::make_unique<FloatMaxPool>(l->device(), window, from, to), node);
  return absl::OkStatus();
}

absl::Status LowerMaxPool(Lowering* l, const Node& node) {
  const Tensor& in = l->tensor(node.inputs[0]);
  absl::StatusOr<Window> window = ResolvePool(node, in.shape);
  if (!window.ok()) return window.status();
  if (node.outputs.size() > 1 && node.outputs[1] != kNoTensor &&
      (!l->consumers(node.outputs[1]).empty() ||
       l->graph().IsOutput(node.outputs[1]))) {
    return RejectNode(Rejection::kUnsupportedAttribute, node,
                      "the output Indices is not supported");
  }
  const int64_t channels = in.shape[1];
  if (Contains(kReals, in.type)) {
    if (auto s = CheckWindowLimits(node, *window, channels); !s.ok()) return s;
    return LowerFloatMaxPool(l, node, *window);
  }
  if (auto s = CheckMatrixLimits(node, *window, channels, channels); !s.ok())
    return s;
  const int from = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(std::make_unique<CodeMaxPool>(*window, in.type == DataType::kInt8,
                                       from, to),
         node);
  return absl::OkStatus();
}

absl::Status LowerAveragePool(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  absl::StatusOr<Window> window = ResolvePool(node, x.shape);
  if (!window.ok()) return window.status();
  if (auto s = CheckWindowLimits(node, *window, x.shape[1]); !s.ok()) return s;
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(std::make_unique<FloatAveragePool>(
             &l->device(), *window,
             node.IntAttribute("count_include_pad", 0) != 0, from, to),
         node);
  return absl::OkStatus();
}

const LoweringRegistration kMaxPool("", "MaxPool", LowerMaxPool);
const LoweringRegistration kAveragePool("", "AveragePool", LowerAveragePool);

}  // namespace
}  // namespace heddle::compiler
