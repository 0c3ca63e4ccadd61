// SPDX-License-Identifier: Apache-2.0
// QLinearSigmoid, QLinearLeakyRelu, folded chains: a table of 256 codes, looked
// up by the output stage of the matrix engine. The table is what the operator's
// own semantics give for all codes.
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

class TableOp : public ClonableOp<TableOp> {
 public:
  TableOp(Lowering* l, bool is_signed, const std::vector<uint8_t>& table,
          int from, int to)
      : map_(is_signed, l->device().values[to].extent.c,
             l->config().sram_bytes) {
    engine = "matrix";
    output = to;
    OpInput in;
    in.value = from;
    in.rows.kind = in.columns.kind = in.channels.kind = AxisNeed::kSame;
    inputs = {in};
    tileable = columns_tileable = channels_tileable = true;
    std::vector<uint8_t> blob = map_.constants();
    table_ = static_cast<uint32_t>(blob.size());
    has_table_ = !table.empty();
    blob.insert(blob.end(), table.begin(), table.end());
    SetConstants(std::move(blob));
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const auto words = [&](const TileView& v) {
      return CodeMap::Words{
          AddressOf(v, tile.channel0 / kCodeBlock, tile.row0, tile.column0),
          v.pitch, v.plane};
    };
    map_.Emit(emitter, {tile.constants, has_table_, tile.constants + table_},
              words(tile.inputs[0]), words(tile.output), tile.channels,
              tile.rows, tile.columns);
  }

 private:
  CodeMap map_;
  bool has_table_ = false;
  uint32_t table_ = 0;  // where it lies in the constants
};

absl::Status LowerTable(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 3, 4}));
  const DataType type = l->tensor(node.inputs[0]).type;
  ASSIGN_OR_RETURN(
      auto table,
      TableOf(*l, node, type,
              {nullptr, l->ConstantInput(node, 1), l->ConstantInput(node, 2),
               l->ConstantInput(node, 3), l->ConstantInput(node, 4)},
              0));
  const int from = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(MakeTableOp(l, type == DataType::kInt8, std::move(table), from, to),
         node);
  return absl::OkStatus();
}

absl::Status LowerFoldedTable(Lowering* l, const Node& node) {
  const TensorData& table = *l->ConstantInput(node, 1);
  const int from = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  const bool is_signed = l->tensor(node.inputs[0]).type == DataType::kInt8;
  l->Add(MakeTableOp(l, is_signed, table.bytes.ToVector(), from, to), node);
  return absl::OkStatus();
}

const LoweringRegistration kTable(kInternalDomain, "Table", LowerFoldedTable);
const LoweringRegistration kSigmoid("com.microsoft", "QLinearSigmoid",
                                    LowerTable);
const LoweringRegistration kLeakyRelu("com.microsoft", "QLinearLeakyRelu",
                                      LowerTable);

}  // namespace

std::unique_ptr<DeviceOp> MakeTableOp(Lowering* l, bool is_signed,
                                      std::vector<uint8_t> table, int from,
                                      int to) {
  return std::make_unique<TableOp>(l, is_signed, table, from, to);
}

}  // namespace heddle::compiler
