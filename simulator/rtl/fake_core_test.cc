// SPDX-License-Identifier: Apache-2.0
// The stand-in computes what the model computes, and the self-test sees that
// its time is invented.
#include "simulator/rtl/fake_core.h"

#include <gtest/gtest.h>

#include "simulator/model/random_stream.h"
#include "simulator/rtl/core_target.h"

namespace heddle::rtl {
namespace {

TEST(FakeCore, ComputesWhatTheModelComputes) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    for (bool overlap : {false, true}) {
      model::RandomStreamOptions options;
      options.seed = seed;
      options.config = isa::kConfigs[seed % isa::kNumConfigs];
      model::RandomStream stream = model::MakeRandomStream(options);
      const uint64_t code = stream.dram.size();
      const size_t bytes = stream.words.size() * 4;
      std::vector<uint8_t> mine = stream.dram, its = stream.dram;
      its.resize(code + bytes);
      std::memcpy(&its[code], stream.words.data(), bytes);

      model::FlatMemory memory(mine.data(), mine.size());
      model::Model model(options.config, &memory);
      const model::RunResult want =
          model.Run(stream.words.data(), bytes, stream.regions);

      FakeCore core(options.config, {});
      core.memory()->Attach(its.data(), its.size());
      core.Overlap(overlap);
      platform::CoreRequest request;
      request.stream_address = code;
      request.stream_bytes = bytes;
      std::copy(std::begin(stream.regions), std::end(stream.regions),
                request.regions);
      core.Start(request);
      while (core.busy()) core.Step(seed);
      const model::RunResult& got = core.result().run;
      EXPECT_EQ(got.status, want.status);
      EXPECT_EQ(got.commands, want.commands);
      EXPECT_EQ(got.macs, want.macs);
      EXPECT_EQ(got.bytes_loaded, want.bytes_loaded);
      EXPECT_EQ(got.bytes_stored, want.bytes_stored);
      EXPECT_EQ(core.progress(), want.commands);
      its.resize(code);
      EXPECT_EQ(its, mine);
      std::vector<uint8_t> sram(model.sram_bytes());
      core.ReadSram(sram.data());
      EXPECT_EQ(std::memcmp(sram.data(), model.sram(), sram.size()), 0);
    }
  }
}

TEST(SelfTest, SeesTimesThatCannotBe) {
  FakeCore core(isa::kH256, {});
  std::string report;
  CoreTarget target(&core);
  EXPECT_FALSE(SelfTest(&target, &report));
  EXPECT_NE(report.find("FAIL its fetch takes the latency"), std::string::npos)
      << report;
  EXPECT_NE(report.find("ok   vector sum"), std::string::npos) << report;
  EXPECT_EQ(report.find("FAIL its bytes"), std::string::npos) << report;
}

}  // namespace
}  // namespace heddle::rtl
