// SPDX-License-Identifier: Apache-2.0
// The matrix engine against the functional model: random legal commands, alone
// and several in flight, with other clients in the SRAM, byte for byte; and
// what it reads, word for word: nothing that no command needs, and everything
// that a command needs before its read point.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "Vhd_matrix_engine.h"
#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/matrix_bench.h"
#include "simulator/model/access.h"
#include "simulator/model/geometry.h"
#include "simulator/model/legal.h"
#include "simulator/model/model.h"
#include "simulator/model/random_command.h"
#include "simulator/model/read_set.h"

namespace heddle::testbench {
namespace {

using isa::MatrixMode;
using isa::OutType;
using isa::WeightMode;
using model::Access;
using model::Space;

#if defined(HD_VARIANT_h1024)
const isa::Config& kConfig = isa::kH1024;
#elif defined(HD_VARIANT_h512)
const isa::Config& kConfig = isa::kH512;
#else
const isa::Config& kConfig = isa::kH256;
#endif

uint32_t CeilDiv(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

using Bench = MatrixBench<Vhd_matrix_engine>;

// The words that commands read, and when. (Max pooling reads what the command
// itself has written.)
class ReadWatch {
 public:
  ReadWatch(const std::vector<isa::Command>& commands, Bench* bench)
      : bench_(bench), written_(kConfig.sram_bytes / 16) {
    for (const isa::Command& c : commands) {
      reads_.push_back(model::SramReads(kConfig, c, nullptr));
      const auto* conv = std::get_if<isa::Conv>(&c);
      if (conv == nullptr || conv->pool != isa::PoolKind::kMax) continue;
      model::ForEachAccess(kConfig, c, nullptr, [&](const Access& a) {
        if (!a.write || a.empty || a.space != Space::kSram) return;
        a.ForEachRun([&](int64_t at, uint64_t n) {
          for (uint64_t w = at / 16; w <= (at + n - 1) / 16; ++w) {
            written_[w] = true;
          }
        });
      });
    }
    bench->watch.taken = [this](size_t n) { taken_ = n + 1; };
    bench->watch.read = [this](uint64_t word) { Read(word); };
    bench->watch.read_point = [this] { ReadPoint(); };
  }
  ~ReadWatch() { bench_->watch = {}; }

 private:
  void Read(uint64_t word) {
    bool known = written_[word];
    for (size_t i = read_; i < taken_; ++i) {
      known |= reads_[i].MarkRead(word);
    }
    if (!known && ++stray_ == 1) {
      ADD_FAILURE() << "word " << word << " is read, which none of the "
                    << taken_ - read_ << " commands before their read points "
                    << "needs";
    }
  }
  void ReadPoint() {
    ASSERT_LT(read_, taken_);
    EXPECT_EQ(reads_[read_].missing(), 0u)
        << "words not read at the read point of command " << read_;
    ++read_;
  }

  Bench* bench_;
  std::vector<bool> written_;
  std::vector<model::ReadSet> reads_;
  size_t taken_ = 0, read_ = 0, stray_ = 0;
};

// The model and the engine side by side.
class Pair {
 public:
  explicit Pair(uint64_t seed)
      : memory_(nullptr, 0), model_(kConfig, &memory_), bench_(kConfig, seed) {
    bench_.Clear();
    model_.ClearSram();
  }

  void Fill(const std::vector<uint8_t>& sram) {
    bench_.sram() = sram;
    std::copy(sram.begin(), sram.end(), model_.sram());
  }

  // Runs the commands on both; true if all went well.
  bool Run(const std::vector<isa::Command>& commands, const Traffic& traffic) {
    std::vector<bool> barrier(commands.size());
    for (size_t i = 0; i < commands.size(); ++i)
      barrier[i] = Waits(commands, i);
    {
      const ReadWatch watch(commands, &bench_);
      measure_ = bench_.Run(commands, traffic, barrier);
    }
    std::vector<uint32_t> words;
    for (const isa::Command& c : commands) isa::Append(c, &words);
    isa::Append(isa::Command(isa::End()), &words);
    const model::RegionTable regions = {};
    const model::RunResult result =
        model_.Run(words.data(), words.size() * 4, regions);
    EXPECT_EQ(result.status, isa::Error::kOk);
    EXPECT_EQ(measure_.macs, result.macs);
    EXPECT_FALSE(measure_.fault);
    const auto wrong = std::mismatch(bench_.sram().begin(), bench_.sram().end(),
                                     model_.sram());
    if (wrong.first != bench_.sram().end()) {
      const int64_t at = wrong.first - bench_.sram().begin();
      int64_t bytes = 0;
      for (size_t i = 0; i < bench_.sram().size(); ++i) {
        bytes += bench_.sram()[i] != model_.sram()[i];
      }
      ADD_FAILURE() << bytes << " bytes differ, the first at " << at
                    << " (word " << at / 16 << "): got " << int{*wrong.first}
                    << ", want " << int{*wrong.second};
    }
    if (!::testing::Test::HasFailure()) return true;
    for (const isa::Command& c : commands) {
      std::printf("%s\n", isa::ToString(c).c_str());
    }
    return false;
  }

  const Measure& measure() const { return measure_; }
  Bench& bench() { return bench_; }

 private:
  // Command i must wait for the earlier ones: it reads what they write, or
  // accumulators meet.
  static bool Waits(const std::vector<isa::Command>& commands, size_t i) {
    std::vector<uint8_t> written(kConfig.sram_bytes);
    bool held = false;
    for (size_t j = 0; j < i; ++j) {
      model::ForEachAccess(kConfig, commands[j], nullptr, [&](const Access& a) {
        if (!a.write || a.empty || a.space != Space::kSram) return;
        a.ForEachRun([&](int64_t at, uint64_t n) {
          std::fill_n(written.begin() + at, n, 1);
        });
      });
      const auto* c = std::get_if<isa::Conv>(&commands[j]);
      held = held || (c != nullptr && c->acc_hold);
    }
    if (held) return true;
    bool waits = false;
    model::ForEachAccess(kConfig, commands[i], nullptr, [&](const Access& a) {
      if (a.write || a.empty || a.space != Space::kSram) return;
      a.ForEachRun([&](int64_t at, uint64_t n) {
        waits = waits ||
                std::find(written.begin() + at, written.begin() + at + n, 1) !=
                    written.begin() + at + n;
      });
    });
    return waits;
  }

  model::FlatMemory memory_;
  model::Model model_;
  Bench bench_;
  Measure measure_;
};

std::vector<size_t> ConvKinds(uint64_t seed) {
  std::vector<size_t> kinds;
  model::CommandGenerator probe(kConfig, 65536, seed);
  for (size_t k = 0; k < model::CommandGenerator::kinds(); ++k) {
    if (std::holds_alternative<isa::Conv>(probe.Make(k).command)) {
      kinds.push_back(k);
    }
  }
  return kinds;
}

Traffic SomeTraffic(uint64_t i) {
  Traffic t;
  t.load = i % 2 == 1;
  t.stall = i % 5 == 2 ? 30 : i % 5 == 4 ? 5 : 0;
  t.taken_banks = i % 3 == 2 ? 4 : 0;
  return t;
}

// A command that continues gets one before it that holds, over the same
// accumulators.
void AppendWithHold(const isa::Conv& c, std::mt19937_64* random,
                    std::vector<isa::Command>* commands) {
  if (c.acc_continue) {
    isa::Conv first = c;
    first.acc_continue = false;
    first.acc_hold = true;
    first.lut = false;
    first.res_op = isa::ResidualOp::kNone;
    first.pool = isa::PoolKind::kNone;
    commands->push_back(first);
    while ((*random)() % 3 == 0) {
      first.acc_continue = true;
      commands->push_back(first);
    }
  }
  commands->push_back(c);
}

TEST(HdMatrixEngine, RandomCommandsEqualTheModel) {
  int run = 0;
  for (uint64_t seed = 1; seed <= 6 && !HasFailure(); ++seed) {
    model::CommandGenerator generator(kConfig, 65536, seed);
    std::mt19937_64 random(seed);
    Pair pair(seed);
    const std::vector<size_t> kinds = ConvKinds(seed);
    for (int i = 0; i < 4 && !HasFailure(); ++i) {
      for (size_t kind : kinds) {
        const isa::Conv c = std::get<isa::Conv>(generator.Make(kind).command);
        pair.Fill(generator.InitialSram());
        std::vector<isa::Command> commands;
        AppendWithHold(c, &random, &commands);
        ++run;
        if (!pair.Run(commands, SomeTraffic(run))) return;
      }
    }
  }
  std::printf("%d cases\n", run);
  EXPECT_GT(run, 150);
}

// Several commands in flight; those that depend on earlier ones wait as
// semaphores would make them.
TEST(HdMatrixEngine, CommandsInFlightEqualTheModel) {
  int run = 0;
  for (uint64_t seed = 100; seed <= 105 && !HasFailure(); ++seed) {
    model::CommandGenerator generator(kConfig, 65536, seed);
    std::mt19937_64 random(seed);
    Pair pair(seed);
    const std::vector<size_t> kinds = ConvKinds(seed);
    for (int i = 0; i < 5 && !HasFailure(); ++i) {
      pair.Fill(generator.InitialSram());
      std::vector<isa::Command> commands;
      while (commands.size() < 14) {
        if (random() % 4 == 0) {
          commands.push_back(isa::SyncMatrix());
          continue;
        }
        const isa::Conv c = std::get<isa::Conv>(
            generator.Make(kinds[random() % kinds.size()]).command);
        AppendWithHold(c, &random, &commands);
      }
      if (!pair.Run(commands, SomeTraffic(++run))) return;
    }
  }
}

// A bump allocator of SRAM words for shapes of our own.
struct Layout {
  uint64_t next = 0;
  uint32_t Take(uint64_t words) {
    const uint64_t at = next;
    next += words;
    return static_cast<uint32_t>(at);
  }
};

// Places input, weights, parameters, output of a command whose shape is set;
// false if they do not fit.
bool Place(isa::Conv* c, uint32_t pitch_pad, uint32_t step = 1) {
  const bool fold = c->mode == MatrixMode::kFold;
  c->in_xstep = step;
  c->in_pitch =
      (fold ? CeilDiv(c->iw * c->fold_channels, 16) : c->iw * step) + pitch_pad;
  const uint32_t rows = c->in_wrap != 0 ? c->in_wrap : c->ih;
  c->in_plane = c->in_pitch * rows;
  Layout l;
  c->in_addr = l.Take(uint64_t{c->in_plane} * (fold ? 1 : CeilDiv(c->ci, 16)));
  if (c->w_mode == WeightMode::kPacked) {
    c->w_addr = l.Take(model::PackedWeightBytes(*c, kConfig) / 16);
  } else {
    const bool row = c->w_mode == WeightMode::kRow;
    c->w_step = 1 + step % 3;
    c->w_plane = c->w_step * (row ? c->co : c->ci);
    c->w_addr = l.Take(uint64_t{c->w_plane} * CeilDiv(row ? c->ci : c->co, 16));
  }
  c->param_addr = l.Take(uint64_t{model::ParamWords(*c)} * CeilDiv(c->co, 16));
  c->out_xstep = c->out_type == OutType::kI32 ? 4 : 1;
  c->out_pitch = c->ow * c->out_xstep;
  c->out_plane = c->out_pitch * c->out_rows;
  c->out_addr = l.Take(uint64_t{c->out_plane} * CeilDiv(c->co, 16));
  return l.next * 16 <= kConfig.sram_bytes &&
         model::BrokenRule(kConfig, *c) == nullptr && c->Check().ok();
}

// Large and odd shapes: several stripes, rows longer than the accumulators,
// many passes, rolling inputs, strides and dilations up to the fields' limits.
TEST(HdMatrixEngine, ShapesEqualTheModel) {
  std::mt19937_64 random(5);
  auto pick = [&](uint32_t lo, uint32_t hi) {
    return lo + static_cast<uint32_t>((random() >> 20) % (hi - lo + 1));
  };
  auto one_in = [&](uint32_t n) { return pick(1, n) == 1; };
  model::CommandGenerator generator(kConfig, 65536, 5);
  Pair pair(5);
  int run = 0, stripes = 0, chunks = 0, wraps = 0, averages = 0;
  for (int tries = 0; run < 160 && tries < 20000; ++tries) {
    isa::Conv c;
    c.mode = static_cast<MatrixMode>(pick(0, 3));
    c.in_signed = one_in(2);
    c.w_signed = one_in(2);
    const bool conv = c.mode == MatrixMode::kConv;
    if (conv && one_in(4)) {
      c.w_mode = one_in(2) ? WeightMode::kRow : WeightMode::kColumn;
    } else {
      c.kh = one_in(4) ? pick(1, 12) : pick(1, 4);
      c.kw = one_in(4) ? pick(1, 20) : pick(1, 4);
    }
    c.sy = one_in(3) ? pick(1, 15) : 1;
    c.sx = one_in(3) ? pick(1, 15) : pick(1, 2);
    c.dy = one_in(3) ? pick(1, 40) : 1;
    c.dx = one_in(3) ? pick(1, 40) : 1;
    c.ow = one_in(3) ? pick(250, 700) : one_in(2) ? pick(20, 100) : pick(1, 19);
    c.out_rows = c.ow > 200 ? pick(1, 4) : pick(1, 60);
    c.out_row0 = one_in(2) ? 0 : pick(1, 300);
    c.ih = pick(1, 64);
    c.iw = pick(1, c.ow > 200 ? 600 : 120);
    c.pad_left = static_cast<int32_t>(pick(0, 40)) - 10;
    // The input lies where some of the taps fall.
    c.pad_top = static_cast<int32_t>(c.out_row0 * c.sy) -
                static_cast<int32_t>(pick(0, 20)) + 8;
    if (c.pad_top > 32767 || c.pad_top < -32768) continue;
    c.ci = pick(1, 80);
    c.co = pick(1, 40);
    if (c.mode == MatrixMode::kFold) {
      c.fold_channels = c.ci = pick(1, 8);
    } else if (!conv) {
      c.ci = c.co;
    }
    if (one_in(3)) c.in_wrap = (c.kh - 1) * c.dy + pick(1, 6);
    c.za = c.in_signed ? -7 : 120;
    c.zw = c.w_signed ? 3 : 133;
    c.zw_channel = c.mode != MatrixMode::kMaxpool && one_in(3);
    c.out_type = c.mode == MatrixMode::kMaxpool
                     ? (c.in_signed ? OutType::kS8 : OutType::kU8)
                     : OutType::kI32;
    // Average pooling has the loops in another order.
    if (c.mode != MatrixMode::kMaxpool && one_in(6)) {
      c.out_type = OutType::kU8;
      c.act_max = 255;
      c.pool = isa::PoolKind::kAverage;
      c.pool_scale = 1.0f / (c.ow * c.out_rows);
    }
    const uint64_t work = uint64_t{c.out_rows} * c.ow * c.kh * c.kw *
                          CeilDiv(c.co, 16) *
                          (conv ? CeilDiv(c.ci, kConfig.lanes_in) : 1);
    if (work > 60000 || !Place(&c, pick(0, 2), one_in(3) ? pick(2, 3) : 1)) {
      continue;
    }
    pair.Fill(generator.InitialSram());
    std::vector<isa::Command> commands;
    if ((conv || c.mode == MatrixMode::kFold) &&
        c.pool == isa::PoolKind::kNone && one_in(3)) {
      c.acc_continue = true;
      if (model::BrokenRule(kConfig, c) != nullptr) c.acc_continue = false;
    }
    AppendWithHold(c, &random, &commands);
    const uint32_t pixels = c.out_rows * c.ow;
    stripes += pixels > 256 && c.ow <= 256;
    chunks += c.ow > 256;
    wraps += c.in_wrap != 0;
    averages += c.pool == isa::PoolKind::kAverage && pixels > 256;
    ++run;
    if (!pair.Run(commands, SomeTraffic(run))) return;
  }
  std::printf(
      "%d cases: %d with stripes, %d with chunks, %d rolling, "
      "%d averages over several\n",
      run, stripes, chunks, wraps, averages);
  EXPECT_GE(run, 150);
  EXPECT_GT(stripes, 10);
  EXPECT_GT(chunks, 10);
  EXPECT_GT(averages, 3);
}

// A word beyond the SRAM: the commands before are done, nothing is touched
// beyond, the fault names an address there, and a reset makes a new engine.
TEST(HdMatrixEngine, FaultsBeyondTheSram) {
  const uint32_t end = kConfig.sram_bytes / 16;
  for (int which = 0; which < 6; ++which) {
    SCOPED_TRACE(which);
    isa::Conv good;
    good.ci = good.co = 32;
    good.kh = good.kw = 3;
    good.ih = good.iw = good.ow = good.out_rows = 14;
    good.pad_top = good.pad_left = 1;
    ASSERT_TRUE(Place(&good, 0));
    isa::Conv bad = good;
    bad.out_addr = 20000;
    if (which == 0) bad.in_addr = end - 100;
    if (which == 1) bad.w_addr = end - 5;
    if (which == 2) bad.param_addr = end - 9;
    if (which == 3) bad.out_addr = end - 3;
    if (which == 4) bad.in_plane = 0xfffff;
    if (which == 5) {
      bad.res_op = isa::ResidualOp::kAdd;
      bad.res_max = 255;
      bad.res_addr = end - 10;
    }
    Pair pair(which + 1);
    model::CommandGenerator generator(kConfig, 65536, 9);
    pair.Fill(generator.InitialSram());
    const Measure m = pair.bench().Run({good, bad, good});
    EXPECT_TRUE(m.fault);
    EXPECT_EQ(m.done, 1u);
    EXPECT_GE(m.fault_address, kConfig.sram_bytes);
    for (int i = 0; i < 200; ++i) {
      pair.bench().Cycle({}, nullptr);
      EXPECT_EQ(pair.bench().dut()->req_o, 0u);
    }
    pair.bench().Reset();
    pair.Fill(generator.InitialSram());
    EXPECT_TRUE(pair.Run({good}, {}));
  }
}

// Every operand and the result, one after another, with its last byte in the
// last word of the SRAM: nothing is read behind it, and nothing faults. The
// number of channel blocks is odd, so that a pair of row ports has half of its
// work where there is no plane.
TEST(HdMatrixEngine, TheLastWordOfTheSram) {
  const uint32_t end = kConfig.sram_bytes / 16;
  model::CommandGenerator generator(kConfig, 65536, 11);
  for (int mode = 0; mode < 3; ++mode) {
    for (int which = 0; which < 6; ++which) {
      SCOPED_TRACE(testing::Message() << "mode " << mode << ", " << which);
      isa::Conv c;
      c.mode = static_cast<MatrixMode>(mode);
      c.ci = c.mode == MatrixMode::kFold ? 3 : 48;
      c.fold_channels = c.mode == MatrixMode::kFold ? 3 : 0;
      c.co = 48;
      c.kh = c.kw = 3;
      c.ih = c.iw = c.ow = c.out_rows = 7;
      c.pad_top = c.pad_left = 1;
      c.act_max = c.res_max = 255;
      c.out_type = OutType::kU8;
      ASSERT_TRUE(Place(&c, 0));
      const uint32_t blocks = CeilDiv(c.co, 16), plane = c.ow * c.out_rows;
      c.lut = true;
      c.lut_addr = 20000;
      c.res_op = isa::ResidualOp::kAdd;
      c.res_pitch = c.ow;
      c.res_plane = plane;
      c.res_addr = 21000;
      const uint32_t rows =
          c.in_plane * (c.mode == MatrixMode::kFold ? 1 : CeilDiv(c.ci, 16));
      if (which == 0) c.in_addr = end - rows;
      if (which == 1) {
        c.w_addr = static_cast<uint32_t>(
            end - model::PackedWeightBytes(c, kConfig) / 16);
      }
      if (which == 2) c.param_addr = end - model::ParamWords(c) * blocks;
      if (which == 3) c.lut_addr = end - 16;
      if (which == 4) c.res_addr = end - plane * blocks;
      if (which == 5) c.out_addr = end - plane * blocks;
      int64_t last = 0;
      model::ForEachAccess(kConfig, c, nullptr, [&](const Access& a) {
        if (a.space == Space::kSram) last = std::max(last, a.Highest());
      });
      ASSERT_EQ(last / 16, end - 1);
      Pair pair(which + 1);
      pair.Fill(generator.InitialSram());
      ASSERT_TRUE(pair.Run({c}, SomeTraffic(which)));
    }
  }
}

// The last word of SRAM that a command reads of its input, which lies behind
// all else; -1 if none.
int64_t LastInputWord(const isa::Conv& c) {
  int64_t last = -1;
  model::ForEachAccess(kConfig, c, nullptr, [&](const Access& a) {
    if (a.space != Space::kSram || a.write || a.empty) return;
    if (a.Lowest() / 16 >= c.in_addr) last = std::max(last, a.Highest() / 16);
  });
  return last;
}

// Mode fold, with the last word that a tap touches at the end of the SRAM: the
// words behind it in its row lie beyond, which is no fault, though they are
// between taps. One word further on it is one.
TEST(HdMatrixEngine, FoldedRowsMayEndBeyondTheSram) {
  std::mt19937_64 random(13);
  auto pick = [&](uint32_t lo, uint32_t hi) {
    return lo + static_cast<uint32_t>((random() >> 20) % (hi - lo + 1));
  };
  const uint32_t end = kConfig.sram_bytes / 16;
  model::CommandGenerator generator(kConfig, 65536, 13);
  const std::vector<uint8_t> data = generator.InitialSram();
  Pair pair(13);
  int run = 0, beyond = 0, without = 0, dilated = 0;
  for (int tries = 0; run < 250 && tries < 20000; ++tries) {
    isa::Conv c;
    c.mode = MatrixMode::kFold;
    c.fold_channels = c.ci = pick(1, 8);
    c.co = pick(1, 20);
    c.kh = pick(1, 5);
    c.kw = pick(1, 5);
    c.dy = pick(1, 2);
    c.dx = pick(0, 1) == 0 ? 1 : pick(2, 40);
    c.sy = pick(1, 2);
    c.sx = pick(1, std::min(15u, 48 / c.fold_channels));
    c.ow = pick(1, 3) == 1 ? pick(1, 2) : pick(1, 30);
    c.out_rows = pick(1, 3);
    c.ih = pick(1, 6);
    c.iw = pick(1, 3) == 1 ? pick(1, 8) : pick(1, 90);
    c.pad_top = static_cast<int32_t>(pick(0, 3));
    c.pad_left = static_cast<int32_t>(pick(0, 40)) - 20;
    c.za = 120;
    c.zw = 133;
    c.out_type = OutType::kI32;
    if (!Place(&c, 0)) continue;
    // Behind all else: the first words stay free.
    c.in_addr = 0x80000;
    const int64_t last = LastInputWord(c);
    const int64_t right = int64_t{c.ow - 1} * c.sx + int64_t{c.kw - 1} * c.dx -
                          c.pad_left;  // column of the last tap
    const uint32_t words = CeilDiv(c.iw * c.fold_channels, 16);
    // Words of the last touched row behind what a tap touches.
    const bool more = last >= 0 && right >= c.iw &&
                      (last - c.in_addr) % c.in_pitch < words - 1;
    if (last < 0 ? without == 20 : !more && run % 4 != 0) continue;
    ++run;
    beyond += more;
    without += last < 0;
    dilated += more && c.dx > 1;
    c.in_addr = last < 0 ? 0xfffff : c.in_addr + end - 1 - last;
    ASSERT_EQ(LastInputWord(c), last < 0 ? -1 : int64_t{end} - 1);
    pair.Fill(data);
    if (!pair.Run({c}, SomeTraffic(run))) return;
    if (last < 0) continue;
    ++c.in_addr;
    const Measure m = pair.bench().Run({c});
    EXPECT_TRUE(m.fault) << isa::ToString(c);
    EXPECT_EQ(m.fault_address, kConfig.sram_bytes);
    if (HasFailure()) return;
    pair.bench().Reset();
  }
  std::printf("%d cases: %d with words beyond, %d of them dilated; %d empty\n",
              run, beyond, dilated, without);
  EXPECT_EQ(run, 250);
  EXPECT_GT(dilated, 80);
  EXPECT_GT(beyond - dilated, 30);
  EXPECT_EQ(without, 20);
}

// Pooled columns far to the right of the row: qmin, all of them.
TEST(HdMatrixEngine, WindowsWithoutColumnsGiveTheMinimum) {
  isa::Conv c;
  c.mode = MatrixMode::kDepthwise;
  c.ih = c.iw = c.ow = c.out_rows = 8;
  c.in_pitch = 8;
  c.out_type = OutType::kS8;
  c.act_min = -128;
  c.act_max = 127;
  c.w_addr = 2000;
  c.param_addr = 3000;
  c.out_addr = 4000;
  c.pool = isa::PoolKind::kMax;
  c.pool_k = 2;
  c.pool_s = 15;
  c.pool_oh = 1;
  c.pool_ow = c.out_pitch = 40;
  ASSERT_EQ(model::BrokenRule(kConfig, c), nullptr);
  Pair pair(3);
  model::CommandGenerator generator(kConfig, 65536, 3);
  pair.Fill(generator.InitialSram());
  EXPECT_TRUE(pair.Run({c}, {}));
}

// A command so small that its reader has finished it, and those behind it that
// do nothing, long before it is the oldest: the fault is still its own.
TEST(HdMatrixEngine, AFaultStaysWithItsCommand) {
  for (int which = 0; which < 4; ++which) {
    SCOPED_TRACE(which);
    isa::Conv good;
    good.ci = good.co = 32;
    good.kh = good.kw = 3;
    good.ih = good.iw = good.ow = good.out_rows = 14;
    good.pad_top = good.pad_left = 1;
    ASSERT_TRUE(Place(&good, 0));
    isa::Conv bad;
    bad.ow = bad.iw = 3;
    bad.out_addr = 20000;
    bad.mode = which < 2 ? MatrixMode::kConv : MatrixMode::kFold;
    bad.fold_channels = which < 2 ? 0 : 1;
    (which % 2 == 0 ? bad.in_addr : bad.w_addr) = 0xfff00;
    ASSERT_EQ(model::BrokenRule(kConfig, bad), nullptr);
    Pair pair(which + 1);
    model::CommandGenerator generator(kConfig, 65536, 9);
    pair.Fill(generator.InitialSram());
    // Syncs before it: they are done first.
    std::vector<isa::Command> commands = {good};
    for (int i = 0; i < which; ++i) commands.push_back(isa::SyncMatrix());
    const uint32_t before = static_cast<uint32_t>(commands.size());
    commands.insert(commands.end(), {bad, isa::SyncMatrix(), good});
    const Measure m = pair.bench().Run(commands);
    EXPECT_TRUE(m.fault);
    EXPECT_EQ(m.done, before);
    EXPECT_EQ(m.fault_address, 0xfff000u);
  }
}

// After clear_i a command that continues finds zeros.
TEST(HdMatrixEngine, ClearZeroesTheAccumulators) {
  Pair pair(3);
  model::CommandGenerator generator(kConfig, 65536, 9);
  const std::vector<uint8_t> data = generator.InitialSram();
  isa::Conv c;
  c.ci = 20;
  c.co = 2 * kConfig.lanes_out;
  c.ih = c.iw = c.ow = c.out_rows = 11;
  c.out_type = OutType::kI32;
  c.acc_hold = true;
  ASSERT_TRUE(Place(&c, 0));
  pair.Fill(data);
  ASSERT_TRUE(pair.Run({c}, {}));
  pair.bench().Clear();
  isa::Conv more = c;
  more.acc_hold = false;
  more.acc_continue = true;
  pair.Fill(data);
  isa::Conv plain = more;
  plain.acc_continue = false;
  pair.bench().Run({more});
  const std::vector<uint8_t> got = pair.bench().sram();
  pair.Fill(data);
  ASSERT_TRUE(pair.Run({plain}, {}));
  EXPECT_TRUE(got == pair.bench().sram());
}

// ---- How busy the array is: cycles from the acceptance of a command to its
// end, MACs / (cycles x C x K). The floors are those of the design: 3x3 and 1x1
// 90 %, first layer 75 %, depthwise 50 % of 16 x 16 cells, alone and with the
// load DMA asking for a word in every cycle.

isa::Conv Shape(MatrixMode mode, uint32_t ci, uint32_t hw, uint32_t co,
                uint32_t k, uint32_t s, int32_t pad) {
  isa::Conv c;
  c.mode = mode;
  c.ci = ci;
  c.co = co;
  c.kh = c.kw = k;
  c.sy = c.sx = s;
  c.ih = c.iw = hw;
  c.pad_top = c.pad_left = pad;
  c.ow = c.out_rows = (hw + 2 * pad - k) / s + 1;
  c.fold_channels = mode == MatrixMode::kFold ? ci : 0;
  c.za = 128;
  c.act_min = 0;
  c.act_max = 255;
  return c;
}

void ExpectFloor(const char* name, isa::Conv c, double floor) {
  ASSERT_TRUE(Place(&c, 0)) << name;
  Bench bench(kConfig);
  std::mt19937_64 random(1);
  for (uint8_t& b : bench.sram()) b = static_cast<uint8_t>(random() >> 20);
  for (bool load : {false, true}) {
    Traffic traffic;
    traffic.load = load;
    const Measure m = bench.Run({c}, traffic);
    const double used =
        static_cast<double>(m.macs) /
        (static_cast<double>(m.cycles) * kConfig.lanes_in * kConfig.lanes_out);
    std::printf(
        "%-24s %-4s %8lld cycles %6.2f %%  load %5.1f %%  waits: operand %lld "
        "weight %lld output %lld\n",
        name, load ? "load" : "-", static_cast<long long>(m.cycles), 100 * used,
        100.0 * m.load_words / m.cycles, static_cast<long long>(m.wait_operand),
        static_cast<long long>(m.wait_weight),
        static_cast<long long>(m.wait_output));
    EXPECT_GE(used, floor) << name << (load ? " with load DMA" : "");
  }
}

TEST(Utilisation, Conv) {
  const MatrixMode m = MatrixMode::kConv;
  ExpectFloor("3x3 64->64 @28", Shape(m, 64, 28, 64, 3, 1, 1), 0.90);
  ExpectFloor("3x3 s2 64->64 @28", Shape(m, 64, 28, 64, 3, 2, 1), 0.90);
  ExpectFloor("3x3 128->64 @14", Shape(m, 128, 14, 64, 3, 1, 1), 0.90);
  ExpectFloor("3x3 128->64 @7", Shape(m, 128, 7, 64, 3, 1, 1), 0.90);
  ExpectFloor("1x1 64->256 @28", Shape(m, 64, 28, 256, 1, 1, 0), 0.90);
  ExpectFloor("1x1 32->96 @56", Shape(m, 32, 56, 96, 1, 1, 0), 0.90);
  ExpectFloor("1x1 s2 128->128 @28", Shape(m, 128, 28, 128, 1, 2, 0), 0.90);
  ExpectFloor("1x1 960->160 @7", Shape(m, 960, 7, 160, 1, 1, 0), 0.90);
}

TEST(Utilisation, FirstLayer) {
  const MatrixMode m = MatrixMode::kFold;
  ExpectFloor("7x7 s2 3->64 @96", Shape(m, 3, 96, 64, 7, 2, 3), 0.75);
  ExpectFloor("7x7 s2 3->32 @112", Shape(m, 3, 112, 32, 7, 2, 3), 0.75);
  ExpectFloor("3x3 s2 3->32 @112", Shape(m, 3, 112, 32, 3, 2, 1), 0.75);
}

// One pixel of 16 channels per cycle in every configuration.
TEST(Utilisation, Depthwise) {
  const double floor = 0.50 * 256 / (kConfig.lanes_in * kConfig.lanes_out);
  for (uint32_t s : {1, 2}) {
    for (uint32_t hw : {112, 56, 28, 14}) {
      const uint32_t c = hw == 112 ? 16 : hw == 56 ? 64 : 192;
      const std::string name = "dw 3x3 s" + std::to_string(s) + " c" +
                               std::to_string(c) + " @" + std::to_string(hw);
      ExpectFloor(name.c_str(),
                  Shape(MatrixMode::kDepthwise, c, hw, c, 3, s, 1), floor);
    }
  }
}

// Stripes as long as the tile load leave no slack for lost SRAM slots.
TEST(Utilisation, ShortStripes) {
  for (uint32_t n : {1, 2, 3}) {
    isa::Conv c = Shape(MatrixMode::kConv, 512, 1, 128, 1, 1, 0);
    c.iw = c.ow = n * kConfig.lanes_in * kConfig.lanes_out / 32;
    const std::string name = "1x1 512->128, " + std::to_string(n) + " loads";
    ExpectFloor(name.c_str(), c, 0.90);
  }
}

// At batch 1 the weight port's 32 bytes per cycle are the limit.
TEST(Utilisation, FullyConnectedUsesTheWeightPort) {
  isa::Conv c = Shape(MatrixMode::kConv, 256, 1, 256, 1, 1, 0);
  ASSERT_TRUE(Place(&c, 0));
  Bench bench(kConfig);
  const Measure m = bench.Run({c});
  const double bytes = 256.0 * 256 / m.cycles;
  std::printf("fully connected: %.1f weight bytes per cycle\n", bytes);
  EXPECT_GE(bytes, 28);
}

// Cycles that a further command costs beyond its pixels: none but the
// sequencer's one.
TEST(Utilisation, CommandsFollowEachOther) {
  isa::Conv c = Shape(MatrixMode::kConv, 32, 14, 64, 3, 1, 1);
  ASSERT_TRUE(Place(&c, 0));
  Bench bench(kConfig);
  const int64_t one = bench.Run({c}).cycles;
  const int64_t nine = bench.Run(std::vector<isa::Command>(9, c)).cycles;
  const int64_t pixels =
      196 * 9 * CeilDiv(64, kConfig.lanes_out) * CeilDiv(32, kConfig.lanes_in);
  std::printf(
      "a command of %lld pixels takes %lld cycles, a further one %.1f\n",
      static_cast<long long>(pixels), static_cast<long long>(one),
      (nine - one) / 8.0);
  EXPECT_LE(nine - one, 8 * (pixels + 4));
  EXPECT_LE(one, pixels + 80);
}

}  // namespace
}  // namespace heddle::testbench
