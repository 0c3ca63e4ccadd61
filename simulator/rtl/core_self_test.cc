// SPDX-License-Identifier: Apache-2.0
// The RTL core of every configuration by itself: values, and cycles that device
// memory's timing permits; equal cycles for every length of a step.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "simulator/platform/test_stream.h"
#include "simulator/rtl/core_model.h"
#include "simulator/rtl/core_target.h"

namespace heddle::rtl {
namespace {

TEST(RtlCore, SelfTest) {
  for (const isa::Config& config : isa::kConfigs) {
    auto core = MakeCore(config);
    ASSERT_TRUE(core.ok()) << core.status();
    std::string report;
    CoreTarget target(core->get());
    EXPECT_TRUE(SelfTest(&target, &report)) << config.name << "\n" << report;
  }
}

TEST(RtlCore, CyclesDoNotDependOnTheStep) {
  std::vector<uint8_t> memory(1 << 20);
  std::vector<uint8_t> stream = platform::TestStream()
                                    .Load(0, 0, 0, 4096)
                                    .Barrier()
                                    .Store(0, 65536, 16, 4096)
                                    .Bytes();
  std::memcpy(memory.data(), stream.data(), stream.size());
  std::vector<uint64_t> cycles;
  for (uint64_t step : {1, 10, 100, 1000000}) {
    auto core = MakeCore(isa::kH256);
    ASSERT_TRUE(core.ok()) << core.status();
    (*core)->memory()->Attach(memory.data(), memory.size());
    platform::CoreRequest request;
    request.stream_bytes = stream.size();
    request.regions[0] = {4096, memory.size() - 4096, true};
    (*core)->Start(request);
    while ((*core)->busy()) (*core)->Step(step);
    EXPECT_EQ((*core)->result().run.status, isa::Error::kOk);
    cycles.push_back((*core)->result().cycles);
    cycles.push_back((*core)->cycles());
  }
  for (size_t i = 2; i < cycles.size(); ++i)
    EXPECT_EQ(cycles[i], cycles[i % 2]);
}

// A bit of SRAM, and an access that fails.
TEST(RtlCore, InjectedFaults) {
  std::vector<uint8_t> memory(1 << 20);
  const std::vector<uint8_t> stream =
      platform::TestStream().Store(0, 0, 0, 64).Bytes();
  std::memcpy(memory.data(), stream.data(), stream.size());
  auto core = MakeCore(isa::kH256);
  ASSERT_TRUE(core.ok()) << core.status();
  (*core)->memory()->Attach(memory.data(), memory.size());
  platform::CoreRequest request;
  request.stream_bytes = stream.size();
  request.regions[0] = {4096, memory.size() - 4096, true};
  const auto run = [&] {
    (*core)->Start(request);
    while ((*core)->busy()) (*core)->Step(1000);
    return (*core)->result().run.status;
  };
  // One wrong bit is corrected, and only once; two are the end, until the word
  // is another.
  ASSERT_TRUE((*core)->FlipSram(17, 3));
  std::memset(&memory[4096], 0xff, 64);
  EXPECT_EQ(run(), isa::Error::kOk);
  EXPECT_EQ((*core)->result().run.sram_corrected, 1u);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(memory[4096 + i], 0);
  EXPECT_EQ(run(), isa::Error::kOk);
  EXPECT_EQ((*core)->result().run.sram_corrected, 0u);
  for (const auto& [byte, bit] : {std::pair(33, 0), std::pair(47, 7)}) {
    ASSERT_TRUE((*core)->FlipSram(byte, bit));
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(), isa::Error::kSramUncorrectable);
    const model::RunResult& result = (*core)->result().run;
    EXPECT_EQ(result.fault_address, 32u);
    EXPECT_EQ(result.fault_engine, isa::Engine::kControl);
    EXPECT_EQ(result.sram_corrected, 0u);
  }
  (*core)->ClearSram();
  EXPECT_EQ(run(), isa::Error::kOk);
  (*core)->memory()->InjectError();
  EXPECT_EQ(run(), isa::Error::kBusError);
  (*core)->Reset();
  EXPECT_EQ(run(), isa::Error::kOk);
}

}  // namespace
}  // namespace heddle::rtl
