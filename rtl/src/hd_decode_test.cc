// SPDX-License-Identifier: Apache-2.0
//
// The decoder's verdict against that of the generated decoder and the model's
// rules, for legal commands of every kind and for commands one or a few fields
// or bits away from legal ones. Both verdicts, every opcode and every rule must
// have come up often enough.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "Vhd_decode.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/clocked.h"
#include "simulator/model/legal.h"
#include "simulator/model/random_command.h"

namespace heddle::rtl {
namespace {

#ifdef HD_VARIANT_h1024
const isa::Config& kConfig = isa::kH1024;
#else
const isa::Config& kConfig = isa::kH256;
#endif

constexpr int kWords = 52;  // of the longest command
using Words = std::vector<uint32_t>;

struct Verdict {
  bool legal;
  int cycles;
};

class Decoder {
 public:
  Verdict Judge(const Words& words) {
    std::memcpy(&dut_->cmd_i, words.data(), kWords * 4);
    dut_->start_i = 1;
    dut_.Tick();
    dut_->start_i = 0;
    dut_.Settle();
    int cycles = 1;
    for (; !dut_->done_o && cycles < 1000; ++cycles) dut_.Tick();
    EXPECT_LT(cycles, 1000) << "no verdict";
    return {dut_->legal_o != 0, cycles};
  }

 private:
  Clocked<Vhd_decode> dut_;
};

struct Count {
  int legal = 0, illegal = 0;
};

class DecodeTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kSeed = 20;

  uint32_t Below(uint32_t n) { return random_() % n; }
  int32_t Between(int32_t low, int32_t high) {
    return low + static_cast<int32_t>(Below(high - low + 1));
  }

  // What the model says, and why.
  bool Reference(const Words& words, std::string* why) {
    const absl::StatusOr<isa::Command> command =
        isa::DecodeAny(words.data(), words.size());
    if (!command.ok()) {
      *why = "encoding";
      return false;
    }
    const char* rule = model::BrokenRule(kConfig, *command);
    *why = rule == nullptr ? "" : rule;
    return rule == nullptr;
  }

  void Check(const Words& words) {
    std::string why;
    const bool expected = Reference(words, &why);
    const Verdict verdict = decoder_.Judge(words);
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[0]));
    const std::string name = info == nullptr ? "unknown" : info->name;
    Count& count = opcodes_[name];
    ++(expected ? count.legal : count.illegal);
    if (!expected) ++rules_[why];
    if (expected) slowest_[name] = std::max(slowest_[name], verdict.cycles);
    ++total_;
    if (expected != verdict.legal && ++wrong_ <= 10) {
      const absl::StatusOr<isa::Command> command =
          isa::DecodeAny(words.data(), words.size());
      ADD_FAILURE() << "model: " << (expected ? "legal" : why) << "\n"
                    << (command.ok() ? isa::ToString(*command) : name);
    }
  }

  Words Padded(Words words) {
    // What follows a command is not part of it.
    while (words.size() < kWords) words.push_back(random_());
    return words;
  }

  // Waits and signals, sometimes naming one semaphore twice.
  void RandomHeader(Words* words) {
    (*words)[1] = random_() & 0x0fffffff;
    (*words)[2] = random_() & 0x3fffffff;
    (*words)[3] = random_();
    if (Below(8) == 0) {  // equal semaphores
      (*words)[1] = ((*words)[1] & ~0xf8000u) | ((*words)[1] & 0x3e) << 14;
      (*words)[2] = ((*words)[2] & ~0x1f0000u) | ((*words)[2] & 0x3e) << 15;
    }
  }

  // One field, to a value near its limits or anywhere.
  void MutateField(Words* words) {
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf((*words)[0]));
    if (info == nullptr) return;
    const isa::FieldInfo& field = info->fields[Below(info->num_fields)];
    const uint32_t mask = field.bits == 32 ? ~0u : (1u << field.bits) - 1;
    uint32_t bits = 0;
    switch (Below(6)) {
      case 0:
        bits = static_cast<uint32_t>(field.min);
        break;
      case 1:
        bits = static_cast<uint32_t>(field.max);
        break;
      case 2:
        bits = static_cast<uint32_t>(field.max) + 1;
        break;
      case 3:
        bits = isa::GetField(field, words->data()) ^ 1u << Below(field.bits);
        break;
      case 4:
        bits = Below(8);
        break;
      default:
        bits = random_();
        break;
    }
    isa::SetField(field, bits & mask, words->data());
  }

  // A conv whose row fields are small, so that every case of the row rules
  // comes up; the rest is as it was.
  void SmallRows(isa::Conv* c) {
    c->out_row0 = Below(3) ? Below(20) : 0;
    c->out_rows = 1 + Below(6);
    c->sy = 1 + Below(Below(2) ? 15 : 3);
    c->dy = 1 + Below(Below(2) ? 20 : 2);
    if (c->w_mode == isa::WeightMode::kPacked)
      c->kh = 1 + Below(Below(2) ? 12 : 3);
    c->pad_top = Between(-4, Below(2) ? 200 : 8);
    c->ih = 1 + Below(40);
    c->in_row0 = Below(2) ? Below(4) : Below(30);
    c->in_wrap = Below(4) ? 0 : Below(2 * c->dy * c->kh);
    c->out_wrap = Below(4) ? 0 : Below(10);
    if (c->pool == isa::PoolKind::kMax) {
      c->pool_k = Below(Below(2) ? 16 : 4);
      c->pool_s = Below(Below(2) ? 16 : 4);
      c->pool_pad = Below(Below(2) ? 16 : 2);
      c->pool_oh = Below(20);
      c->pool_row0 = Below(10);
    }
    if (c->acc_hold || c->acc_continue) {
      c->out_rows = 1 + Below(20);
      c->ow = 1 + Below(20);
      if (c->mode != isa::MatrixMode::kDepthwise) c->co = 1 + Below(100);
    }
  }

  std::mt19937 random_{kSeed};
  Decoder decoder_;
  std::map<std::string, Count> opcodes_;
  std::map<std::string, int> rules_, slowest_;
  int wrong_ = 0, total_ = 0;
};

TEST_F(DecodeTest, VerdictIsTheModels) {
  model::CommandGenerator generator(kConfig, 65536, kSeed);
  for (int round = 0; round < 400; ++round) {
    for (size_t kind = 0; kind < model::CommandGenerator::kinds(); ++kind) {
      const isa::Command command = generator.Make(kind).command;
      Words words;
      isa::Append(command, &words);
      RandomHeader(&words);
      Check(Padded(words));
      for (int i = 0; i < 12; ++i) {
        Words mutant = Padded(words);
        for (uint32_t n = 1 + Below(2); n > 0; --n) MutateField(&mutant);
        Check(mutant);
      }
      for (int i = 0; i < 2; ++i) {
        Words mutant = Padded(words);
        mutant[Below(words.size())] ^= 1u << Below(32);
        Check(mutant);
      }
      if (const auto* conv = std::get_if<isa::Conv>(&command)) {
        for (int i = 0; i < 24; ++i) {
          isa::Conv c = *conv;
          SmallRows(&c);
          Words mutant(c.kWords);
          c.Encode(mutant.data());
          Check(Padded(mutant));
        }
      }
    }
  }
  // Commands that are headers only, and unknown opcodes.
  for (int i = 0; i < 60000; ++i) {
    Words words(kWords);
    const isa::CommandInfo& info = isa::kCommands[Below(isa::kNumCommands)];
    RandomHeader(&words);
    if (Below(2)) words[1] = words[2] = 0;
    words[0] = static_cast<uint32_t>(info.opcode) | info.words << 8;
    if (info.words != isa::Header::kWords) words[0] = 0x400 | Below(256);
    if (Below(4) == 0) words[Below(4)] ^= 1u << Below(32);
    Check(words);
  }

  EXPECT_GE(total_, 200000);
  for (size_t i = 0; i < isa::kNumCommands; ++i) {
    const std::string name = isa::kCommands[i].name;
    EXPECT_GE(opcodes_[name].legal, 300) << name;
    EXPECT_GE(opcodes_[name].illegal, 300) << name;
  }
  EXPECT_GE(opcodes_["unknown"].illegal, 300);
  for (const auto& [rule, n] : rules_) {
    EXPECT_GE(n, 20) << rule;
    RecordProperty(std::to_string(n), rule);
  }
  // "encoding" and every sentence of legal.cc that is not about a
  // micro-instruction.
  EXPECT_EQ(rules_.size(), 41u);
  for (const auto& [name, cycles] : slowest_) {
    if (name != "conv") {
      EXPECT_EQ(cycles, 1) << name;
    }
  }
}

// Held accumulators: every way to need about as many entries as there are, with
// the last lane of a block and the first of the next.
TEST_F(DecodeTest, AccumulatorsAtTheirLimit) {
  model::CommandGenerator generator(kConfig, 65536, kSeed);
  isa::Conv base;
  const auto usable = [](const isa::Command& command) {
    const auto* c = std::get_if<isa::Conv>(&command);
    return c != nullptr && c->mode == isa::MatrixMode::kConv && c->acc_hold;
  };
  for (size_t kind = 0;; kind = (kind + 1) % model::CommandGenerator::kinds()) {
    const isa::Command command = generator.Make(kind).command;
    if (!usable(command)) continue;
    base = std::get<isa::Conv>(command);
    break;
  }
  // No other rule is broken, with or without acc_hold.
  base.out_row0 = base.in_row0 = 0;
  base.zo = 0;
  base.act_min = -255;
  base.act_max = 255;
  const uint32_t limit = kConfig.acc_pixels;
  std::map<uint32_t, int> needed;
  for (uint32_t rows = 1; rows <= limit + 4; ++rows) {
    for (uint32_t blocks = 1; blocks * rows <= limit + 4; ++blocks) {
      // The last width that fits, and the next ones.
      const uint32_t fits = limit / (blocks * rows);
      for (uint32_t ow = std::max(fits, 1u); ow <= fits + 2; ++ow) {
        isa::Conv c = base;
        c.out_rows = rows;
        c.ow = ow;
        c.acc_hold = Below(2) != 0;
        c.acc_continue = !c.acc_hold || Below(2) != 0;
        c.co = blocks * kConfig.lanes_out;
        if (Below(2) != 0) c.co -= Below(kConfig.lanes_out);
        Words words(c.kWords);
        c.Encode(words.data());
        ++needed[rows * blocks * ow];
        Check(Padded(words));
      }
    }
  }
  // 257 is a prime number: one factor has it all.
  for (uint32_t n = limit - 4; n <= limit + 6; ++n) {
    EXPECT_GE(needed[n], 1) << n;
  }
  EXPECT_GT(opcodes_["conv"].legal, 1000);
  EXPECT_EQ(rules_.size(), 1u);
  EXPECT_GT(rules_["more pixels than accumulators"], 1000);
}

TEST_F(DecodeTest, OrdinaryConvIsDecodedInTwelveCycles) {
  model::CommandGenerator generator(kConfig, 65536, kSeed);
  int convs = 0, slow = 0;
  for (int round = 0; round < 40; ++round) {
    for (size_t kind = 0; kind < model::CommandGenerator::kinds(); ++kind) {
      const isa::Command command = generator.Make(kind).command;
      if (!std::holds_alternative<isa::Conv>(command)) continue;
      Words words;
      isa::Append(command, &words);
      const Verdict verdict = decoder_.Judge(Padded(words));
      EXPECT_TRUE(verdict.legal);
      ++convs;
      if (verdict.cycles > 12) ++slow;
    }
  }
  EXPECT_GT(convs, 300);
  EXPECT_LE(slow, convs / 20);
}

}  // namespace
}  // namespace heddle::rtl
