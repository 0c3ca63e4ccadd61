// SPDX-License-Identifier: Apache-2.0
// Reductions of the vector engine along one dimension: a block
// [rows, count, inner] in SRAM becomes [rows, inner].
#ifndef HEDDLE_COMPILER_DEVICE_OPS_REDUCTION_LOOP_H_
#define HEDDLE_COMPILER_DEVICE_OPS_REDUCTION_LOOP_H_

#include <cstdint>
#include <vector>

#include "compiler/ops/reduce.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

struct ReductionLoop {
  int64_t rows = 1, count = 1, inner = 1;
  // The 16-lane reduction: elements lie along lanes (inner is 1), the program's
  // epilogue combines the lanes, and lane 0 is stored. Otherwise one chain in
  // each lane, and lanes are results.
  bool in_lanes = false;
};

// Address of element (row, k, i): base + row*row + k*step + i*inner. The result
// of a reduction has no k. What a part of a reduction leaves to the next
// (`state`) has none either; in the 16-lane form `step` is the distance of its
// lanes.
struct ReductionStream {
  uint32_t base = 0;
  isa::ElementType type = isa::ElementType::kF32;
  int64_t row = 0, step = 0, inner = 0;
  bool state = false;
};

// Emits `run` (program and arguments set by the caller; store in the epilogue)
// for every result. `operands` become streams A, B, C; in prologue and epilogue
// they give element k = 0. A result that is a state is stored in all lanes.
void EmitReductionLoop(Emitter* emitter, isa::Vrun run,
                       const ReductionLoop& lines,
                       const std::vector<ReductionStream>& operands,
                       const ReductionStream& result);
// The same block element by element (store in the body).
void EmitElementLoop(Emitter* emitter, isa::Vrun run,
                     const ReductionLoop& lines,
                     const std::vector<ReductionStream>& operands,
                     const ReductionStream& result);

// How a stage's operands are seen, so that what it needs at a time is small:
// [outer, count*inner], rows of the result are rows of the operand; or, when
// such a row is long, an image for each of `outer`, whose rows are the columns
// of the block.
class ReductionView {
 public:
  ReductionView(const ReduceStage& stage, uint64_t sram_bytes);
  Shape OperandShape() const;  // of [outer, count, inner]
  Shape ResultShape() const;   // of [outer, inner]
  // The part of the block that a tile of `rows` rows covers.
  ReductionLoop LoopOf(int64_t rows) const;
  // Streams over a tile's operand or result whose first row is `row`.
  ReductionStream Operand(const TileView& view, isa::ElementType type,
                          int64_t row) const;
  ReductionStream Result(const TileView& view, isa::ElementType type,
                         int64_t row) const;
  // Elements of the block's `outer` and `inner` before row `row` of `image`.
  int64_t OuterOf(const Tile& tile) const;
  bool by_image() const { return by_image_; }
  const ReduceStage& stage() const { return stage_; }

  // The parts in which the reduced axis is read: one, unless a row of it is too
  // much for SRAM or for a command. The 16-lane form has whole steps in all
  // parts but the last, which has one at least.
  std::vector<Slice> Parts(bool in_lanes, int64_t element_bytes,
                           uint64_t sram_bytes) const;
  // Makes `parts` the groups of `op`, whose first input is the operand, and
  // keeps its tiles small enough for `state_bytes` of each result to wait in
  // the temporary bytes from one part to the next.
  void Cut(const std::vector<Slice>& parts, int64_t state_bytes,
           uint64_t sram_bytes, DeviceOp* op) const;
  // States of a tile's results of `words` 32-bit words each, from `base` on.
  ReductionStream State(uint32_t base, isa::ElementType type,
                        int64_t words) const;

 private:
  ReduceStage stage_;
  bool by_image_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_REDUCTION_LOOP_H_
