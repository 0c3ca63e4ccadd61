// SPDX-License-Identifier: Apache-2.0
//
// Tests of the generated C++: typed encoders and decoders agree with the field
// tables, and no illegal encoding is accepted.
#include "rtl/spec/generated/isa.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/registers.h"
#include "tools/specgen/random_command.h"

namespace heddle::isa {
namespace {

using specgen::RandomCommand;

TEST(IsaTest, TypedRoundTripOfEveryInstruction) {
  std::mt19937 rng(1);
  for (const CommandInfo& info : kCommands) {
    for (int i = 0; i < 200; ++i) {
      const std::vector<uint32_t> words = RandomCommand(info, &rng);
      absl::StatusOr<Command> command = DecodeAny(words.data(), words.size());
      ASSERT_TRUE(command.ok()) << command.status();
      EXPECT_EQ(WordsOf(*command), info.words);
      std::vector<uint32_t> again;
      Append(*command, &again);
      ASSERT_EQ(again, words) << info.name;
    }
  }
}

TEST(IsaTest, DefaultCommandsAreLegalUnlessAFieldIsRequired) {
  std::vector<uint32_t> words;
  Append(Load(), &words);
  Append(Conv(), &words);
  Append(Vrun(), &words);
  Append(End(), &words);
  for (size_t at = 0; at < words.size();) {
    ASSERT_TRUE(CheckCommand(words.data() + at, words.size() - at).ok());
    at += FindCommand(OpcodeOf(words[at]))->words;
  }
}

TEST(IsaTest, EveryReservedBitIsRefused) {
  std::mt19937 rng(2);
  for (const CommandInfo& info : kCommands) {
    std::vector<uint32_t> words = RandomCommand(info, &rng);
    for (uint32_t w = 0; w < info.words; ++w) {
      for (int b = 0; b < 32; ++b) {
        if ((info.reserved[w] >> b & 1) == 0) continue;
        words[w] ^= 1u << b;
        EXPECT_FALSE(DecodeAny(words.data(), words.size()).ok())
            << info.name << " word " << w << " bit " << b;
        words[w] ^= 1u << b;
      }
    }
    ASSERT_TRUE(DecodeAny(words.data(), words.size()).ok());
  }
}

TEST(IsaTest, ReservedBitsAndFieldsCoverEachWordOnce) {
  for (const CommandInfo& info : kCommands) {
    std::vector<uint32_t> seen(info.reserved, info.reserved + info.words);
    for (size_t i = 0; i < info.num_fields; ++i) {
      const FieldInfo& f = info.fields[i];
      const uint32_t mask = (f.bits == 32 ? ~0u : (1u << f.bits) - 1) << f.lsb;
      EXPECT_EQ(seen[f.word] & mask, 0u) << info.name << "." << f.name;
      seen[f.word] |= mask;
    }
    for (uint32_t w : seen) EXPECT_EQ(w, ~0u) << info.name;
  }
}

TEST(IsaTest, ValuesOutsideAFieldsRangeAreRefused) {
  std::mt19937 rng(3);
  for (const CommandInfo& info : kCommands) {
    for (size_t i = 0; i < info.num_fields; ++i) {
      const FieldInfo& f = info.fields[i];
      std::vector<uint32_t> words = RandomCommand(info, &rng);
      const uint32_t mask = f.bits == 32 ? ~0u : (1u << f.bits) - 1;
      // All values of narrow fields, the edges and random ones of wide fields.
      for (uint32_t n = 0; n < (f.bits <= 12 ? mask + 1 : 3000); ++n) {
        uint32_t bits = f.bits <= 12 ? n : static_cast<uint32_t>(rng());
        if (f.bits > 12 && n < 8)
          bits = static_cast<uint32_t>(n % 2 ? f.min : f.max) + n / 2 - 1;
        bits &= mask;
        SetField(f, bits, words.data());
        const int64_t value = FieldValue(f, bits);
        bool legal =
            value >= f.min && value <= f.max && !(f.nonzero && value == 0);
        if (f.type == FieldType::kF32)
          legal = !(f.nonzero && (bits & 0x7fffffff) == 0);
        if (f.type == FieldType::kEnum) {
          legal = false;
          for (size_t k = 0; k < f.enum_info->num_values; ++k) {
            legal |= f.enum_info->values[k].value == bits;
          }
        }
        // A different opcode is a different command.
        if (f.fixed && f.word == 0 && f.lsb == 0 &&
            OpcodeOf(words[0]) != uint32_t(info.opcode)) {
          continue;
        }
        EXPECT_EQ(DecodeAny(words.data(), words.size()).ok(), legal)
            << info.name << "." << f.name << " = " << value;
      }
    }
  }
}

TEST(IsaTest, UnknownOpcodesAndCutCommandsAreRefused) {
  std::mt19937 rng(4);
  for (uint32_t opcode = 0; opcode < 256; ++opcode) {
    std::vector<uint32_t> words(kLongestCommandWords, 0);
    words[0] = opcode;
    if (FindCommand(opcode) == nullptr) {
      EXPECT_FALSE(DecodeAny(words.data(), words.size()).ok()) << opcode;
    }
  }
  EXPECT_FALSE(DecodeAny(nullptr, 0).ok());
  for (const CommandInfo& info : kCommands) {
    const std::vector<uint32_t> words = RandomCommand(info, &rng);
    for (size_t n = 0; n < words.size(); ++n) {
      // A copy of exactly n words lets a sanitizer see reads behind the end.
      const std::vector<uint32_t> part(words.begin(), words.begin() + n);
      EXPECT_FALSE(DecodeAny(part.data(), part.size()).ok())
          << info.name << " " << n;
    }
  }
  uint32_t long_enough[Load::kWords + 4] = {};
  Load().Encode(long_enough);
  EXPECT_TRUE(Load::Decode(long_enough, Load::kWords).ok());
  EXPECT_FALSE(Load::Decode(long_enough, Load::kWords + 4).ok());
  EXPECT_FALSE(Store::Decode(long_enough, Store::kWords).ok());
}

TEST(IsaTest, CheckFindsValuesThatDoNotFit) {
  Load load;
  EXPECT_TRUE(load.Check().ok());
  load.region = 16;
  EXPECT_EQ(std::string(load.Check().message()),
            "command 'load': field 'region' has a value wider than its bits");
  load.region = 15;
  load.n0 = 0;
  EXPECT_EQ(std::string(load.Check().message()),
            "command 'load': field 'n0' = 0 is outside 1 .. 65535");
  Conv conv;
  conv.za = -129;
  EXPECT_FALSE(conv.Check().ok());
  conv.za = -128;
  EXPECT_TRUE(conv.Check().ok()) << conv.Check();
  conv.mode = static_cast<MatrixMode>(9);
  EXPECT_FALSE(conv.Check().ok());
}

TEST(IsaTest, GroupsAreViewsOfTheFlatFields) {
  Vrun v;
  Stream s;
  s.base = 0x1234;
  s.type = ElementType::kF16;
  s.o2_stride = -8;
  v.SetC(s);
  EXPECT_EQ(v.c_base, 0x1234u);
  EXPECT_EQ(v.c_o2_stride, -8);
  EXPECT_EQ(v.GetC().type, ElementType::kF16);
  EXPECT_EQ(v.GetD().base, 0u);
}

TEST(IsaTest, MicroInstructionsRoundTripOrAreRefused) {
  std::mt19937_64 rng(5);
  int legal = 0;
  for (int i = 0; i < 2000000; ++i) {
    // Sparse words, or hardly any would be legal.
    const uint64_t word = (rng() & rng() & (i % 2 ? 0x0fffffffull : ~0ull));
    absl::StatusOr<MicroInstruction> m = MicroInstruction::Decode(word);
    if (!m.ok()) continue;
    ++legal;
    ASSERT_EQ(m->Encode(), word);
  }
  EXPECT_GT(legal, 1000);
  MicroInstruction mov;
  mov.op = MicroOp::kMov;
  mov.imm = 1;  // no operand names it
  EXPECT_FALSE(MicroInstruction::Decode(mov.Encode()).ok());
  mov.a = Operand::kImm;
  EXPECT_TRUE(MicroInstruction::Decode(mov.Encode()).ok());
  mov.b = Operand::kV1;  // mov has no b
  EXPECT_FALSE(MicroInstruction::Decode(mov.Encode()).ok());
  EXPECT_FALSE(MicroInstruction::Decode(0xff).ok());
}

TEST(IsaTest, ConfigsAndErrorsAreFound) {
  ASSERT_NE(FindConfig("h256"), nullptr);
  EXPECT_EQ(FindConfigById(kH256.id), &kH256);
  EXPECT_EQ(FindConfig("h257"), nullptr);
  EXPECT_EQ(FindConfigById(99), nullptr);
  ASSERT_NE(FindError(0), nullptr);
  EXPECT_EQ(FindError(0)->absl_code, absl::StatusCode::kOk);
  EXPECT_EQ(FindError(0)->errno_value, 0);
  EXPECT_EQ(FindError(0xffffffff), nullptr);
  for (const ErrorInfo& e : kErrors) {
    EXPECT_EQ(FindError(static_cast<uint32_t>(e.code)), &e);
    if (e.code != Error::kOk) {
      EXPECT_NE(e.errno_value, 0) << e.name;
      EXPECT_NE(e.absl_code, absl::StatusCode::kOk) << e.name;
    }
  }
}

TEST(RegisterTableTest, MasksAreDisjointAndResetsLieInside) {
  std::set<uint32_t> offsets;
  for (const reg::RegisterInfo& r : reg::kRegisters) {
    uint32_t all = 0;
    for (uint32_t m :
         {r.ro_mask, r.rw_mask, r.wo_mask, r.w1c_mask, r.w1s_mask}) {
      EXPECT_EQ(all & m, 0u) << r.name;
      all |= m;
    }
    EXPECT_EQ(r.reset & ~all, 0u) << r.name;
    for (uint32_t i = 0; i < r.count; ++i) {
      EXPECT_TRUE(offsets.insert(r.offset + i * r.stride).second) << r.name;
      EXPECT_LT(r.offset + i * r.stride, reg::kBlockBytes);
    }
  }
}

}  // namespace
}  // namespace heddle::isa
