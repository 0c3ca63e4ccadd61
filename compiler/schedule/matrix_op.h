// SPDX-License-Identifier: Apache-2.0
// One command of the matrix engine per tile: convolution or product of codes,
// and what the output stage does behind it (ISA.md, "Output stage"): a table,
// a residual, a pooling. The stages are appended by fuse.cc in the order in
// which the hardware applies them.
#ifndef HEDDLE_COMPILER_SCHEDULE_MATRIX_OP_H_
#define HEDDLE_COMPILER_SCHEDULE_MATRIX_OP_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ops/window.h"
#include "compiler/schedule/contraction_parts.h"
#include "compiler/schedule/device_graph.h"
#include "compiler/stream/pack.h"

namespace heddle::compiler {

// Everything a matrix command needs but the addresses.
struct MatrixSpec {
  isa::MatrixMode mode = isa::MatrixMode::kConv;
  CodeWeights weights;
  // Output channels in so many parts of equal size, each of which contracts its
  // own weights.ci input channels (mode conv; both multiples of 16 if there are
  // several).
  int64_t conv_groups = 1;
  std::vector<uint8_t> weight_zero;  // code per output channel
  std::vector<int32_t> bias;
  std::vector<float> scale;
  bool in_signed = false, w_signed = false;
  int64_t za = 0, zo = 0;
  isa::OutType out_type = isa::OutType::kU8;
  Window window;
  uint64_t macs = 0;
};

// What the output stage does with the requantized code.
struct OutputStage {
  enum Kind { kTable, kResidual, kMaxPool, kAverage } kind = kTable;
  std::array<uint8_t, 256> table{};
  // kResidual: operand `residual` of the formula in ISA.md.
  isa::ResidualOp op = isa::ResidualOp::kNone;
  bool residual_first = false;
  bool residual_signed = false;
  float a = 0, b = 0, k = 0;
  int64_t residual_zero = 0, mid_zero = 0;
  int residual = -1;  // value
  // Poolings.
  int64_t kernel = 0, stride = 0, pad = 0;  // kMaxPool, square
  std::array<int64_t, 2> out{};             // kMaxPool: pooled rows, columns
  float scale = 0;                          // kAverage
  int64_t zero_in = 0, zero_out = 0;
  // Value that this stage makes, and the node it comes from.
  int output = -1;
};

class MatrixOp : public ClonableOp<MatrixOp> {
 public:
  // Results are codes; for others see lowering/lower_qmatmul.h.
  MatrixOp(const isa::Config& config, std::shared_ptr<const MatrixSpec> spec,
           int from, int to);

  const MatrixSpec& spec() const { return *spec_; }
  const std::vector<OutputStage>& stages() const { return stages_; }
  // Whether the output stage can apply `kind` behind what it does already.
  bool Accepts(OutputStage::Kind kind) const;
  // Appends a stage; its output becomes that of the operation.
  void AddStage(const OutputStage& stage);
  // The same operation with the first `count` stages only, for a tap of the
  // tensor in front of stage `count`.
  std::unique_ptr<MatrixOp> Prefix(size_t count) const;

  // Cuts the output channels into groups of at most `max_bytes` of constants
  // each (at least one block of the matrix engine). Where the constants of one
  // block are more than a quarter of SRAM, the contraction is cut too: the
  // block's groups are ranges of input channels, and what one has accumulated
  // the next continues. Sets the groups' bytes.
  void Regroup(uint64_t max_bytes);
  void Pack(size_t group, uint8_t* to) const override;
  MatrixOp* AsMatrix() override { return this; }
  const MatrixOp* AsMatrix() const override { return this; }
  // Estimated cycles of a command for `rows` rows of the result, and bytes of
  // all constants.
  uint64_t Cycles(int64_t rows) const;
  uint64_t ConstantBytes() const;

  void Emit(Emitter* emitter, const Tile& tile) const override;

  // Rows [*first, *first + *count) of the convolution behind which rows
  // [row0, row0 + rows) of the result lie.
  void ConvRows(int64_t row0, int64_t rows, int64_t* first,
                int64_t* count) const;

 private:
  const OutputStage* Find(OutputStage::Kind kind) const;
  void MapRows();
  // Rows of the kernel that a part of the contraction has at most.
  int64_t KernelRows() const;
  // Constants of `count` output channels for a part of the contraction.
  uint64_t WeightBytes(int64_t count, const Contraction& part) const;
  // The output channels of one command of a group of constants: all, or those
  // of one convolution group.
  int64_t PieceOf(int64_t count) const;
  uint64_t GroupBytes(int64_t count, const Contraction& part) const;
  void AddGroup(int64_t first, int64_t count, const Contraction& part);
  // The command for output channels [first, first + count), whose constants are
  // at `constants`.
  void EmitPiece(Emitter* emitter, const Tile& tile, int64_t first,
                 int64_t count, uint32_t constants) const;
  void SetStages(isa::Conv* c, const Tile& tile, int64_t first,
                 int64_t conv_row) const;

  const isa::Config config_;
  std::shared_ptr<const MatrixSpec> spec_;
  std::vector<OutputStage> stages_;
  int first_output_;  // before any stage
  bool zw_channel_ = false;
  ContractionParts parts_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_MATRIX_OP_H_
