// SPDX-License-Identifier: Apache-2.0
// The matrix engine against the functional model: random legal commands, alone
// and several in flight, with other clients in the SRAM, byte for byte.
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

using Bench = MatrixBench<Vhd_matrix_engine>;

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
    measure_ = bench_.Run(commands, traffic, barrier);
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

}  // namespace
}  // namespace heddle::testbench
