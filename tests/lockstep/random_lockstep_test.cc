// SPDX-License-Identifier: Apache-2.0
// Random race-free streams on a core with cycles and the functional model, for
// all configurations, with memory that is as fast as it is, slower, and
// irregular. Every seed is another stream; Bazel's shards take turns.
//
//   --commands=N   in all shards together
//   --seed=S       the first seed
//   --config=NAME  only this configuration
//   --kinds=A,B    only commands of these kinds (prefixes: "conv", "vmac")
//   --length=N     commands of a stream, besides those that load and wait
//   --coverage        print what was not exercised
//   --boundaries=N aim at the bins of the coverage model in every Nth stream
//   --progress=N   a line every N commands
//   --faults=N     streams with one command that faults, of each sort
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "simulator/model/random_stream.h"
#include "simulator/rtl/core_model.h"
#include "tests/lockstep/boundary.h"
#include "tests/lockstep/coverage_model.h"
#include "tests/lockstep/lockstep.h"
#include "tests/lockstep/unreachable.h"

namespace heddle::lockstep {
namespace {

uint64_t commands = 2000;
uint64_t first_seed = 1;
uint64_t length = 150;
uint64_t faults = 3;
bool print_coverage = false;
uint64_t boundaries = 0;
uint64_t progress = 0;
constexpr uint64_t kMostDivergences = 10;
std::string only_config;
std::vector<std::string> kinds;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t value = otherwise;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// Four kinds of memory take turns.
rtl::MemoryOptions MemoryOf(uint64_t seed) {
  rtl::MemoryOptions memory;
  memory.seed = seed;
  if (seed % 4 == 1) memory.extra_latency = 300;
  if (seed % 4 == 2) {
    memory.jitter = 200;
    memory.stall_percent = 10;
  }
  if (seed % 4 == 3) memory.stall_percent = 60;
  return memory;
}

Program ProgramOf(model::RandomStream stream) {
  Program program;
  program.words = std::move(stream.words);
  program.following = std::move(stream.following);
  std::copy(std::begin(stream.regions), std::end(stream.regions),
            program.regions);
  program.memory = std::move(stream.dram);
  program.memory_at = stream.dram_at;
  return program;
}

// That lockstep looks at this core at all: it gets one wrong bit from memory in
// its first command.
TEST(RandomLockstep, AFlippedBitIsFound) {
  for (const isa::Config& config : isa::kConfigs) {
    if (!only_config.empty() && only_config != config.name) continue;
    model::RandomStreamOptions options;
    options.config = config;
    options.commands = 5;
    const Program program = ProgramOf(model::MakeRandomStream(options));
    auto core = rtl::MakeCore(config);
    ASSERT_TRUE(core.ok()) << core.status();
    (*core)->memory()->FlipOnRead(program.regions[2].base + 0x1234, 5);
    Lockstep lockstep(core->get());
    const std::string got = lockstep.Run(program).divergence;
    EXPECT_TRUE(absl::StrContains(got, "SRAM byte 0x1234: expected")) << got;
    EXPECT_TRUE(absl::StrContains(got, "command 0 at offset 0: load")) << got;
    EXPECT_EQ(lockstep.Run(program).divergence, "") << "on the same core";
  }
}

// What one command of a stream can be made to do wrong.
struct InjectedFault {
  const char* what;
  // False: not this command.
  bool (*inject)(isa::Command* command);
};
// Streams without `vary`: regions 0 (read-only), 1 and 2 are bound.
template <typename C>
bool Unbound(isa::Command* command) {
  if (auto* c = std::get_if<C>(command)) return c->region = 9, true;
  return false;
}
const InjectedFault kInjectedFaults[] = {
    {"load from a region that is not bound", Unbound<isa::Load>},
    {"store to a region that is not bound", Unbound<isa::Store>},
    {"gather from a region that is not bound", Unbound<isa::LoadGather>},
    {"scatter to a region that is not bound", Unbound<isa::StoreScatter>},
    {"load beyond the end of a region",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Load>(command);
       if (c != nullptr) c->dram_offset = 0x7ffffff0;
       return c != nullptr;
     }},
    {"store to a read-only region",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Store>(command);
       if (c != nullptr) c->region = 0;
       return c != nullptr;
     }},
    {"load beyond SRAM",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Load>(command);
       if (c != nullptr) c->sram_addr = 0xfff000;
       return c != nullptr;
     }},
    {"store from beyond SRAM",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Store>(command);
       if (c != nullptr) c->sram_addr = 0xfff000;
       return c != nullptr;
     }},
    {"fill beyond SRAM",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Fill>(command);
       if (c != nullptr) c->sram_addr = 0xfff000;
       return c != nullptr;
     }},
    {"conv from beyond SRAM",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Conv>(command);
       if (c != nullptr) c->in_addr = 0xfff00;
       return c != nullptr;
     }},
    {"conv to beyond SRAM",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Conv>(command);
       if (c == nullptr || c->acc_hold) return false;
       c->out_addr = 0xfff00;
       return true;
     }},
    {"conv weights beyond SRAM",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Conv>(command);
       if (c == nullptr || c->mode == isa::MatrixMode::kMaxpool) return false;
       c->w_addr = 0xfff00;
       return true;
     }},
    {"microprogram beyond SRAM",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Vrun>(command);
       if (c != nullptr) c->prog_addr = 0xfff00;
       return c != nullptr;
     }},
    // From the constant area, for nothing orders it behind other writes.
    {"microprogram that is none",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Vrun>(command);
       if (c == nullptr) return false;
       c->prog_addr += 800;
       return true;
     }},
    {"microprogram with a stream that is not enabled",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Vrun>(command);
       if (c == nullptr || !c->enable_b) return false;
       c->enable_b = false;
       return true;
     }},
    {"vmac to beyond SRAM",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::Vmac>(command);
       if (c != nullptr) {
         isa::Stream d = c->GetD();
         d.base = 0xfff000;
         c->SetD(d);
       }
       return c != nullptr;
     }},
    {"indices beyond the bound",
     [](isa::Command* command) {
       auto* c = std::get_if<isa::LoadGather>(command);
       if (c != nullptr) c->bound = 1;
       return c != nullptr;
     }},
};

// A fault is injected into one command; the first fault is the same, and the
// core works afterwards.
TEST(RandomLockstep, FaultsAreEqual) {
  uint64_t seed = first_seed;
  for (const InjectedFault& injected : kInjectedFaults) {
    // Some streams have no such command.
    uint64_t done = 0;
    for (uint64_t turn = 0; turn < 10 * faults && done < faults; ++turn) {
      model::RandomStreamOptions options;
      options.seed = ++seed;
      options.config = only_config.empty()
                           ? isa::kConfigs[seed % isa::kNumConfigs]
                           : *isa::FindConfig(only_config);
      options.commands = 60;
      const Program good = ProgramOf(model::MakeRandomStream(options));
      Program program = good;
      size_t at = isa::Load::kWords;  // behind the load of everything
      size_t skip = seed % 5;
      for (; at < program.words.size();) {
        auto command =
            isa::DecodeAny(&program.words[at], program.words.size() - at);
        ASSERT_TRUE(command.ok());
        const size_t words = isa::WordsOf(*command);
        if (injected.inject(&*command) && skip-- == 0) {
          std::vector<uint32_t> encoded;
          isa::Append(*command, &encoded);
          std::copy(encoded.begin(), encoded.end(), &program.words[at]);
          break;
        }
        at += words;
      }
      if (at >= program.words.size()) continue;
      auto core = rtl::MakeCore(options.config, MemoryOf(seed));
      ASSERT_TRUE(core.ok()) << core.status();
      Lockstep lockstep(core->get());
      const Outcome outcome = lockstep.Run(program);
      EXPECT_EQ(outcome.divergence, "")
          << "\n"
          << injected.what << ", seed " << seed << ", " << options.config.name;
      if (outcome.result.run.status == isa::Error::kOk) continue;
      ++done;
      if (done % 4 == 1) {
        EXPECT_EQ(lockstep.Run(good).divergence, "")
            << "\nafter " << injected.what << ", seed " << seed;
      }
    }
    EXPECT_GT(done, 0u) << injected.what << ": it never faulted";
  }
}

TEST(RandomLockstep, CoreIsModel) {
  const uint64_t shards = FromEnvironment("TEST_TOTAL_SHARDS", 1);
  const uint64_t shard = FromEnvironment("TEST_SHARD_INDEX", 0);
  const isa::Config* config = nullptr;
  if (!only_config.empty()) {
    config = isa::FindConfig(only_config);
    ASSERT_NE(config, nullptr) << only_config;
  }
  const auto unreachable = Unreachable::Parse(kUnreachable);
  ASSERT_TRUE(unreachable.ok()) << unreachable.status();
  const std::vector<Target> targets = TargetsToAimAt(*unreachable);
  CoverageModel coverage;
  uint64_t cycles = 0, macs = 0, reported = 0, divergences = 0;
  const uint64_t mine = (commands + shards - 1) / shards;
  for (uint64_t seed = first_seed + shard; coverage.commands() < mine;
       seed += shards) {
    // Configurations and memories are drawn apart, whatever the shards are.
    model::RandomStreamOptions options =
        StreamOptions(seed, config != nullptr ? *config : ConfigOf(seed),
                      length, kinds.empty() ? boundaries : 0, targets);
    options.kinds = kinds;
    model::RandomStream stream = model::MakeRandomStream(options);
    ASSERT_FALSE(stream.kinds.empty()) << "no command is of these kinds";
    coverage.Count(stream, options.config);
    const Program program = ProgramOf(std::move(stream));
    auto core = rtl::MakeCore(options.config, MemoryOf(seed));
    ASSERT_TRUE(core.ok()) << core.status();
    Lockstep lockstep(core->get());
    const Outcome outcome = lockstep.Run(program);
    // A long run goes on: one cause seldom explains all.
    EXPECT_EQ(outcome.divergence, "")
        << "\nagain: --seed=" << seed << " --commands=1 --length=" << length
        << " --config=" << options.config.name
        << (boundaries != 0 ? absl::StrCat(" --boundaries=", boundaries) : "")
        << (kinds.empty() ? "" : " --kinds=") << absl::StrJoin(kinds, ",");
    if (!outcome.divergence.empty()) {
      ASSERT_LT(++divergences, kMostDivergences);
    }
    cycles += outcome.cycles;
    macs += outcome.macs;
    if (progress != 0 && coverage.commands() >= reported + progress) {
      reported = coverage.commands() / progress * progress;
      std::printf(
          "%llu commands compared, %llu streams differ, the last seed is %llu; "
          "bins hit %zu\n",
          static_cast<unsigned long long>(coverage.commands()),
          static_cast<unsigned long long>(divergences),
          static_cast<unsigned long long>(seed), coverage.hit());
      std::fflush(stdout);
    }
  }
  std::printf("%llu commands, %llu cycles, %llu MACs; %zu of %zu bins\n",
              static_cast<unsigned long long>(coverage.commands()),
              static_cast<unsigned long long>(cycles),
              static_cast<unsigned long long>(macs), coverage.hit(),
              coverage.bins());
  for (const auto& [kind, n] : coverage.kinds()) {
    std::printf("  %-24s %llu\n", kind.c_str(),
                static_cast<unsigned long long>(n));
    if (kinds.empty() && mine > 1000) {
      EXPECT_TRUE(n > 0) << kind << " never occurred";
    }
  }
  if (print_coverage) {
    std::printf("not exercised:\n%s\n", coverage.Missing().c_str());
  }
}

bool Parse(absl::string_view argument) {
  const auto number = [&](absl::string_view name, uint64_t* value) {
    absl::string_view rest = argument;
    return absl::ConsumePrefix(&rest, name) && absl::SimpleAtoi(rest, value);
  };
  absl::string_view rest = argument;
  if (argument == "--coverage") {
    print_coverage = true;
  } else if (absl::ConsumePrefix(&rest, "--config=")) {
    only_config = std::string(rest);
  } else if (absl::ConsumePrefix(&rest, "--kinds=")) {
    kinds = absl::StrSplit(rest, ',');
  } else {
    return number("--commands=", &commands) || number("--seed=", &first_seed) ||
           number("--length=", &length) || number("--faults=", &faults) ||
           number("--boundaries=", &boundaries) ||
           number("--progress=", &progress);
  }
  return true;
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) {
  // Seeds are sharded, not tests.
  if (const char* status = std::getenv("TEST_SHARD_STATUS_FILE")) {
    if (std::FILE* f = std::fopen(status, "w")) std::fclose(f);
  }
  ::setenv("GTEST_TOTAL_SHARDS", "1", 1);
  ::setenv("GTEST_SHARD_INDEX", "0", 1);
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (!heddle::lockstep::Parse(argv[i])) {
      std::fprintf(stderr, "what is %s?\n", argv[i]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
