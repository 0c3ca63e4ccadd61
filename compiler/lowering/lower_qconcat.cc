// SPDX-License-Identifier: Apache-2.0
// QLinearConcat. In the blocked layout parts are joined along rows, columns or
// channels: parts that need no change of codes and begin with whole words are
// computed in their place, if all are such; else words go through the part's
// table on the matrix engine, and a part that
// does not begin with a whole word of channels is then put in place, a run of
// channels at a time, by the vector engine. Other axes, and channels of which a
// single pixel is much of SRAM, are joined in ONNX's order.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/move.h"
#include "compiler/device_ops/relayout.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

struct Part {
  TensorId id = kNoTensor;
  std::vector<uint8_t> table;  // empty: copied
  int value = -1;
  int64_t begin = 0, count = 0;  // along the axis
};

constexpr int64_t kBufferAlign = 64;  // of a part's buffer in SRAM
constexpr int64_t kTableBytes = 256;

enum class Axis { kChannels, kRows, kColumns };

class BlockedConcat : public ClonableOp<BlockedConcat> {
 public:
  BlockedConcat(Lowering* l, bool is_signed, Axis axis, std::vector<Part> parts,
                int to)
      : axis_(axis),
        type_(is_signed ? isa::ElementType::kS8 : isa::ElementType::kU8),
        map_(is_signed, l->device().values[to].extent.c,
             l->config().sram_bytes),
        parts_(std::move(parts)) {
    engine = "matrix";
    output = to;
    tileable = columns_tileable = true;
    channels_tileable = axis != Axis::kChannels;
    std::vector<uint8_t> blob = map_.constants();
    std::map<std::vector<uint8_t>, uint32_t> known;
    int64_t widest = 0;
    for (const Part& part : parts_) {
      OpInput in;
      in.value = part.value;
      const AxisNeed shifted{AxisNeed::kWindow, 1, part.begin, 1};
      in.rows.kind = in.columns.kind = AxisNeed::kSame;
      if (axis == Axis::kRows) in.rows = shifted;
      if (axis == Axis::kColumns) in.columns = shifted;
      if (channels_tileable) in.channels.kind = AxisNeed::kSame;
      inputs.push_back(in);
      extents_.push_back(l->device().values[part.value].extent);
      const auto [table, is_new] = known.try_emplace(part.table, blob.size());
      if (is_new) {
        blob.insert(blob.end(), part.table.begin(), part.table.end());
      }
      tables_.push_back(table->second);
      if (!Aligned(part)) {
        engine = "vector";
        if (!part.table.empty()) {
          widest = std::max(widest, extents_.back().c);
        }
      }
    }
    SetConstants(std::move(blob));
    if (widest == 0) return;
    // A part on its way through the table, some pixels at a time.
    const Extent& e = l->device().values[to].extent;
    const int64_t pixel = CodeBlocks(widest) * isa::kWordBytes;
    const auto share = static_cast<int64_t>(l->config().sram_bytes / 8);
    pixels_ = std::clamp<int64_t>(share / pixel, 1, e.h * e.w);
    temporary_bytes = pixels_ * pixel;
  }

  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    for (size_t i = 0; i < parts_.size(); ++i) {
      // What the part has in the tile, in the result's coordinates.
      const auto clip = [&](Axis axis, int64_t first, int64_t count) {
        if (axis_ != axis) return Slice{first, count};
        const int64_t from = std::max(first, parts_[i].begin);
        return Slice{
            from,
            std::min(first + count, parts_[i].begin + parts_[i].count) - from};
      };
      const Slice rows = clip(Axis::kRows, tile.row0, tile.rows);
      const Slice columns = clip(Axis::kColumns, tile.column0, tile.columns);
      if (rows.count > 0 && columns.count > 0) {
        EmitPart(emitter, tile, i, rows, columns);
      }
    }
  }

 private:
  bool Aligned(const Part& part) const {
    return axis_ != Axis::kChannels || part.begin % kCodeBlock == 0;
  }

  void EmitPart(Emitter* emitter, const Tile& tile, size_t i, const Slice& rows,
                const Slice& columns) const {
    const Part& part = parts_[i];
    const TileView& in = tile.inputs[i];
    const TileView& out = tile.output;
    const CodeMap::Constants constants{tile.constants, !part.table.empty(),
                                       tile.constants + tables_[i]};
    const auto shift = [&](Axis axis) {
      return axis_ == axis ? part.begin : 0;
    };
    const bool all_channels = axis_ == Axis::kChannels;
    const int64_t block = all_channels ? 0 : tile.channel0 / kCodeBlock;
    const int64_t channels = all_channels ? extents_[i].c : tile.channels;
    const CodeMap::Words from{
        AddressOf(in, block, rows.first - shift(Axis::kRows),
                  columns.first - shift(Axis::kColumns)),
        in.pitch, in.plane};
    CodeMap::Words to{AddressOf(out, block, rows.first, columns.first),
                      out.pitch, out.plane};
    if (Aligned(part)) {
      to.base += shift(Axis::kChannels) / kCodeBlock * out.plane;
      map_.Emit(emitter, constants, from, to, channels, rows.count,
                columns.count);
      return;
    }
    if (part.table.empty()) {
      Shift(emitter, i, from, to, rows.count, columns.count);
      return;
    }
    const int64_t wide = std::min(columns.count, pixels_);
    const int64_t high = std::max<int64_t>(1, pixels_ / wide);
    for (int64_t row = 0; row < rows.count; row += high) {
      for (int64_t column = 0; column < columns.count; column += wide) {
        const int64_t r = std::min(high, rows.count - row);
        const int64_t c = std::min(wide, columns.count - column);
        CodeMap::Words piece = from, there = to, here;
        piece.base += row * from.pitch + column * isa::kWordBytes;
        there.base += row * to.pitch + column * isa::kWordBytes;
        here.base = tile.temporary;
        here.pitch = c * isa::kWordBytes;
        here.plane = here.pitch * r;
        map_.Emit(emitter, constants, piece, here, channels, r, c);
        Shift(emitter, i, here, there, r, c);
      }
    }
  }

  // Runs of channels that lie in one word on both sides.
  void Shift(Emitter* emitter, size_t i, const CodeMap::Words& from,
             const CodeMap::Words& to, int64_t rows, int64_t columns) const {
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    const int64_t channels = extents_[i].c;
    for (int64_t c = 0; c < channels;) {
      const int64_t at = parts_[i].begin + c;
      const int64_t count = std::min({channels - c, kCodeBlock - c % kCodeBlock,
                                      kCodeBlock - at % kCodeBlock});
      auto operand = [&](const CodeMap::Words& words, int64_t channel) {
        LoopOperand o;
        o.type = type_;
        o.base = words.base + channel / kCodeBlock * words.plane +
                 channel % kCodeBlock;
        o.strides = {isa::kWordBytes, words.pitch, 1};
        return o;
      };
      EmitLoop(emitter, run, {columns, rows, count}, {operand(from, c)},
               operand(to, at));
      c += count;
    }
  }

  Axis axis_;
  isa::ElementType type_;
  CodeMap map_;
  std::vector<Part> parts_;
  std::vector<Extent> extents_;
  std::vector<uint32_t> tables_;  // where a part's lies in the constants
  int64_t pixels_ = 1;            // of the temporary
};

// The dimension of the blocked layout that an axis is.
bool BlockedAxis(size_t axis, size_t rank, Axis* found) {
  if (rank == 0 || rank > 4) return false;
  if (rank <= 2) {
    *found = axis + 1 == rank ? Axis::kChannels : Axis::kRows;
    return true;
  }
  if (axis == 0) return false;
  *found = axis == 1          ? Axis::kChannels
           : axis + 1 == rank ? Axis::kColumns
                              : Axis::kRows;
  return true;
}

// Along channels of one image, where no part needs its codes changed and all
// begin with a whole word: what computes a part puts it in its place, and parts
// that something else has are copied there. False: nothing has been done.
bool PutInPlace(Lowering* l, const Node& node, bool is_signed, int to,
                const std::vector<Part>& parts) {
  const Extent e = l->device().values[to].extent;
  for (const Part& part : parts) {
    if (part.begin % kCodeBlock != 0 || !part.table.empty()) return false;
  }
  std::vector<const Part*> others;
  for (const Part& part : parts) {
    if (!l->Adopt(part.value, to, part.begin * e.h * e.w)) {
      others.push_back(&part);
    }
  }
  if (others.size() == parts.size()) return false;
  for (const Part* part : others) {
    const int place =
        l->Part(to, part->begin * e.h * e.w, l->tensor(part->id).shape);
    Part alone = *part;
    alone.begin = 0;
    l->Add(std::make_unique<BlockedConcat>(l, is_signed, Axis::kChannels,
                                           std::vector<Part>{alone}, place),
           node);
  }
  return true;
}

absl::Status LowerConcat(Lowering* l, const Node& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i >= 2 && i % 3 == 2) continue;
    RETURN_IF_ERROR(NeedConstants(*l, node, {i}));
  }
  const TensorId out = node.outputs[0];
  const DataType type = l->tensor(out).type;
  const Shape shape = l->tensor(out).shape;
  size_t axis = 0;
  NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), &axis);
  Node single = node;  // one part, of rank 1
  single.attributes["axis"] = int64_t{0};
  std::vector<Part> parts;
  int64_t at = 0;
  for (size_t i = 2; i + 2 < node.inputs.size(); i += 3) {
    Part part;
    part.id = node.inputs[i];
    part.begin = at;
    part.count = l->tensor(part.id).shape[axis];
    at += part.count;
    if (part.count == 0) continue;
    ASSIGN_OR_RETURN(
        auto table,
        TableOf(*l, single, type,
                {l->ConstantInput(node, 0), l->ConstantInput(node, 1), nullptr,
                 l->ConstantInput(node, i + 1), l->ConstantInput(node, i + 2)},
                2));
    for (int c = 0; c < 256; ++c) {
      if (table[c] != c) {
        part.table = std::move(table);
        break;
      }
    }
    parts.push_back(std::move(part));
  }
  const bool is_signed = type == DataType::kInt8;
  Axis blocked = Axis::kChannels;
  const auto sram = static_cast<int64_t>(l->config().sram_bytes);
  // A pixel of all channels, of parts and result, or a word of each part; and
  // the tables.
  const auto count = static_cast<int64_t>(parts.size());
  const int64_t pixel = 2 * shape[axis] + isa::kWordBytes * (count + 1);
  const int64_t words = kBufferAlign * count;
  const int64_t tables =
      std::count_if(parts.begin(), parts.end(),
                    [](const Part& p) { return !p.table.empty(); });
  if (BlockedAxis(axis, shape.size(), &blocked) &&
      (blocked != Axis::kChannels || pixel <= sram / 4) && words <= sram / 4 &&
      tables * kTableBytes <= sram / 4) {
    for (Part& part : parts) {
      part.value = l->ValueIn(part.id, Layout::kBlocked, node);
    }
    const int to = l->NewValue(out, Layout::kBlocked);
    if (blocked == Axis::kChannels && shape.size() == 4 && shape[0] == 1 &&
        PutInPlace(l, node, is_signed, to, parts)) {
      return absl::OkStatus();
    }
    l->Add(std::make_unique<BlockedConcat>(l, is_signed, blocked,
                                           std::move(parts), to),
           node);
    return absl::OkStatus();
  }
  const int64_t outer =
      ElementCount(Shape(shape.begin(), shape.begin() + axis));
  const int64_t inner =
      ElementCount(Shape(shape.begin() + axis + 1, shape.end()));
  std::vector<int> operands;
  std::vector<MoveBox> boxes;
  for (const Part& part : parts) {
    int dense = -1;
    if (part.table.empty()) {
      dense = l->ValueIn(part.id, Layout::kDense, node);
    } else {
      const Tensor& t = l->tensor(part.id);
      const int from = l->ValueIn(part.id, Layout::kBlocked, node);
      const int mapped = l->NewTemporary(t.name + "/requantized", t.type,
                                         t.shape, Layout::kBlocked);
      l->Add(MakeTableOp(l, is_signed, part.table, from, mapped), node);
      dense =
          l->NewTemporary(t.name + "/dense", t.type, t.shape, Layout::kDense);
      l->Add(MakeRelayout(&l->device(), mapped, dense), node);
    }
    MoveBox box;
    box.input = static_cast<int>(operands.size());
    box.result = part.begin * inner;
    box.dims = {{outer, part.count * inner, shape[axis] * inner},
                {part.count * inner, 1, 1}};
    boxes.push_back(box);
    operands.push_back(dense);
  }
  const int to = l->NewValue(out, Layout::kDense);
  AddMove(l, node, operands, std::move(boxes), to);
  return absl::OkStatus();
}

const LoweringRegistration kConcat("com.microsoft", "QLinearConcat",
                                   LowerConcat);

}  // namespace
}  // namespace heddle::compiler
