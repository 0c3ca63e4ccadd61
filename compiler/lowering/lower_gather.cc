// SPDX-License-Identifier: Apache-2.0
// Gather. Constant indices are an index map. Computed indices choose rows of a
// table (all dimensions before the axis are 1): load.gather takes them from
// device memory, the vector engine from SRAM. Short rows, and along other axes
// elements, are picked where the axis fits SRAM (AddPick); where it does not,
// the axis is made the first and the result turned back. An index outside the
// table is a fault (index_bounds).
#include "compiler/lowering/lower_gather.h"

#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/move.h"
#include "compiler/device_ops/take.h"
#include "compiler/ops/define.h"
#include "compiler/ops/indices.h"
#include "compiler/schedule/axis_runs.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

// Constant indices that fall into more runs are gathered like computed ones.
constexpr size_t kMaxRuns = 64;
// Rows of fewer elements leave lanes idle where they are gathered.
constexpr int64_t kShortRow = 16;

// result[i] = table[index[i]], rows of `row` elements.
class GatherOp : public ClonableOp<GatherOp> {
 public:
  GatherOp(const DeviceGraph& graph, int table, int index, int result,
           int64_t rows, int64_t row)
      : element_(ElementBytes(graph.StorageOf(result).type)),
        type_(graph.StorageOf(result).type),
        rows_(rows),
        row_(row) {
    engine = "vector";
    output = result;
    tileable = columns_tileable = true;
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
    const int64_t row_bytes = row_ * element_, first = tile.column0 * element_,
                  bytes = tile.columns * element_;
    const uint32_t indices = RowBase(index, tile.row0);
    const uint32_t to = AddressOf(tile.output, 0, tile.row0, tile.column0);
    if (table.region >= 0) {
      isa::LoadGather load;
      load.region = table.region;
      uint32_t element = element_;
      while (element < isa::kWordBytes && row_bytes % (2 * element) == 0 &&
             bytes % (2 * element) == 0 &&
             (table.dram + first) % (2 * element) == 0 &&
             to % (2 * element) == 0 &&
             tile.output.pitch % (2 * element) == 0) {
        element *= 2;
      }
      while ((1u << load.elem_log2) < element) ++load.elem_log2;
      load.bound = rows_;
      load.s1 = row_bytes;
      load.t1 = tile.output.pitch;
      for (int64_t done = 0; done < tile.rows; done += kMaxCount) {
        load.index_addr = indices + done * index.pitch;
        load.count = std::min(kMaxCount, tile.rows - done);
        for (int64_t at = 0; at < bytes; at += kMaxCount * element) {
          load.dram_offset = table.dram + first + at;
          load.sram_addr = to + done * tile.output.pitch + at;
          load.n0 = std::min(kMaxCount, (bytes - at) / element);
          emitter->Append(load);
        }
      }
      return;
    }
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = run.enable_c = run.gather_a = true;
    run.index_stride = row_bytes;
    run.index_bound = rows_;
    LoopOperand a, unused, c, d;
    a.base = table.base + first;
    a.type = d.type = MoveType(type_);
    a.strides = {element_, 0};
    unused.strides = {0, 0};
    c.base = indices;
    c.type = isa::ElementType::kS32;
    c.strides = {0, index.pitch};
    d.base = to;
    d.strides = {element_, tile.output.pitch};
    EmitLoop(emitter, run, {tile.columns, tile.rows}, {a, unused, c}, d);
  }

 private:
  static constexpr int64_t kMaxCount = 65535;
  int64_t element_;
  DataType type_;
  int64_t rows_, row_;
};

}  // namespace

void AddGather(Lowering* l, const Node& node, int table, int index,
               int result) {
  const Shape rows = l->device().values[table].shape;
  const int64_t count = ElementCount(l->device().values[index].shape);
  l->Add(std::make_unique<GatherOp>(
             l->device(), table, l->Reshaped(index, {count, 1}),
             l->Reshaped(result, {count, rows[1]}), rows[0], rows[1]),
         node);
}

namespace {

// Negative indices count from the end.
int WrappedIndex(Lowering* l, const Node& node, int64_t rows) {
  const Tensor& tensor = l->tensor(node.inputs[1]);
  const int64_t count = ElementCount(tensor.shape);
  const int raw = l->ValueIn(node.inputs[1], Layout::kDense, node);
  const Shape flat = FlatShape({count}, 4);
  const int index = l->NewTemporary(tensor.name + "/wrapped", DataType::kInt32,
                                    {count}, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), WrapIndexProgram(),
                         {static_cast<uint32_t>(rows), 0, 0, 0},
                         {Operand::Of(l->Reshaped(raw, flat))},
                         l->Reshaped(index, flat)),
         node);
  return index;
}

absl::Status LowerGather(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const Shape& shape = l->tensor(in).shape;
  const DataType type = l->tensor(in).type;
  ASSIGN_OR_RETURN(const size_t axis, AxisOf(node, shape.size(), 0));
  const Shape about = AboutAxis(shape, axis);
  const int64_t before = about[0], rows = about[1], row = about[2];
  if (l->ConstantInput(node, 1) != nullptr) {
    ASSIGN_OR_RETURN(auto map, GatherMap(l->graph(), node, 0));
    if (before != 1 || RunsOf(map.axes[axis]).size() <= kMaxRuns) {
      LowerIndexMap(l, node, std::move(map), out);
      return absl::OkStatus();
    }
  }
  const int64_t count = ElementCount(l->tensor(node.inputs[1]).shape);
  const int table = l->ValueIn(in, Layout::kDense, node);
  if ((before != 1 || row < kShortRow) && rows <= EasyAxis(*l, type)) {
    const int raw = l->ValueIn(node.inputs[1], Layout::kDense, node);
    const int value = l->NewValue(out, Layout::kDense);
    return AddPick(l, node, l->Reshaped(table, {1, before, rows, row}),
                   l->Reshaped(raw, {1, 1, count, 1}),
                   l->Reshaped(value, {1, before, count, row}));
  }
  const int index = WrappedIndex(l, node, rows);
  if (before == 1) {
    const int value = l->NewValue(out, Layout::kDense);
    AddGather(l, node, l->Reshaped(table, {rows, row}), index, value);
    return absl::OkStatus();
  }
  const std::string& name = l->tensor(out).name;
  const auto turned = [&](int64_t first, int64_t second, int from, int to) {
    AddMove(l, node, {from},
            {WholeBox(0, {first, second, row}, {row, first * row, 1})}, to);
  };
  const int front = l->NewTemporary(name + "/turned", type,
                                    {rows, before * row}, Layout::kDense);
  turned(rows, before, table, front);
  const int taken = l->NewTemporary(name + "/taken", type,
                                    {count, before * row}, Layout::kDense);
  AddGather(l, node, front, index, taken);
  turned(before, count, taken, l->NewValue(out, Layout::kDense));
  return absl::OkStatus();
}

const LoweringRegistration kGather("", "Gather", LowerGather, true);

}  // namespace
}  // namespace heddle::compiler
