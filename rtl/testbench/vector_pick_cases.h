// SPDX-License-Identifier: Apache-2.0
//
// Cases of hd_vector_engine_test: indices that a program computes (pick), what
// they cost, and which of several bad ones is reported.
#ifndef HEDDLE_RTL_TESTBENCH_VECTOR_PICK_CASES_H_
#define HEDDLE_RTL_TESTBENCH_VECTOR_PICK_CASES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "rtl/testbench/vector_fixture.h"

namespace heddle::rtl {
namespace {

// Steps are pairs of lines that lanes fall into: a table of one pair, one of
// 256 bytes, and one whose every lane is elsewhere.
TEST_F(Shapes, Picks) {
  Program pick;
  pick.body = {
      Op(MicroOp::kIand, Destination::kV0, Operand::kStreamB, Operand::kArg0),
      Op(MicroOp::kPick, Destination::kOut, Operand::kV0)};
  isa::Vrun c = Load(pick);
  c.enable_a = c.enable_b = c.pick_a = true;
  c.lanes = 3200;
  c.SetB(Stream(65536, ElementType::kU16, 2));
  c.SetD(Stream(131072, kF32, 4));
  const auto table = [&](uint32_t base, ElementType type, uint32_t size,
                         uint32_t stride) {
    c.SetA(Stream(base, type, 0));
    c.index_bound = size;
    c.arg0 = size - 1;
    c.index_stride = stride;
  };
  table(64, kF32, 16, 4);
  EXPECT_LT(Cost(c, "pick from 16 words", 200), 4.0);
  table(64, kU8, 256, 1);
  EXPECT_LT(Cost(c, "pick from 256 bytes", 200), 5.6);
  table(64, kF32, 256, 4);
  EXPECT_LT(Cost(c, "pick from 256 words", 200), 10.8);
  table(64, kF32, 8192, 4);
  EXPECT_LT(Cost(c, "pick from 32 KiB", 200), 18.8);
  // Four neighbours, of which two are the next one's.
  Program four;
  four.body = {
      Op(MicroOp::kIand, Destination::kV0, Operand::kStreamB, Operand::kArg0),
      Op(MicroOp::kPick, Destination::kV1, Operand::kV0),
      Op(MicroOp::kIadd, Destination::kV0, Operand::kV0, Operand::kArg1),
      Op(MicroOp::kPick, Destination::kV2, Operand::kV0),
      Op(MicroOp::kFadd, Destination::kV1, Operand::kV1, Operand::kV2),
      Op(MicroOp::kIadd, Destination::kV0, Operand::kV0, Operand::kArg2),
      Op(MicroOp::kPick, Destination::kV2, Operand::kV0),
      Op(MicroOp::kFadd, Destination::kV1, Operand::kV1, Operand::kV2),
      Op(MicroOp::kIadd, Destination::kV0, Operand::kV0, Operand::kArg1),
      Op(MicroOp::kPick, Destination::kV2, Operand::kV0),
      Op(MicroOp::kFadd, Destination::kOut, Operand::kV1, Operand::kV2)};
  const isa::Vrun one = c;
  c = Load(four);
  c.enable_a = c.enable_b = c.pick_a = true;
  c.lanes = 3200;
  c.SetA(one.GetA());
  c.SetB(Stream(65536, ElementType::kS32, 4));
  c.SetD(one.GetD());
  c.arg0 = 8191;
  c.arg1 = 1;
  c.arg2 = 128;
  c.index_bound = 8191 + 131;
  c.index_stride = 4;
  for (uint32_t i = 0; i < 3200; ++i) {
    const uint32_t at = i / 64 * 128 + i % 64 * 3 / 2;  // rows, one and a half
    pair_.Poke(65536 + 4 * i, &at, 4);
  }
  EXPECT_LT(Cost(c, "four neighbours of places in a row", 200), 20.5);
  // In place: one group at a time.
  c = one;
  c.lanes = 256;
  table(131072, kF32, 256, 4);
  c.SetA(c.GetD());
  EXPECT_LT(Cost(c, "pick from what is stored", 16), 44.0);
  // To the last byte of SRAM, and one element further.
  const uint32_t end = isa::kConfigs[0].sram_bytes;
  c = one;
  c.lanes = 16;
  c.arg0 = 0;
  c.index_bound = 100;
  c.SetA(Stream(end - 400, kF32, 0));
  EXPECT_TRUE(pair_.Agree(c, "the end of SRAM"));
  c.index_bound = 101;
  Outcome o;
  EXPECT_TRUE(pair_.Agree(c, "beyond the end of SRAM", &o));
  EXPECT_EQ(o.code, isa::Error::kSramBounds);
}

// What places that a program computes cost without an instruction for it: a
// command that makes the indices, before one that scatters
// (rtl/operators/operators.toml, "place").
TEST_F(Shapes, IndicesOfAScatter) {
  Program wrap;
  wrap.body = {
      Op(MicroOp::kIsar, Destination::kV0, Operand::kStreamB, Operand::kImm,
         Operand::kV0, 31),
      Op(MicroOp::kIand, Destination::kV0, Operand::kV0, Operand::kArg0),
      Op(MicroOp::kIadd, Destination::kOut, Operand::kStreamB, Operand::kV0)};
  isa::Vrun c = Load(wrap);
  c.enable_b = true;
  c.lanes = 3200;
  c.arg0 = 8192;
  for (uint32_t i = 0; i < 3200; ++i) {
    const int32_t index = static_cast<int32_t>(i * 37 % 8192) - 4096;
    pair_.Poke(65536 + 4 * i, &index, 4);
  }
  c.SetB(Stream(65536, ElementType::kS32, 4));
  c.SetD(Stream(81920, ElementType::kS32, 4));
  const double indices = Cost(c, "indices made positive", 200);
  Program copy;
  copy.body = {Op(MicroOp::kMov, Destination::kOut, Operand::kStreamA)};
  c = Load(copy);
  c.enable_a = c.enable_c = c.scatter_d = true;
  c.lanes = 3200;
  c.index_bound = 8192;
  c.index_stride = 4;
  c.SetA(Stream(0, kF32, 4));
  c.SetC(Stream(81920, ElementType::kS32, 4));
  c.SetD(Stream(131072, kF32, 0));
  const double scatter = Cost(c, "scatter to them", 200);
  EXPECT_LT(indices, 0.15 * scatter);
}

// Which of several indices out of bounds is reported: that of the first group,
// and in it of the first instruction, though groups run side by side.
TEST_F(Shapes, TheFirstBadIndexIsReported) {
  Program two;
  two.body = {Op(MicroOp::kPick, Destination::kV0, Operand::kStreamB),
              Op(MicroOp::kPick, Destination::kOut, Operand::kStreamC)};
  isa::Vrun c = Load(two);
  c.enable_a = c.enable_b = c.enable_c = c.pick_a = true;
  c.lanes = 16;
  c.n_o1 = 20;
  c.n_r1 = 3;
  c.index_bound = 100;
  c.index_stride = 4;
  c.SetA(Stream(0, kF32, 0));
  c.SetB(Stream(65536, ElementType::kS32, 4, 192, 0, 64));
  c.SetC(Stream(81920, ElementType::kS32, 4, 192, 0, 64));
  c.SetD(Stream(131072, kF32, 4, 192, 0, 64));
  const auto at = [&](uint32_t base, uint32_t group, uint32_t r1, uint32_t lane,
                      uint32_t value) {
    pair_.Poke(base + 192 * group + 64 * r1 + 4 * lane, &value, 4);
  };
  const auto clear = [&] {
    for (uint32_t i = 0; i < 20 * 48; ++i) {
      const uint32_t index = i % 100;
      pair_.Poke(65536 + 4 * i, &index, 4);
      pair_.Poke(81920 + 4 * i, &index, 4);
    }
  };
  const auto reports = [&](uint32_t value) {
    Outcome o;
    EXPECT_TRUE(pair_.Agree(c, "index " + std::to_string(value), &o));
    EXPECT_EQ(o.code, isa::Error::kIndexBounds);
    EXPECT_EQ(o.address, value);
    clear();
  };
  clear();
  EXPECT_TRUE(pair_.Agree(c, "all are below the bound"));
  // The only one, at every place of a strip and of the last one.
  for (uint32_t group : {0u, 1u, 7u, 8u, 15u, 19u}) {
    at(81920, group, 2, 15, 100 + group);
    reports(100 + group);
  }
  at(65536, 3, 0, 5, 0x80000000u);
  reports(0x80000000u);
  // A later group's that comes earlier.
  at(65536, 5, 0, 0, 1005);
  at(81920, 2, 2, 9, 1002);
  reports(1002);
  at(65536, 0, 1, 3, 1000);
  at(65536, 1, 0, 3, 1001);
  reports(1000);
  // The same group's: earlier iteration, earlier instruction, lower lane.
  at(65536, 9, 1, 0, 2001);
  at(81920, 9, 0, 1, 2000);
  reports(2000);
  at(65536, 9, 0, 12, 2002);
  at(81920, 9, 0, 1, 2003);
  reports(2002);
  at(65536, 4, 0, 12, 2004);
  at(65536, 4, 0, 11, 2005);
  reports(2005);
  // The next strip's is nobody's business.
  at(81920, 7, 2, 4, 3001);
  at(65536, 8, 0, 0, 3002);
  reports(3001);
  // Lanes that are not valid have no index.
  c.tail = 4;
  at(65536, 3, 2, 4, 4000);
  EXPECT_TRUE(pair_.Agree(c, "beyond the tail"));
  at(65536, 3, 2, 3, 4001);
  reports(4001);
  // Negative, however large the bound.
  c.tail = 0;
  c.index_stride = 0;
  c.index_bound = ~0u;
  at(81920, 6, 1, 7, 0x80000001u);
  reports(0x80000001u);
  c.index_stride = 4;
  // Nothing is below a bound of 0, and what is picked from is nowhere.
  c.index_bound = 0;
  c.SetA(Stream(0xfffffc, kF32, 0));
  reports(0);
}

}  // namespace
}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_VECTOR_PICK_CASES_H_
