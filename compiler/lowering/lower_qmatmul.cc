// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/lower_qmatmul.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/relayout.h"
#include "compiler/ops/codes.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/conv_window.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

constexpr uint32_t kWord = isa::kWordBytes;
// Of a grouped convolution made one of a single group: its weights grow by the
// number of groups.
constexpr int64_t kMaxFullWeights = int64_t{256} << 20;
constexpr int64_t kWide = 64;  // bytes of 16 results of 4 bytes

class Product : public DeviceOp {
 public:
  Product(Lowering* l, QMatMulSpec spec, int a, int b, int to)
      : spec_(std::move(spec)),
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
    in.rows = {AxisNeed::kWindow, w.stride[0], w.pad_begin[0],
               (w.kernel[0] - 1) * w.dilation[0] + 1};
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
    Pack(l);
    // (columns of a product are output channels)
    columns_tileable = !spec_.rows_result;
    if (columns_tileable) inputs[0].columns = ColumnNeed(w);
    if (spec_.mode == isa::MatrixMode::kDepthwise) {
      inputs[0].channels.kind = AxisNeed::kSame;
    }
  }

  std::vector<Microprogram> Programs() const override {
    if (wide_) return {CopyProgram()};
    return {};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Window& w = spec_.window;
    const TileView& in = tile.inputs[0];
    const auto parts = static_cast<int>(parts_.size());
    const Contraction& part = parts_[tile.group % parts];
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
    SetWindow(w, inputs[0].columns, tile, in, block, !columns_tileable, &c);
    c.kh = part.ky;
    c.pad_top -= part.ky0 * w.dilation[0];
    c.out_rows = tile.rows;
    c.out_row0 = tile.row0;
    c.co = count;
    c.ci = spec_.mode == isa::MatrixMode::kDepthwise ? count : part.ci;
    c.acc_continue = tile.group % parts > 0;
    c.acc_hold = (tile.group + 1) % parts != 0;
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
  // Parameters, and weights that are constant, in as many groups as fit. Where
  // the weights of one block of output channels are too many, groups are ranges
  // of input channels, and each continues what the one before has accumulated.
  void Pack(Lowering* l) {
    const isa::Config& config = l->config();
    const CodeWeights& w = spec_.weights;
    const int64_t budget = config.sram_bytes / 8;
    const int64_t unit = std::max<int64_t>(kCodeBlock, config.lanes_out);
    const int64_t lanes = config.lanes_in;
    // Of one block of output channels. Computed weights are there as a whole
    // unless they are many.
    const int64_t ci = (w.ci + lanes - 1) / lanes * lanes;
    const bool sliced =
        spec_.w_mode == isa::WeightMode::kPacked || w.co * ci > 2 * budget;
    const int64_t unit_bytes =
        unit / kCodeBlock * 9 * kWord + (sliced ? unit * w.kh * w.kw * ci : 0);
    parts_ = {{0, w.ci, 0, w.kh}};
    if (unit_bytes > 2 * budget && spec_.mode == isa::MatrixMode::kConv) {
      parts_ = CutContraction(w, 2 * budget, config);
    }
    int64_t fit = std::max<int64_t>(1, 2 * budget / unit_bytes);
    int64_t width = spec_.window.out[1];
    if (parts_.size() > 1) {
      max_pixels = config.acc_pixels * config.lanes_out / unit;
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
      // What is accumulated in parts is one command.
      if (parts_.size() > 1) rows_ = std::max<int64_t>(1, max_pixels / width);
      temporary_bytes = rows_ * bytes;
    }
    std::vector<int32_t> bias = spec_.bias;
    if (!spec_.float_bias.empty()) {
      std::memcpy(bias.data(), spec_.float_bias.data(),
                  bias.size() * sizeof(float));
    }
    groups.clear();
    for (int64_t first = 0; first < w.co; first += step_) {
      const int64_t count = std::min(step_, w.co - first);
      const std::vector<uint8_t> parameters = PackParameters(
          bias, spec_.scale, spec_.weight_zero, zw_channel_, first, count);
      for (const Contraction& part : parts_) {
        AddGroup(l, first, count, part, parameters);
      }
    }
    if (groups.size() == 1) {
      group_channels.clear();
      group_columns.clear();
    }
  }

  void AddGroup(Lowering* l, int64_t first, int64_t count,
                const Contraction& part,
                const std::vector<uint8_t>& parameters) {
    const CodeWeights& w = spec_.weights;
    const Slice ci{part.ci0, part.ci};
    std::vector<uint8_t> blob = parameters;
    if (spec_.w_mode == isa::WeightMode::kPacked) {
      const std::vector<uint8_t> packed =
          spec_.mode == isa::MatrixMode::kDepthwise
              ? PackDepthwise(w, first, count, spec_.weight_zero)
              : PackConv(w, first, count, part, spec_.weight_zero, l->config());
      blob.insert(blob.end(), packed.begin(), packed.end());
    } else if (step_ < w.co || parts_.size() > 1) {
      const Slice o{first, count};
      const bool column = spec_.w_mode == isa::WeightMode::kColumn;
      inputs[1].channel_slices.push_back(column ? o : ci);
      inputs[1].row_slices.push_back(column ? ci : o);
    }
    if (parts_.size() > 1) inputs[0].channel_slices.push_back(ci);
    (spec_.rows_result ? group_columns : group_channels)
        .push_back({first, count});
    groups.push_back(l->device().constants.Add(blob));
  }

  // Some rows at a time to [block][row][column][16] in the temporary, from
  // there to ONNX's order.
  void EmitWide(Emitter* emitter, isa::Conv c, const Tile& tile, int64_t first,
                int64_t count) const {
    const TileView& out = tile.output;
    const int64_t columns = c.ow;
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    c.out_addr = tile.temporary / kWord;
    c.out_xstep = 4;
    c.out_pitch = 4 * columns;
    for (int64_t row = 0; row < tile.rows; row += rows_) {
      const int64_t rows = std::min(rows_, tile.rows - row);
      c.out_row0 = tile.row0 + row;
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

  QMatMulSpec spec_;
  bool wide_;
  bool zw_channel_ = false;
  isa::ElementType type_ = isa::ElementType::kS32;
  int64_t step_ = 0;  // output channels of a group
  // Groups that contract one block of output channels.
  std::vector<Contraction> parts_;
  int64_t rows_ = 1;  // rows of the temporary
};

// Between [matrices, 1, rows, columns] dense and rows. With a map, image i
// comes from matrix map[i] of a dense value that is one image.
class RowsCopy : public DeviceOp {
 public:
  RowsCopy(const DeviceGraph& graph, int from, int to, int64_t rows,
           int64_t columns, std::vector<int64_t> map, bool transposed)
      : to_rows_(graph.StorageOf(to).layout == Layout::kBlocked),
        type_(MoveType(graph.StorageOf(to).type)),
        rows_(rows),
        columns_(columns),
        map_(std::move(map)),
        transposed_(transposed) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind =
        map_.empty() && !transposed ? AxisNeed::kSame : AxisNeed::kWhole;
    inputs = {in};
  }

  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const int64_t full = columns_ / kCodeBlock, rest = columns_ % kCodeBlock;
    if (full) EmitColumns(emitter, tile, 0, kCodeBlock, full);
    if (rest) EmitColumns(emitter, tile, full * kCodeBlock, rest, 1);
  }

 private:
  void EmitColumns(Emitter* emitter, const Tile& tile, int64_t first,
                   int64_t count, int64_t blocks) const {
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    auto dense = [&](const TileView& v, int64_t row) {
      LoopOperand o;
      o.type = type_;
      if (transposed_) {
        o.base = RowBase(v, first) + row * v.xstep;
        o.strides = {v.pitch, v.xstep, kCodeBlock * v.pitch};
      } else {
        o.base = RowBase(v, row) + first * v.xstep;
        o.strides = {v.xstep, v.pitch, kCodeBlock * v.xstep};
      }
      return o;
    };
    auto blocked = [&](const TileView& v) {
      LoopOperand o;
      o.type = type_;
      o.base = RowBase(v, tile.row0) + first / kCodeBlock * v.plane;
      o.strides = {1, v.pitch, v.plane};
      return o;
    };
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    const int64_t skip = map_.empty() ? 0 : map_[tile.image];
    if (to_rows_) {
      const int64_t row = tile.row0 + (transposed_ ? 0 : skip * rows_);
      LoopOperand a = dense(in, row);
      if (transposed_) a.base += skip * columns_ * in.pitch;
      EmitLoop(emitter, run, {count, tile.rows, blocks}, {a}, blocked(out));
    } else {
      EmitLoop(emitter, run, {count, tile.rows, blocks}, {blocked(in)},
               dense(out, tile.row0));
    }
  }

  bool to_rows_;
  isa::ElementType type_;
  int64_t rows_, columns_;
  std::vector<int64_t> map_;
  bool transposed_;
};

}  // namespace

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
  const int from = l->Reshaped(dense, mapped ? Shape{1, 1, have * high, wide}
                                             : Shape{have, 1, high, wide});
  l->Add(std::make_unique<RowsCopy>(l->device(), from, to, rows, columns,
                                    mapped ? map : std::vector<int64_t>(),
                                    transposed),
         node);
  return to;
}

int DenseOfRows(Lowering* l, const Node& node, int rows_value) {
  const Extent e = l->device().values[rows_value].extent;
  const Storage& s = l->device().StorageOf(rows_value);
  const int to = l->NewTemporary(absl::StrCat(s.name, "/dense"), s.type,
                                 {e.n, 1, e.h, e.c}, Layout::kDense);
  l->Add(std::make_unique<RowsCopy>(l->device(), rows_value, to, e.h, e.c,
                                    std::vector<int64_t>(), false),
         node);
  return to;
}

absl::StatusOr<CodeWeights> MergeGroups(const Node& node, const CodeWeights& w,
                                        int64_t group, int64_t together,
                                        const std::vector<uint8_t>& zero) {
  CodeWeights full = w;
  full.ci = w.ci * together;
  const int64_t maps = w.co / group, taps = w.kh * w.kw, run = w.ci * taps;
  const auto bytes = static_cast<int64_t>(w.codes.size());
  if (bytes > kMaxFullWeights / together) {
    return RejectNode(Rejection::kUnsupportedShape, node, "its ", bytes,
                      " bytes of weights in ", group, " groups are made ",
                      group / together, " with at most ", kMaxFullWeights,
                      " bytes; split the convolution");
  }
  full.codes.clear();
  full.codes.reserve(bytes * together);
  for (int64_t o = 0; o < w.co; ++o) {
    for (int64_t g = 0; g < together; ++g) {
      if (g == o / maps % together) {
        full.codes.insert(full.codes.end(), w.codes.begin() + o * run,
                          w.codes.begin() + (o + 1) * run);
      } else {
        full.codes.insert(full.codes.end(), run, zero[o]);
      }
    }
  }
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
