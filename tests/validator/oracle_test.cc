// SPDX-License-Identifier: Apache-2.0
// The validator against its oracle: structured random streams and mutants of
// them. It must fail on every fault of mutants.bzl that names it.
#include "tests/validator/oracle.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "simulator/model/random_command.h"
#include "simulator/model/random_stream.h"

namespace heddle::validator {
namespace {

// HEDDLE_ORACLE_STREAMS: streams to look at (nightly runs ask for many).
uint64_t Streams() {
  const char* s = getenv("HEDDLE_ORACLE_STREAMS");
  return s != nullptr ? strtoull(s, nullptr, 10) : 40000;
}
uint64_t Seed() {
  const char* s = getenv("HEDDLE_ORACLE_SEED");
  return s != nullptr ? strtoull(s, nullptr, 10) : 1;
}

TEST(ValidatorOracle, KeepsItsPromise) {
  const isa::Config configs[] = {isa::kH256, isa::kH512, isa::kH1024};
  const uint64_t wanted = Streams();
  std::mt19937_64 random(Seed());
  uint64_t looked = 0, accepted = 0, executed = 0;
  std::string failure;
  for (uint64_t round = 0; looked < wanted && failure.empty(); ++round) {
    model::RandomStreamOptions options;
    options.config = configs[round % 3];
    options.seed = Seed() * 1000003 + round;
    options.commands = 4 + round % 8;
    const std::vector<uint32_t> base = model::MakeRandomStream(options).words;
    for (int mutant = 0; mutant < 200 && looked < wanted; ++mutant) {
      std::vector<uint32_t> words = base;
      const int changes = mutant == 0 ? 0 : 1 + random() % 3;
      for (int i = 0; i < changes; ++i) Mutate(&random, &words);
      const Verdict v = Check(options.config, words, mutant % 4 == 0);
      ++looked;
      if (looked % 1000000 == 0) {
        fprintf(stderr, "%llu million of %llu streams\n",
                static_cast<unsigned long long>(looked / 1000000),
                static_cast<unsigned long long>(wanted));
      }
      accepted += v.accepted;
      executed += v.executed;
      if (mutant == 0 && !v.accepted) {
        failure = "refused a legal stream";
      } else if (!v.failure.empty()) {
        failure = v.failure;
      }
      if (!failure.empty()) {
        failure += ", seed " + std::to_string(options.seed) + " mutant " +
                   std::to_string(mutant);
        break;
      }
    }
  }
  RecordProperty("looked", std::to_string(looked));
  EXPECT_EQ(failure, "");
  EXPECT_GE(accepted * 10, looked * 3)
      << "too few streams were accepted to mean much";
  EXPECT_GT(executed, looked / 100);
  printf("%llu streams, %llu accepted, %llu executed\n",
         static_cast<unsigned long long>(looked),
         static_cast<unsigned long long>(accepted),
         static_cast<unsigned long long>(executed));
}

// A pooled row before pool_row0 is illegal even where it has no column and no
// word of it is touched; random streams hit that once in a million.
TEST(ValidatorOracle, PooledRowsWithoutColumnsObeyPoolRow0) {
  const isa::Config configs[] = {isa::kH256, isa::kH512, isa::kH1024};
  int accepted = 0, refused = 0;
  for (const isa::Config& config : configs) {
    model::CommandGenerator generator(config, 64 * 1024, Seed());
    for (int round = 0; round < 20; ++round) {
      for (size_t kind = 0; kind < model::CommandGenerator::kinds(); ++kind) {
        isa::Command command = generator.Make(kind).command;
        auto* conv = std::get_if<isa::Conv>(&command);
        if (conv == nullptr || conv->pool != isa::PoolKind::kMax) continue;
        conv->pool_ow = 0;
        conv->pool_row0 += generator.Below(3);
        std::vector<uint32_t> words;
        isa::Append(command, &words);
        isa::Append(isa::End(), &words);
        const Verdict v = Check(config, words, /*execute=*/true);
        ASSERT_EQ(v.failure, "")
            << "pool_row0 " << conv->pool_row0 << ", seed " << Seed();
        ++(v.accepted ? accepted : refused);
      }
    }
  }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace heddle::validator
