// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/lower_qmatmul.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/device_ops/relayout.h"
#include "compiler/device_ops/take.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/schedule/contraction_parts.h"
#include "compiler/schedule/loops.h"
#include "compiler/schedule/window_need.h"

namespace heddle::compiler {
namespace {

constexpr uint32_t kWord = isa::kWordBytes;
// Of a grouped convolution made one of a single group: its weights grow by the
// number of groups.
constexpr int64_t kMaxFullWeights = int64_t{256} << 20;
constexpr int64_t kWide = 64;  // bytes of 16 results of 4 bytes

class Product : public ClonableOp<Product> {
 public:
  Product(Lowering* l, QMatMulSpec spec, int a, int b, int to)
      : config_(l->config()),
        spec_(std::move(spec)),
        wide_(spec_.out_type == isa::OutType::kI32 ||
              spec_.out_type == isa::OutType::kF32) {
    engine = "matrix";
    output = to;
    macs = spec_.macs;
    tileable = true;
    const Window& w = spec_.window;
    const int64_t co = spec_.weights.co;
    spec_.bias.resize(co, 0);
    spec_.scale.resize(co, 1.0f);
    OpInput in;
    in.value = a;
    in.rows = WindowNeed(w, 0);
    inputs = {in};
    if (b >= 0) {
      OpInput second;
      second.value = b;
      inputs.push_back(second);
    }
    for (uint8_t z : spec_.weight_zero) {
      zw_channel_ |= z != spec_.weight_zero[0];
    }
    if (wide_) {
      type_ = spec_.out_type == isa::OutType::kI32 ? isa::ElementType::kS32
                                                   : isa::ElementType::kF32;
    }
    CutIntoGroups();
    // (columns of a product are output channels)
    columns_tileable = !spec_.rows_result;
    if (columns_tileable) inputs[0].columns = WindowNeed(w, 1);
    if (spec_.mode == isa::MatrixMode::kDepthwise) {
      inputs[0].channels.kind = AxisNeed::kSame;
    }
  }

  std::vector<Microprogram> Programs() const override {
    if (wide_) return {CopyProgram()};
    return {};
  }

  void Pack(size_t group, uint8_t* to) const override {
    const auto [first, count] = group_outputs_[group];
    const std::vector<uint8_t>& zero = spec_.weight_zero;
    std::vector<int32_t> bias = spec_.bias;
    if (!spec_.float_bias.empty()) {
      std::memcpy(bias.data(), spec_.float_bias.data(),
                  bias.size() * sizeof(float));
    }
    const std::vector<uint8_t> parameters =
        PackParameters(bias, spec_.scale, zero, zw_channel_, first, count);
    to = std::copy(parameters.begin(), parameters.end(), to);
    if (spec_.w_mode != isa::WeightMode::kPacked) return;
    if (spec_.mode == isa::MatrixMode::kDepthwise) {
      const std::vector<uint8_t> packed =
          PackDepthwise(spec_.weights, first, count, zero);
      std::copy(packed.begin(), packed.end(), to);
    } else {
      PackConv(spec_.weights, first, count, parts_.Of(group), zero, config_,
               to);
    }
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Window& w = spec_.window;
    const TileView& in = tile.inputs[0];
    const auto parts = static_cast<int>(parts_.size());
    const Contraction& part = parts_.Of(tile.group);
    const int64_t first = tile.group / parts * step_;
    const int64_t count = std::min(step_, spec_.weights.co - first);
    isa::Conv c;
    c.mode = spec_.mode;
    c.in_signed = spec_.in_signed;
    c.w_signed = spec_.w_signed;
    c.out_type = spec_.out_type;
    c.zw_channel = zw_channel_;
    c.bias_f32 = !spec_.float_bias.empty();
    int64_t block = part.ci0 / kCodeBlock;
    if (spec_.mode == isa::MatrixMode::kDepthwise) block = first / kCodeBlock;
    SetWindow(w, inputs[0].columns, tile, in, block, !columns_tileable,
              tile.row0, &c);
    parts_.SetPart(tile.group, w, &c);
    c.out_rows = tile.rows;
    c.co = count;
    if (spec_.mode == isa::MatrixMode::kDepthwise) c.ci = count;
    c.param_addr = tile.constants / kWord;
    c.w_mode = spec_.w_mode;
    if (spec_.w_mode == isa::WeightMode::kPacked) {
      c.w_addr = c.param_addr + CodeBlocks(count) * (zw_channel_ ? 9 : 8);
    } else {
      const TileView& b = tile.inputs[1];
      c.w_plane = b.plane / kWord;
      c.w_step = b.pitch / kWord;
      // Blocks of columns (kColumn), or rows, are the output channels; the
      // others are contracted.
      c.w_addr = (spec_.w_mode == isa::WeightMode::kColumn
                      ? AddressOf(b, first / kCodeBlock, part.ci0, 0)
                      : AddressOf(b, part.ci0 / kCodeBlock, first, 0)) /
                 kWord;
    }
    c.za = spec_.za;
    if (!zw_channel_) c.zw = CodeValue(spec_.weight_zero[0], spec_.w_signed);
    if (wide_) {
      EmitWide(emitter, c, tile, first, count);
      return;
    }
    const TileView& out = tile.output;
    c.zo = spec_.zo;
    const bool s8 = spec_.out_type == isa::OutType::kS8;
    c.act_min = (s8 ? -128 : 0) - spec_.zo;
    c.act_max = (s8 ? 127 : 255) - spec_.zo;
    c.out_plane = out.plane / kWord;
    c.out_addr =
        AddressOf(out, first / kCodeBlock, tile.row0, tile.column0) / kWord;
    c.out_pitch = out.pitch / kWord;
    emitter->Append(c);
  }

 private:
  // Parameters, and weights that are constant, in as many groups as needed.
  // Where the weights of one block of output channels are too many, groups are
  // ranges of input channels, and each continues what the one before has
  // accumulated.
  void CutIntoGroups() {
    const isa::Config& config = config_;
    const CodeWeights& w = spec_.weights;
    const int64_t budget = config.sram_bytes / 8;
    const int64_t unit = std::max<int64_t>(kCodeBlock, config.lanes_out);
    const int64_t lanes = config.lanes_in;
    // Of one block of output channels. Computed weights are there as a whole
    // unless they are many.
    const int64_t ci = (w.ci + lanes - 1) / lanes * lanes;
    const int64_t co = spec_.w_mode == isa::WeightMode::kColumn
                           ? CodeBlocks(w.co) * kCodeBlock
                           : w.co;
    const bool sliced =
        spec_.w_mode == isa::WeightMode::kPacked || co * ci > 2 * budget;
    const int64_t unit_bytes =
        unit / kCodeBlock * 9 * kWord + (sliced ? unit * w.kh * w.kw * ci : 0);
    parts_ = ContractionParts(w);
    const int64_t rows = KernelRowsAtOnce(spec_.window, config.sram_bytes);
    const bool cut = unit_bytes > 2 * budget || !IsOneContraction(w, rows);
    if (cut && spec_.mode == isa::MatrixMode::kConv) {
      parts_ = ContractionParts(w, 2 * budget, unit, config, rows);
    }
    int64_t fit = std::max<int64_t>(1, 2 * budget / unit_bytes);
    int64_t width = spec_.window.out[1];
    // What is accumulated in parts is one command.
    const int64_t accumulated = parts_.max_pixels();
    if (spec_.rows_result) {
      max_rows = accumulated;
    } else if (accumulated > 0) {
      max_pixels = accumulated;
      width = std::min(width, max_pixels);
    }
    if (wide_) {
      // Wide columns are cut.
      const int64_t row_bytes = unit / kCodeBlock * kWide;
      const int64_t narrow = std::max<int64_t>(1, budget / row_bytes);
      if (!spec_.rows_result && width > narrow) {
        width = narrow;
        max_pixels = max_pixels > 0 ? std::min(max_pixels, width) : width;
      }
      fit = std::min(fit, std::max<int64_t>(1, budget / (row_bytes * width)));
    }
    step_ = std::min(w.co, fit * unit);
    if (wide_) {
      const int64_t bytes = CodeBlocks(step_) * width * kWide;
      rows_ = std::max<int64_t>(
          1, std::min<int64_t>(spec_.window.out[0], budget / bytes));
      if (accumulated > 0) {
        rows_ = std::clamp<int64_t>(accumulated / width, 1, rows_);
        (spec_.rows_result ? max_rows : max_pixels) = rows_ * width;
      }
      temporary_bytes = rows_ * bytes;
    }
    groups.clear();
    for (int64_t first = 0; first < w.co; first += step_) {
      const int64_t count = std::min(step_, w.co - first);
      for (const Contraction& part : parts_) AddGroup(first, count, part);
    }
    if (groups.size() > 1) {
      // Of a matrix of codes the columns are channels: it is blocked.
      (wide_ && spec_.rows_result ? group_columns : group_channels) =
          group_outputs_;
    }
  }

  void AddGroup(int64_t first, int64_t count, const Contraction& part) {
    const CodeWeights& w = spec_.weights;
    const Slice ci{part.ci0, part.ci};
    uint64_t bytes = CodeBlocks(count) * (zw_channel_ ? 9 : 8) * kWord;
    if (spec_.w_mode == isa::WeightMode::kPacked) {
      bytes += spec_.mode == isa::MatrixMode::kDepthwise
                   ? CodeBlocks(count) * w.kh * w.kw * kWord
                   : PackedBytes(w, count, part, config_);
    } else if (step_ < w.co || parts_.cut()) {
      const Slice o{first, count};
      const bool column = spec_.w_mode == isa::WeightMode::kColumn;
      inputs[1].channel_slices.push_back(column ? o : ci);
      inputs[1].row_slices.push_back(column ? ci : o);
    }
    if (parts_.cut()) inputs[0].channel_slices.push_back(ci);
    if (KernelRowsAtOnce(spec_.window, config_.sram_bytes) < w.kh) {
      inputs[0].row_slices.push_back(
          RowsUnder(spec_.window, part.ky0, part.ky));
    }
    group_outputs_.push_back({first, count});
    groups.push_back({0, AlignToRegion(bytes)});
  }

  // Some rows at a time to [block][row][column][16] in the temporary, from
  // there to ONNX's order.
  void EmitWide(Emitter* emitter, isa::Conv c, const Tile& tile, int64_t first,
                int64_t count) const {
    const TileView& out = tile.output;
    const int64_t columns = c.ow;
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    const uint32_t row0 = c.out_row0;
    c.out_addr = tile.temporary / kWord;
    c.out_xstep = 4;
    c.out_pitch = 4 * columns;
    for (int64_t row = 0; row < tile.rows; row += rows_) {
      const int64_t rows = std::min(rows_, tile.rows - row);
      c.out_row0 = row0 + row;
      c.out_rows = rows;
      c.out_plane = 4 * columns * rows;
      emitter->Append(c);
      if (c.acc_hold) continue;
      for (int64_t done = 0; done < count; done += kCodeBlock) {
        LoopOperand a, d;
        a.type = d.type = type_;
        a.base = tile.temporary + done / kCodeBlock * columns * rows * kWide;
        a.strides = {4, kWide, columns * kWide};
        const int64_t channel = spec_.rows_result ? out.xstep : out.plane;
        d.base = RowBase(out, tile.row0 + row) + (first + done) * channel;
        if (!spec_.rows_result) d.base += tile.column0 * int64_t{out.xstep};
        d.strides = {channel, spec_.rows_result ? 0 : out.xstep, out.pitch};
        EmitLoop(emitter, run,
                 {std::min(kCodeBlock, count - done), columns, rows}, {a}, d);
      }
    }
  }

  const isa::Config config_;
  QMatMulSpec spec_;
  bool wide_;
  bool zw_channel_ = false;
  isa::ElementType type_ = isa::ElementType::kS32;
  int64_t step_ = 0;                  // output channels of a group
  std::vector<Slice> group_outputs_;  // output channels by group
  ContractionParts parts_;
  int64_t rows_ = 1;  // rows of the temporary
};

// Between [matrices, 1, rows, columns] dense and rows. With a map, image i
// comes from matrix map[i] of a dense value that is one image.
class RowsCopy : public ClonableOp<RowsCopy> {
 public:
  RowsCopy(const DeviceGraph& graph, int from, int to, int64_t rows,
           std::vector<int64_t> map)
      : to_rows_(graph.StorageOf(to).layout == Layout::kBlocked),
        type_(MoveType(graph.StorageOf(to).type)),
        rows_(rows),
        map_(std::move(map)) {
    engine = "vector";
    output = to;
    tileable = true;
    (to_rows_ ? channels_tileable : columns_tileable) = true;
    if (!to_rows_) column_step = kCodeBlock;
    OpInput in;
    in.value = from;
    in.rows.kind = map_.empty() ? AxisNeed::kSame : AxisNeed::kWhole;
    in.swapped = true;
    (to_rows_ ? in.columns : in.channels).kind = AxisNeed::kSame;
    inputs = {in};
  }

  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const int64_t begin = to_rows_ ? tile.channel0 : tile.column0;
    const int64_t columns = to_rows_ ? tile.channels : tile.columns;
    const int64_t full = columns / kCodeBlock, rest = columns % kCodeBlock;
    if (full) EmitColumns(emitter, tile, begin, kCodeBlock, full);
    if (rest) EmitColumns(emitter, tile, begin + full * kCodeBlock, rest, 1);
  }

 private:
  void EmitColumns(Emitter* emitter, const Tile& tile, int64_t first,
                   int64_t count, int64_t blocks) const {
    auto dense = [&](const TileView& v, int64_t row) {
      LoopOperand o;
      o.type = type_;
      o.base = AddressOf(v, 0, row, first);
      o.strides = {v.xstep, v.pitch, kCodeBlock * v.xstep};
      return o;
    };
    auto blocked = [&](const TileView& v) {
      LoopOperand o;
      o.type = type_;
      o.base = AddressOf(v, first / kCodeBlock, tile.row0, 0);
      o.strides = {1, v.pitch, v.plane};
      return o;
    };
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    const int64_t skip = map_.empty() ? 0 : map_[tile.image] * rows_;
    EmitLoop(emitter, run, {count, tile.rows, blocks},
             {to_rows_ ? dense(in, tile.row0 + skip) : blocked(in)},
             to_rows_ ? blocked(out) : dense(out, tile.row0));
  }

  bool to_rows_;
  isa::ElementType type_;
  int64_t rows_;
  std::vector<int64_t> map_;
};

}  // namespace

void AddRowsCopy(Lowering* l, const Node& node, int from, int to) {
  const int64_t rows = l->device().values[to].extent.h;
  l->Add(std::make_unique<RowsCopy>(l->device(), from, to, rows,
                                    std::vector<int64_t>()),
         node);
}

std::unique_ptr<DeviceOp> MakeProduct(Lowering* l, QMatMulSpec spec, int a,
                                      int b, int to) {
  return std::make_unique<Product>(l, std::move(spec), a, b, to);
}

int RowsOf(Lowering* l, const Node& node, TensorId id, int64_t rows,
           int64_t columns, const std::vector<int64_t>& map, bool transposed) {
  const Tensor t = l->tensor(id);
  const auto count = static_cast<int64_t>(map.size());
  bool identity = true;
  for (int64_t i = 0; i < count; ++i) identity &= map[i] == i;
  const int64_t have = ElementCount(t.shape) / (rows * columns);
  const StackInRows* stack = l->FindRows(id);
  if (stack != nullptr && stack->transposed == transposed && identity &&
      have == count) {
    // What had one second operand may be one matrix of all rows.
    const Extent& e = l->device().values[stack->value].extent;
    if (e.n == count && e.h == rows && e.c == columns) return stack->value;
  }
  const bool plain = !transposed && have == 1;
  if (plain && t.shape.size() == 2) {
    return l->ValueIn(id, Layout::kBlocked, node);
  }
  // A matrix that every product takes is one image.
  const int64_t images = have == 1 ? 1 : count;
  const int dense = l->ValueIn(id, Layout::kDense, node);
  const int to = l->NewTemporary(absl::StrCat(t.name, "/rows"), t.type,
                                 {images, columns, rows, 1}, Layout::kBlocked);
  const bool mapped = have > 1 && !(identity && have == count);
  const int64_t high = transposed ? columns : rows;
  const int64_t wide = transposed ? rows : columns;
  // What is taken from all over the stack, and does not fit beside anything
  // else, is first moved to its place.
  const bool moved =
      mapped &&
      (transposed ||
       have * high * wide > static_cast<int64_t>(l->config().sram_bytes / 8));
  int from = dense;
  if (moved) {
    IndexMap taken = IdentityMap({have, high, wide});
    taken.axes[0] = map;
    from = TakeValue(l, node, l->Reshaped(dense, {have, high, wide}), taken);
  }
  if (transposed) {
    // Rows of one, or columns: the same words.
    l->Add(MakeRelayout(&l->device(),
                        l->Reshaped(from, {images, columns, 1, rows}),
                        l->Reshaped(to, {images, columns, 1, rows})),
           node);
    return to;
  }
  const bool here = mapped && !moved;
  from = l->Reshaped(from, here ? Shape{1, 1, have * high, wide}
                                : Shape{images, 1, high, wide});
  l->Add(std::make_unique<RowsCopy>(l->device(), from, to, rows,
                                    here ? map : std::vector<int64_t>()),
         node);
  return to;
}

int DenseOfRows(Lowering* l, const Node& node, int rows_value) {
  const Extent e = l->device().values[rows_value].extent;
  const Storage& s = l->device().StorageOf(rows_value);
  const int to = l->NewTemporary(absl::StrCat(s.name, "/dense"), s.type,
                                 {e.n, 1, e.h, e.c}, Layout::kDense);
  l->Add(std::make_unique<RowsCopy>(l->device(), rows_value, to, e.h,
                                    std::vector<int64_t>()),
         node);
  return to;
}

absl::StatusOr<CodeWeights> MergeGroups(const Node& node, const CodeWeights& w,
                                        int64_t group, int64_t together,
                                        const std::vector<uint8_t>& zero) {
  CodeWeights full = w;
  full.ci = w.ci * together;
  const int64_t maps = w.co / group, taps = w.kh * w.kw, run = w.ci * taps;
  const auto bytes = static_cast<int64_t>(w.codes->size());
  if (bytes > kMaxFullWeights / together) {
    return RejectNode(Rejection::kUnsupportedShape, node, "its ", bytes,
                      " bytes of weights in ", group, " groups are made ",
                      group / together, " with at most ", kMaxFullWeights,
                      " bytes; split the convolution");
  }
  std::vector<uint8_t> codes;
  codes.reserve(bytes * together);
  for (int64_t o = 0; o < w.co; ++o) {
    for (int64_t g = 0; g < together; ++g) {
      if (g == o / maps % together) {
        codes.insert(codes.end(), w.codes->begin() + o * run,
                     w.codes->begin() + (o + 1) * run);
      } else {
        codes.insert(codes.end(), run, zero[o]);
      }
    }
  }
  full.codes = std::make_shared<const TensorBytes>(std::move(codes));
  return full;
}

std::vector<uint8_t> ZeroCodes(const TensorData* zero, int64_t channels) {
  std::vector<uint8_t> codes(channels, 0);
  for (int64_t i = 0; zero != nullptr && i < channels; ++i) {
    codes[i] = zero->bytes[zero->count() == 1 ? 0 : i];
  }
  return codes;
}

std::vector<float> ScalePerChannel(const TensorData& scale, int64_t channels) {
  std::vector<float> values(channels);
  for (int64_t i = 0; i < channels; ++i) values[i] = ScaleAt(scale, i);
  return values;
}

}  // namespace heddle::compiler
