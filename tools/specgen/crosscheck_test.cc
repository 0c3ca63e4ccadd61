// SPDX-License-Identifier: Apache-2.0
//
// C++ and SystemVerilog agree on every field of every command: random commands
// are encoded in C++ and read back through the packed structs of the verilated
// package. They also agree on which words are a legal encoding.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "Vheddle_pkg_check.h"
#include "rtl/spec/generated/isa.h"
#include "tools/specgen/random_command.h"

namespace heddle {
namespace {

class CrossCheckTest : public ::testing::Test {
 protected:
  void Load(const std::vector<uint32_t>& words) {
    for (size_t i = 0; i < isa::kLongestCommandWords; ++i) {
      top_.words[i] = i < words.size() ? words[i] : filler_;
    }
  }
  // What the command is followed by in a stream must not matter.
  uint32_t filler_ = 0xa5a5a5a5;
  Vheddle_pkg_check top_;
};

TEST_F(CrossCheckTest, FieldsOfRandomCommands) {
  std::mt19937 rng(1);
  for (const isa::CommandInfo& info : isa::kCommands) {
    for (int round = 0; round < 50; ++round) {
      const std::vector<uint32_t> words = specgen::RandomCommand(info, &rng);
      filler_ = static_cast<uint32_t>(rng());
      Load(words);
      top_.micro = 0;
      for (size_t i = 0; i < info.num_fields; ++i) {
        top_.index = static_cast<uint8_t>(i);
        top_.eval();
        const isa::FieldInfo& f = info.fields[i];
        const int64_t want = isa::FieldValue(f, isa::GetField(f, words.data()));
        ASSERT_EQ(top_.value, static_cast<uint32_t>(want))
            << info.name << "." << f.name;
      }
      EXPECT_EQ(top_.length, info.words);
      EXPECT_EQ(top_.engine, static_cast<uint32_t>(info.engine));
      EXPECT_EQ(top_.legal, 1) << info.name;
    }
  }
}

TEST_F(CrossCheckTest, LegalityOfMutatedCommands) {
  std::mt19937 rng(2);
  int legal = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    const isa::CommandInfo& info = isa::kCommands[rng() % isa::kNumCommands];
    std::vector<uint32_t> words = specgen::RandomCommand(info, &rng);
    words.resize(isa::kLongestCommandWords, 0);
    switch (rng() % 4) {
      case 0:  // a bit anywhere
        words[rng() % info.words] ^= 1u << rng() % 32;
        break;
      case 1: {  // any bits in one field
        const isa::FieldInfo& f = info.fields[rng() % info.num_fields];
        isa::SetField(f, static_cast<uint32_t>(rng()), words.data());
        break;
      }
      case 2:  // just outside a range
        for (int k = 0; k < 3; ++k) {
          const isa::FieldInfo& f = info.fields[rng() % info.num_fields];
          const int64_t value = rng() % 2 ? f.max + 1 : f.min - 1;
          if (f.type != isa::FieldType::kEnum) {
            isa::SetField(f, static_cast<uint32_t>(value), words.data());
          }
        }
        break;
      default:
        break;
    }
    Load(words);
    top_.eval();
    const absl::Status status = isa::CheckCommand(words.data(), words.size());
    legal += status.ok();
    ASSERT_EQ(top_.legal != 0, status.ok()) << info.name << ": " << status;
  }
  EXPECT_GT(legal, kRounds / 10);
  EXPECT_LT(legal, kRounds * 9 / 10);
}

TEST_F(CrossCheckTest, LegalityOfEveryOpcode) {
  for (uint32_t opcode = 0; opcode < 256; ++opcode) {
    std::vector<uint32_t> words(isa::kLongestCommandWords, 0);
    words[0] = opcode;
    Load(words);
    top_.eval();
    const isa::CommandInfo* info = isa::FindCommand(opcode);
    EXPECT_EQ(top_.length, info == nullptr ? 0 : info->words);
    EXPECT_EQ(top_.legal != 0,
              isa::CheckCommand(words.data(), words.size()).ok());
  }
}

TEST_F(CrossCheckTest, FieldsOfMicroInstructions) {
  std::mt19937 rng(3);
  for (int round = 0; round < 1000; ++round) {
    const std::vector<uint32_t> words = {static_cast<uint32_t>(rng()),
                                         static_cast<uint32_t>(rng())};
    Load(words);
    top_.micro = 1;
    for (size_t i = 0; i < isa::kNumMicroFields; ++i) {
      top_.index = static_cast<uint8_t>(i);
      top_.eval();
      ASSERT_EQ(top_.value, isa::GetField(isa::kMicroFields[i], words.data()))
          << isa::kMicroFields[i].name;
    }
  }
}

}  // namespace
}  // namespace heddle
