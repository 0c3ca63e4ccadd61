// SPDX-License-Identifier: Apache-2.0
// QLinearConcat. In the blocked layout parts are joined along rows, columns or
// channels: parts that need no change of codes and begin with whole words are
// computed in their place, if all are such; else words go through the part's
// table on the matrix engine, and a part that
// does not begin with a whole word of channels is then put in place, a run of
// channels at a time, by the vector engine. Other axes are joined in ONNX's
// order.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/lower_codes.h"
#include "compiler/lowering/move.h"
#include "compiler/lowering/relayout.h"
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

enum class Axis { kChannels, kRows, kColumns };

class BlockedConcat : public DeviceOp {
 public:
  BlockedConcat(Lowering* l, bool is_signed, Axis axis, std::vector<Part> parts,
                int to)
      : axis_(axis),
        type_(is_signed ? isa::ElementType::kS8 : isa::ElementType::kU8),
        extent_(l->device().values[to].extent),
        parts_(std::move(parts)) {
    engine = "matrix";
    output = to;
    tileable = true;
    std::vector<uint8_t> blob;
    int64_t widest = 0;
    for (const Part& part : parts_) {
      OpInput in;
      in.value = part.value;
      in.rows.kind = AxisNeed::kSame;
      if (axis == Axis::kRows) in.rows = {AxisNeed::kWindow, 1, part.begin, 1};
      inputs.push_back(in);
      const Extent& e = l->device().values[part.value].extent;
      extents_.push_back(e);
      maps_.emplace_back(is_signed, part.table, e.c);
      offsets_.push_back(blob.size());
      const auto& constants = maps_.back().constants();
      blob.insert(blob.end(), constants.begin(), constants.end());
      if (!Aligned(part)) {
        engine = "vector";
        if (!part.table.empty()) widest = std::max(widest, e.c);
      }
    }
    groups = {l->device().constants.Add(blob)};
    // A part on its way through the table, some rows at a time.
    temporary_rows_ = std::max<int64_t>(
        1, std::min<int64_t>(extent_.h,
                             l->config().sram_bytes / 8 /
                                 std::max<int64_t>(1, RowBytes(widest))));
    temporary_bytes = temporary_rows_ * RowBytes(widest);
  }

  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    for (size_t i = 0; i < parts_.size(); ++i) {
      int64_t row = tile.row0, rows = tile.rows, shift = 0;
      if (axis_ == Axis::kRows) {
        shift = parts_[i].begin;
        row = std::max(tile.row0, shift);
        rows = std::min(tile.row0 + tile.rows, shift + parts_[i].count) - row;
        if (rows <= 0) continue;
      }
      EmitPart(emitter, tile, i, row, rows, row - shift);
    }
  }

 private:
  bool Aligned(const Part& part) const {
    return axis_ != Axis::kChannels || part.begin % kCodeBlock == 0;
  }
  int64_t RowBytes(int64_t channels) const {
    return CodeBlocks(channels) * extent_.w * isa::kWordBytes;
  }

  // Rows [row, row + rows) of the result from `from_row` on of part i.
  void EmitPart(Emitter* emitter, const Tile& tile, size_t i, int64_t row,
                int64_t rows, int64_t from_row) const {
    const Part& part = parts_[i];
    const TileView& in = tile.inputs[i];
    const TileView& out = tile.output;
    const uint32_t constants = tile.constants + offsets_[i];
    CodeMap::Words from{RowBase(in, from_row), in.pitch, in.plane};
    CodeMap::Words to{RowBase(out, row), out.pitch, out.plane};
    if (axis_ == Axis::kColumns) to.base += part.begin * out.xstep;
    if (Aligned(part)) {
      if (axis_ == Axis::kChannels) {
        to.base += part.begin / kCodeBlock * out.plane;
      }
      maps_[i].Emit(emitter, constants, from, to, extents_[i].c, rows,
                    extents_[i].w);
      return;
    }
    if (part.table.empty()) {
      Shift(emitter, i, from, to, rows);
      return;
    }
    for (int64_t done = 0; done < rows; done += temporary_rows_) {
      const int64_t count = std::min(temporary_rows_, rows - done);
      CodeMap::Words piece = from, there = to, here;
      piece.base += done * from.pitch;
      there.base += done * to.pitch;
      here.base = tile.temporary;
      here.pitch = extent_.w * isa::kWordBytes;
      here.plane = here.pitch * count;
      maps_[i].Emit(emitter, constants, piece, here, extents_[i].c, count,
                    extents_[i].w);
      Shift(emitter, i, here, there, count);
    }
  }

  // Runs of channels that lie in one word on both sides.
  void Shift(Emitter* emitter, size_t i, const CodeMap::Words& from,
             const CodeMap::Words& to, int64_t rows) const {
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
      EmitLoop(emitter, run, {extents_[i].w, rows, count}, {operand(from, c)},
               operand(to, at));
      c += count;
    }
  }

  Axis axis_;
  isa::ElementType type_;
  Extent extent_;
  std::vector<Part> parts_;
  std::vector<Extent> extents_;
  std::vector<CodeMap> maps_;
  std::vector<uint32_t> offsets_;  // of a part's constants
  int64_t temporary_rows_ = 1;
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
    if (auto s = NeedConstants(*l, node, {i}); !s.ok()) return s;
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
    auto table =
        TableOf(*l, single, type,
                {l->ConstantInput(node, 0), l->ConstantInput(node, 1), nullptr,
                 l->ConstantInput(node, i + 1), l->ConstantInput(node, i + 2)},
                2);
    if (!table.ok()) return table.status();
    for (int c = 0; c < 256; ++c) {
      if ((*table)[c] != c) {
        part.table = *std::move(table);
        break;
      }
    }
    parts.push_back(std::move(part));
  }
  const bool is_signed = type == DataType::kInt8;
  Axis blocked = Axis::kChannels;
  if (BlockedAxis(axis, shape.size(), &blocked)) {
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
