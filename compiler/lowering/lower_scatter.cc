// SPDX-License-Identifier: Apache-2.0
// heddle.Scatter: indices are made positive, and for each tile of the result a
// copy of the operand comes before the updates. All of the axis is in SRAM.
// With a reduction the command picks what it stores over: lanes run across the
// axis, where no two have the same place, and the engine takes one vector after
// another. An index outside is a fault (index_bounds).
//
// A long axis is done in pieces, each with one row more, to which goes what is
// meant for another piece; many updates one part after another.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/move.h"
#include "compiler/lowering/lower_gather.h"
#include "compiler/ops/define.h"
#include "compiler/ops/scatter.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMaxCount = 65535;

// pick, the reduction, and what keeps the result in its type: A is the result
// so far, B the updates, C the indices.
absl::StatusOr<Microprogram> ReduceProgram(ScatterKind kind, DataType type) {
  ProgramBuilder b;
  const Term there = b.Op(isa::MicroOp::kPick, b.C());
  const Term update = b.Op(isa::MicroOp::kMov, b.B());
  const bool real = Contains(kReals, type);
  Term x;
  switch (kind) {
    case ScatterKind::kAdd:
      x = real ? b.Add(there, update) : b.IAdd(there, update);
      break;
    case ScatterKind::kMul:
      x = real ? b.Mul(there, update) : b.IMul(there, update);
      break;
    default: {
      const bool max = kind == ScatterKind::kMax;
      if (real) {
        x = max ? b.Max(there, update) : b.Min(there, update);
      } else if (type == DataType::kUint32) {
        const Term less = b.ULess(there, update);
        x = max ? b.Select(less, update, there) : b.Select(less, there, update);
      } else {
        x = max ? b.IMax(there, update) : b.IMin(there, update);
      }
    }
  }
  const auto bits = static_cast<uint32_t>(32 - 8 * ElementBytes(type));
  if (!real && bits > 0) {
    // The store would saturate.
    x = b.Shl(x, bits);
    const bool is_signed = type == DataType::kInt8 || type == DataType::kInt16;
    x = is_signed ? b.Sar(x, bits) : b.Shr(x, bits);
  }
  b.Out(x);
  return b.Finish();
}

class ScatterOp : public ClonableOp<ScatterOp> {
 public:
  // `program`: empty where updates replace what is there.
  ScatterOp(const DeviceGraph& graph, int from, int index, int updates,
            int result, Microprogram program)
      : type_(graph.StorageOf(result).type),
        size_(graph.values[result].extent.h),
        places_(graph.values[index].extent.h),
        for_all_(graph.values[index].extent.w !=
                 graph.values[updates].extent.w),
        program_(std::move(program)) {
    engine = "vector";
    output = result;
    columns_tileable = channels_tileable = true;
    channel_step = 1;
    for (int value : {from, index, updates}) {
      OpInput input;
      input.value = value;
      input.columns.kind = input.channels.kind = AxisNeed::kSame;
      inputs.push_back(input);
    }
    if (for_all_) inputs[1].columns.kind = AxisNeed::kWhole;
  }
  std::vector<Microprogram> Programs() const override {
    if (program_.body.empty()) return {CopyProgram()};
    return {CopyProgram(), program_};
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    EmitCopy(emitter, type_, {0, size_}, {tile.column0, tile.columns},
             {tile.channel0, tile.channels}, tile.inputs[0], tile.output);
    const bool reduces = !program_.body.empty();
    isa::Vrun run = emitter->Run(reduces ? program_ : CopyProgram());
    run.enable_a = run.enable_c = run.scatter_d = true;
    run.enable_b = run.pick_a = reduces;
    run.index_bound = static_cast<uint32_t>(size_);
    run.index_stride = tile.output.pitch;
    const auto operand = [&](const TileView& v, isa::ElementType type) {
      LoopOperand o;
      o.base = AddressOf(v, tile.channel0, 0, tile.column0);
      o.type = type;
      o.strides = {v.xstep, v.pitch, v.plane};
      return o;
    };
    const isa::ElementType type = reduces ? VectorType(type_) : MoveType(type_);
    const LoopOperand updates = operand(tile.inputs[2], type);
    LoopOperand to = operand(tile.output, type);
    to.strides[1] = 0;  // the index says
    LoopOperand index = operand(tile.inputs[1], isa::ElementType::kS32);
    if (for_all_) {
      index.base = AddressOf(tile.inputs[1], tile.channel0, 0, 0);
      index.strides[0] = 0;
    }
    if (reduces) {
      Across(emitter, run, tile, {to, updates, index, to});
    } else {
      EmitLoop(emitter, run, {tile.columns, places_, tile.channels},
               {updates, LoopOperand{0, type, {0, 0, 0}}, index}, to);
    }
  }

 private:
  // Lanes along columns or channels, whichever are more.
  void Across(Emitter* emitter, const isa::Vrun& prototype, const Tile& tile,
              const std::vector<LoopOperand>& streams) const {
    const bool turned =
        tile.columns < isa::kVectorLanes && tile.channels > tile.columns;
    const size_t lane = turned ? 2 : 0, outer = turned ? 0 : 2;
    const int64_t lanes = turned ? tile.channels : tile.columns;
    const int64_t outers = turned ? tile.columns : tile.channels;
    for (int64_t o = 0; o < outers; o += kMaxCount) {
      for (int64_t e = 0; e < lanes; e += kMaxCount) {
        for (int64_t p = 0; p < places_; p += kMaxCount) {
          isa::Vrun run = prototype;
          run.store = isa::StoreMode::kBody;
          run.lanes = std::min(kMaxCount, lanes - e);
          run.n_o1 = std::min(kMaxCount, outers - o);
          run.n_r1 = std::min(kMaxCount, places_ - p);
          isa::Stream s[4];
          for (size_t k = 0; k < 4; ++k) {
            const LoopOperand& from = streams[k];
            s[k].type = from.type;
            s[k].lane_stride = from.strides[lane];
            s[k].r1_stride = from.strides[1];
            s[k].o1_stride = from.strides[outer];
            s[k].base = from.base + e * from.strides[lane] +
                        o * from.strides[outer] + p * from.strides[1];
          }
          run.SetA(s[0]);
          run.SetB(s[1]);
          run.SetC(s[2]);
          run.SetD(s[3]);
          emitter->Append(run);
        }
      }
    }
  }

  DataType type_;
  int64_t size_, places_;
  bool for_all_;  // one index for all that is after the axis
  Microprogram program_;
};

// The row of the piece of arg2 rows from arg1 on, of arg0 rows: that behind the
// piece's last for the others, -1 for what is nowhere.
absl::StatusOr<Microprogram> PieceIndexProgram() {
  ProgramBuilder b;
  const Term index = b.Op(isa::MicroOp::kMov, b.A());
  const Term at = b.IAdd(index, b.And(b.Sar(index, 31), b.Arg(0)));
  const Term here = b.ISub(at, b.Arg(1));
  const Term other = b.Select(b.ULess(at, b.Arg(0)), b.Arg(2), b.ImmBits(~0u));
  b.Out(b.Select(b.ULess(here, b.Arg(2)), here, other));
  return b.Finish();
}

class ScatterWriter {
 public:
  ScatterWriter(Lowering* l, const Node& node, Microprogram reduce)
      : l_(*l), node_(node), reduce_(std::move(reduce)) {}

  absl::Status Run() {
    const Tensor& x = l_.tensor(node_.inputs[0]);
    shape_ = x.shape;
    from_ = l_.ValueIn(node_.inputs[0], Layout::kDense, node_);
    index_ = l_.ValueIn(node_.inputs[1], Layout::kDense, node_);
    updates_ = l_.ValueIn(node_.inputs[2], Layout::kDense, node_);
    index_shape_ = l_.tensor(node_.inputs[1]).shape;
    updates_shape_ = l_.tensor(node_.inputs[2]).shape;
    const int result = l_.NewValue(node_.outputs[0], Layout::kDense);
    type_ = l_.device().StorageOf(result).type;
    name_ = l_.tensor(node_.outputs[0]).name;
    const auto pieces = PiecesOf(shape_[1], EasyAxis(l_, type_));
    if (pieces.size() == 1) {
      Update(from_, shape_, WrapIndexProgram(), pieces[0], result);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const Microprogram program, PieceIndexProgram());
    const int64_t before = shape_[0], after = shape_[2];
    std::vector<int> parts;
    std::vector<MoveBox> boxes;
    for (const Slice& piece : pieces) {
      const Shape with{before, piece.count + 1, after};
      // One row more.
      MoveBox rows = Box(with[1], shape_[1], piece.count);
      rows.source = piece.first * after;
      MoveBox more = Box(with[1], 0, 1);
      more.input = -1;
      more.result = piece.count * after;
      for (MoveDim& dim : more.dims) dim.source = 0;
      const int first = New(type_, with), last = New(type_, with);
      AddMove(&l_, node_, {from_}, {rows, more}, first);
      Update(first, with, program, piece, last);
      MoveBox back = Box(shape_[1], with[1], piece.count);
      back.input = static_cast<int>(parts.size());
      back.result = piece.first * after;
      boxes.push_back(back);
      parts.push_back(last);
    }
    AddMove(&l_, node_, parts, std::move(boxes), result);
    return absl::OkStatus();
  }

 private:
  // `count` rows of each of what is before the axis, from the first ones of
  // `source` to the first ones of `result` rows.
  MoveBox Box(int64_t result, int64_t source, int64_t count) const {
    const int64_t after = shape_[2];
    MoveBox box;
    box.input = 0;
    box.dims = {{shape_[0], source * after, result * after},
                {count, after, after},
                {after, 1, 1}};
    return box;
  }
  int New(DataType type, const Shape& shape) {
    return l_.NewTemporary(name_ + "/pieces", type, shape, Layout::kDense);
  }
  int Image(int value, Shape shape) {
    shape.insert(shape.begin(), 1);
    return l_.Reshaped(value, shape);
  }

  // `to` of `shape` becomes `from` with all updates of a piece.
  void Update(int from, const Shape& shape, const Microprogram& program,
              const Slice& piece, int to) {
    const int64_t count = updates_shape_[1];
    // Updates and their indices take half of what a row of the axis does.
    const auto parts = PiecesOf(
        count, std::max<int64_t>(1, EasyAxis(l_, DataType::kInt32) / 4));
    for (const Slice& part : parts) {
      Shape index_shape = index_shape_, updates_shape = updates_shape_;
      index_shape[1] = updates_shape[1] = part.count;
      const int raw = RowsOf(&l_, node_, index_, index_shape_, part);
      const int updates = RowsOf(&l_, node_, updates_, updates_shape_, part);
      const Shape flat = FlatShape({ElementCount(index_shape)}, 4);
      const int index = New(DataType::kInt32, index_shape);
      l_.Add(MakeElementwise(&l_.device(), program,
                             {static_cast<uint32_t>(shape_[1]),
                              static_cast<uint32_t>(piece.first),
                              static_cast<uint32_t>(piece.count), 0},
                             {Operand::Of(l_.Reshaped(raw, flat))},
                             l_.Reshaped(index, flat)),
             node_);
      const bool last = part.first + part.count == count;
      const int made = last ? to : New(type_, shape);
      l_.Add(std::make_unique<ScatterOp>(
                 l_.device(), Image(from, shape), Image(index, index_shape),
                 Image(updates, updates_shape), Image(made, shape), reduce_),
             node_);
      from = made;
    }
  }

  Lowering& l_;
  const Node& node_;
  Microprogram reduce_;
  Shape shape_, index_shape_, updates_shape_;
  int from_ = -1, index_ = -1, updates_ = -1;
  DataType type_ = DataType::kFloat;
  std::string name_;
};

absl::Status LowerScatter(Lowering* l, const Node& node) {
  const DataType type = l->tensor(node.inputs[0]).type;
  ScatterKind kind = ScatterKind::kReplace;
  ScatterKindOf(node, &kind);
  Microprogram reduce;
  if (kind != ScatterKind::kReplace) {
    if (type == DataType::kInt64) {
      return RejectNode(Rejection::kUnsupportedDatatype, node,
                        "the card reduces numbers of up to 32 bits, input 0 "
                        "is ",
                        DataTypeName(type));
    }
    ASSIGN_OR_RETURN(reduce, ReduceProgram(kind, type));
  }
  return ScatterWriter(l, node, std::move(reduce)).Run();
}

const LoweringRegistration kScatter(kInternalDomain, "Scatter", LowerScatter,
                                    true);

}  // namespace
}  // namespace heddle::compiler
