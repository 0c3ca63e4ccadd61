// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/relayout.h"

#include "compiler/backend/elementwise.h"
#include "compiler/backend/loops.h"
#include "compiler/backend/lowering.h"

namespace heddle::compiler {
namespace {

class ConstantCopy : public DeviceOp {
 public:
  ConstantCopy(const DeviceGraph& graph, int to)
      : type_(graph.StorageOf(to).type) {
    output = to;
    engine = "vector";
    extent_ = graph.values[to].extent;
  }
  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const uint32_t es = ElementBytes(type_);
    TileView from;
    from.base = tile.constants + tile.image * extent_.dense_n * es;
    from.xstep = es;
    from.pitch = extent_.dense_h * es;
    from.plane = extent_.dense_c * es;
    EmitCopy(emitter, extent_, type_, from, tile.output, tile.row0, tile.rows);
  }

 private:
  DataType type_;
  Extent extent_;
};

}  // namespace

std::unique_ptr<DeviceOp> MakeRelayout(DeviceGraph* graph, int from, int to) {
  return MakeElementwise(graph, CopyProgram(), {}, {Operand::Of(from)}, to);
}

std::unique_ptr<DeviceOp> MakeDenseCopy(DeviceGraph* graph, int from, int to) {
  return MakeElementwise(graph, CopyProgram(), {}, {Operand::Of(from)}, to);
}

std::unique_ptr<DeviceOp> MakeConstantCopy(Lowering* lowering, TensorId id) {
  const int to = lowering->NewValue(id, Layout::kDense);
  auto op = std::make_unique<ConstantCopy>(lowering->device(), to);
  op->groups = {
      lowering->device().constants.Add(lowering->tensor(id).constant->bytes)};
  return op;
}

}  // namespace heddle::compiler
