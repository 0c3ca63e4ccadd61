// SPDX-License-Identifier: Apache-2.0
// The output stage against the functional model, byte for byte: random legal
// commands with random stripes, chunks and grants, pooling of every shape,
// exhaustive operands where they have 8 or 16 bits, and the cycles that it
// promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
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

// --- Exhaustive operands. -------------------------------------------------

constexpr uint32_t kParamWord = 64;   // one block of parameters
constexpr uint32_t kTableWord = 128;  // a table
constexpr uint32_t kOutWord = 256;
constexpr uint32_t kResWord = 16384;  // residual, in the upper half

// 64 x 64 pixels of 16 channels at kOutWord: 4096 vectors.
isa::Conv Square(bool out_signed) {
  isa::Conv c;
  c.out_type = out_signed ? isa::OutType::kS8 : isa::OutType::kU8;
  c.ow = c.out_rows = 64;
  c.co = 16;
  c.out_addr = kOutWord;
  c.out_pitch = 64;
  c.param_addr = kParamWord;
  c.act_min = -255;
  c.act_max = 255;
  return c;
}

void PutParams(std::vector<uint8_t>* sram, const std::vector<int32_t>& bias,
               const std::vector<uint32_t>& scale) {
  uint8_t* at = &(*sram)[size_t{kParamWord} * 16];
  for (uint32_t l = 0; l < 16; ++l) {
    std::memcpy(at + 4 * l, &bias[l % bias.size()], 4);
    std::memcpy(at + 64 + 4 * l, &scale[l % scale.size()], 4);
  }
}

void ExpectEqual(Driver* d, const OutputJob& job, const std::string& what) {
  d->Add(job);
  ASSERT_TRUE(d->Run()) << d->error() << ": " << what;
  ASSERT_EQ(d->Difference(), -1) << what;
}

// Every accumulator in +-2^15 with 16 scales, also extreme ones, to both types.
TEST(OutputStage, RequantiseEveryAccumulator) {
  const std::vector<uint32_t> scales = {
      0x3f800000, 0x3c23d70a, 0xbc23d70a, 0x3b808081, 0x3f000000, 0x3e800000,
      0x00000001, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff,
      0x00800000, 0x3a83126f, 0x42f6e979, 0x3f7fffff};
  std::vector<uint8_t> sram(kConfig.sram_bytes);
  PutParams(&sram, {0, 7, -3}, scales);
  Driver d(kConfig, {}, 5);
  d.SetSram(sram);
  for (const bool out_signed : {false, true}) {
    for (int32_t part = 0; part < 16; ++part) {
      OutputJob job;
      job.c = Square(out_signed);
      job.c.zo = out_signed ? -5 : 131;
      if (part % 2 == 1) job.c.act_min = -40, job.c.act_max = 90;
      job.srows = job.scols = 64;
      job.acc = [=](uint32_t, uint32_t y, uint32_t x) {
        return -32768 + part * 4096 + static_cast<int32_t>(y * 64 + x);
      };
      ExpectEqual(&d, job, "part " + std::to_string(part));
    }
  }
}

// 256 codes through 16 tables.
TEST(OutputStage, TableEveryCode) {
  std::vector<uint8_t> sram(kConfig.sram_bytes);
  PutParams(&sram, {0}, {0x3f800000});
  for (uint32_t i = 0; i < 16 * 256; ++i) {
    sram[size_t{kTableWord} * 16 + i % 2048] = static_cast<uint8_t>(Mix(i));
  }
  Driver d(kConfig, {}, 6);
  d.SetSram(sram);
  for (uint32_t table = 0; table < 8; ++table) {
    OutputJob job;
    job.c = Square(table % 2 != 0);
    job.c.lut = true;
    job.c.lut_addr = kTableWord + 16 * table;
    job.c.out_addr = kOutWord + 4096 * (table % 3);
    job.c.out_rows = 4;
    job.srows = 4;
    job.scols = 64;
    job.acc = [=](uint32_t o, uint32_t y, uint32_t x) {
      const int32_t code = (o * 16 + y * 64 + x) % 256;
      return table % 2 != 0 ? code - 128 : code;
    };
    d.Add(job);
  }
  ASSERT_TRUE(d.Run()) << d.error();
  ASSERT_EQ(d.Difference(), -1);
}

// All pairs of code and residual, sum and product, with several constants.
TEST(OutputStage, ResidualEveryPair) {
  struct Constants {
    float a, b, k;
  };
  const Constants constants[] = {
      {0.75f, 0.5f, 3.25f},  {-0.0117f, 1.7f, -12.5f},
      {1.0f, 1.0f, 0.0f},    {0.5f, 0.5f, 0.5f},
      {1e38f, -1e38f, 1.0f}, {model::FromBits(model::kNan), 1.0f, 0.0f},
      {1e-40f, 0.25f, -0.0f}};
  std::vector<uint8_t> sram(kConfig.sram_bytes);
  PutParams(&sram, {0}, {0x3f800000});
  for (uint32_t i = 0; i < 4096 * 16; ++i) {
    sram[size_t{kResWord} * 16 + i] = static_cast<uint8_t>(i / 256);
  }
  Driver d(kConfig, {}, 7);
  d.SetSram(sram);
  uint32_t n = 0;
  for (const Constants& f : constants) {
    for (uint32_t variant = 0; variant < 8; ++variant, ++n) {
      OutputJob job;
      job.c = Square((variant & 1) != 0);
      const bool is_signed = (variant & 1) != 0;
      job.c.res_signed = (variant & 2) != 0;
      job.c.res_first = n % 3 == 0;
      job.c.res_op =
          (variant & 4) != 0 ? isa::ResidualOp::kMul : isa::ResidualOp::kAdd;
      job.c.res_addr = kResWord;
      job.c.res_pitch = 64;
      job.c.res_a = f.a;
      job.c.res_b = f.b;
      job.c.res_k = f.k;
      job.c.res_zero = static_cast<int32_t>(n * 37 % 384) - 128;
      job.c.mid_zero = static_cast<int32_t>(n * 91 % 384) - 128;
      job.c.res_min = is_signed ? -128 : 0;
      job.c.res_max = n % 2 == 0 ? 100 : job.c.res_min + 255;
      job.srows = job.scols = 64;
      job.acc = [=](uint32_t o, uint32_t y, uint32_t x) {
        const int32_t code = (y * 1024 + x * 16 + o) % 256;
        return is_signed ? code - 128 : code;
      };
      ExpectEqual(&d, job, "constants " + std::to_string(n));
    }
  }
}

// --- Bounds. -----------------------------------------------------------------

// Runs a command that leaves the SRAM; true if a fault is reported and nothing
// but the words before the end is written.
struct BoundsCase {
  const char* name;
  void (*change)(isa::Conv*);
};
class OutputStageBounds : public testing::TestWithParam<BoundsCase> {};
TEST_P(OutputStageBounds, Fault) {
  const uint32_t words = kConfig.sram_bytes / isa::kWordBytes;
  std::vector<uint8_t> sram(kConfig.sram_bytes);
  PutParams(&sram, {0}, {0x3f800000});
  Driver d(kConfig, {}, 8);
  d.SetSram(sram);
  // One good command first: it must be done before the fault.
  OutputJob good;
  good.c = Square(false);
  good.srows = good.scols = 64;
  good.acc = [](uint32_t, uint32_t, uint32_t) { return 5; };
  d.Add(good);
  OutputJob bad = good;
  bad.c.out_rows = 1;
  bad.c.ow = 4;
  GetParam().change(&bad.c);
  const isa::Conv c = bad.c;
  // The reference must not see it.
  bad.c.acc_hold = true;
  d.Add(bad);
  d.ReplaceLast(c);
  EXPECT_FALSE(d.Run());
  EXPECT_TRUE(d.dut().fault_o) << d.error();
  EXPECT_GE(d.dut().fault_addr_o, uint64_t{words} * 16);
  EXPECT_EQ(d.done(), 1u);
  EXPECT_TRUE(d.sram().violations().empty());
  for (int i = 0; i < 100; ++i) {
    d.Cycle();
    EXPECT_EQ(d.dut().req_o, 0);
  }
}
const BoundsCase kBounds[] = {
    {"write",
     [](isa::Conv* c) {
       c->out_addr = kConfig.sram_bytes / isa::kWordBytes - 2;
     }},
    {"far_write", [](isa::Conv* c) { c->out_addr = 0xfffff; }},
    {"wide",
     [](isa::Conv* c) {
       c->out_type = isa::OutType::kI32;
       c->out_addr = kConfig.sram_bytes / isa::kWordBytes - 3;
     }},
    {"residual",
     [](isa::Conv* c) {
       c->res_op = isa::ResidualOp::kAdd;
       c->res_addr = kConfig.sram_bytes / isa::kWordBytes - 1;
     }},
    {"second_block",
     [](isa::Conv* c) {
       c->co = 32;
       c->out_plane = 0xfffff;
     }},
    {"pool_read",
     [](isa::Conv* c) {
       c->pool = isa::PoolKind::kMax;
       c->pool_k = c->pool_s = 3;
       c->pool_oh = c->pool_ow = 2;
       c->out_row0 = 1;
       c->out_addr = 0xf0000;
     }},
    {"average",
     [](isa::Conv* c) {
       c->pool = isa::PoolKind::kAverage;
       c->out_addr = 0xf0000;
     }},
};
INSTANTIATE_TEST_SUITE_P(All, OutputStageBounds, testing::ValuesIn(kBounds),
                         [](const testing::TestParamInfo<BoundsCase>& i) {
                           return i.param.name;
                         });

// --- Cycles. -----------------------------------------------------------------

struct CycleCase {
  const char* name;
  uint32_t passes;       // cycles per vector that the array needs
  uint32_t passes_wide;  // the same where vectors are two words (K = 32)
  int commands;
  void (*change)(isa::Conv*);
};
class OutputStageCycles : public testing::TestWithParam<CycleCase> {};

// Commands in a row: the stage must take a vector whenever the array has
// one, from the first to the last, so that nothing is added to the array's
// time.
TEST_P(OutputStageCycles, NoneAdded) {
  const bool two = kConfig.lanes_out == 32;
  std::vector<uint8_t> sram(kConfig.sram_bytes);
  PutParams(&sram, {0}, {0x3f800000});
  Driver d(kConfig, {}, 9);
  d.SetSram(sram);
  uint64_t vectors = 0;
  const uint32_t passes = two ? GetParam().passes_wide : GetParam().passes;
  for (int n = 0; n < GetParam().commands; ++n) {
    OutputJob job;
    job.c = Square(false);
    job.c.ow = job.c.out_rows = 56;
    job.c.co = two ? 64 : 32;
    job.c.out_pitch = 56;
    job.c.out_plane = 56 * 56;
    job.c.param_addr = 0;
    GetParam().change(&job.c);
    job.srows = job.c.out_rows;
    job.scols = job.c.ow;
    job.passes = passes;
    job.acc = RandomAcc(job.c, n);
    vectors += uint64_t{job.c.ow} * job.c.out_rows *
               model::CeilDiv(job.c.co, kConfig.lanes_out);
    d.Add(job);
  }
  ASSERT_TRUE(d.Run()) << d.error();
  ASSERT_EQ(d.Difference(), -1);
  ASSERT_EQ(d.issued(), vectors);
  const uint64_t cycles = d.last_issue() - d.first_issue() + passes;
  std::printf("%-12s %llu vectors of %u passes: %llu cycles\n", GetParam().name,
              static_cast<unsigned long long>(vectors), passes,
              static_cast<unsigned long long>(cycles));
  EXPECT_EQ(cycles, vectors * passes);
}
const CycleCase kCycles[] = {
    {"requantise", 1, 1, 3, [](isa::Conv*) {}},
    {"relu", 1, 1, 3, [](isa::Conv* c) { c->act_min = 0; }},
    {"table", 1, 1, 3,
     [](isa::Conv* c) {
       c->lut = true;
       c->lut_addr = 64;
     }},
    {"add", 1, 2, 3,
     [](isa::Conv* c) {
       c->res_op = isa::ResidualOp::kAdd;
       c->res_addr = kResWord;
       c->res_pitch = 56;
       c->res_plane = 56 * 56;
       c->res_a = c->res_b = 0.5f;
       c->res_max = 255;
     }},
    {"max_3x3_s2", 1, 2, 3,
     [](isa::Conv* c) {
       c->pool = isa::PoolKind::kMax;
       c->pool_k = 3;
       c->pool_s = 2;
       c->pool_pad = 1;
       c->pool_oh = c->pool_ow = 28;
       c->out_pitch = 28;
       c->out_plane = 28 * 28;
     }},
    {"max_2x2_s2", 1, 1, 3,
     [](isa::Conv* c) {
       c->pool = isa::PoolKind::kMax;
       c->pool_k = c->pool_s = 2;
       c->pool_oh = c->pool_ow = 28;
       c->out_pitch = 28;
       c->out_plane = 28 * 28;
     }},
    {"max_3x3_s1", 3, 5, 3,
     [](isa::Conv* c) {
       c->pool = isa::PoolKind::kMax;
       c->pool_k = 3;
       c->pool_s = c->pool_pad = 1;
       c->pool_oh = c->pool_ow = 56;
     }},
    {"average_7x7", 1, 1, 1,
     [](isa::Conv* c) {
       c->pool = isa::PoolKind::kAverage;
       c->ow = c->out_rows = 7;
       c->co = 512;
       c->pool_scale = 1.0f / 49;
       c->out_plane = 1;
     }},
    {"average_7x7_3", 2, 2, 3,
     [](isa::Conv* c) {
       c->pool = isa::PoolKind::kAverage;
       c->ow = c->out_rows = 7;
       c->co = 512;
       c->pool_scale = 1.0f / 49;
       c->out_plane = 1;
     }},
    {"short", 1, 1, 40,
     [](isa::Conv* c) {
       c->ow = 5;
       c->out_rows = 4;
       c->co = kConfig.lanes_out;
     }},
    {"i32", 4, 4, 3,
     [](isa::Conv* c) {
       c->out_type = isa::OutType::kI32;
       c->out_xstep = 4;
       c->ow = 20;
       c->out_pitch = 80;
       c->out_plane = 80 * 56;
     }},
    {"f32", 4, 4, 3,
     [](isa::Conv* c) {
       c->out_type = isa::OutType::kF32;
       c->bias_f32 = true;
       c->out_xstep = 4;
       c->ow = 20;
       c->out_pitch = 80;
       c->out_plane = 80 * 56;
     }},
};
INSTANTIATE_TEST_SUITE_P(All, OutputStageCycles, testing::ValuesIn(kCycles),
                         [](const testing::TestParamInfo<CycleCase>& i) {
                           return i.param.name;
                         });

}  // namespace
}  // namespace heddle::testbench
