// SPDX-License-Identifier: Apache-2.0
// QLinearGlobalAveragePool and QLinearAveragePool in the blocked layout.
//
// The global form is the pooling of the output stage behind an identity. Images
// that do not fit SRAM are summed row by row, and then the rows' sums, by the
// vector engine. The
// windowed form is an fp32 sum; at the borders the windows are clipped, so
// output rows and columns are taken in classes of equal clipping.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/reduction.h"
#include "compiler/device_ops/relayout.h"
#include "compiler/device_ops/window_pool.h"
#include "compiler/ops/define.h"
#include "compiler/ops/pool.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/schedule/loops.h"
#include "compiler/schedule/window_need.h"
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

// Whole images, of some channels, through the matrix engine's pooling.
class GlobalPool : public ClonableOp<GlobalPool> {
 public:
  GlobalPool(Lowering* l, const PoolSpec& spec, int from, int to)
      : spec_(spec), extent_(l->device().values[from].extent) {
    engine = "matrix";
    output = to;
    channels_tileable = true;
    OpInput in;
    in.value = from;
    in.channels.kind = AxisNeed::kSame;
    inputs = {in};
    // The constants of a command take a small share of SRAM.
    constexpr int64_t kBytes = (kParameterWords + 1) * isa::kWordBytes;
    const auto share = static_cast<int64_t>(l->config().sram_bytes / 16);
    chunk_ = std::min({CodeBlocks(extent_.c), kMaxChunk,
                       std::max<int64_t>(1, share / kBytes)});
    const int64_t count = chunk_ * kCodeBlock;
    const std::vector<uint8_t> zero(count, 0);
    std::vector<uint8_t> blob =
        PackParameters(std::vector<int32_t>(count, 0),
                       std::vector<float>(count, 1.0f), zero, false, 0, count);
    const std::vector<uint8_t> weights =
        PackDepthwise(CodeWeights::Ones(count), 0, count, zero);
    blob.insert(blob.end(), weights.begin(), weights.end());
    SetConstants(std::move(blob));
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
    c.w_addr = c.param_addr + chunk_ * kParameterWords;
    c.pool = isa::PoolKind::kAverage;
    c.pool_scale = spec_.multiplier;
    c.pool_zero_in = spec_.xz;
    c.pool_zero_out = spec_.yz;
    const int64_t step = chunk_ * kCodeBlock;
    const int64_t end = tile.channel0 + tile.channels;
    for (int64_t first = tile.channel0; first < end; first += step) {
      c.ci = c.co = std::min(step, end - first);
      const int64_t block = first / kCodeBlock;
      c.in_addr = AddressOf(in, block, 0, 0) / kWord;
      c.out_addr = AddressOf(out, block, 0, 0) / kWord;
      emitter->Append(c);
    }
  }

 private:
  static constexpr int64_t kMaxChunk = 32, kParameterWords = 8;
  PoolSpec spec_;
  Extent extent_;
  int64_t chunk_ = 1;
};

// [n,c,h,w] codes in blocked layout to [n,1,h,c] int32: sums of rows. Long rows
// are read in parts, which go on from the sums of those before.
class RowSums : public ClonableOp<RowSums> {
 public:
  RowSums(Lowering* l, DataType type, int from, int to)
      : type_(type), parts_(PartsOf(*l, l->device().values[from].extent.w)) {
    engine = "vector";
    output = to;
    tileable = columns_tileable = true;
    column_step = kCodeBlock;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    in.swapped = true;
    in.channels.kind = AxisNeed::kSame;
    if (parts_.size() > 1) in.column_slices = parts_;
    inputs = {in};
    groups.assign(parts_.size(), ConstantGroup());
    first_.body = {
        Micro(MicroOp::kIadd, Destination::kV0, Source::kV0, Source::kStreamA)};
    first_.epilogue = {Micro(MicroOp::kMov, Destination::kOut, Source::kV0)};
    next_ = first_;
    next_.prologue = {Micro(MicroOp::kMov, Destination::kV0, Source::kStreamB)};
  }
  std::vector<Microprogram> Programs() const override {
    if (parts_.size() == 1) return {first_};
    return {first_, next_};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    const Slice& part = parts_[tile.group];
    const int64_t end = tile.column0 + tile.columns;
    for (int64_t first = tile.column0; first < end; first += kCodeBlock) {
      for (int64_t row = 0; row < tile.rows; row += kMaxCount) {
        isa::Vrun run = emitter->Run(tile.group == 0 ? first_ : next_);
        run.enable_a = true;
        run.store = isa::StoreMode::kEpilogue;
        run.lanes = std::min(kCodeBlock, end - first);
        run.n_r1 = part.count;
        run.n_o1 = std::min(kMaxCount, tile.rows - row);
        isa::Stream a = CodeStream(
            AddressOf(in, first / kCodeBlock, tile.row0 + row, part.first),
            type_);
        a.lane_stride = 1;
        a.r1_stride = in.xstep;
        a.o1_stride = in.pitch;
        isa::Stream d;
        d.type = isa::ElementType::kS32;
        d.base = AddressOf(out, 0, tile.row0 + row, first);
        d.lane_stride = out.xstep;
        d.o1_stride = out.pitch;
        run.SetA(a);
        if (tile.group > 0) {
          run.enable_b = true;
          run.SetB(d);
        }
        run.SetD(d);
        emitter->Append(run);
      }
    }
  }

 private:
  static constexpr int64_t kMaxCount = 65535;

  // Of a row of one block of channels.
  static std::vector<Slice> PartsOf(const Lowering& l, int64_t columns) {
    const auto sram = static_cast<int64_t>(l.config().sram_bytes);
    if (columns * isa::kWordBytes <= sram / 8 && columns <= kMaxCount) {
      return {{0, columns}};
    }
    const int64_t length = std::min(kMaxCount, sram / 16 / isa::kWordBytes);
    std::vector<Slice> parts;
    for (int64_t first = 0; first < columns; first += length) {
      parts.push_back({first, std::min(length, columns - first)});
    }
    return parts;
  }

  DataType type_;
  std::vector<Slice> parts_;
  Microprogram first_, next_;
};

// The sum of an image's codes (stream A) to the pooled code: arguments 0 to 2
// are multiplier, lower (int32) and upper bound (f32), argument 3 what the zero
// point adds to the sum.
Microprogram PooledProgram(int32_t zero) {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kIsub, Destination::kV0, Source::kStreamA, Source::kArg3),
      Micro(MicroOp::kI2f, Destination::kV0, Source::kV0),
      Micro(MicroOp::kFmul, Destination::kV0, Source::kV0, Source::kArg0),
      Micro(MicroOp::kFmin, Destination::kV0, Source::kV0, Source::kArg2),
      Micro(MicroOp::kF2i, Destination::kV0, Source::kV0),
      Micro(MicroOp::kImax, Destination::kV0, Source::kV0, Source::kArg1),
      Micro(MicroOp::kIadd, Destination::kOut, Source::kV0, Source::kImm,
            Source::kV0, static_cast<uint32_t>(zero))};
  return p;
}

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
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 3, 4}));
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
  const int64_t block = e.h * e.w * isa::kWordBytes;
  constexpr int64_t kMaxCount = 65535;
  if (block <= static_cast<int64_t>(l->config().sram_bytes) / 8 &&
      e.h <= kMaxCount && e.w <= kMaxCount) {
    const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
    l->Add(std::make_unique<GlobalPool>(l, spec, from, to), node);
    return absl::OkStatus();
  }
  const Tensor& y = l->tensor(node.outputs[0]);
  int sums = l->NewTemporary(y.name + "/rows", DataType::kInt32,
                             {e.n, 1, e.h, e.c}, Layout::kDense);
  l->Add(std::make_unique<RowSums>(l, spec.type, from, sums), node);
  ASSIGN_OR_RETURN(auto all,
                   AddReduction(l, node, sums, {{e.n, e.h, e.c}},
                                {Fold::kSum, Premap::kNone, Finish::kNone},
                                DataType::kInt32));
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(MakeElementwise(
             &l->device(), PooledProgram(spec.yz),
             {FloatBits(spec.multiplier),
              static_cast<uint32_t>(QuantizedMin(spec.type) - spec.yz),
              FloatBits(QuantizedMax(spec.type) - spec.yz),
              static_cast<uint32_t>(pixels) * static_cast<uint32_t>(spec.xz)},
             {Operand::Of(l->Reshaped(all, y.shape))}, to),
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

// f32(f32(A - arg1) * arg0): the value of a code.
std::vector<isa::MicroInstruction> ValueOfCode(Destination to) {
  return {
      Micro(MicroOp::kIsub, Destination::kV1, Source::kStreamA, Source::kArg1),
      Micro(MicroOp::kI2f, Destination::kV1, Source::kV1),
      Micro(MicroOp::kFmul, to, Source::kV1, Source::kArg0)};
}

// rne(f32(f32(mean / arg3) + zero)), stored with saturation.
std::vector<isa::MicroInstruction> CodeOfMean(Source mean, int32_t zero) {
  return {Micro(MicroOp::kFdiv, Destination::kV0, mean, Source::kArg3),
          Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kImm,
                Source::kV0, FloatBits(static_cast<float>(zero))),
          Micro(MicroOp::kF2i, Destination::kOut, Source::kV0)};
}

class AveragePool : public ClonableOp<AveragePool> {
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
    // t = f32(t + d) for the value d of each code; then
    // rne(f32(f32(f32(t / arg2) / arg3) + yz)), stored with saturation.
    program_.body = ValueOfCode(Destination::kV1);
    program_.body.push_back(
        Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kV1));
    const auto sum =
        Micro(MicroOp::kFdiv, Destination::kV0, Source::kV0, Source::kArg2);
    const auto tail = CodeOfMean(Source::kV0, spec.yz);
    program_.epilogue = {sum};
    program_.epilogue.insert(program_.epilogue.end(), tail.begin(), tail.end());
    empty_.body = program_.epilogue;
  }

  std::vector<Microprogram> Programs() const override {
    return {program_, empty_};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    ForCountedTiles(tile, [&](const Tile& part) { EmitPart(emitter, part); });
  }

 private:
  void EmitPart(Emitter* emitter, const Tile& tile) const {
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

// Windows that are folded in parts: the values of codes, their means as those
// of floats, and the codes of these.
void LowerInFloats(Lowering* l, const Node& node, const Window& w,
                   bool include_pad, const PoolSpec& spec) {
  const Tensor x = l->tensor(node.inputs[0]), y = l->tensor(node.outputs[0]);
  Microprogram value, code;
  value.body = ValueOfCode(Destination::kOut);
  code.body = CodeOfMean(Source::kStreamA, spec.yz);
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const int values = l->NewTemporary(x.name + "/values", DataType::kFloat,
                                     x.shape, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), value,
                         {FloatBits(ScaleOf(*l, node, 1)),
                          static_cast<uint32_t>(spec.xz), 0, 0},
                         {Operand::Of(from)}, values),
         node);
  const int means = l->NewTemporary(y.name + "/means", DataType::kFloat,
                                    y.shape, Layout::kDense);
  l->Add(MakeAveragePool(l, w, WindowParts(w, l->config().sram_bytes),
                         include_pad, values, means),
         node);
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(MakeElementwise(&l->device(), code,
                         {0, 0, 0, FloatBits(ScaleOf(*l, node, 3))},
                         {Operand::Of(means)}, to),
         node);
}

absl::Status LowerAveragePool(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 3, 4}));
  const Tensor& x = l->tensor(node.inputs[0]);
  ASSIGN_OR_RETURN(Window window, ResolvePool(node, x.shape));
  const Window& w = window;
  if (!w.HasPadding() && w.kernel[0] == w.in[0] && w.kernel[1] == w.in[1]) {
    return LowerGlobalPool(l, node);
  }
  PoolSpec spec;
  spec.type = x.type;
  spec.xz = ZeroOf(*l, node, 2);
  spec.yz = ZeroOf(*l, node, 4);
  const bool include_pad = node.IntAttribute("count_include_pad", 0) != 0;
  const uint64_t window_bytes = ((w.kernel[0] - 1) * w.dilation[0] + 1) *
                                ((w.kernel[1] - 1) * w.dilation[1] + 1) *
                                isa::kWordBytes;
  if (window_bytes > l->config().sram_bytes / 3) {
    LowerInFloats(l, node, w, include_pad, spec);
    return absl::OkStatus();
  }
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
