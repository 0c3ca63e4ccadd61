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
//   --quota        print what was not exercised
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "simulator/model/random_stream.h"
#include "simulator/rtl/core_model.h"
#include "tests/lockstep/lockstep.h"
#include "tests/lockstep/quota.h"

namespace heddle::lockstep {
namespace {

uint64_t commands = 2000;
uint64_t first_seed = 1;
uint64_t length = 150;
bool print_quota = false;
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

TEST(RandomLockstep, CoreIsModel) {
  const uint64_t shards = FromEnvironment("TEST_TOTAL_SHARDS", 1);
  const uint64_t shard = FromEnvironment("TEST_SHARD_INDEX", 0);
  const isa::Config* config = nullptr;
  if (!only_config.empty()) {
    config = isa::FindConfig(only_config);
    ASSERT_NE(config, nullptr) << only_config;
  }
  Quota quota;
  uint64_t cycles = 0, macs = 0;
  const uint64_t mine = (commands + shards - 1) / shards;
  for (uint64_t seed = first_seed + shard; quota.commands() < mine;
       seed += shards) {
    model::RandomStreamOptions options;
    options.seed = seed;
    // Configurations and memories are drawn apart, whatever the shards are.
    options.config = config != nullptr
                         ? *config
                         : isa::kConfigs[seed / 4 % isa::kNumConfigs];
    options.commands = static_cast<int>(length);
    options.kinds = kinds;
    model::RandomStream stream = model::MakeRandomStream(options);
    quota.Count(stream.words);
    Program program;
    program.words = std::move(stream.words);
    std::copy(std::begin(stream.regions), std::end(stream.regions),
              program.regions);
    program.memory = std::move(stream.dram);
    auto core = rtl::MakeCore(options.config, MemoryOf(seed));
    ASSERT_TRUE(core.ok()) << core.status();
    Lockstep lockstep(core->get());
    const Outcome outcome = lockstep.Run(program);
    ASSERT_EQ(outcome.divergence, "")
        << "\nagain: --seed=" << seed << " --commands=1 --length=" << length
        << " --config=" << options.config.name
        << (kinds.empty() ? "" : " --kinds=") << absl::StrJoin(kinds, ",");
    cycles += outcome.result.cycles;
    macs += outcome.result.run.macs;
  }
  std::printf("%llu commands, %llu cycles, %llu MACs; quota %zu of %zu\n",
              static_cast<unsigned long long>(quota.commands()),
              static_cast<unsigned long long>(cycles),
              static_cast<unsigned long long>(macs), quota.hit(),
              quota.cells());
  for (const auto& [kind, n] : quota.kinds()) {
    std::printf("  %-24s %llu\n", kind.c_str(),
                static_cast<unsigned long long>(n));
    if (kinds.empty() && mine > 1000) {
      EXPECT_TRUE(n > 0 || kind == "nop") << kind << " never occurred";
    }
  }
  if (print_quota) {
    std::printf("not exercised:\n%s\n", quota.Missing().c_str());
  }
}

bool Parse(absl::string_view argument) {
  const auto number = [&](absl::string_view name, uint64_t* value) {
    absl::string_view rest = argument;
    return absl::ConsumePrefix(&rest, name) && absl::SimpleAtoi(rest, value);
  };
  absl::string_view rest = argument;
  if (argument == "--quota") {
    print_quota = true;
  } else if (absl::ConsumePrefix(&rest, "--config=")) {
    only_config = std::string(rest);
  } else if (absl::ConsumePrefix(&rest, "--kinds=")) {
    kinds = absl::StrSplit(rest, ',');
  } else {
    return number("--commands=", &commands) || number("--seed=", &first_seed) ||
           number("--length=", &length);
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
