// SPDX-License-Identifier: Apache-2.0
// Means that the lowerings of operators on 8-bit codes share: constant
// parameters, tables, and words that pass through the matrix engine.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_LOWER_CODES_H_
#define HEDDLE_COMPILER_DEVICE_OPS_LOWER_CODES_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "compiler/device_ops/lowering.h"

namespace heddle::compiler {

inline constexpr int64_t kCodeBlock = 16;  // channels of a word

inline uint32_t FloatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline int64_t CodeBlocks(int64_t channels) {
  return (channels + kCodeBlock - 1) / kCodeBlock;
}

// One micro-instruction.
isa::MicroInstruction Micro(isa::MicroOp op, isa::Destination d, isa::Operand a,
                            isa::Operand b = isa::Operand::kV0,
                            isa::Operand c = isa::Operand::kV0,
                            uint32_t imm = 0);

// OK if each of the inputs is absent or a constant.
absl::Status NeedConstants(const Lowering& l, const Node& node,
                           std::initializer_list<size_t> indices);

// The scale (one float) at a constant input.
float ScaleOf(const Lowering& l, const Node& node, size_t i);
// The zero point at a constant input, 0 when it is absent.
int32_t ZeroOf(const Lowering& l, const Node& node, size_t i);

// The 256 results of an elementwise operator for all codes of `type` at input
// `codes`, by the code's bit pattern. `inputs` are its other inputs.
absl::StatusOr<std::vector<uint8_t>> TableOf(
    const Lowering& l, const Node& node, DataType type,
    std::vector<const TensorData*> inputs, size_t codes);

// A value of a tensor of codes in blocked layout and in the rank of `shape`, to
// which it broadcasts.
int BlockedOperand(Lowering* l, const Node& node, TensorId id,
                   const Shape& shape);

// Words of codes through a 256-byte table (or as they are): an identity of mode
// depthwise with the table of the output stage.
class CodeMap {
 public:
  // For up to `channels` channels. The identity's constants take a small share
  // of SRAM.
  CodeMap(bool is_signed, int64_t channels, uint64_t sram_bytes);

  // Those of the identity, whatever the table.
  const std::vector<uint8_t>& constants() const { return constants_; }

  // A box of words: bytes between rows and between channel blocks.
  struct Words {
    uint32_t base = 0, pitch = 0, plane = 0;
  };
  // SRAM addresses of constants(), and of 256 entries by the code's bit
  // pattern, if there is a table.
  struct Constants {
    uint32_t identity = 0;
    bool has_table = false;
    uint32_t table = 0;
  };
  void Emit(Emitter* emitter, const Constants& constants, const Words& from,
            const Words& to, int64_t channels, int64_t rows,
            int64_t columns) const;

 private:
  bool signed_;
  int64_t chunk_;  // blocks of one command
  std::vector<uint8_t> constants_;
};

// A whole tensor of codes, blocked on both sides, through a table.
std::unique_ptr<DeviceOp> MakeTableOp(Lowering* l, bool is_signed,
                                      std::vector<uint8_t> table, int from,
                                      int to);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_LOWER_CODES_H_
