// SPDX-License-Identifier: Apache-2.0
// The output stage against the functional model, byte for byte: random legal
// commands with random stripes, chunks and grants, pooling of every shape,
// exhaustive operands where they have 8 or 16 bits, and the cycles that it
// promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "Vhd_output_stage.h"
#include "rtl/testbench/output_stage_driver.h"
#include "simulator/model/access.h"
#include "simulator/model/legal.h"
#include "simulator/model/random_command.h"

namespace heddle::testbench {
namespace {

#ifdef HD_VARIANT_h1024
constexpr const isa::Config& kConfig = isa::kH1024;
#else
constexpr const isa::Config& kConfig = isa::kH256;
#endif
using Driver = OutputStageDriver<Vhd_output_stage>;

uint64_t Mix(uint64_t v) {
  v += 0x9e3779b97f4a7c15u;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

// Accumulators of all magnitudes; codes in mode maxpool.
AccFunction RandomAcc(const isa::Conv& c, uint64_t seed) {
  const bool code = c.mode == isa::MatrixMode::kMaxpool;
  const bool is_signed = c.in_signed;
  return [=](uint32_t o, uint32_t y, uint32_t x) {
    const uint64_t h =
        Mix(seed + Mix((uint64_t{o} << 40) ^ (uint64_t{y} << 20) ^ x));
    if (code) return model::Code(static_cast<uint8_t>(h), is_signed);
    return static_cast<int32_t>(h) >> (h >> 32) % 30;
  };
}

class Bench {
 public:
  Bench(const OutputTiming& timing, uint64_t seed)
      : random_(seed),
        generator_(kConfig, 1 << 16, seed),
        driver_(kConfig, timing, seed) {
    driver_.SetSram(generator_.InitialSram());
  }
  uint32_t Below(uint32_t n) {
    return static_cast<uint32_t>((random_() >> 16) % n);
  }
  uint32_t Between(uint32_t a, uint32_t b) { return a + Below(b - a + 1); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }
  model::CommandGenerator& generator() { return generator_; }
  Driver& driver() { return driver_; }

  // Adds the command; waits for the ones before when it needs their writes.
  void Add(const isa::Conv& c) {
    if (!Independent(c) || OneIn(6)) Finish();
    OutputJob job;
    job.c = c;
    job.acc = RandomAcc(c, random_());
    job.srows = OneIn(2) ? c.out_rows : Between(1, c.out_rows);
    job.scols = OneIn(2) ? c.ow : Between(1, c.ow);
    job.passes = OneIn(2) ? 1 : Between(1, 4);
    driver_.Add(job);
    ++pending_;
    names_ += what_ + "; ";
  }
  void set_what(const std::string& what) { what_ = what; }

  void Finish() {
    if (!driver_.Run()) {
      ADD_FAILURE() << driver_.error() << " in " << names_;
      failed_ = true;
    }
    const int64_t at = driver_.Difference();
    if (at >= 0) {
      ADD_FAILURE() << "SRAM byte " << at << " differs after " << names_;
      failed_ = true;
    }
    written_.assign(kConfig.sram_bytes, 0);
    pending_ = 0;
    names_.clear();
  }
  bool failed() const { return failed_; }

 private:
  // Nothing that the output stage or its loader reads for c is written by a
  // command that is not done; notes what c writes.
  bool Independent(const isa::Conv& c) {
    if (written_.empty()) written_.assign(kConfig.sram_bytes, 0);
    bool good = true;
    model::ForEachAccess(kConfig, c, nullptr, [&](const model::Access& a) {
      if (a.space != model::Space::kSram || a.empty || a.write) return;
      a.ForEachRun([&](int64_t at, uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) good = good && !written_[at + i];
      });
    });
    if (!good) written_.assign(kConfig.sram_bytes, 0);
    model::ForEachAccess(kConfig, c, nullptr, [&](const model::Access& a) {
      if (a.space != model::Space::kSram || a.empty || !a.write) return;
      a.ForEachRun([&](int64_t at, uint64_t n) {
        std::fill_n(written_.begin() + at, n, 1);
      });
    });
    return good;
  }

  std::mt19937_64 random_;
  model::CommandGenerator generator_;
  Driver driver_;
  std::vector<uint8_t> written_;
  uint32_t pending_ = 0;
  std::string names_, what_;
  bool failed_ = false;
};

// Kinds of the generator that are conv commands.
std::vector<size_t> ConvKinds() {
  std::vector<size_t> kinds;
  model::CommandGenerator g(kConfig, 1 << 16, 1);
  for (size_t k = 0; k < g.kinds(); ++k) {
    if (std::holds_alternative<isa::Conv>(g.Make(k).command)) {
      kinds.push_back(k);
    }
  }
  return kinds;
}

OutputTiming RandomTiming(uint64_t seed) {
  const uint32_t stalls[] = {0, 0, 20, 50, 80};
  return {stalls[Mix(seed) % 5], Mix(seed) % 3 == 0 ? 60u : 100u,
          Mix(seed) % 4 == 0 ? 90u : 0u};
}

TEST(OutputStage, RandomCommands) {
  const std::vector<size_t> kinds = ConvKinds();
  ASSERT_GT(kinds.size(), 15u);
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Bench b(RandomTiming(seed), seed);
    for (int n = 0; n < 60 && !b.failed(); ++n) {
      const size_t kind = kinds[b.Below(static_cast<uint32_t>(kinds.size()))];
      model::RandomCommand r = b.generator().Make(kind);
      isa::Conv c = std::get<isa::Conv>(r.command);
      b.set_what(r.kind);
      b.Add(c);
    }
    b.Finish();
    ASSERT_FALSE(b.failed()) << "seed " << seed;
  }
}

// A command with max pooling of any legal shape over random rows of a larger
// map, as a compiler would cut it, and unlike.
isa::Conv RandomPool(Bench* b) {
  isa::Conv c;
  c.mode = b->OneIn(3) ? isa::MatrixMode::kDepthwise : isa::MatrixMode::kConv;
  c.out_type = b->OneIn(2) ? isa::OutType::kS8 : isa::OutType::kU8;
  const int32_t qmin = model::OutSigned(c) ? -128 : 0;
  c.co = b->Between(1, 70);
  c.ci = c.mode == isa::MatrixMode::kDepthwise ? c.co : 1;
  c.ow = b->Between(1, b->OneIn(4) ? 70 : 20);
  c.out_rows = b->Between(1, b->OneIn(4) ? 24 : 8);
  c.out_row0 = b->OneIn(2) ? 0 : b->Below(40);
  c.pool = isa::PoolKind::kMax;
  c.pool_k = b->OneIn(2) ? b->Between(1, 3) : b->Between(1, 15);
  c.pool_s = b->OneIn(2) ? b->Between(1, 3) : b->Between(1, 15);
  c.pool_pad = b->Below(c.pool_k);
  c.pool_ow = b->Between(1, c.ow / c.pool_s + 3);
  c.pool_oh =
      b->Between(0, (c.out_row0 + c.out_rows + c.pool_pad) / c.pool_s + 2);
  const uint32_t first = c.out_row0 + c.pool_pad;
  const uint32_t low =
      first >= c.pool_k ? (first - c.pool_k) / c.pool_s + 1 : 0;
  if (b->OneIn(2)) {
    c.pool_row0 = b->Below(low + 1);
    if (b->OneIn(2)) c.pool_row0 = low;
  }
  const uint32_t rows = c.pool_oh;
  c.out_xstep = b->Between(1, 3);
  c.out_pitch = c.pool_ow * c.out_xstep + b->Below(4);
  // A rolling buffer holds at least the rows that are open at once.
  if (b->OneIn(2)) {
    c.out_wrap =
        std::max(c.pool_k / c.pool_s + 2 + (c.out_rows + c.pool_k) / c.pool_s,
                 1u) +
        b->Below(3);
  }
  const uint32_t slots = c.out_wrap != 0 ? c.out_wrap : rows + 1;
  c.out_plane = c.out_pitch * slots + b->Below(3);
  const uint32_t size = c.out_plane * model::OutBlocks(c) + 1;
  const uint32_t words = kConfig.sram_bytes / isa::kWordBytes - 4096;
  if (size >= words) return RandomPool(b);
  c.out_addr = b->Below(words - size);
  c.param_addr = words + 128;
  c.zo = qmin + static_cast<int32_t>(b->Below(256));
  c.act_min = qmin - c.zo;
  c.act_max = qmin + 255 - c.zo;
  return c;
}

TEST(OutputStage, RandomMaxPooling) {
  for (uint64_t seed = 100; seed < 112; ++seed) {
    Bench b(RandomTiming(seed), seed);
    for (int n = 0; n < 60 && !b.failed(); ++n) {
      const isa::Conv c = RandomPool(&b);
      ASSERT_EQ(model::BrokenRule(kConfig, c), nullptr)
          << model::BrokenRule(kConfig, c);
      b.set_what("max k " + std::to_string(c.pool_k) + " s " +
                 std::to_string(c.pool_s) + " pad " +
                 std::to_string(c.pool_pad) + " map " + std::to_string(c.ow) +
                 "x" + std::to_string(c.out_rows) + " from " +
                 std::to_string(c.out_row0) + " to " +
                 std::to_string(c.pool_ow) + "x" + std::to_string(c.pool_oh) +
                 " co " + std::to_string(c.co));
      b.Add(c);
    }
    b.Finish();
    ASSERT_FALSE(b.failed()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace heddle::testbench
