// SPDX-License-Identifier: Apache-2.0
// fp32 Conv, MatMul, Gemm and MaxPool on the vector engine.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/backend/elementwise.h"
#include "compiler/backend/loops.h"
#include "compiler/backend/lowering.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/define.h"
#include "compiler/ops/gemm.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kFloat = sizeof(float);

// Constants of one group may take this share of SRAM, so that two groups, the
// operands and the result fit beside each other.
uint64_t GroupBudget(const isa::Config& config) {
  return config.sram_bytes / 8;
}

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

// Conv. acc = bias, then fma over (channel, ky, kx). Lanes are output channels
// (weights [ci][ky][kx][co], input broadcast) or, for grouped convolutions,
// columns (weights in ONNX's order, broadcast).
class FloatConv : public DeviceOp {
 public:
  FloatConv(Lowering* l, const Node& node, const ConvShape& shape, int from,
            int to)
      : shape_(shape), lanes_are_channels_(shape.group == 1) {
    engine = "vector";
    output = to;
    tileable = true;
    inputs = {WindowInput(from, shape.window, 0)};
    const Window& w = shape.window;
    taps_ = w.kernel[0] * w.kernel[1];
    per_map_ = shape.channels / shape.group * taps_;
    macs = shape.n * shape.maps * per_map_ * w.out[0] * w.out[1];
    const float* weights = l->ConstantInput(node, 1)->as<float>();
    const TensorData* bias = l->ConstantInput(node, 2);
    has_bias_ = bias != nullptr;
    const int64_t maps_per_group = shape.maps / shape.group;
    // Cut the maps so that each piece of constants fits.
    const int64_t unit = lanes_are_channels_ ? 1 : maps_per_group;
    const int64_t fit =
        GroupBudget(l->config()) / ((per_map_ + 1) * kFloat * unit);
    step_ = std::min(shape.maps, std::max<int64_t>(1, fit) * unit);
    groups.clear();
    for (int64_t first = 0; first < shape.maps; first += step_) {
      const int64_t count = std::min(step_, shape.maps - first);
      std::vector<float> blob;
      if (has_bias_) {
        const float* b = bias->as<float>();
        blob.insert(blob.end(), b + first, b + first + count);
      }
      for (int64_t i = 0; i < per_map_ * count; ++i) {
        blob.push_back(lanes_are_channels_
                           ? weights[(first + i % count) * per_map_ + i / count]
                           : weights[first * per_map_ + i]);
      }
      std::vector<uint8_t> bytes(blob.size() * kFloat);
      std::memcpy(bytes.data(), blob.data(), bytes.size());
      groups.push_back(l->device().constants.Add(bytes));
    }
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Window& w = shape_.window;
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    const int64_t first = tile.group * step_;
    const int64_t count = std::min(step_, shape_.maps - first);
    const int64_t maps_per_group = shape_.maps / shape_.group;
    const int64_t channels = shape_.channels / shape_.group;
    isa::Vmac m;
    m.initial = has_bias_;
    m.n_r1 = w.kernel[1];
    m.n_r2 = w.kernel[0];
    m.n_r3 = channels;
    isa::Stream a =
        FloatStream(RowBase(in, tile.row0 * w.stride[0] - w.pad_begin[0]) -
                    w.pad_begin[1] * in.xstep);
    a.r1_stride = w.dilation[1] * in.xstep;
    a.r2_stride = w.dilation[0] * in.pitch;
    a.r3_stride = in.plane;
    isa::Stream b =
        FloatStream(tile.constants + (has_bias_ ? count * kFloat : 0));
    isa::Stream c = FloatStream(tile.constants);
    isa::Stream d = FloatStream(RowBase(out, tile.row0) + first * out.plane);
    if (lanes_are_channels_) {
      m.lanes = count;
      m.n_o1 = w.out[1];
      m.n_o2 = tile.rows;
      a.o1_stride = w.stride[1] * in.xstep;
      a.o2_stride = w.stride[0] * in.pitch;
      b.lane_stride = kFloat;
      b.r1_stride = count * kFloat;
      b.r2_stride = w.kernel[1] * count * kFloat;
      b.r3_stride = taps_ * count * kFloat;
      c.lane_stride = kFloat;
      d.lane_stride = out.plane;
      d.o1_stride = out.xstep;
      d.o2_stride = out.pitch;
      Append(emitter, m, a, b, c, d);
      return;
    }
    // Lanes are columns; o1 rows, o2 maps of a group, o3 groups.
    m.lanes = w.out[1];
    m.n_o1 = tile.rows;
    m.n_o2 = maps_per_group;
    m.n_o3 = count / maps_per_group;
    a.base += first / maps_per_group * channels * in.plane;
    a.lane_stride = w.stride[1] * in.xstep;
    a.o1_stride = w.stride[0] * in.pitch;
    a.o3_stride = channels * in.plane;
    b.r1_stride = kFloat;
    b.r2_stride = w.kernel[1] * kFloat;
    b.r3_stride = taps_ * kFloat;
    b.o2_stride = per_map_ * kFloat;
    b.o3_stride = maps_per_group * per_map_ * kFloat;
    c.o2_stride = kFloat;
    c.o3_stride = maps_per_group * kFloat;
    d.lane_stride = out.xstep;
    d.o1_stride = out.pitch;
    d.o2_stride = out.plane;
    d.o3_stride = maps_per_group * out.plane;
    Append(emitter, m, a, b, c, d);
  }

 private:
  static void Append(Emitter* emitter, isa::Vmac m, const isa::Stream& a,
                     const isa::Stream& b, const isa::Stream& c,
                     const isa::Stream& d) {
    m.SetA(a);
    m.SetB(b);
    m.SetC(m.initial ? c : FloatStream(0));
    m.SetD(d);
    emitter->Append(m);
  }

  ConvShape shape_;
  bool lanes_are_channels_;
  bool has_bias_ = false;
  int64_t taps_ = 0, per_map_ = 0, step_ = 0;
};

absl::Status LowerConv(Lowering* l, const Node& node) {
  const TensorData* weights = l->ConstantInput(node, 1);
  if (weights == nullptr || (HasInput(node, 2) && !l->ConstantInput(node, 2))) {
    return RefuseNode(Refusal::kUnsupportedAttribute, node,
                      "weights and bias must be constants");
  }
  absl::StatusOr<ConvShape> shape =
      ResolveConv(node, l->tensor(node.inputs[0]).shape, weights->shape);
  if (!shape.ok()) return shape.status();
  const Window& w = shape->window;
  if (auto s = CheckVectorLimits(
          node, {w.out[0], w.out[1], shape->channels, shape->maps});
      !s.ok()) {
    return s;
  }
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(std::make_unique<FloatConv>(l, node, *shape, from, to), node);
  return absl::OkStatus();
}

// [m,k] x constant [k,n]: acc = +0, then fma over k. Lanes are columns.
class FloatProduct : public DeviceOp {
 public:
  FloatProduct(Lowering* l, const GemmShape& shape, const std::vector<float>& b,
               int from, int to)
      : shape_(shape) {
    engine = "vector";
    output = to;
    tileable = !shape.trans_a;
    OpInput in;
    in.value = from;
    in.rows.kind = shape.trans_a ? RowMap::kWhole : RowMap::kSame;
    inputs = {in};
    macs = shape.m * shape.n * shape.k;
    step_ = std::min<int64_t>(
        shape.n,
        std::max<int64_t>(1, GroupBudget(l->config()) / (shape.k * kFloat)));
    groups.clear();
    for (int64_t first = 0; first < shape.n; first += step_) {
      const int64_t count = std::min(step_, shape.n - first);
      std::vector<uint8_t> bytes(shape.k * count * kFloat);
      for (int64_t k = 0; k < shape.k; ++k) {
        std::memcpy(&bytes[k * count * kFloat], &b[k * shape.n + first],
                    count * kFloat);
      }
      groups.push_back(l->device().constants.Add(bytes));
    }
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    const int64_t first = tile.group * step_;
    const int64_t count = std::min(step_, shape_.n - first);
    isa::Vmac m;
    m.lanes = count;
    isa::Stream a = FloatStream(shape_.trans_a ? in.base + tile.row0 * in.xstep
                                               : RowBase(in, tile.row0));
    const int64_t k_step = shape_.trans_a ? in.pitch : in.xstep;
    a.o1_stride = shape_.trans_a ? in.xstep : in.pitch;
    isa::Stream b = FloatStream(tile.constants);
    b.lane_stride = kFloat;
    isa::Stream d = FloatStream(RowBase(out, tile.row0) + first * out.xstep);
    d.lane_stride = out.xstep;
    d.o1_stride = out.pitch;
    constexpr int64_t kMaxCount = 65535;
    for (int64_t row = 0; row < tile.rows; row += kMaxCount) {
      m.n_o1 = std::min(kMaxCount, tile.rows - row);
      isa::Stream a_rows = a, d_rows = d;
      a_rows.base += row * a.o1_stride;
      d_rows.base += row * d.o1_stride;
      EmitRows(emitter, m, a_rows, b, d_rows, k_step, count * kFloat);
    }
  }

 private:
  // A reduction longer than a counter continues through the result.
  void EmitRows(Emitter* emitter, isa::Vmac m, isa::Stream a, isa::Stream b,
                const isa::Stream& d, int64_t a_step, int64_t b_step) const {
    constexpr int64_t kMaxCount = 65535;
    a.r1_stride = a_step;
    b.r1_stride = b_step;
    for (int64_t done = 0; done < shape_.k; done += kMaxCount) {
      m.n_r1 = std::min(kMaxCount, shape_.k - done);
      m.initial = done > 0;
      isa::Stream from_a = a, from_b = b;
      from_a.base += done * a.r1_stride;
      from_b.base += done * b.r1_stride;
      m.SetA(from_a);
      m.SetB(from_b);
      m.SetC(m.initial ? d : FloatStream(0));
      m.SetD(d);
      emitter->Append(m);
    }
  }

  GemmShape shape_;
  int64_t step_ = 0;
};

absl::Status LowerMatMul(Lowering* l, const Node& node) {
  const TensorData* b = l->ConstantInput(node, 1);
  const Shape& a_shape = l->tensor(node.inputs[0]).shape;
  if (b == nullptr || b->shape.size() != 2 || a_shape.empty()) {
    return RefuseNode(Refusal::kUnsupportedShape, node,
                      "the second operand must be a constant matrix");
  }
  // Leading dimensions of the first operand are rows.
  GemmShape shape;
  shape.k = a_shape.back();
  shape.m = ElementCount(a_shape) / std::max<int64_t>(1, shape.k);
  shape.n = b->shape[1];
  const int from = l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node),
                               {shape.m, shape.k});
  const Tensor& out = l->tensor(node.outputs[0]);
  const int to =
      l->NewTemporary(out.name, out.type, {shape.m, shape.n}, Layout::kDense);
  const float* data = b->as<float>();
  l->Add(std::make_unique<FloatProduct>(
             l, shape, std::vector<float>(data, data + b->count()), from, to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, out.shape));
  return absl::OkStatus();
}

absl::Status LowerGemm(Lowering* l, const Node& node) {
  const TensorData* b = l->ConstantInput(node, 1);
  const TensorData* c = l->ConstantInput(node, 2);
  if (b == nullptr || (HasInput(node, 2) && c == nullptr)) {
    return RefuseNode(Refusal::kUnsupportedAttribute, node,
                      "B and C must be constants");
  }
  absl::StatusOr<GemmShape> shape =
      ResolveGemm(node, l->tensor(node.inputs[0]).shape, b->shape);
  if (!shape.ok()) return shape.status();
  const float alpha = node.FloatAttribute("alpha", 1),
              beta = node.FloatAttribute("beta", 1);
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const Tensor& out = l->tensor(node.outputs[0]);
  const bool tail = c != nullptr || alpha != 1;
  const int product = tail ? l->NewTemporary(out.name + "/product", out.type,
                                             out.shape, Layout::kDense)
                           : l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(std::make_unique<FloatProduct>(
             l, *shape,
             Transposed(b->as<float>(), shape->k, shape->n, shape->trans_b),
             from, product),
         node);
  if (!tail) return absl::OkStatus();
  std::array<uint32_t, 4> arguments{};
  std::memcpy(&arguments[0], &alpha, sizeof(alpha));
  std::memcpy(&arguments[1], &beta, sizeof(beta));
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  std::vector<Operand> operands = {Operand::Of(product)};
  Microprogram program = ScaleProgram();
  if (c != nullptr) {
    program = ScaleAddProgram(alpha != 1, beta != 1);
    auto bias = std::make_shared<TensorData>(*c);
    bias->shape.insert(bias->shape.begin(), 2 - c->shape.size(), 1);
    operands.push_back(Operand::Constant(bias));
  }
  l->Add(MakeElementwise(&l->device(), program, arguments, operands, to), node);
  return absl::OkStatus();
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

const LoweringRegistration kConv("", "Conv", LowerConv);
const LoweringRegistration kMatMul("", "MatMul", LowerMatMul);
const LoweringRegistration kGemm("", "Gemm", LowerGemm);
const LoweringRegistration kMaxPool("", "MaxPool", LowerMaxPool);

}  // namespace
}  // namespace heddle::compiler
