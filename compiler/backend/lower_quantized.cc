// SPDX-License-Identifier: Apache-2.0
// QLinearConv, QLinearMatMul and QGemm on the matrix engine.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/backend/loops.h"
#include "compiler/backend/lowering.h"
#include "compiler/backend/pack.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/define.h"
#include "compiler/ops/gemm.h"

namespace heddle::compiler {
namespace {

constexpr uint32_t kWord = isa::kWordBytes;
constexpr int64_t kBlock = 16;

uint32_t RowBase(const TileView& v, int64_t row) {
  return v.base + (row - v.row0) * int64_t{v.pitch};
}

// Everything a matrix command needs but the addresses.
struct MatrixSpec {
  isa::MatrixMode mode = isa::MatrixMode::kConv;
  CodeWeights weights;
  std::vector<uint8_t> weight_zero;  // code per output channel
  std::vector<int32_t> bias;
  std::vector<float> scale;
  bool in_signed = false, w_signed = false;
  int64_t za = 0, zo = 0;
  isa::OutType out_type = isa::OutType::kU8;
  Window window;
  uint64_t macs = 0;
};

class MatrixOp : public DeviceOp {
 public:
  // With an fp32 result the matrix engine writes to the temporary and a copy
  // brings the rows into ONNX's order.
  MatrixOp(Lowering* l, MatrixSpec spec, int from, int to)
      : spec_(std::move(spec)), float_(spec_.out_type == isa::OutType::kF32) {
    engine = "matrix";
    output = to;
    macs = spec_.macs;
    const Window& w = spec_.window;
    OpInput in;
    in.value = from;
    in.rows = {RowMap::kWindow, w.stride[0], w.pad_begin[0],
               (w.kernel[0] - 1) * w.dilation[0] + 1};
    inputs = {in};
    tileable = !float_;
    for (uint8_t z : spec_.weight_zero)
      zw_channel_ |= z != spec_.weight_zero[0];
    Pack(l);
    if (float_)
      temporary_bytes = w.out[0] * w.out[1] * Blocks(spec_.weights.co) * 64;
  }

  std::vector<Microprogram> Programs() const override {
    if (float_) return {CopyProgram()};
    return {};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Window& w = spec_.window;
    const TileView& in = tile.inputs[0];
    const int64_t first = tile.group * step_;
    const int64_t count = std::min(step_, spec_.weights.co - first);
    isa::Conv c;
    c.mode = spec_.mode;
    c.in_signed = spec_.in_signed;
    c.w_signed = spec_.w_signed;
    c.out_type = spec_.out_type;
    c.zw_channel = zw_channel_;
    c.in_addr = in.base / kWord;
    c.in_pitch = in.pitch / kWord;
    c.in_row0 = in.row0;
    if (spec_.mode == isa::MatrixMode::kFold) {
      c.fold_channels = spec_.weights.ci;
    } else {
      c.in_plane = in.plane / kWord;
    }
    c.ih = w.in[0];
    c.iw = w.in[1];
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
    c.co = count;
    c.ci = spec_.weights.ci;
    if (spec_.mode == isa::MatrixMode::kDepthwise) {
      c.ci = count;
      c.in_addr += first / kBlock * c.in_plane;
    }
    c.param_addr = tile.constants / kWord;
    c.w_addr = c.param_addr + Blocks(count) * (zw_channel_ ? 9 : 8);
    c.za = spec_.za;
    if (!zw_channel_) c.zw = CodeValue(spec_.weight_zero[0], spec_.w_signed);
    if (float_) {
      EmitFloat(emitter, c, tile, first, count);
      return;
    }
    const TileView& out = tile.output;
    c.zo = spec_.zo;
    const bool s8 = spec_.out_type == isa::OutType::kS8;
    c.act_min = (s8 ? -128 : 0) - spec_.zo;
    c.act_max = (s8 ? 127 : 255) - spec_.zo;
    c.out_plane = out.plane / kWord;
    c.out_addr = RowBase(out, tile.row0) / kWord + first / kBlock * c.out_plane;
    c.out_pitch = out.pitch / kWord;
    emitter->Append(c);
  }

 private:
  static int64_t Blocks(int64_t channels) {
    return (channels + kBlock - 1) / kBlock;
  }

  // One group's parameters and weights, in as many groups as fit.
  void Pack(Lowering* l) {
    const isa::Config& config = l->config();
    const CodeWeights& w = spec_.weights;
    const int64_t unit = std::max<int64_t>(kBlock, config.lanes_out);
    const int64_t unit_bytes =
        (unit + config.lanes_in) * w.kh * w.kw *
        ((w.ci + config.lanes_in - 1) / config.lanes_in * config.lanes_in);
    const int64_t fit =
        std::max<int64_t>(1, config.sram_bytes / 4 / unit_bytes);
    step_ = std::min(w.co, fit * unit);
    groups.clear();
    for (int64_t first = 0; first < w.co; first += step_) {
      const int64_t count = std::min(step_, w.co - first);
      std::vector<uint8_t> blob =
          PackParameters(spec_.bias, spec_.scale, spec_.weight_zero,
                         zw_channel_, first, count);
      std::vector<uint8_t> packed;
      switch (spec_.mode) {
        case isa::MatrixMode::kFold:
          packed = PackFold(w, first, count, spec_.weight_zero, config);
          break;
        case isa::MatrixMode::kDepthwise:
          packed = PackDepthwise(w, first, count, spec_.weight_zero);
          break;
        default:
          packed = PackConv(w, first, count, spec_.weight_zero, config);
      }
      blob.insert(blob.end(), packed.begin(), packed.end());
      groups.push_back(l->device().constants.Add(blob));
    }
  }

  void EmitFloat(Emitter* emitter, isa::Conv c, const Tile& tile, int64_t first,
                 int64_t count) const {
    // [block][pixel][16] fp32 in the temporary.
    const int64_t pixels = int64_t{c.ow} * c.out_rows;
    c.out_addr = tile.temporary / kWord;
    c.out_xstep = 4;
    c.out_pitch = 4 * c.ow;
    c.out_plane = 4 * pixels;
    emitter->Append(c);
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    // The result is rows x channels: pixels are its rows.
    const TileView& out = tile.output;
    for (int64_t done = 0; done < count; done += kBlock) {
      LoopOperand a, d;
      a.base = tile.temporary + done / kBlock * pixels * 64;
      a.strides = {4, 64};
      d.base = RowBase(out, tile.row0) + (first + done) * out.xstep;
      d.strides = {out.xstep, out.pitch};
      EmitLoop(emitter, run, {std::min(kBlock, count - done), pixels}, {a}, d);
    }
  }

  MatrixSpec spec_;
  bool float_;
  bool zw_channel_ = false;
  int64_t step_ = 0;  // output channels of a group
};

// Scalar or per-channel constants, `count` of them.
template <typename T>
std::vector<T> Spread(const T* data, int64_t have, int64_t count) {
  std::vector<T> out(count);
  for (int64_t i = 0; i < count; ++i) out[i] = data[have == 1 ? 0 : i];
  return out;
}

std::vector<uint8_t> WeightZeros(const TensorData* zero, int64_t count) {
  if (zero == nullptr) return std::vector<uint8_t>(count, 0);
  return Spread(zero->bytes.data(), zero->count(), count);
}

isa::OutType OutTypeOf(DataType type) {
  return type == DataType::kInt8    ? isa::OutType::kS8
         : type == DataType::kFloat ? isa::OutType::kF32
                                    : isa::OutType::kU8;
}

// All of `indices` are absent or constant.
absl::Status NeedConstants(Lowering* l, const Node& node,
                           const std::vector<size_t>& indices) {
  for (size_t i : indices) {
    if (HasInput(node, i) && l->ConstantInput(node, i) == nullptr) {
      return RefuseNode(Refusal::kUnsupportedAttribute, node, "input ", i,
                        " ('", l->tensor(node.inputs[i]).name,
                        "') must be a constant");
    }
  }
  return absl::OkStatus();
}

// A grouped convolution as an ordinary one: weights that connect groups count
// nothing (they hold the zero point's code).
CodeWeights Ungroup(const CodeWeights& w, int64_t group,
                    const std::vector<uint8_t>& zero) {
  CodeWeights full;
  full.co = w.co;
  full.ci = w.ci * group;
  full.kh = w.kh;
  full.kw = w.kw;
  const int64_t maps = w.co / group, taps = w.kh * w.kw;
  full.codes.resize(full.co * full.ci * taps);
  for (int64_t o = 0; o < w.co; ++o) {
    for (int64_t c = 0; c < full.ci; ++c) {
      const bool own = c / w.ci == o / maps;
      for (int64_t t = 0; t < taps; ++t) {
        full.codes[(o * full.ci + c) * taps + t] =
            own ? w.codes[(o * w.ci + c % w.ci) * taps + t] : zero[o];
      }
    }
  }
  return full;
}

absl::Status LowerQLinearConv(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(l, node, {1, 2, 3, 4, 5, 6, 7, 8}); !s.ok())
    return s;
  const Tensor& x = l->tensor(node.inputs[0]);
  const TensorData& w = *l->ConstantInput(node, 3);
  absl::StatusOr<ConvShape> shape = ResolveConv(node, x.shape, w.shape);
  if (!shape.ok()) return shape.status();
  MatrixSpec spec;
  spec.window = shape->window;
  spec.weights.codes = w.bytes;
  spec.weights.co = shape->maps;
  spec.weights.ci = shape->channels / shape->group;
  spec.weights.kh = shape->window.kernel[0];
  spec.weights.kw = shape->window.kernel[1];
  spec.w_signed = w.type == DataType::kInt8;
  spec.in_signed = x.type == DataType::kInt8;
  spec.za = CodeZero(l->ConstantInput(node, 2));
  spec.zo = CodeZero(l->ConstantInput(node, 7));
  spec.out_type = OutTypeOf(l->tensor(node.outputs[0]).type);
  spec.weight_zero = WeightZeros(l->ConstantInput(node, 5), shape->maps);
  spec.macs = shape->n * shape->maps * spec.weights.ci * spec.weights.kh *
              spec.weights.kw * shape->window.out[0] * shape->window.out[1];
  const TensorData& ws = *l->ConstantInput(node, 4);
  const float xs = *l->ConstantInput(node, 1)->as<float>();
  const float ys = *l->ConstantInput(node, 6)->as<float>();
  for (float s : Spread(ws.as<float>(), ws.count(), shape->maps)) {
    const float product = xs * s;
    spec.scale.push_back(product / ys);
  }
  const TensorData* bias = l->ConstantInput(node, 8);
  spec.bias.assign(shape->maps, 0);
  if (bias != nullptr) {
    std::copy_n(bias->as<int32_t>(), shape->maps, spec.bias.begin());
  }
  const bool packed =
      AcceptsPacked(l->graph(), node) &&
      l->device().StorageOf(l->ValueOf(node.inputs[0], node)).layout ==
          Layout::kPacked;
  if (packed) {
    spec.mode = isa::MatrixMode::kFold;
  } else if (shape->group > 1) {
    if (shape->group == shape->channels && shape->maps == shape->channels) {
      spec.mode = isa::MatrixMode::kDepthwise;
    } else {
      spec.weights = Ungroup(spec.weights, shape->group, spec.weight_zero);
    }
  }
  const int from = packed ? l->ValueOf(node.inputs[0], node)
                          : l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  if (auto s = CheckMatrixLimits(node, spec.window, spec.weights.ci,
                                 spec.weights.co);
      !s.ok()) {
    return s;
  }
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(std::make_unique<MatrixOp>(l, std::move(spec), from, to), node);
  return absl::OkStatus();
}

// [m,k] codes times constant [k,n] codes. `b` is [n][k]. The first operand may
// be one image whose flattening is the row: then its layout is kept and the
// product is a convolution with a kernel of the image's size.
absl::Status LowerProduct(Lowering* l, const Node& node, const GemmShape& g,
                          std::vector<uint8_t> b, MatrixSpec spec) {
  const TensorId a = node.inputs[0];
  const int from = l->ValueIn(a, Layout::kBlocked, node);
  const Value& value = l->device().values[from];
  spec.weights.codes = std::move(b);
  spec.weights.co = g.n;
  spec.macs = g.m * g.n * g.k;
  if (value.shape.size() > 2) {
    spec.weights.ci = value.extent.c;
    spec.weights.kh = value.extent.h;
    spec.weights.kw = value.extent.w;
    for (int d = 0; d < 2; ++d) {
      spec.window.in[d] = d == 0 ? value.extent.h : value.extent.w;
      spec.window.kernel[d] = spec.window.in[d];
      spec.window.out[d] = 1;
    }
  } else {
    spec.weights.ci = g.k;
    spec.window.in[0] = spec.window.out[0] = g.m;
  }
  if (auto s = CheckMatrixLimits(node, spec.window, spec.weights.ci,
                                 spec.weights.co);
      !s.ok()) {
    return s;
  }
  const int to = l->NewValue(
      node.outputs[0],
      spec.out_type == isa::OutType::kF32 ? Layout::kDense : Layout::kBlocked);
  l->Add(std::make_unique<MatrixOp>(l, std::move(spec), from, to), node);
  return absl::OkStatus();
}

absl::Status LowerQGemm(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(l, node, {1, 2, 3, 4, 5, 6, 7, 8}); !s.ok())
    return s;
  const Tensor& a = l->tensor(node.inputs[0]);
  const TensorData& b = *l->ConstantInput(node, 3);
  absl::StatusOr<GemmShape> g = ResolveGemm(node, a.shape, b.shape);
  if (!g.ok()) return g.status();
  if (g->trans_a) {
    return RefuseNode(Refusal::kUnsupportedAttribute, node, "transA must be 0");
  }
  MatrixSpec spec;
  spec.w_signed = b.type == DataType::kInt8;
  spec.in_signed = a.type == DataType::kInt8;
  spec.za = CodeZero(l->ConstantInput(node, 2));
  spec.weight_zero = WeightZeros(l->ConstantInput(node, 5), g->n);
  spec.out_type = OutTypeOf(l->tensor(node.outputs[0]).type);
  const bool to_float = spec.out_type == isa::OutType::kF32;
  if (!to_float) spec.zo = CodeZero(l->ConstantInput(node, 8));
  const float alpha = node.FloatAttribute("alpha", 1);
  const float scaled = alpha * *l->ConstantInput(node, 1)->as<float>();
  const TensorData& bs = *l->ConstantInput(node, 4);
  for (float s : Spread(bs.as<float>(), bs.count(), g->n)) {
    const float product = scaled * s;
    spec.scale.push_back(
        to_float ? product : product / *l->ConstantInput(node, 7)->as<float>());
  }
  spec.bias.assign(g->n, 0);
  if (const TensorData* c = l->ConstantInput(node, 6)) {
    const bool row = !c->shape.empty() && c->shape.back() == g->n;
    if (c->count() != 1 && (c->count() != g->n || !row)) {
      return RefuseNode(Refusal::kUnsupportedShape, node, "C of shape ",
                        ShapeToString(c->shape),
                        " differs from row to row; it must hold 1 or ", g->n,
                        " values");
    }
    spec.bias = Spread(c->as<int32_t>(), c->count(), g->n);
  }
  // [n][k] whatever transB says.
  std::vector<uint8_t> codes =
      Transposed(b.bytes.data(), g->n, g->k, !g->trans_b);
  return LowerProduct(l, node, *g, std::move(codes), std::move(spec));
}

absl::Status LowerQLinearMatMul(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(l, node, {1, 2, 3, 4, 5, 6, 7}); !s.ok()) return s;
  const Tensor& a = l->tensor(node.inputs[0]);
  const TensorData& b = *l->ConstantInput(node, 3);
  if (a.shape.size() != 2 || b.shape.size() != 2) {
    return RefuseNode(Refusal::kUnsupportedShape, node,
                      "both operands must be matrices");
  }
  GemmShape g;
  g.m = a.shape[0];
  g.k = a.shape[1];
  g.n = b.shape[1];
  MatrixSpec spec;
  spec.w_signed = b.type == DataType::kInt8;
  spec.in_signed = a.type == DataType::kInt8;
  spec.za = CodeZero(l->ConstantInput(node, 2));
  spec.zo = CodeZero(l->ConstantInput(node, 7));
  spec.weight_zero = WeightZeros(l->ConstantInput(node, 5), g.n);
  spec.out_type = OutTypeOf(l->tensor(node.outputs[0]).type);
  const float as = *l->ConstantInput(node, 1)->as<float>();
  const float ys = *l->ConstantInput(node, 6)->as<float>();
  const TensorData& bs = *l->ConstantInput(node, 4);
  for (float s : Spread(bs.as<float>(), bs.count(), g.n)) {
    const float product = as * s;
    spec.scale.push_back(product / ys);
  }
  spec.bias.assign(g.n, 0);
  return LowerProduct(l, node, g, Transposed(b.bytes.data(), g.n, g.k, true),
                      std::move(spec));
}

const LoweringRegistration kQLinearConv("", "QLinearConv", LowerQLinearConv);
const LoweringRegistration kQLinearMatMul("", "QLinearMatMul",
                                          LowerQLinearMatMul);
const LoweringRegistration kQGemm("com.microsoft", "QGemm", LowerQGemm);

}  // namespace

bool AcceptsPacked(const Graph& graph, const Node& node) {
  if (node.op != "QLinearConv" || node.IntAttribute("group", 1) != 1)
    return false;
  const Tensor& x = graph.tensors[node.inputs[0]];
  const Tensor& w = graph.tensors[node.inputs[3]];
  if (x.shape.size() < 3 || w.shape.size() != x.shape.size()) return false;
  // The hardware's row ports pass at most 48 bytes per output column.
  const std::vector<int64_t> strides = node.IntsAttribute("strides", {1});
  return x.shape[1] <= 8 && strides.back() * x.shape[1] <= 48 &&
         ElementCount(w.shape) > w.shape[0] * w.shape[1];
}

}  // namespace heddle::compiler
