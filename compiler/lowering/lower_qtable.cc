// SPDX-License-Identifier: Apache-2.0
// QLinearSigmoid, QLinearLeakyRelu, folded chains: a table of 256 codes, looked
// up by the output stage of the matrix engine. The table is what the operator's
// own semantics give for all codes.
#include "compiler/lowering/lower_codes.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

class TableOp : public DeviceOp {
 public:
  TableOp(Lowering* l, bool is_signed, std::vector<uint8_t> table, int from,
          int to)
      : map_(is_signed, std::move(table), l->device().values[to].extent.c) {
    engine = "matrix";
    output = to;
    OpInput in;
    in.value = from;
    in.rows.kind = in.columns.kind = in.channels.kind = AxisNeed::kSame;
    inputs = {in};
    tileable = columns_tileable = channels_tileable = true;
    groups = {l->device().constants.Add(map_.constants())};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const auto words = [&](const TileView& v) {
      return CodeMap::Words{
          AddressOf(v, tile.channel0 / kCodeBlock, tile.row0, tile.column0),
          v.pitch, v.plane};
    };
    map_.Emit(emitter, tile.constants, words(tile.inputs[0]),
              words(tile.output), tile.channels, tile.rows, tile.columns);
  }

 private:
  CodeMap map_;
};

absl::Status LowerTable(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(*l, node, {1, 2, 3, 4}); !s.ok()) return s;
  const DataType type = l->tensor(node.inputs[0]).type;
  auto table =
      TableOf(*l, node, type,
              {nullptr, l->ConstantInput(node, 1), l->ConstantInput(node, 2),
               l->ConstantInput(node, 3), l->ConstantInput(node, 4)},
              0);
  if (!table.ok()) return table.status();
  const int from = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(MakeTableOp(l, type == DataType::kInt8, *std::move(table), from, to),
         node);
  return absl::OkStatus();
}

absl::Status LowerFoldedTable(Lowering* l, const Node& node) {
  const TensorData& table = *l->ConstantInput(node, 1);
  const int from = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  const bool is_signed = l->tensor(node.inputs[0]).type == DataType::kInt8;
  l->Add(MakeTableOp(l, is_signed, table.bytes, from, to), node);
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
  return std::make_unique<TableOp>(l, is_signed, std::move(table), from, to);
}

}  // namespace heddle::compiler
