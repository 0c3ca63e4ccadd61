// SPDX-License-Identifier: Apache-2.0
//
// What only a card with cycles does: heddle-sim --core rtl. What happens inside
// is tested without processes in simulator/rtl/card_test.cc.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "simulator/platform/sim_client.h"
#include "simulator/platform/test_stream.h"

namespace heddle::platform {
namespace {

constexpr uint64_t kCode = 0x10000;
constexpr uint64_t kData = 0x100000;

class Bench {
 public:
  explicit Bench(std::vector<std::string> options = {})
      : process_(std::move(options)), host_(&process_) {
    EXPECT_TRUE(host_.Attach());
  }
  SimHost& host() { return host_; }
  desc::Step Stream(TestStream stream) {
    const std::vector<uint8_t> bytes = stream.Bytes();
    EXPECT_TRUE(host_.Store(kCode, bytes));
    std::vector<desc::Region> regions(3);
    regions[2] = {kData, 1 << 20, desc::kRegionFlagsWritableMask, 0, 0};
    return host_.Run(kCode, bytes.size(), regions);
  }
  desc::Step Copy(uint32_t bytes) {
    return Stream(
        TestStream().Load(2, 0, 0, bytes).Barrier().Store(2, 65536, 0, bytes));
  }
  uint64_t Cycles() {
    const uint64_t low = host_.Read(reg::kCounterCyclesLoOffset);
    return low | uint64_t{host_.Read(reg::kCounterCyclesHiOffset)} << 32;
  }

 private:
  SimProcess process_;
  SimHost host_;
};

TEST(RtlCard, IsOneAndCountsCycles) {
  Bench bench;
  EXPECT_EQ(bench.host().Read(reg::kCoreKindOffset),
            static_cast<uint32_t>(isa::CoreKind::kRtl));
  const desc::Completion record = bench.host().RunJob({bench.Copy(4096)});
  ASSERT_EQ(record.status, 0u);
  EXPECT_EQ(record.commands, 4u);
  EXPECT_GT(record.cycles, 2 * 4096u / 16);
  // What is left of the job after its record: the answers of the bus.
  uint64_t before = bench.Cycles(), cycles = before;
  for (int i = 0; i < 500; ++i) {
    before = cycles;
    usleep(10000);
    cycles = bench.Cycles();
    if (cycles < before + 20) break;
  }
  EXPECT_GE(cycles, record.cycles);
  EXPECT_LT(cycles, before + 20)
      << "only for what it is asked: an idle card is not clocked";
}

TEST(RtlCard, CyclesDoNotDependOnTheQuantum) {
  std::vector<uint64_t> cycles;
  for (const char* quantum : {"1", "10", "100", "1000"}) {
    Bench bench({"--quantum", quantum});
    for (uint32_t bytes : {16u, 4096u, 65536u - 16}) {
      SimHost& host = bench.host();
      host.FreeAll();
      const uint64_t to = host.Alloc(bytes);
      const desc::Step run = bench.Copy(bytes);
      const std::vector<uint8_t> data(bytes, 0x77);
      const desc::Completion record =
          host.RunJob({host.CopyIn(kData, data), run,
                       host.CopyOut(kData + 65536, bytes, to)});
      ASSERT_EQ(record.status, 0u);
      EXPECT_EQ(std::memcmp(host.At(to), data.data(), bytes), 0);
      cycles.push_back(record.cycles);
    }
  }
  for (size_t i = 3; i < cycles.size(); ++i) {
    EXPECT_EQ(cycles[i], cycles[i % 3]) << i;
  }
}

TEST(RtlCard, ManyResetsInTheMiddle) {
  Bench bench;
  SimHost& host = bench.host();
  const std::vector<uint8_t> data(4096, 0x5c);
  for (int i = 0; i < 10; ++i) {
    isa::Fill fill;
    fill.elem_log2 = 2;
    fill.n0 = fill.n1 = 256;
    fill.t0 = 4;
    fill.t1 = 1024;
    TestStream code;
    for (int k = 0; k < 5000; ++k) code.Add(fill);
    host.Queue(1, {bench.Stream(code)});
    host.Doorbell(1);
    ASSERT_TRUE(host.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                  reg::kStatusBusyMask));
    const uint32_t progress = host.Read(reg::kProgressOffset);
    for (int k = 0; k < 2000 && host.Read(reg::kProgressOffset) < progress + 5;
         ++k) {
      usleep(500);
    }
    host.Write(reg::kResetOffset, reg::kResetEngineMask);
    desc::Completion record;
    ASSERT_TRUE(host.Next(&record));
    EXPECT_EQ(record.status, static_cast<uint32_t>(isa::Error::kAborted));
    ASSERT_TRUE(
        host.WaitRegister(reg::kStatusOffset, ~0u, reg::kStatusReadyMask));
    ASSERT_TRUE(host.Store(kData, data));
    ASSERT_EQ(host.RunJob({bench.Copy(4096)}).status, 0u);
    EXPECT_EQ(host.Fetch(kData + 65536, 4096), data);
  }
}

TEST(RtlCard, TheHostIsServedWhileItRuns) {
  Bench bench;
  SimHost& host = bench.host();
  isa::Fill fill;
  fill.elem_log2 = 2;
  fill.n0 = fill.n1 = 256;
  fill.t0 = 4;
  fill.t1 = 1024;
  TestStream code;
  for (int k = 0; k < 2000; ++k) code.Add(fill);
  const uint64_t fence = host.Queue(1, {bench.Stream(code)});
  host.Doorbell(1);
  for (uint32_t i = 0; i < 500; ++i) {
    host.Write(reg::kScratchOffset, i);
    ASSERT_EQ(host.Read(reg::kScratchOffset), i);
  }
  host.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  desc::Completion record;
  ASSERT_TRUE(host.Next(&record, 30000));
}

}  // namespace
}  // namespace heddle::platform
