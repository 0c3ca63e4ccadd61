// SPDX-License-Identifier: Apache-2.0
// MaxPool, in fp32 on the vector engine, of codes on the matrix engine.
#include <algorithm>

#include "compiler/backend/lowering.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

isa::Stream FloatStream(uint32_t base) {
  isa::Stream s;
  s.base = base;
  s.type = isa::ElementType::kF32;
  return s;
}

uint32_t RowBase(const TileView& v, int64_t row) {
  return v.base + (row - v.row0) * int64_t{v.pitch};
}

// Rows and columns beyond the image that windows reach.
Halo HaloOf(const Window& w) {
  auto beyond = [&](int d) {
    const int64_t reach = (w.out[d] - 1) * w.stride[d] - w.pad_begin[d] +
                          (w.kernel[d] - 1) * w.dilation[d] + 1;
    return static_cast<int>(std::max<int64_t>(0, reach - w.in[d]));
  };
  Halo halo;
  halo.top = w.pad_begin[0];
  halo.left = w.pad_begin[1];
  halo.bottom = beyond(0);
  halo.right = beyond(1);
  return halo;
}

OpInput WindowInput(int value, const Window& w, uint32_t halo_value) {
  OpInput in;
  in.value = value;
  in.rows = {RowMap::kWindow, w.stride[0], w.pad_begin[0],
             (w.kernel[0] - 1) * w.dilation[0] + 1};
  in.halo = HaloOf(w);
  in.halo_value = halo_value;
  return in;
}

// fp32 MaxPool: lanes are columns, windows in r1 (kx) and r2 (ky).
class FloatMaxPool : public DeviceOp {
 public:
  FloatMaxPool(const Window& window, int64_t channels, int from, int to)
      : window_(window), channels_(channels) {
    engine = "vector";
    output = to;
    tileable = true;
    inputs = {WindowInput(from, window, kPoolPadding)};
    program_ = MaxProgram(!inputs[0].halo.empty());
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Window& w = window_;
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    isa::Vrun run = emitter->Run(program_);
    run.enable_a = true;
    run.store = isa::StoreMode::kEpilogue;
    run.lanes = w.out[1];
    run.n_r1 = w.kernel[1];
    run.n_r2 = w.kernel[0];
    run.n_o1 = tile.rows;
    run.n_o2 = channels_;
    isa::Stream a =
        FloatStream(RowBase(in, tile.row0 * w.stride[0] - w.pad_begin[0]) -
                    w.pad_begin[1] * in.xstep);
    a.lane_stride = w.stride[1] * in.xstep;
    a.r1_stride = w.dilation[1] * in.xstep;
    a.r2_stride = w.dilation[0] * in.pitch;
    a.o1_stride = w.stride[0] * in.pitch;
    a.o2_stride = in.plane;
    isa::Stream d = FloatStream(RowBase(out, tile.row0));
    d.lane_stride = out.xstep;
    d.o1_stride = out.pitch;
    d.o2_stride = out.plane;
    run.SetA(a);
    run.SetD(d);
    emitter->Append(run);
  }

 private:
  Window window_;
  int64_t channels_;
  Microprogram program_;
};

// 8-bit MaxPool: mode maxpool of the matrix engine, on codes.
class CodeMaxPool : public DeviceOp {
 public:
  CodeMaxPool(const Window& window, int64_t channels, bool is_signed, int from,
              int to)
      : window_(window), channels_(channels), signed_(is_signed) {
    engine = "matrix";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows = {RowMap::kWindow, window.stride[0], window.pad_begin[0],
               (window.kernel[0] - 1) * window.dilation[0] + 1};
    inputs = {in};
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Window& w = window_;
    constexpr uint32_t kWord = isa::kWordBytes;
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    isa::Conv c;
    c.mode = isa::MatrixMode::kMaxpool;
    c.in_signed = signed_;
    c.out_type = signed_ ? isa::OutType::kS8 : isa::OutType::kU8;
    c.in_addr = in.base / kWord;
    c.in_pitch = in.pitch / kWord;
    c.in_plane = in.plane / kWord;
    c.in_row0 = in.row0;
    c.ih = w.in[0];
    c.iw = w.in[1];
    c.out_addr = RowBase(out, tile.row0) / kWord;
    c.out_pitch = out.pitch / kWord;
    c.out_plane = out.plane / kWord;
    c.ow = w.out[1];
    c.out_rows = tile.rows;
    c.out_row0 = tile.row0;
    c.kh = w.kernel[0];
    c.kw = w.kernel[1];
    c.sy = w.stride[0];
    c.sx = w.stride[1];
    c.dy = w.dilation[0];
    c.dx = w.dilation[1];
    c.pad_top = w.pad_begin[0];
    c.pad_left = w.pad_begin[1];
    c.ci = c.co = channels_;
    emitter->Append(c);
  }

 private:
  Window window_;
  int64_t channels_;
  bool signed_;
};

absl::Status LowerMaxPool(Lowering* l, const Node& node) {
  const Tensor& in = l->tensor(node.inputs[0]);
  const std::vector<int64_t> kernel = node.IntsAttribute("kernel_shape", {});
  absl::StatusOr<Window> window = ResolveWindow(node, in.shape, kernel);
  if (!window.ok()) return window.status();
  if (node.outputs.size() > 1 && node.outputs[1] != kNoTensor &&
      (!l->consumers(node.outputs[1]).empty() ||
       l->graph().IsOutput(node.outputs[1]))) {
    return RefuseNode(Refusal::kUnsupportedAttribute, node,
                      "the output Indices is not supported");
  }
  const int64_t channels = in.shape[1];
  if (in.type == DataType::kFloat) {
    if (auto s =
            CheckVectorLimits(node, {window->out[0], window->out[1], channels});
        !s.ok()) {
      return s;
    }
    const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
    const int to = l->NewValue(node.outputs[0], Layout::kDense);
    l->Add(std::make_unique<FloatMaxPool>(*window, channels, from, to), node);
    return absl::OkStatus();
  }
  if (auto s = CheckMatrixLimits(node, *window, channels, channels); !s.ok())
    return s;
  const int from = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(std::make_unique<CodeMaxPool>(*window, channels,
                                       in.type == DataType::kInt8, from, to),
         node);
  return absl::OkStatus();
}

const LoweringRegistration kMaxPool("", "MaxPool", LowerMaxPool);

}  // namespace
}  // namespace heddle::compiler
