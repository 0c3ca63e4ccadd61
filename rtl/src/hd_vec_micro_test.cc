// SPDX-License-Identifier: Apache-2.0
// The decoder of micro-instructions against the generated one: legal or not for
// every opcode with fields that are nearly right.
#include <cstdint>
#include <random>

#include "Vhd_vec_micro.h"
#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"
#include "verilated.h"

namespace heddle::rtl {
namespace {

using isa::MicroInstruction;
using isa::Operand;

TEST(VecMicro, LegalAsTheInstructionSetSays) {
  Vhd_vec_micro dut;
  std::mt19937_64 random(7);
  int legal = 0, count = 0;
  for (uint32_t op = 0; op < 256; ++op) {
    for (int i = 0; i < 4000; ++i, ++count) {
      uint64_t word = op;
      const isa::MicroOpInfo* info = isa::FindMicroOp(op);
      const int operands = info != nullptr ? info->num_operands : 4;
      const uint64_t r = random();
      for (int k = 0; k < operands; ++k) {
        const uint64_t value = r >> (8 * k) & 31;
        word |= (value > 27 ? 19 : value) << (8 + 5 * k);
      }
      if (r >> 40 & 1) word |= random() << 32;
      if ((r >> 41 & 7) == 0) word ^= uint64_t{1} << (random() & 63);
      const uint32_t enable = r >> 45 & 7;
      const bool pick = r >> 48 & 1;
      dut.micro_i = word;
      dut.enable_i = enable;
      dut.pick_i = pick;
      dut.eval();
      const auto m = MicroInstruction::Decode(word);
      bool expected = m.ok();
      uint32_t names = 0;
      if (m.ok()) {
        for (const Operand o : {m->a, m->b, m->c}) {
          if (o == Operand::kStreamA) names |= 1;
          if (o == Operand::kStreamB) names |= 2;
          if (o == Operand::kStreamC) names |= 4;
        }
        const bool picks = m->op == isa::MicroOp::kPick;
        expected = !(pick && (names & 1) != 0) && (pick || !picks);
        if (picks) names |= 1;
        expected = expected && (names & ~enable) == 0;
      }
      ASSERT_EQ(dut.legal_o, expected) << std::hex << word << " " << enable;
      if (expected) {
        ++legal;
        info = isa::FindMicroOp(static_cast<uint32_t>(m->op));
        EXPECT_EQ(dut.streams_o, names) << std::hex << word;
        EXPECT_EQ(dut.takes_b_o, info->num_operands > 2);
        EXPECT_EQ(dut.takes_c_o, info->num_operands > 3);
        EXPECT_EQ(dut.tree_o, m->op >= isa::MicroOp::kHsum);
        EXPECT_EQ(dut.pick_o, m->op == isa::MicroOp::kPick);
      }
    }
  }
  EXPECT_GT(legal, 10000);
  EXPECT_GT(count - legal, 10000);
}

}  // namespace
}  // namespace heddle::rtl
