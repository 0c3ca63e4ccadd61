// SPDX-License-Identifier: Apache-2.0
//
// Both directions of the assembler are exact, for random legal commands of
// every instruction.
#include "tools/heddle-asm/asm.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "tools/heddle-asm/value.h"
#include "tools/specgen/random_command.h"

namespace heddle::assembler {
namespace {

using specgen::RandomBits;
using specgen::RandomCommand;

TEST(AssemblerTest, RandomStreamsSurviveBothDirections) {
  std::mt19937 rng(1);
  for (int round = 0; round < 400; ++round) {
    std::vector<uint32_t> words;
    for (int i = 0; i < 5; ++i) {
      const auto more =
          RandomCommand(isa::kCommands[rng() % isa::kNumCommands], &rng);
      words.insert(words.end(), more.begin(), more.end());
    }
    absl::StatusOr<std::string> text = Disassemble(words.data(), words.size());
    ASSERT_TRUE(text.ok()) << text.status();
    absl::StatusOr<std::vector<uint32_t>> again = Assemble(*text, "t");
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << *text;
    ASSERT_EQ(*again, words) << *text;
    ASSERT_EQ(*Disassemble(again->data(), again->size()), *text);
  }
}

TEST(AssemblerTest,
     EveryInstructionSurvivesAloneWithDefaultsAndWithRandomFields) {
  std::mt19937 rng(2);
  for (const isa::CommandInfo& info : isa::kCommands) {
    for (int round = 0; round < 100; ++round) {
      const std::vector<uint32_t> words = RandomCommand(info, &rng);
      absl::StatusOr<isa::Command> command =
          isa::DecodeAny(words.data(), words.size());
      ASSERT_TRUE(command.ok()) << command.status();
      // ToString of the typed struct is the same language, on one line.
      absl::StatusOr<std::vector<uint32_t>> again =
          Assemble(isa::ToString(*command), "t");
      ASSERT_TRUE(again.ok()) << again.status();
      ASSERT_EQ(*again, words) << isa::ToString(*command);
    }
  }
}

TEST(AssemblerTest, MicroprogramsSurviveBothDirections) {
  std::mt19937 rng(3);
  std::vector<uint64_t> words;
  while (words.size() < 2000) {
    const isa::MicroOpInfo& op = isa::kMicroOps[rng() % isa::kNumMicroOps];
    uint32_t w[2] = {0, 0};
    for (const isa::FieldInfo& f : isa::kMicroFields) {
      if (std::string(f.name) == "op")
        isa::SetField(f, static_cast<uint32_t>(op.op), w);
      if (std::string(f.name) == "imm" && rng() % 2) isa::SetField(f, rng(), w);
    }
    for (int k = 0; k < op.num_operands; ++k) {
      const isa::FieldInfo& f = isa::kMicroFields[op.operands[k]];
      isa::SetField(f, RandomBits(f, &rng), w);
    }
    const uint64_t word = w[0] | static_cast<uint64_t>(w[1]) << 32;
    if (isa::MicroInstruction::Decode(word).ok()) words.push_back(word);
  }
  absl::StatusOr<std::string> text =
      DisassembleMicro(words.data(), words.size());
  ASSERT_TRUE(text.ok()) << text.status();
  absl::StatusOr<std::vector<uint64_t>> again = AssembleMicro(*text, "t");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, words);
}

TEST(AssemblerTest, CommentsCommasLinesAndNumberFormsMeanTheSame) {
  const auto a = Assemble(
      "load region=3, dram_offset=0x10 n0=16 # rest\n  s0=1 t0=1\nend", "t");
  const auto b = Assemble(
      "# first\nload\n n0=0x10\nregion=3 dram_offset=16, s0=1,t0=0x1 end\n",
      "t");
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_EQ(*a, *b);
  EXPECT_EQ(a->size(), isa::Load::kWords + isa::End::kWords);
  absl::StatusOr<isa::Load> load =
      isa::Load::Decode(a->data(), isa::Load::kWords);
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_EQ(load->region, 3u);
  EXPECT_EQ(load->dram_offset, 16u);
  EXPECT_EQ(load->n0, 16u);
  EXPECT_EQ(load->n1, 1u);
}

TEST(AssemblerTest, FloatLiterals) {
  EXPECT_EQ(*ParseFloat("1"), 0x3f800000u);
  EXPECT_EQ(*ParseFloat("-0.0"), 0x80000000u);
  EXPECT_EQ(*ParseFloat("0x1.8p+1"), 0x40400000u);
  EXPECT_EQ(*ParseFloat("-0x1p-149"), 0x80000001u);
  EXPECT_EQ(*ParseFloat("0x3f800000"), 0x3f800000u);
  EXPECT_EQ(*ParseFloat("1e10"), 0x501502f9u);
  EXPECT_EQ(*ParseFloat("-inf"), 0xff800000u);
  EXPECT_EQ(*ParseFloat("nan"), 0x7fc00000u);
  for (const char* bad : {"", "-", "1e99", "0x100000000", "infinity", "1.5x",
                          "--1", "e", "-0x1", "."}) {
    EXPECT_FALSE(ParseFloat(bad).ok()) << bad;
  }
}

TEST(AssemblerTest, ErrorsSayWhereAndWhat) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"lod", "f:1:1: unknown instruction 'lod', did you mean 'load'?"},
      {"end\n  load regon=1",
       "f:2:8: 'load' has no field 'regon', did you mean 'region'?"},
      {"load region=16",
       "f:1:13: field 'region': 16 does not fit its 4 bits (0 .. 15)"},
      {"load n0=0", "f:1:9: field 'n0' = 0 is outside 1 .. 65535"},
      {"load n0=1 n0=2", "f:1:11: field 'n0' is given twice"},
      {"load opcode=1", "f:1:6: field 'opcode' is set by the instruction"},
      {"load n0=", "f:1:9: field 'n0' has no value"},
      {"load n0 = x", "f:1:11: field 'n0': 'x' is not an integer"},
      {"load ; end", "f:1:6: unexpected ';'"},
      {"n0=1", "f:1:1: a mnemonic is expected instead of 'n0'"},
      {"conv pool=mx",
       "f:1:11: field 'pool': 'mx' is not one of none, max, average, did you "
       "mean "
       "'max'?"},
      {"conv za=-129", "f:1:9: field 'za' = -129 is outside -128 .. 255"},
      {".word end", "f:1:1: .word needs at least one number"},
      {".word 0x100000000", "f:1:7: '0x100000000' does not fit 32 bits"},
      {"\x01", "f:1:1: unexpected '\\x01'"},
  };
  for (const auto& c : kCases) {
    const auto r = Assemble(c.text, "f");
    ASSERT_FALSE(r.ok()) << c.text;
    EXPECT_EQ(std::string(r.status().message()), c.message);
  }
}

TEST(AssemblerTest, MicroErrors) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"fad v0, v1, v2",
       "f:1:1: unknown operation 'fad', did you mean 'fadd'?"},
      {"fadd v0, v1", "f:1:12: 'fadd' has 3 operands, 2 are given"},
      {"fadd v0, v1, v2, v3",
       "f:1:18: 'fadd' has 3 operands; 'v3' is one too many"},
      {"mov v0 v1", "f:1:8: 'mov' has 2 operands, 1 are given"},
      {"mov v0, v1, imm=3",
       "f:1:1: micro operation 'mov' has no operand 'imm': it must be zero"},
      {"mov v0, imm, imm=x",
       "f:1:18: 'x' is neither an integer of 32 bits nor an fp32 number"},
  };
  for (const auto& c : kCases) {
    const auto r = AssembleMicro(c.text, "f");
    ASSERT_FALSE(r.ok()) << c.text;
    EXPECT_EQ(std::string(r.status().message()), c.message);
  }
  const auto one = AssembleMicro("mov v3, imm, imm=1.0", "f");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ((*one)[0] >> 32, 0x3f800000u);
}

TEST(DisassemblerTest, IllegalWordsAreAnErrorOrRaw) {
  const auto end = *Assemble("end", "t");
  std::vector<uint32_t> words = end;
  words.insert(words.end(), {0xffffffffu, 1, 2, 3, 4});
  const auto r = Disassemble(words.data(), words.size());
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(std::string(r.status().message()),
            "command at byte 0x10: unknown opcode 0xff");
  DisassembleOptions raw;
  raw.raw = true;
  const auto text = Disassemble(words.data(), words.size(), raw);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*Assemble(*text, "t"), words) << *text;
}

}  // namespace
}  // namespace heddle::assembler
