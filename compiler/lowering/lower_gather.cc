// SPDX-License-Identifier: Apache-2.0
// Gather. Constant indices are an index map. Computed indices choose rows of a
// table (all dimensions before the axis are 1): load.gather takes them from
// device memory, the vector engine from SRAM. An index outside the table is a
// fault (index_bounds).
#include <algorithm>

#include "compiler/lowering/elementwise.h"
#include "compiler/lowering/lower_index_map.h"
#include "compiler/lowering/move.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/axis_runs.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

// Constant indices that fall into more runs are gathered like computed ones.
constexpr size_t kMaxRuns = 64;
// Of a row, so that a tile of one row fits every SRAM.
constexpr int64_t kMaxRowBytes = 8 << 10;

// result[i] = table[index[i]], rows of `row` elements.
class GatherOp : public DeviceOp {
 public:
  GatherOp(const DeviceGraph& graph, int table, int index, int result,
           int64_t rows, int64_t row)
      : element_(ElementBytes(graph.StorageOf(result).type)),
        type_(graph.StorageOf(result).type),
        rows_(rows),
        row_(row) {
    engine = "vector";
    output = result;
    tileable = true;
    inputs.resize(2);
    inputs[0].value = table;
    inputs[0].rows.kind = AxisNeed::kDirect;
    inputs[1].value = index;
    inputs[1].rows.kind = AxisNeed::kSame;
  }
  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& table = tile.inputs[0];
    const TileView& index = tile.inputs[1];
    const int64_t row_bytes = row_ * element_;
    const uint32_t indices = RowBase(index, tile.row0);
    const uint32_t to = RowBase(tile.output, tile.row0);
    if (table.region >= 0) {
      isa::LoadGather load;
      load.region = table.region;
      uint32_t element = element_;
      while (element < isa::kWordBytes && row_bytes % (2 * element) == 0 &&
             table.dram % (2 * element) == 0 && to % (2 * element) == 0 &&
             tile.output.pitch % (2 * element) == 0) {
        element *= 2;
      }
      while ((1u << load.elem_log2) < element) ++load.elem_log2;
      load.dram_offset = table.dram;
      load.bound = rows_;
      load.s1 = row_bytes;
      load.n0 = row_bytes / element;
      load.t1 = tile.output.pitch;
      for (int64_t done = 0; done < tile.rows; done += kMaxCount) {
        load.sram_addr = to + done * tile.output.pitch;
        load.index_addr = indices + done * index.pitch;
        load.count = std::min(kMaxCount, tile.rows - done);
        emitter->Append(load);
      }
      return;
    }
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = run.enable_c = run.gather_a = true;
    run.index_stride = row_bytes;
    run.index_bound = rows_;
    LoopOperand a, unused, c, d;
    a.base = table.base;
    a.type = d.type = MoveType(type_);
    a.strides = {element_, 0};
    unused.strides = {0, 0};
    c.base = indices;
    c.type = isa::ElementType::kS32;
    c.strides = {0, index.pitch};
    d.base = to;
    d.strides = {element_, tile.output.pitch};
    EmitLoop(emitter, run, {row_, tile.rows}, {a, unused, c}, d);
  }

 private:
  static constexpr int64_t kMaxCount = 65535;
  int64_t element_;
  DataType type_;
  int64_t rows_, row_;
};

absl::Status LowerGather(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const Shape& shape = l->tensor(in).shape;
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), &axis)) {
    return absl::InternalError(node.Describe() + ": axis");
  }
  const int64_t before =
      ElementCount(Shape(shape.begin(), shape.begin() + axis));
  const int64_t row =
      ElementCount(Shape(shape.begin() + axis + 1, shape.end()));
  const int64_t rows = shape[axis];
  if (l->ConstantInput(node, 1) != nullptr) {
    auto map = GatherMap(l->graph(), node, 0);
    if (!map.ok()) return map.status();
    if (before != 1 || RunsOf(map->axes[axis]).size() <= kMaxRuns) {
      LowerIndexMap(l, node, *std::move(map), out);
      return absl::OkStatus();
    }
  }
  const int64_t element = ElementBytes(l->tensor(out).type) == 8
                              ? 4
                              : ElementBytes(l->tensor(out).type);
  if (before != 1) {
    return RejectNode(Rejection::kUnsupportedAttribute, node, "axis = ", axis,
                      ": indices that are computed at run time choose along "
                      "the first dimension that is not 1, but ",
                      ShapeToString(shape), " has ", before,
                      " elements before it");
  }
  if (row * element > kMaxRowBytes) {
    return RejectNode(Rejection::kUnsupportedShape, node, "rows of ",
                      row * element,
                      " bytes; the limit for indices that are "
                      "computed at run time is ",
                      kMaxRowBytes);
  }
  const int64_t count = ElementCount(l->tensor(node.inputs[1]).shape);
  const int table = l->ValueIn(in, Layout::kDense, node);
  const int raw = l->ValueIn(node.inputs[1], Layout::kDense, node);
  // Negative indices count from the end.
  const Shape flat = FlatShape({count}, 4);
  const int index = l->NewTemporary(l->tensor(node.inputs[1]).name + "/wrapped",
                                    DataType::kInt32, {count}, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), WrapIndexProgram(),
                         {static_cast<uint32_t>(rows), 0, 0, 0},
                         {Operand::Of(l->Reshaped(raw, flat))},
                         l->Reshaped(index, flat)),
         node);
  const int value = l->NewValue(out, Layout::kDense);
  l->Add(
      std::make_unique<GatherOp>(l->device(), l->Reshaped(table, {rows, row}),
                                 l->Reshaped(index, {count, 1}),
                                 l->Reshaped(value, {count, row}), rows, row),
      node);
  return absl::OkStatus();
}

const LoweringRegistration kGather("", "Gather", LowerGather, true);

}  // namespace
}  // namespace heddle::compiler
