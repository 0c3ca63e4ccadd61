// SPDX-License-Identifier: Apache-2.0
// The fast implementation leaves the same SRAM, accumulators and device memory
// as the reference one, on random race-free streams over every instruction,
// mode and configuration. Arguments: --first_seed=N --seeds=N.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "simulator/model/model.h"
#include "simulator/model/random_stream.h"

namespace heddle::model {
namespace {

uint64_t first_seed = 1;
uint64_t seeds = 60;

struct Outcome {
  RunResult result;
  std::vector<uint8_t> sram, dram;
  std::vector<int32_t> acc;
};

Outcome Execute(const RandomStream& stream, const isa::Config& config,
                Implementation implementation) {
  Outcome o;
  o.dram = stream.dram;
  FlatMemory memory(o.dram.data(), o.dram.size());
  Options options;
  options.implementation = implementation;
  Model model(config, &memory, options);
  o.result =
      model.Run(stream.words.data(), stream.words.size() * 4, stream.regions);
  o.sram.assign(model.sram(), model.sram() + model.sram_bytes());
  o.acc.assign(
      model.accumulators(),
      model.accumulators() + size_t{config.acc_pixels} * config.lanes_out);
  return o;
}

bool Same(const Outcome& a, const Outcome& b) {
  return a.result.status == b.result.status && a.result.macs == b.result.macs &&
         a.result.bytes_loaded == b.result.bytes_loaded &&
         a.result.bytes_stored == b.result.bytes_stored && a.sram == b.sram &&
         a.dram == b.dram && a.acc == b.acc;
}

// The first command after which the two differ, as text.
std::string FirstDifference(RandomStream stream, const isa::Config& config) {
  const std::vector<uint32_t> all = stream.words;
  for (size_t at = 0; at < all.size();) {
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(all[at]));
    const size_t next = at + info->words;
    stream.words.assign(all.begin(), all.begin() + next);
    isa::Append(isa::Command(isa::End()), &stream.words);
    if (!Same(Execute(stream, config, Implementation::kReference),
              Execute(stream, config, Implementation::kFast))) {
      return isa::ToString(*isa::DecodeAny(all.data() + at, info->words));
    }
    at = next;
  }
  return "only the whole stream differs";
}

TEST(Equality, FastIsReference) {
  // Bazel's shards take turns with the seeds; this is the only test.
  const char* shards = std::getenv("TEST_TOTAL_SHARDS");
  const char* index = std::getenv("TEST_SHARD_INDEX");
  const uint64_t step =
      shards != nullptr ? std::strtoull(shards, nullptr, 10) : 1;
  const uint64_t shard =
      index != nullptr ? std::strtoull(index, nullptr, 10) : 0;
  std::map<std::string, int> kinds;
  for (uint64_t seed = first_seed + shard; seed < first_seed + seeds;
       seed += step) {
    RandomStreamOptions options;
    options.seed = seed;
    options.config = isa::kConfigs[seed % isa::kNumConfigs];
    const RandomStream stream = MakeRandomStream(options);
    for (const auto& [kind, n] : stream.kinds) kinds[kind] += n;
    const Outcome reference =
        Execute(stream, options.config, Implementation::kReference);
    ASSERT_EQ(reference.result.status, isa::Error::kOk)
        << "seed " << seed << " at " << reference.result.fault_offset;
    const Outcome fast = Execute(stream, options.config, Implementation::kFast);
    ASSERT_TRUE(Same(reference, fast))
        << "seed " << seed << ": " << FirstDifference(stream, options.config);
  }
  EXPECT_GE(kinds.size(), 35u) << "a kind of command never occurred";
}

}  // namespace
}  // namespace heddle::model

int main(int argc, char** argv) {
  // Seeds are sharded, not tests.
  if (const char* status = std::getenv("TEST_SHARD_STATUS_FILE")) {
    if (std::FILE* f = std::fopen(status, "w")) std::fclose(f);
  }
  ::setenv("GTEST_TOTAL_SHARDS", "1", 1);
  ::setenv("GTEST_SHARD_INDEX", "0", 1);
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.rfind("--first_seed=", 0) == 0) {
      heddle::model::first_seed = std::strtoull(argv[i] + 13, nullptr, 10);
    } else if (arg.rfind("--seeds=", 0) == 0) {
      heddle::model::seeds = std::strtoull(argv[i] + 8, nullptr, 10);
    }
  }
  return RUN_ALL_TESTS();
}
