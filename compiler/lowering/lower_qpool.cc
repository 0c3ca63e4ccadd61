// SPDX-License-Identifier: Apache-2.0
// QLinearGlobalAveragePool and QLinearAveragePool in the blocked layout.
//
// The global form is the pooling of the output stage behind an identity. Images
// that do not fit SRAM are summed row by row first, by the vector engine. The
// windowed form is an fp32 sum; at the borders the windows are clipped, so
// output rows and columns are taken in classes of equal clipping.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_codes.h"
#include "compiler/lowering/relayout.h"
#include "compiler/lowering/window_input.h"
#include "compiler/ops/codes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/pool.h"
#include "compiler/stream/pack.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using Source = isa::Operand;

isa::Stream CodeStream(uint32_t base, DataType type) {
  isa::Stream s;
  s.base = base;
  s.type =
      type == DataType::kInt8 ? isa::ElementType::kS8 : isa::ElementType::kU8;
  return s;
}

struct PoolSpec {
  DataType type = DataType::kUint8;
  int32_t xz = 0, yz = 0;
  float multiplier = 0;  // global form
};

// Whole images through the matrix engine's pooling.
class GlobalPool : public DeviceOp {
 public:
  GlobalPool(Lowering* l, const PoolSpec& spec, int from, int to)
      : spec_(spec), extent_(l->device().values[from].extent) {
    engine = "matrix";
    output = to;
    OpInput in;
    in.value = from;
    inputs = {in};
    chunk_ = std::min(CodeBlocks(extent_.c), kMaxChunk);
    const int64_t count = chunk_ * kCodeBlock;
    CodeWeights ones;
    ones.codes.assign(count, 1);
    ones.co = count;
    ones.ci = 1;
    const std::vector<uint8_t> zero(count, 0);
    std::vector<uint8_t> blob =
        PackParameters(std::vector<int32_t>(count, 0),
                       std::vector<float>(count, 1.0f), zero, false, 0, count);
    const std::vector<uint8_t> weights = PackDepthwise(ones, 0, count, zero);
    blob.insert(blob.end(), weights.begin(), weights.end());
    groups = {l->device().constants.Add(blob)};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    constexpr uint32_t kWord = isa::kWordBytes;
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    const bool s8 = spec_.type == DataType::kInt8;
    isa::Conv c;
    c.mode = isa::MatrixMode::kDepthwise;
    c.in_signed = s8;
    c.out_type = s8 ? isa::OutType::kS8 : isa::OutType::kU8;
    c.act_min = s8 ? -128 : 0;
    c.act_max = s8 ? 127 : 255;
    c.ih = c.out_rows = extent_.h;
    c.iw = c.ow = extent_.w;
    c.in_pitch = extent_.h > 1 ? in.pitch / kWord : 0;
    c.in_plane = in.plane / kWord;
    c.out_plane = out.plane / kWord;
    c.param_addr = tile.constants / kWord;
    c.w_addr = c.param_addr + chunk_ * 8;
    c.pool = isa::PoolKind::kAverage;
    c.pool_scale = spec_.multiplier;
    c.pool_zero_in = spec_.xz;
    c.pool_zero_out = spec_.yz;
    const int64_t step = chunk_ * kCodeBlock;
    for (int64_t first = 0; first < extent_.c; first += step) {
      c.ci = c.co = std::min(step, extent_.c - first);
      c.in_addr = (in.base + first / kCodeBlock * in.plane) / kWord;
      c.out_addr = (out.base + first / kCodeBlock * out.plane) / kWord;
      emitter->Append(c);
    }
  }

 private:
  static constexpr int64_t kMaxChunk = 32;
  PoolSpec spec_;
  Extent extent_;
  int64_t chunk_ = 1;
};

// [n,c,h,w] codes in blocked layout to [n,1,h,c] int32: sums of rows.
class RowSums : public DeviceOp {
 public:
  RowSums(const DeviceGraph& graph, DataType type, int from, int to)
      : type_(type), extent_(graph.values[from].extent) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    program_.body = {
        Micro(MicroOp::kIadd, Destination::kV0, Source::kV0, Source::kStreamA)};
    program_.epilogue = {Micro(MicroOp::kMov, Destination::kOut, Source::kV0)};
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    for (int64_t first = 0; first < extent_.c; first += kCodeBlock) {
      isa::Vrun run = emitter->Run(program_);
      run.enable_a = true;
      run.store = isa::StoreMode::kEpilogue;
      run.lanes = std::min(kCodeBlock, extent_.c - first);
      run.n_r1 = extent_.w;
      run.n_o1 = tile.rows;
      isa::Stream a = CodeStream(
          RowBase(in, tile.row0) + first / kCodeBlock * in.plane, type_);
      a.lane_stride = 1;
      a.r1_stride = in.xstep;
      a.o1_stride = in.pitch;
      isa::Stream d;
      d.type = isa::ElementType::kS32;
      d.base = RowBase(out, tile.row0) + first * out.xstep;
      d.lane_stride = out.xstep;
      d.o1_stride = out.pitch;
      run.SetA(a);
      run.SetD(d);
      emitter->Append(run);
    }
  }

 private:
  DataType type_;
  Extent extent_;
  Microprogram program_;
};

// [n,1,h,c] sums of rows to [n,c,1,1] codes in blocked layout:
// cro(f32(f32(sum - arg3) * arg0), arg1, arg2) + yz.
class SumOfRows : public DeviceOp {
 public:
  SumOfRows(const DeviceGraph& graph, const PoolSpec& spec, int64_t pixels,
            int from, int to)
      : spec_(spec), pixels_(pixels), extent_(graph.values[from].extent) {
    engine = "vector";
    output = to;
    OpInput in;
    in.value = from;
    inputs = {in};
    program_.body = {
        Micro(MicroOp::kIadd, Destination::kV0, Source::kV0, Source::kStreamA)};
    program_.epilogue = {
        Micro(MicroOp::kIsub, Destination::kV0, Source::kV0, Source::kArg3),
        Micro(MicroOp::kI2f, Destination::kV0, Source::kV0),
        Micro(MicroOp::kFmul, Destination::kV0, Source::kV0, Source::kArg0),
        Micro(MicroOp::kFmax, Destination::kV0, Source::kV0, Source::kArg1),
        Micro(MicroOp::kFmin, Destination::kV0, Source::kV0, Source::kArg2),
        Micro(MicroOp::kF2i, Destination::kV0, Source::kV0),
        Micro(MicroOp::kIadd, Destination::kOut, Source::kV0, Source::kImm,
              Source::kV0, static_cast<uint32_t>(spec.yz))};
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    for (int64_t first = 0; first < extent_.w; first += kCodeBlock) {
      isa::Vrun run = emitter->Run(program_);
      run.enable_a = true;
      run.store = isa::StoreMode::kEpilogue;
      run.lanes = std::min(kCodeBlock, extent_.w - first);
      run.n_r1 = extent_.h;
      run.arg0 = FloatBits(spec_.multiplier);
      run.arg1 = FloatBits(CodeMin(spec_.type) - spec_.yz);
      run.arg2 = FloatBits(CodeMax(spec_.type) - spec_.yz);
      run.arg3 =
          static_cast<uint32_t>(pixels_) * static_cast<uint32_t>(spec_.xz);
      isa::Stream a;
      a.type = isa::ElementType::kS32;
      a.base = in.base + first * in.xstep;
      a.lane_stride = in.xstep;
      a.r1_stride = in.pitch;
      isa::Stream d =
          CodeStream(out.base + first / kCodeBlock * out.plane, spec_.type);
      d.lane_stride = 1;
      run.SetA(a);
      run.SetD(d);
      emitter->Append(run);
    }
  }

 private:
  PoolSpec spec_;
  int64_t pixels_;
  Extent extent_;
  Microprogram program_;
};

// The input as [n,c,h,w] in blocked layout, also from rank 5.
int ImageOf(Lowering* l, const Node& node) {
  const TensorId id = node.inputs[0];
  const Shape shape = l->tensor(id).shape;
  if (shape.size() <= 4) return l->ValueIn(id, Layout::kBlocked, node);
  const Shape flat = {shape[0], shape[1], shape[2] * shape[3], shape[4]};
  const int dense = l->Reshaped(l->ValueIn(id, Layout::kDense, node), flat);
  const int copy = l->NewTemporary(l->tensor(id).name + "/images",
                                   l->tensor(id).type, flat, Layout::kBlocked);
  l->Add(MakeRelayout(&l->device(), dense, copy), node);
  return copy;
}

absl::Status LowerGlobalPool(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(*l, node, {1, 2, 3, 4}); !s.ok()) return s;
  const model::ScopedFpEnvironment environment;
  const Tensor& x = l->tensor(node.inputs[0]);
  PoolSpec spec;
  spec.type = x.type;
  spec.xz = ZeroOf(*l, node, 2);
  spec.yz = ZeroOf(*l, node, 4);
  const int64_t pixels =
      ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
  spec.multiplier = model::FDiv(
      ScaleOf(*l, node, 1),
      model::FMul(ScaleOf(*l, node, 3), static_cast<float>(pixels)));
  const int from = ImageOf(l, node);
  const Extent e = l->device().values[from].extent;
  const int64_t c = e.c;
  const int64_t bytes = CodeBlocks(c) * e.h * e.w * isa::kWordBytes;
  constexpr int64_t kMaxCount = 65535;
  if (bytes <= static_cast<int64_t>(l->config().sram_bytes) / 4 &&
      e.h <= kMaxCount && e.w <= kMaxCount) {
    const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
    l->Add(std::make_unique<GlobalPool>(l, spec, from, to), node);
    return absl::OkStatus();
  }
  if (auto s = CheckVectorLimits(node, {e.h, e.w}); !s.ok()) return s;
  const int sums =
      l->NewTemporary(absl::StrCat(l->tensor(node.outputs[0]).name, "/rows"),
                      DataType::kInt32, {e.n, 1, e.h, c}, Layout::kDense);
  l->Add(std::make_unique<RowSums>(l->device(), spec.type, from, sums), node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(std::make_unique<SumOfRows>(l->device(), spec, pixels, sums, to),
         node);
  return absl::OkStatus();
}

// Output coordinates of equal clipping in one dimension: taps [tap, tap + taps)
// are inside, `count` elements are divided by.
struct Clip {
  int64_t begin = 0, end = 0;
  int64_t tap = 0, taps = 0, count = 0;
};

std::vector<Clip> ClipsOf(const Window& w, int d, bool include_pad) {
  std::vector<Clip> clips;
  Window line = w;  // one dimension of it
  const int other = 1 - d;
  line.in[other] = line.kernel[other] = line.stride[other] =
      line.dilation[other] = line.out[other] = 1;
  line.pad_begin[other] = line.pad_end[other] = 0;
  for (int64_t o = 0; o < w.out[d]; ++o) {
    Clip clip{o, o + 1, 0, 0, 0};
    const int64_t first = o * w.stride[d] - w.pad_begin[d];
    for (int64_t k = 0; k < w.kernel[d]; ++k) {
      const int64_t i = first + k * w.dilation[d];
      if (i < 0 || i >= w.in[d]) continue;
      if (clip.taps == 0) clip.tap = k;
      ++clip.taps;
    }
    clip.count = d == 0 ? AverageCount(line, o, 0, include_pad)
                        : AverageCount(line, 0, o, include_pad);
    if (!clips.empty() && clips.back().tap == clip.tap &&
        clips.back().taps == clip.taps && clips.back().count == clip.count) {
      clips.back().end = o + 1;
    } else {
      clips.push_back(clip);
    }
  }
  return clips;
}

class AveragePool : public DeviceOp {
 public:
  AveragePool(const Window& window, bool include_pad, const PoolSpec& spec,
              float xs, float ys, int from, int to)
      : window_(window),
        rows_(ClipsOf(window, 0, include_pad)),
        columns_(ClipsOf(window, 1, include_pad)),
        spec_(spec),
        xs_(xs),
        ys_(ys) {
    engine = "vector";
    output = to;
    tileable = columns_tileable = channels_tileable = true;
    OpInput in;
    in.value = from;
    in.rows = WindowNeed(window, 0);
    in.columns = WindowNeed(window, 1);
    in.channels.kind = AxisNeed::kSame;
    inputs = {in};
    // d = f32(f32(q - arg1) * arg0), t = f32(t + d); then
    // rne(f32(f32(f32(t / arg2) / arg3) + yz)), stored with saturation.
    program_.body = {
        Micro(MicroOp::kIsub, Destination::kV1, Source::kStreamA,
              Source::kArg1),
        Micro(MicroOp::kI2f, Destination::kV1, Source::kV1),
        Micro(MicroOp::kFmul, Destination::kV1, Source::kV1, Source::kArg0),
        Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kV1)};
    program_.epilogue = Tail();
    empty_.body = Tail();
  }

  std::vector<Microprogram> Programs() const override {
    return {program_, empty_};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const int64_t block = tile.channel0 / kCodeBlock;
    const int64_t full = tile.channels / kCodeBlock,
                  rest = tile.channels % kCodeBlock;
    const auto cut = [](Clip clip, int64_t first, int64_t count) {
      clip.begin = std::max(clip.begin, first);
      clip.end = std::min(clip.end, first + count);
      return clip;
    };
    for (const Clip& all_rows : rows_) {
      const Clip rows = cut(all_rows, tile.row0, tile.rows);
      if (rows.begin >= rows.end) continue;
      for (const Clip& all_columns : columns_) {
        const Clip columns = cut(all_columns, tile.column0, tile.columns);
        if (columns.begin >= columns.end) continue;
        if (full) {
          EmitClass(emitter, tile, rows, columns, block, full, kCodeBlock);
        }
        if (rest) {
          EmitClass(emitter, tile, rows, columns, block + full, 1, rest);
        }
      }
    }
  }

 private:
  std::vector<isa::MicroInstruction> Tail() const {
    return {Micro(MicroOp::kFdiv, Destination::kV0, Source::kV0, Source::kArg2),
            Micro(MicroOp::kFdiv, Destination::kV0, Source::kV0, Source::kArg3),
            Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kImm,
                  Source::kV0, FloatBits(static_cast<float>(spec_.yz))),
            Micro(MicroOp::kF2i, Destination::kOut, Source::kV0)};
  }

  void EmitClass(Emitter* emitter, const Tile& tile, const Clip& rows,
                 const Clip& columns, int64_t block, int64_t blocks,
                 int64_t lanes) const {
    const Window& w = window_;
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    const bool empty = rows.taps == 0 || columns.taps == 0;
    isa::Vrun run = emitter->Run(empty ? empty_ : program_);
    run.arg0 = FloatBits(xs_);
    run.arg1 = static_cast<uint32_t>(spec_.xz);
    run.arg2 = FloatBits(static_cast<float>(rows.count * columns.count));
    run.arg3 = FloatBits(ys_);
    run.lanes = lanes;
    run.n_o1 = columns.end - columns.begin;
    run.n_o2 = rows.end - rows.begin;
    run.n_o3 = blocks;
    run.store = empty ? isa::StoreMode::kBody : isa::StoreMode::kEpilogue;
    if (!empty) {
      run.enable_a = true;
      run.n_r1 = columns.taps;
      run.n_r2 = rows.taps;
      const int64_t y =
          rows.begin * w.stride[0] - w.pad_begin[0] + rows.tap * w.dilation[0];
      const int64_t x = columns.begin * w.stride[1] - w.pad_begin[1] +
                        columns.tap * w.dilation[1];
      isa::Stream a = CodeStream(
          RowBase(in, y) + x * in.xstep + block * in.plane, spec_.type);
      a.lane_stride = 1;
      a.r1_stride = w.dilation[1] * in.xstep;
      a.r2_stride = w.dilation[0] * in.pitch;
      a.o1_stride = w.stride[1] * in.xstep;
      a.o2_stride = w.stride[0] * in.pitch;
      a.o3_stride = in.plane;
      run.SetA(a);
    }
    isa::Stream d =
        CodeStream(RowBase(out, rows.begin) + columns.begin * out.xstep +
                       block * out.plane,
                   spec_.type);
    d.lane_stride = 1;
    d.o1_stride = out.xstep;
    d.o2_stride = out.pitch;
    d.o3_stride = out.plane;
    run.SetD(d);
    emitter->Append(run);
  }

  Window window_;
  std::vector<Clip> rows_, columns_;
  PoolSpec spec_;
  float xs_, ys_;

  Microprogram program_, empty_;
};

absl::Status LowerAveragePool(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(*l, node, {1, 2, 3, 4}); !s.ok()) return s;
  const Tensor& x = l->tensor(node.inputs[0]);
  absl::StatusOr<Window> window = ResolvePool(node, x.shape);
  if (!window.ok()) return window.status();
  const Window& w = *window;
  if (!w.HasPadding() && w.kernel[0] == w.in[0] && w.kernel[1] == w.in[1]) {
    return LowerGlobalPool(l, node);
  }
  if (auto s = CheckVectorLimits(node, {w.kernel[0], w.kernel[1], w.out[0],
                                        w.out[1], CodeBlocks(x.shape[1])});
      !s.ok()) {
    return s;
  }
  PoolSpec spec;
  spec.type = x.type;
  spec.xz = ZeroOf(*l, node, 2);
  spec.yz = ZeroOf(*l, node, 4);
  const bool include_pad = node.IntAttribute("count_include_pad", 0) != 0;
  const int from = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(
      std::make_unique<AveragePool>(w, include_pad, spec, ScaleOf(*l, node, 1),
                                    ScaleOf(*l, node, 3), from, to),
      node);
  return absl::OkStatus();
}

const LoweringRegistration kGlobal("com.microsoft", "QLinearGlobalAveragePool",
                                   LowerGlobalPool);
const LoweringRegistration kAverage("com.microsoft", "QLinearAveragePool",
                                    LowerAveragePool);

}  // namespace
}  // namespace heddle::compiler
