// SPDX-License-Identifier: Apache-2.0
// The vector engine against the functional model, SRAM byte for byte after
// every command: random commands, the compiler's kinds of loops, faults, and
// the cycles that ordinary commands may take.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/vector_fixture.h"
#include "rtl/testbench/vector_pick_cases.h"
#include "simulator/model/numerics.h"
#include "simulator/model/random_command.h"

namespace heddle::rtl {
namespace {

size_t CommandCount() {
  const char* text = std::getenv("HEDDLE_VECTOR_COMMANDS");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 2600;
}

// Random commands of every kind of the vector engine.
class Random : public testing::TestWithParam<int> {};

TEST_P(Random, AgreesWithModel) {
  const uint64_t seed = 100 + GetParam();
  const uint32_t stall[] = {0, 0, 20, 60};
  std::map<std::string, int> kinds;
  std::set<MicroOp> ops;
  std::set<int> types;
  size_t done = 0;
  for (uint64_t round = 0; done < CommandCount(); ++round) {
    model::CommandGenerator generator(isa::kConfigs[0], 4096,
                                      seed * 1000 + round);
    Pair pair(stall[(GetParam() + round) % 4], seed + round);
    pair.Fill(generator.InitialSram());
    size_t first = 0;
    while (generator.Make(first).kind.rfind("vrun", 0) != 0) ++first;
    const size_t n = model::CommandGenerator::kinds() - first;
    for (size_t i = 0; i < 30 * n && done < CommandCount(); ++i, ++done) {
      const model::RandomCommand c = generator.Make(first + i % n);
      ++kinds[c.kind];
      if (const auto* run = std::get_if<isa::Vrun>(&c.command)) {
        const uint32_t length = run->prologue + run->body + run->epilogue;
        for (uint32_t k = 0; k < length; ++k) {
          uint64_t word;
          std::memcpy(&word, pair.sram() + 16 * run->prog_addr + 8 * k, 8);
          const auto m = MicroInstruction::Decode(word);
          if (m.ok()) ops.insert(m->op);
        }
        if (run->enable_a) types.insert(static_cast<int>(run->a_type));
        types.insert(100 + static_cast<int>(run->d_type));
      }
      ASSERT_TRUE(pair.Agree(
          c.command, c.kind + " seed " + std::to_string(seed * 1000 + round) +
                         " number " + std::to_string(i)));
    }
  }
  EXPECT_EQ(kinds.size(), 12u);
  if (CommandCount() >= 2600) {
    EXPECT_EQ(ops.size(), size_t{isa::kNumMicroOps});
    EXPECT_EQ(types.size(), 2 * size_t{isa::kNumElementTypeValues});
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range(0, 4));

// sync.vector does nothing and is done at once; every command is idle after.
TEST(VectorEngine, Sync) {
  Pair pair;
  for (int i = 0; i < 3; ++i) {
    Outcome o;
    EXPECT_TRUE(pair.Agree(isa::SyncVector(), "sync", &o));
    EXPECT_LT(o.cycles, 5u);
    EXPECT_EQ(o.macs, 0u);
  }
}

// ---- Commands that no compiler writes ----

// Streams that overlap in every way, inside 4 KiB: what is read may have been
// stored by the same command, elements of D coincide, gather and scatter
// or pick together, indices out of bounds, programs that are not legal, streams
// that leave SRAM. All of it is defined.
class Wild : public testing::TestWithParam<int> {
 protected:
  Wild() : random_(GetParam() * 77 + 5) {}
  uint32_t Below(uint32_t n) {
    return static_cast<uint32_t>((random_() >> 16) % n);
  }
  bool OneIn(uint32_t n) { return Below(n) == 0; }

  // An operand, mostly of the streams that are enabled.
  Operand AnyOperand(const isa::Vrun& c) {
    switch (Below(8)) {
      case 0:
        if (c.enable_a && (!c.pick_a || OneIn(40))) return Operand::kStreamA;
        break;
      case 1:
        if (c.enable_b) return Operand::kStreamB;
        break;
      case 2:
        if (c.enable_c) return Operand::kStreamC;
        break;
      case 3:
        return static_cast<Operand>(static_cast<uint32_t>(Operand::kImm) +
                                    Below(8));
      default:
        break;
    }
    return static_cast<Operand>(Below(4));
  }

  MicroInstruction AnyInstruction(const isa::Vrun& c) {
    const isa::MicroOpInfo& info = isa::kMicroOps[Below(isa::kNumMicroOps)];
    MicroInstruction m;
    m.op = OneIn(3) ? (c.pick_a ? MicroOp::kPick : MicroOp::kMov) : info.op;
    // (One without pick_a is not legal.)
    if (m.op == MicroOp::kPick && !c.pick_a && !OneIn(6)) m.op = MicroOp::kMov;
    const isa::MicroOpInfo& chosen =
        *isa::FindMicroOp(static_cast<uint32_t>(m.op));
    m.d = static_cast<Destination>(OneIn(2) ? 16 : Below(4));
    Operand* operands[3] = {&m.a, &m.b, &m.c};
    bool imm = false;
    for (int k = 0; k + 1 < chosen.num_operands; ++k) {
      *operands[k] = AnyOperand(c);
      imm = imm || *operands[k] == Operand::kImm;
    }
    if (imm) m.imm = static_cast<uint32_t>(random_());
    if (m.op == MicroOp::kPick && !OneIn(30)) {
      // An index that mostly is one.
      const Operand small[4] = {Operand::kLane, Operand::kIndexR,
                                Operand::kArg1, Operand::kImm};
      m.a = c.enable_c && c.scatter_d && OneIn(3) ? Operand::kStreamC
                                                  : small[Below(4)];
      m.imm = m.a != Operand::kImm ? 0
              : OneIn(40)          ? static_cast<uint32_t>(random_())
                                   : Below(40);
    }
    return m;
  }

  isa::Stream AnyStream(ElementType type, const uint32_t n[7], uint32_t base) {
    isa::Stream s;
    s.type = type;
    const int32_t e = type == ElementType::kU8 || type == ElementType::kS8 ? 1
                      : type == ElementType::kS32 || type == ElementType::kF32
                          ? 4
                          : 2;
    int32_t* strides[7] = {&s.lane_stride, &s.r1_stride, &s.r2_stride,
                           &s.r3_stride,   &s.o1_stride, &s.o2_stride,
                           &s.o3_stride};
    int32_t size = e;
    for (int d = 0; d < 7; ++d) {
      switch (Below(6)) {
        case 0:
          *strides[d] = 0;
          break;
        case 1:
          *strides[d] = e * static_cast<int32_t>(Below(20));
          break;
        case 2:
          *strides[d] = -size;
          break;
        default:
          *strides[d] = size;
          break;
      }
      size += std::abs(*strides[d]) * static_cast<int32_t>(n[d] - 1);
    }
    s.base = base + e * Below(64);
    return s;
  }

  isa::Vrun Command(Pair* pair) {
    isa::Vrun c;
    const uint32_t near_end = OneIn(60) ? isa::kConfigs[0].sram_bytes - 512 : 0;
    c.lanes = OneIn(2) ? 1 + Below(40) : 16;
    uint32_t n[7] = {c.lanes, 1, 1, 1, 1, 1, 1};
    for (int d = 1; d < 7; ++d) n[d] = OneIn(2) ? 1 + Below(4) : 1;
    if (OneIn(4)) n[4 + Below(3)] = 9 + Below(9);
    c.n_r1 = n[1], c.n_r2 = n[2], c.n_r3 = n[3];
    c.n_o1 = n[4], c.n_o2 = n[5], c.n_o3 = n[6];
    if (OneIn(4)) c.tail = 1 + Below(15);
    c.enable_a = !OneIn(4);
    c.enable_b = OneIn(2);
    c.enable_c = OneIn(2);
    c.store = static_cast<isa::StoreMode>(OneIn(12) ? 0 : 1 + Below(2));
    c.store_one = c.store != isa::StoreMode::kNone && OneIn(5);
    c.gather_a = c.enable_a && c.enable_c && OneIn(3);
    c.pick_a = c.enable_a && !c.gather_a && OneIn(3);
    c.scatter_d = c.enable_c && c.store != isa::StoreMode::kNone && OneIn(3);
    c.arg0 = model::Bits(1.5f);
    c.arg1 = 7;
    auto type = [&] {
      return static_cast<ElementType>(Below(isa::kNumElementTypeValues));
    };
    const bool indexed = c.gather_a || c.scatter_d;
    const uint32_t base = near_end != 0 ? near_end : OneIn(60) ? 0 : 16384;
    c.SetA(AnyStream(type(), n, base));
    c.SetB(AnyStream(type(), n, base + 4 * Below(128)));
    c.SetC(AnyStream(indexed ? ElementType::kS32 : type(), n,
                     indexed ? 40960 : base));
    c.SetD(AnyStream(type(), n, base + 4 * Below(128)));
    if (OneIn(3)) {
      isa::Stream d = c.GetA();
      if (OneIn(3)) d.base += 4 * Below(3);
      if (OneIn(4)) d.o1_stride = d.o1_stride == 0 ? 4 : 0;
      c.SetD(d);
    }
    c.index_bound = OneIn(30) ? 0 : c.pick_a && OneIn(8) ? 16 : 40;
    c.index_stride = 4 * Below(4);
    // Indices around the bound, few of them beyond it.
    for (uint32_t i = 0; indexed && i < 4096; ++i) {
      const uint32_t index = OneIn(4000) ? 40 + Below(3) : Below(40);
      pair->Poke(40960 - 8192 + 4 * i, &index, 4);
    }
    c.prologue = OneIn(2) ? Below(3) : 0;
    c.body = 1 + Below(4);
    c.epilogue = OneIn(2) ? Below(3) : 0;
    c.prog_addr = kProgramWord + Below(8);
    const uint32_t length = c.prologue + c.body + c.epilogue;
    for (uint32_t i = 0; i < length; ++i) {
      uint64_t word = AnyInstruction(c).Encode();
      if (OneIn(400)) word ^= uint64_t{1} << Below(64);
      pair->Poke(16 * c.prog_addr + 8 * i, &word, 8);
    }
    return c;
  }

  static constexpr uint32_t kProgramWord = 20000;
  std::mt19937_64 random_;
};

TEST_P(Wild, AgreesWithModel) {
  const uint32_t stall[] = {0, 10, 50, 0};
  Pair pair(stall[GetParam() % 4], GetParam());
  model::CommandGenerator generator(isa::kConfigs[0], 4096, 9 + GetParam());
  std::map<isa::Error, int> outcomes;
  const size_t count = CommandCount() / 2;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<uint8_t> data = generator.Data(8192);
    pair.Poke(12288, data.data(), data.size());
    const isa::Vrun c = Command(&pair);
    const uint64_t work = uint64_t{c.lanes / 16 + 1} * c.n_r1 * c.n_r2 *
                          c.n_r3 * c.n_o1 * c.n_o2 * c.n_o3;
    if (work > 3000) continue;
    Outcome o;
    ASSERT_TRUE(pair.Agree(
        c,
        "seed " + std::to_string(GetParam()) + " number " + std::to_string(i),
        &o))
        << isa::ToString(isa::Command(c));
    ++outcomes[o.code];
  }
  if (count >= 1000) {
    EXPECT_GT(outcomes[isa::Error::kOk], 500);
    EXPECT_GT(outcomes[isa::Error::kSramBounds], 3);
    EXPECT_GT(outcomes[isa::Error::kIndexBounds], 3);
    EXPECT_GT(outcomes[isa::Error::kIllegalProgram], 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Wild, testing::Range(0, 4));

// ---- Ordinary commands, and the cycles they take ----

// What is written between two commands is read by the second.
TEST_F(Shapes, NoLineIsKeptForTheNextCommand) {
  isa::Vrun c =
      Load({{}, {Op(MicroOp::kMov, Destination::kOut, Operand::kStreamA)}, {}});
  c.enable_a = true;
  c.SetA(Stream(20, kU8, 1));
  c.SetD(Stream(131072, kU8, 1));
  for (uint8_t turn = 0; turn < 3; ++turn) {
    pair_.Poke(20, &turn, 1);
    EXPECT_TRUE(pair_.Agree(c, "after another write"));
  }
}

TEST_F(Shapes, Elementwise) {
  Program add;
  add.body = {Op(MicroOp::kFadd, Destination::kOut, Operand::kStreamA,
                 Operand::kStreamB)};
  isa::Vrun c = Load(add);
  c.enable_a = c.enable_b = true;
  c.lanes = 16000;
  c.SetA(Stream(0, kF32, 4));
  c.SetB(Stream(65536, kF32, 4));
  c.SetD(Stream(131072, kF32, 4));
  EXPECT_LT(Cost(c, "f32 add, contiguous", 1000), 3.5);
  c.SetA(Stream(4, kF32, 4));
  c.SetB(Stream(65536 + 8, kF32, 4));
  c.SetD(Stream(131072 + 12, kF32, 4));
  EXPECT_LT(Cost(c, "f32 add, not aligned", 1000), 3.6);
  c.SetB(Stream(65536, kF32, 0));
  EXPECT_LT(Cost(c, "f32 add, scalar", 1000), 3.5);
  c.SetD(Stream(4, kF32, 4));
  EXPECT_LT(Cost(c, "f32 add, scalar, in place", 1000), 3.5);

  Program copy;
  copy.body = {Op(MicroOp::kMov, Destination::kOut, Operand::kStreamA)};
  c = Load(copy);
  c.enable_a = true;
  c.lanes = 16000;
  c.SetA(Stream(0, kU8, 1));
  c.SetD(Stream(131072, kU8, 1));
  EXPECT_LT(Cost(c, "u8 copy", 1000), 1.5);
  c.SetD(Stream(131072, kF32, 4));
  EXPECT_LT(Cost(c, "u8 to 32 bits", 1000), 1.6);

  Program dequantise;
  dequantise.body = {
      Op(MicroOp::kIsub, Destination::kV0, Operand::kStreamA, Operand::kArg1),
      Op(MicroOp::kI2f, Destination::kV0, Operand::kV0),
      Op(MicroOp::kFmul, Destination::kOut, Operand::kV0, Operand::kArg0)};
  c = Load(dequantise);
  c.enable_a = true;
  c.lanes = 16000;
  c.arg0 = model::Bits(0.25f);
  c.arg1 = 128;
  c.SetA(Stream(3, kU8, 1));
  c.SetD(Stream(131072, kF32, 4));
  EXPECT_LT(Cost(c, "dequantise u8 (3 instructions)", 1000), 3.2);

  Program quantise;
  quantise.body = {
      Op(MicroOp::kFmul, Destination::kV0, Operand::kStreamA, Operand::kArg0),
      Op(MicroOp::kF2i, Destination::kV0, Operand::kV0),
      Op(MicroOp::kIadd, Destination::kOut, Operand::kV0, Operand::kArg3)};
  c = Load(quantise);
  c.enable_a = true;
  c.lanes = 16000;
  c.arg0 = model::Bits(0.25f);
  c.SetA(Stream(0, kF32, 4));
  c.SetD(Stream(131072, kU8, 1));
  EXPECT_LT(Cost(c, "quantise by product (3 instructions)", 1000), 3.2);
  quantise.body[0].op = MicroOp::kFdiv;
  const isa::Vrun q = c;
  c.lanes = 16;
  EXPECT_LT(Cost(c, "shortest command", 1), 60);
  c = Load(quantise);
  c.enable_a = true;
  c.lanes = 3200;
  c.arg0 = q.arg0;
  c.SetA(q.GetA());
  c.SetD(q.GetD());
  EXPECT_LT(Cost(c, "quantise by quotient", 200), 40);

  Program divide;
  divide.body = {
      Op(MicroOp::kIdiv, Destination::kV0, Operand::kStreamA, Operand::kArg0),
      Op(MicroOp::kIdivu, Destination::kOut, Operand::kV0, Operand::kArg1)};
  c = Load(divide);
  c.enable_a = true;
  c.lanes = 3200;
  c.arg0 = 10;
  c.arg1 = 3;
  c.SetA(Stream(0, ElementType::kU16, 2));
  c.SetD(Stream(131072, ElementType::kU16, 2));
  EXPECT_LT(Cost(c, "two quotients of integers", 200), 2 * 36);
}

// The polynomial of exp and what is around it: 24 instructions, 6 registers.
TEST_F(Shapes, LongProgram) {
  Program p;
  p.body = {Op(MicroOp::kFmax, Destination::kV0, Operand::kImm,
               Operand::kStreamA, Operand::kV0, model::Bits(-104.0f)),
            Op(MicroOp::kFmin, Destination::kV0, Operand::kImm, Operand::kV0,
               Operand::kV0, model::Bits(89.0f)),
            Op(MicroOp::kFmul, Destination::kV1, Operand::kV0, Operand::kImm,
               Operand::kV0, model::Bits(0x1.715476p+0f)),
            Op(MicroOp::kF2i, Destination::kV1, Operand::kV1),
            Op(MicroOp::kI2f, Destination::kV2, Operand::kV1),
            Op(MicroOp::kFfma, Destination::kV3, Operand::kV2, Operand::kArg0,
               Operand::kV0)};
  for (int i = 0; i < 6; ++i) {
    p.body.push_back(Op(MicroOp::kFfma, Destination::kV4, Operand::kV4,
                        Operand::kV3, Operand::kImm, model::Bits(0.1f * i)));
  }
  p.body.push_back(Op(MicroOp::kIshl, Destination::kV5, Operand::kV1,
                      Operand::kImm, Operand::kV0, 23));
  p.body.push_back(
      Op(MicroOp::kFmul, Destination::kOut, Operand::kV4, Operand::kV5));
  isa::Vrun c = Load(p);
  c.enable_a = true;
  c.lanes = 8000;
  c.arg0 = model::Bits(-0x1.62e4p-1f);
  c.SetA(Stream(0, kF32, 4));
  c.SetD(Stream(131072, kF32, 4));
  EXPECT_LT(Cost(c, "exp (14 instructions)", 500), 15);
}

// As many instructions as there may be, from every word of a line on: the last
// of them share lines of SRAM and rows of the program store with the first.
TEST_F(Shapes, LongestProgram) {
  Program p;
  p.body.push_back(Op(MicroOp::kMov, Destination::kV0, Operand::kStreamA));
  for (uint32_t i = 0; i < 254; ++i) {
    p.body.push_back(Op(MicroOp::kIadd, Destination::kV0, Operand::kV0,
                        Operand::kImm, Operand::kV0, i * i));
  }
  p.body.push_back(Op(MicroOp::kMov, Destination::kOut, Operand::kV0));
  isa::Vrun c = Load(p);
  c.enable_a = true;
  c.lanes = 200;
  c.SetA(Stream(0, ElementType::kS32, 4));
  c.SetD(Stream(131072, ElementType::kS32, 4));
  EXPECT_LT(Cost(c, "256 instructions", 13), 300);
  for (uint32_t word = 1; word < 4; ++word) {
    for (uint32_t i = 0; i < p.body.size(); ++i) {
      const uint64_t code = p.body[i].Encode();
      pair_.Poke(16 * (c.prog_addr + 1) + 8 * i, &code, 8);
    }
    ++c.prog_addr;
    EXPECT_LT(Cost(c, "256 instructions, in one line more", 13), 301);
  }
}

// The words of a program's last line that are not the program's come when it
// runs already, in any of its cycles; the place for the store is read then,
// too.
TEST_F(Shapes, WordsBehindTheProgram) {
  Program p;
  p.body = {Op(MicroOp::kIadd, Destination::kOut, Operand::kImm, Operand::kImm,
               Operand::kV0, 7),
            Op(MicroOp::kMov, Destination::kV1, Operand::kLane)};
  isa::Vrun c = Load(p);
  c.lanes = 16;
  c.n_r1 = 20;
  c.n_o1 = 4;
  c.SetD(Stream(131072, ElementType::kS32, 4, 0, 64));
  for (uint64_t cycle = 1; cycle < 60; ++cycle) {
    pair_.bench().Hold(1, 0, cycle);
    Cost(c, "a late word", 80);
  }
}

TEST_F(Shapes, Reductions) {
  Program sum;
  sum.body = {
      Op(MicroOp::kFadd, Destination::kV0, Operand::kV0, Operand::kStreamA)};
  sum.epilogue = {Op(MicroOp::kHsum, Destination::kV0, Operand::kV0),
                  Op(MicroOp::kMov, Destination::kOut, Operand::kV0)};
  isa::Vrun c = Load(sum);
  c.enable_a = true;
  c.store = isa::StoreMode::kEpilogue;
  c.store_one = true;
  c.lanes = 16;
  c.n_r1 = 8;
  c.n_o1 = 100;
  c.SetA(Stream(0, kF32, 4, 512, 0, 64));
  c.SetD(Stream(131072, kF32, 0, 4));
  EXPECT_LT(Cost(c, "sum of rows of 128", 800), 2.2);
  c = Load(sum);
  c.epilogue = 2;
  c.enable_a = true;
  c.store = isa::StoreMode::kEpilogue;
  c.lanes = 256;
  c.n_r1 = 64;
  c.SetA(Stream(0, kF32, 4, 0, 0, 1024));
  c.SetD(Stream(131072, kF32, 4));
  EXPECT_LT(Cost(c, "sum of columns, 64 x 256", 1024), 1.6);
  // Normalise rows by a vector that all rows share, and one number per row.
  Program scale;
  scale.body = {
      Op(MicroOp::kFsub, Destination::kV0, Operand::kStreamA,
         Operand::kStreamC),
      Op(MicroOp::kFmul, Destination::kOut, Operand::kV0, Operand::kStreamB)};
  c = Load(scale);
  c.enable_a = c.enable_b = c.enable_c = true;
  c.lanes = 128;
  c.n_o1 = 100;
  c.SetA(Stream(0, kF32, 4, 512));
  c.SetB(Stream(65536, kF32, 4));
  c.SetC(Stream(131072, kF32, 0, 4));
  c.SetD(Stream(196608, kF32, 4, 512));
  EXPECT_LT(Cost(c, "normalise rows of 128", 800), 4);
}

TEST_F(Shapes, Moves) {
  Program copy;
  copy.body = {Op(MicroOp::kMov, Destination::kOut, Operand::kStreamA)};
  isa::Vrun c = Load(copy);
  c.enable_a = true;
  c.lanes = 64;
  c.n_o1 = 64;
  c.SetA(Stream(0, kF32, 4, 256));
  c.SetD(Stream(131072, kF32, 256, 4));
  EXPECT_LT(Cost(c, "transpose f32 64 x 64, scattered stores", 256), 18);
  c.SetA(Stream(0, kF32, 256, 4));
  c.SetD(Stream(131072, kF32, 4, 256));
  EXPECT_LT(Cost(c, "transpose f32 64 x 64, gathered loads", 256), 18);
  c.gather_a = true;
  c.enable_c = true;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t index = i * 37 % 64;
    pair_.Poke(400000 + 4 * i, &index, 4);
  }
  c.index_bound = 64;
  c.index_stride = 4;
  c.SetA(Stream(0, kF32, 0, 256));
  c.SetC(Stream(400000, ElementType::kS32, 4));
  EXPECT_LT(Cost(c, "gather along rows of 64", 256), 24);
}

TEST_F(Shapes, Products) {
  // 3x3, 16 channels, image 30 x 28 (padded) to 28 x 28... of 32 maps.
  isa::Vmac m;
  auto conv = [&](uint32_t lanes, uint32_t rows, uint32_t maps,
                  uint32_t channels, uint32_t kernel, uint32_t base) {
    m = {};
    const int32_t pitch = static_cast<int32_t>(lanes + kernel - 1) * 4;
    const int32_t plane = pitch * static_cast<int32_t>(rows + kernel - 1);
    m.lanes = lanes;
    m.n_o1 = rows;
    m.n_o2 = maps;
    m.n_r1 = kernel;
    m.n_r2 = kernel;
    m.n_r3 = channels;
    m.initial = true;
    isa::Stream a = Stream(base, kF32, 4, pitch, 0, 4);
    a.r2_stride = pitch;
    a.r3_stride = plane;
    const int32_t k = static_cast<int32_t>(kernel);
    isa::Stream b =
        Stream(200000, kF32, 0, 0, 4, 4 * static_cast<int32_t>(maps));
    b.r2_stride = k * b.r1_stride;
    b.r3_stride = k * b.r2_stride;
    m.SetA(a);
    m.SetB(b);
    m.SetC(Stream(300000, kF32, 0, 0, 4));
    m.SetD(Stream(320000, kF32, 4, static_cast<int32_t>(lanes) * 4,
                  static_cast<int32_t>(lanes * rows) * 4));
  };
  conv(28, 28, 32, 4, 3, 0);
  EXPECT_GT(Use(m, "conv 3x3 28 x 28, lanes are columns"), 0.6);
  conv(784, 1, 32, 16, 1, 0);
  EXPECT_GT(Use(m, "conv 1x1 28 x 28"), 0.8);
  conv(196, 1, 64, 32, 1, 4);
  EXPECT_GT(Use(m, "conv 1x1 14 x 14, not aligned"), 0.7);
  // Lanes are maps: 7 x 7, 64 maps, 3x3, 8 channels.
  conv(7, 7, 64, 8, 3, 0);
  isa::Vmac n = m;
  n.lanes = 64;
  n.n_o1 = 7;
  n.n_o2 = 7;
  auto turn = [](isa::Stream s) {
    isa::Stream t = s;
    t.lane_stride = s.o2_stride;
    t.o1_stride = s.lane_stride;
    t.o2_stride = s.o1_stride;
    return t;
  };
  n.SetA(turn(m.GetA()));
  n.SetB(turn(m.GetB()));
  n.SetC(turn(m.GetC()));
  n.SetD(turn(m.GetD()));
  EXPECT_GT(Use(n, "conv 3x3 7 x 7, lanes are maps"), 0.6);
  // Matrix product 64 x 128 by 128 x 64.
  isa::Vmac p;
  p.lanes = 64;
  p.n_o1 = 64;
  p.n_r1 = 128;
  p.SetA(Stream(0, kF32, 0, 512, 0, 4));
  p.SetB(Stream(65536, kF32, 4, 0, 0, 256));
  p.SetC(Stream(0, kF32, 0));
  p.SetD(Stream(131072, kF32, 4, 256));
  EXPECT_GT(Use(p, "matrix product 64 x 128 x 64"), 0.8);
  // One row: a fully connected layer of batch 1.
  p.n_o1 = 1;
  p.lanes = 256;
  p.SetA(Stream(0, kF32, 0, 0, 0, 4));
  p.SetB(Stream(65536, kF32, 4, 0, 0, 1024));
  EXPECT_GT(Use(p, "matrix product 1 x 128 x 256"), 0.6);
}

}  // namespace
}  // namespace heddle::rtl
