// SPDX-License-Identifier: Apache-2.0
// The hulls of AccessesOf contain every byte that the functional model touches,
// on random legal commands of every kind and configuration.
#include "compiler/stream/access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "simulator/model/access.h"
#include "simulator/model/model.h"
#include "simulator/model/random_command.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kRegionBytes = 64 * 1024;

struct State {
  std::vector<uint8_t> sram, dram;
  std::vector<int32_t> acc;
};

// Executes one command on `state`; false if it faults.
bool Execute(const isa::Command& command, const isa::Config& config,
             State* state, uint64_t* macs) {
  std::vector<uint32_t> words;
  isa::Append(command, &words);
  isa::Append(isa::Command(isa::End()), &words);
  model::FlatMemory memory(state->dram.data(), state->dram.size());
  model::Options options;
  options.implementation = model::Implementation::kReference;
  model::Model model(config, &memory, options);
  std::memcpy(model.sram(), state->sram.data(), state->sram.size());
  std::memcpy(model.accumulators(), state->acc.data(), state->acc.size() * 4);
  model::RegionTable regions = {};
  regions[0] = {0, kRegionBytes, false};
  regions[1] = {kRegionBytes, kRegionBytes, true};
  const model::RunResult result =
      model.Run(words.data(), words.size() * 4, regions);
  std::memcpy(state->sram.data(), model.sram(), state->sram.size());
  std::memcpy(state->acc.data(), model.accumulators(), state->acc.size() * 4);
  *macs = result.macs;
  return result.status == isa::Error::kOk;
}

// The hulls as one flag per byte.
struct Cover {
  Cover(const std::vector<Access>& accesses, const isa::Config& config,
        bool writes)
      : sram(config.sram_bytes),
        dram(2 * kRegionBytes),
        acc(config.acc_pixels) {
    for (const Access& a : accesses) {
      if (writes && !a.write) continue;
      std::vector<bool>& to = a.space == kSramSpace          ? sram
                              : a.space == kAccumulatorSpace ? acc
                                                             : dram;
      const uint64_t base = a.space < kSramSpace ? a.space * kRegionBytes : 0;
      for (uint64_t i = a.begin; i < a.end && base + i < to.size(); ++i) {
        to[base + i] = true;
      }
    }
  }
  std::vector<bool> sram, dram, acc;
};

template <typename T>
int64_t FirstOutside(const std::vector<T>& a, const std::vector<T>& b,
                     const std::vector<bool>& cover, size_t per_flag) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !cover[i / per_flag]) return static_cast<int64_t>(i);
  }
  return -1;
}

class AccessTest : public testing::TestWithParam<isa::Config> {};

// Of what a hull calls dense the model writes every byte. `dense` counts those.
void CheckDense(const isa::Config& config, const isa::Command& command,
                const std::vector<Access>& hulls, int* dense) {
  for (const Access& hull : hulls) {
    if (!hull.dense || hull.space != kSramSpace) continue;
    ASSERT_TRUE(hull.write);
    ++*dense;
    std::vector<bool> written(hull.end - hull.begin);
    model::ForEachAccess(config, command, nullptr, [&](const model::Access& a) {
      if (a.empty || !a.write || a.space != model::Space::kSram) return;
      a.ForEachRun([&](int64_t at, uint64_t n) {
        for (uint64_t i = at; i < at + n; ++i) {
          if (i >= hull.begin && i < hull.end) written[i - hull.begin] = true;
        }
      });
    });
    EXPECT_EQ(std::count(written.begin(), written.end(), false), 0);
  }
}

TEST_P(AccessTest, HullsContainWhatTheModelTouches) {
  int dense = 0;
  const isa::Config config = GetParam();
  model::CommandGenerator generator(config, kRegionBytes, 11);
  std::mt19937_64 random(5);
  const std::vector<uint8_t> initial = generator.InitialSram();
  for (size_t round = 0; round < 5; ++round) {
    for (size_t kind = 0; kind < model::CommandGenerator::kinds(); ++kind) {
      const model::RandomCommand made = generator.Make(kind);
      SCOPED_TRACE(made.kind + ": " + isa::ToString(made.command));
      const std::vector<Access> accesses = AccessesOf(made.command, config);

      // What the model says of the command.
      model::ForEachAccess(
          config, made.command, nullptr, [&](const model::Access& a) {
            if (a.empty) return;
            const int space = a.space == model::Space::kSram ? kSramSpace
                              : a.space == model::Space::kDram
                                  ? static_cast<int>(a.region)
                                  : kAccumulatorSpace;
            a.ForEachRun([&](int64_t at, uint64_t n) {
              bool inside = false;
              for (const Access& hull : accesses) {
                inside =
                    inside || (hull.space == space && hull.write == a.write &&
                               static_cast<int64_t>(hull.begin) <= at &&
                               at + n <= hull.end);
              }
              EXPECT_TRUE(inside)
                  << (a.write ? "write" : "read") << " of " << n << " bytes at "
                  << at << " in space " << space;
            });
          });
      CheckDense(config, made.command, accesses, &dense);
      if (HasFailure()) return;

      // What it does: changes lie in the hulls of writes ...
      State before;
      before.sram = initial;
      before.dram = generator.Data(2 * kRegionBytes);
      before.acc.resize(size_t{config.acc_pixels} * config.lanes_out);
      for (int32_t& v : before.acc) v = static_cast<int32_t>(random());
      State after = before;
      uint64_t macs = 0;
      ASSERT_TRUE(Execute(made.command, config, &after, &macs));
      EXPECT_EQ(macs, MacsOf(made.command));
      const Cover writes(accesses, config, true);
      EXPECT_EQ(FirstOutside(before.sram, after.sram, writes.sram, 1), -1);
      EXPECT_EQ(FirstOutside(before.dram, after.dram, writes.dram, 1), -1);
      EXPECT_EQ(
          FirstOutside(before.acc, after.acc, writes.acc, config.lanes_out),
          -1);
      // ... and do not depend on anything outside all hulls.
      const Cover all(accesses, config, false);
      State other = before;
      for (size_t i = 0; i < other.sram.size(); ++i) {
        if (!all.sram[i]) other.sram[i] = static_cast<uint8_t>(random());
      }
      for (size_t i = 0; i < other.dram.size(); ++i) {
        if (!all.dram[i]) other.dram[i] = static_cast<uint8_t>(random());
      }
      State changed = other;
      ASSERT_TRUE(Execute(made.command, config, &changed, &macs));
      for (size_t i = 0; i < changed.sram.size(); ++i) {
        const uint8_t expected = all.sram[i] ? after.sram[i] : other.sram[i];
        ASSERT_EQ(changed.sram[i], expected) << "SRAM byte " << i;
      }
      for (size_t i = 0; i < changed.dram.size(); ++i) {
        const uint8_t expected = all.dram[i] ? after.dram[i] : other.dram[i];
        ASSERT_EQ(changed.dram[i], expected) << "device byte " << i;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(dense, 0);
}

INSTANTIATE_TEST_SUITE_P(All, AccessTest, testing::ValuesIn(isa::kConfigs),
                         [](const auto& info) { return info.param.name; });

// Hulls must not be needlessly wide either: a single row, a single block.
TEST(Access, HullOfOneRow) {
  isa::Conv c;
  c.mode = isa::MatrixMode::kMaxpool;
  c.in_addr = 100;
  c.out_addr = 500;
  c.ih = 8;
  c.iw = c.ow = 4;
  c.in_pitch = c.out_pitch = 4;
  c.in_row0 = 2;
  c.out_row0 = 3;
  c.ci = c.co = 16;
  const std::vector<Access> a = AccessesOf(c, isa::kH256);
  ASSERT_EQ(a.size(), 3u);  // the second one are the accumulators
  EXPECT_EQ(a[0].begin, (100u + 4) * 16);
  EXPECT_EQ(a[0].end, (100u + 8) * 16);
  EXPECT_FALSE(a[0].write);
  EXPECT_EQ(a[2].begin, 500u * 16);
  EXPECT_EQ(a[2].end, 504u * 16);
  EXPECT_TRUE(a[2].write);
}

TEST(Access, WritesThatLeaveLanesOutAreNotDense) {
  isa::Vrun c;
  c.lanes = 16;
  c.n_o1 = 12;
  c.store = isa::StoreMode::kEpilogue;
  isa::Stream d;
  d.type = isa::ElementType::kF32;
  d.lane_stride = 4;
  d.o1_stride = 64;
  c.SetD(d);
  const auto dense = [&c] {
    const std::vector<Access> a = AccessesOf(c, isa::kH256);
    EXPECT_TRUE(a.back().write);
    return a.back().dense;
  };
  EXPECT_TRUE(dense());
  c.store_one = true;
  EXPECT_FALSE(dense());
  c.store_one = false;
  c.tail = 3;
  EXPECT_FALSE(dense());
}

}  // namespace
}  // namespace heddle::compiler
