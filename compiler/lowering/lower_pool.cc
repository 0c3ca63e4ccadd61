// SPDX-License-Identifier: Apache-2.0
// MaxPool and AveragePool: fp32 and float16 on the vector engine, MaxPool on
// codes on the matrix engine.
#include <algorithm>
#include <memory>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/mac.h"
#include "compiler/device_ops/window_pool.h"
#include "compiler/ops/define.h"
#include "compiler/ops/pool.h"
#include "compiler/ops/reduce.h"
#include "compiler/schedule/loops.h"
#include "compiler/schedule/window_need.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// 8-bit MaxPool: mode maxpool of the matrix engine, on codes.
class CodeMaxPool : public ClonableOp<CodeMaxPool> {
 public:
  CodeMaxPool(const Window& window, bool is_signed, int from, int to)
      : window_(window), signed_(is_signed) {
    engine = "matrix";
    output = to;
    tileable = columns_tileable = channels_tileable = true;
    OpInput in;
    in.value = from;
    in.rows = WindowNeed(window, 0);
    in.columns = WindowNeed(window, 1);
    in.channels.kind = AxisNeed::kSame;
    inputs = {in};
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    ForCountedTiles(tile, [&](const Tile& part) { EmitPart(emitter, part); });
  }

 private:
  void EmitPart(Emitter* emitter, const Tile& tile) const {
    constexpr uint32_t kWord = isa::kWordBytes;
    const TileView& out = tile.output;
    const int64_t block = tile.channel0 / kCodeBlock;
    isa::Conv c;
    c.mode = isa::MatrixMode::kMaxpool;
    c.in_signed = signed_;
    c.out_type = signed_ ? isa::OutType::kS8 : isa::OutType::kU8;
    SetWindow(window_, inputs[0].columns, tile, tile.inputs[0], block, false,
              tile.row0, &c);
    c.out_addr = AddressOf(out, block, tile.row0, tile.column0) / kWord;
    c.out_pitch = out.pitch / kWord;
    c.out_plane = out.plane / kWord;
    c.out_rows = tile.rows;
    c.ci = c.co = tile.channels;
    emitter->Append(c);
  }

  Window window_;
  bool signed_;
};

// Where windows are folded: in several parts, in fp32.
int FoldedValue(Lowering* l, const Node& node,
                const std::vector<WindowPart>& parts) {
  const Tensor& y = l->tensor(node.outputs[0]);
  if (parts.size() == 1 || y.type == DataType::kFloat) {
    return l->NewValue(node.outputs[0], Layout::kDense);
  }
  return l->NewTemporary(y.name + "/folded", DataType::kFloat, y.shape,
                         Layout::kDense);
}
void BindFolded(Lowering* l, const Node& node, int folded) {
  if (l->IsLowered(node.outputs[0])) return;
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(MakeRounding(l->device(), folded, to), node);
}

absl::Status LowerFloatMaxPool(Lowering* l, const Node& node,
                               const Window& window) {
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const std::vector<WindowPart> parts =
      WindowParts(window, l->config().sram_bytes);
  const int to = FoldedValue(l, node, parts);
  l->Add(MakeMaxPool(l->device(), window, parts, from, to), node);
  BindFolded(l, node, to);
  return absl::OkStatus();
}

absl::Status LowerMaxPool(Lowering* l, const Node& node) {
  const Tensor& in = l->tensor(node.inputs[0]);
  ASSIGN_OR_RETURN(Window window, ResolvePool(node, in.shape));
  if (Contains(kReals, in.type)) {
    return LowerFloatMaxPool(l, node, window);
  }
  if (!FitsCommands(window, false, l->config().sram_bytes)) {
    // Not a command of the matrix engine.
    const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
    const int to = l->NewValue(node.outputs[0], Layout::kDense);
    l->Add(MakeMaxPool(l->device(), window,
                       WindowParts(window, l->config().sram_bytes), from, to),
           node);
    return absl::OkStatus();
  }
  const int from = l->ValueIn(node.inputs[0], Layout::kBlocked, node);
  const int to = l->NewValue(node.outputs[0], Layout::kBlocked);
  l->Add(std::make_unique<CodeMaxPool>(window, in.type == DataType::kInt8, from,
                                       to),
         node);
  return absl::OkStatus();
}

absl::Status LowerAveragePool(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  ASSIGN_OR_RETURN(Window window, ResolvePool(node, x.shape));
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const std::vector<WindowPart> parts =
      WindowParts(window, l->config().sram_bytes);
  const int to = FoldedValue(l, node, parts);
  l->Add(
      MakeAveragePool(l, window, parts,
                      node.IntAttribute("count_include_pad", 0) != 0, from, to),
      node);
  BindFolded(l, node, to);
  return absl::OkStatus();
}

const LoweringRegistration kMaxPool("", "MaxPool", LowerMaxPool);
const LoweringRegistration kAveragePool("", "AveragePool", LowerAveragePool);

}  // namespace
}  // namespace heddle::compiler
