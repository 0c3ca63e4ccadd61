// SPDX-License-Identifier: Apache-2.0
// GatherElements: one command per tile, whose program makes negative indices
// positive and picks. The operand is [before, size, after] about the axis, or
// [before, size] where it is the last, so that its elements follow each other
// in SRAM; all of the axis has to be there, any part of the rest will do. A
// longer axis is gone through in pieces: what an index chooses of one takes the
// place of what the pieces before have left. An index outside is a fault
// (index_bounds).
#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/take.h"
#include "compiler/lowering/lower_gather.h"
#include "compiler/ops/define.h"
#include "compiler/ops/indices.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

// The piece of arg2 elements from arg1 on, of arg0: A is the piece, B the
// index, C what is kept where the piece is not meant (not of the first).
absl::StatusOr<Microprogram> PieceProgram(bool first) {
  ProgramBuilder b;
  const Term index = b.Op(isa::MicroOp::kMov, b.B());
  const Term at = b.IAdd(index, b.And(b.Sar(index, 31), b.Arg(0)));
  const Term here = b.ISub(at, b.Arg(1));
  const Term meant = b.ULess(here, b.Arg(2));
  // The first of the piece stands for what is elsewhere, -1 for what is
  // nowhere.
  const Term other = b.Xor(b.ULess(at, b.Arg(0)), b.ImmBits(~0u));
  const Term found = b.Op(isa::MicroOp::kPick, b.Select(meant, here, other));
  b.Out(first ? found : b.Select(meant, found, b.C()));
  return b.Finish();
}

class PickOp : public ClonableOp<PickOp> {
 public:
  // The axis is the rows of values of rank 4, the columns of those of rank 2.
  // `before`: what the pieces before `piece` have left, -1 for none. `program`:
  // of a piece; empty: the table is all.
  PickOp(const DeviceGraph& graph, int table, int index, int before, int result,
         int64_t size, const Slice& piece, Microprogram program)
      : type_(graph.StorageOf(result).type),
        size_(size),
        piece_(piece),
        columns_(graph.values[table].shape.size() == 2),
        program_(program.body.empty() ? PickProgram() : std::move(program)) {
    const Extent &of = graph.values[index].extent,
                 &to = graph.values[result].extent;
    for_all_ = columns_ ? of.h != to.h : of.c != to.c || of.w != to.w;
    engine = "vector";
    output = result;
    tileable = columns_tileable = true;
    channels_tileable = !columns_;
    channel_step = 1;
    inputs.resize(2);
    inputs[0].value = table;
    inputs[1].value = index;
    const AxisNeed::Kind rest = for_all_ ? AxisNeed::kWhole : AxisNeed::kSame;
    if (columns_) {
      inputs[0].rows.kind = AxisNeed::kSame;
      inputs[1].rows.kind = rest;
      inputs[1].columns.kind = AxisNeed::kSame;
    } else {
      inputs[0].columns.kind = inputs[0].channels.kind = AxisNeed::kSame;
      inputs[1].rows.kind = AxisNeed::kSame;
      inputs[1].columns.kind = inputs[1].channels.kind = rest;
    }
    if (before < 0) return;
    OpInput kept;
    kept.value = before;
    kept.rows.kind = kept.columns.kind = kept.channels.kind = AxisNeed::kSame;
    inputs.push_back(kept);
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& table = tile.inputs[0];
    const TileView& index = tile.inputs[1];
    isa::Vrun run = emitter->Run(program_);
    run.enable_a = run.enable_b = run.pick_a = true;
    run.enable_c = inputs.size() > 2;
    run.arg0 = static_cast<uint32_t>(size_);
    run.arg1 = static_cast<uint32_t>(piece_.first);
    run.arg2 = static_cast<uint32_t>(piece_.count);
    run.index_bound = static_cast<uint32_t>(piece_.count);
    run.index_stride = columns_ ? table.xstep : table.pitch;
    const auto operand = [&](const TileView& v, int64_t row,
                             isa::ElementType type) {
      LoopOperand o;
      o.base = AddressOf(v, tile.channel0, row, tile.column0);
      o.type = type;
      o.strides = {v.xstep, v.pitch, v.plane};
      return o;
    };
    LoopOperand a = operand(table, 0, MoveType(type_));
    LoopOperand b = operand(index, tile.row0, isa::ElementType::kS32);
    if (columns_) {
      a.base = RowBase(table, tile.row0);
      a.strides[0] = 0;
      if (for_all_) {
        b.base = AddressOf(index, 0, 0, tile.column0);
        b.strides[1] = 0;
      }
    } else {
      a.strides[1] = 0;
      if (for_all_) {
        b.base = RowBase(index, tile.row0);
        b.strides = {0, index.pitch, 0};
      }
    }
    std::vector<LoopOperand> operands = {a, b};
    if (inputs.size() > 2) {
      operands.push_back(operand(tile.inputs[2], tile.row0, MoveType(type_)));
    }
    EmitLoop(emitter, run, {tile.columns, tile.rows, tile.channels}, operands,
             operand(tile.output, tile.row0, MoveType(type_)));
  }

 private:
  DataType type_;
  int64_t size_;
  Slice piece_;
  bool columns_;
  Microprogram program_;
  bool for_all_;  // one index for all that is before and after the axis
};

absl::Status LowerGatherElements(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const Shape& from = l->tensor(in).shape;
  const Shape& to = l->tensor(out).shape;
  ASSIGN_OR_RETURN(const size_t axis, AxisOf(node, from.size(), 0));
  int table = l->ValueIn(in, Layout::kDense, node);
  // What lies beyond the indices is left out first.
  IndexMap map = IdentityMap(from);
  for (size_t i = 0; i < from.size(); ++i) {
    if (i != axis) map.axes[i].resize(static_cast<size_t>(to[i]));
  }
  if (map.to() != from) table = TakeValue(l, node, table, std::move(map));
  const auto about = [&](int64_t size) {
    Shape shape = AboutAxis(to, axis);
    shape[1] = size;
    shape.insert(shape.begin(), 1);
    return shape;
  };
  const int index = l->ValueIn(node.inputs[1], Layout::kDense, node);
  const int value = l->NewValue(out, Layout::kDense);
  return AddPick(l, node, l->Reshaped(table, about(from[axis])),
                 l->Reshaped(index, about(to[axis])),
                 l->Reshaped(value, about(to[axis])));
}

const LoweringRegistration kGatherElements("", "GatherElements",
                                           LowerGatherElements, true);

}  // namespace

absl::Status AddPick(Lowering* l, const Node& node, int table, int index,
                     int result) {
  const Shape shape = l->device().values[table].shape;
  const Shape about(shape.begin() + 1, shape.end());
  const DataType type = l->device().StorageOf(result).type;
  const int64_t size = about[1];
  const std::vector<Slice> pieces = PiecesOf(size, EasyAxis(*l, type));
  if (about[2] == 1 && pieces.size() == 1) {
    const auto rows = [&](int value) {
      const Shape of = l->device().values[value].shape;
      return l->Reshaped(value, {of[1], of[2]});
    };
    l->Add(
        std::make_unique<PickOp>(l->device(), rows(table), rows(index), -1,
                                 rows(result), size, pieces[0], Microprogram()),
        node);
    return absl::OkStatus();
  }
  int before = -1;
  for (const Slice& piece : pieces) {
    Microprogram program;
    if (pieces.size() > 1) {
      ASSIGN_OR_RETURN(program, PieceProgram(before < 0));
    }
    const int part = l->Reshaped(RowsOf(l, node, table, about, piece),
                                 {1, about[0], piece.count, about[2]});
    const bool last = piece.first + piece.count == size;
    const Shape to = l->device().values[result].shape;
    const int made =
        last ? result
             : l->NewTemporary(l->tensor(node.outputs[0]).name + "/pieces",
                               type, to, Layout::kDense);
    l->Add(std::make_unique<PickOp>(l->device(), part, index, before, made,
                                    size, piece, std::move(program)),
           node);
    before = made;
  }
  return absl::OkStatus();
}

int RowsOf(Lowering* l, const Node& node, int value, const Shape& shape,
           const Slice& rows) {
  if (rows.count == shape[1]) return value;
  IndexMap map = IdentityMap(shape);
  const auto first = map.axes[1].begin() + rows.first;
  map.axes[1] = std::vector<int64_t>(first, first + rows.count);
  return TakeValue(l, node, l->Reshaped(value, shape), std::move(map));
}

std::vector<Slice> PiecesOf(int64_t size, int64_t most) {
  std::vector<Slice> pieces;
  for (int64_t first = 0; first < size; first += most) {
    pieces.push_back({first, std::min(most, size - first)});
  }
  return pieces;
}

int64_t EasyAxis(const Lowering& l, DataType type) {
  return static_cast<int64_t>(l.config().sram_bytes / (4 * ElementBytes(type)));
}

}  // namespace heddle::compiler
