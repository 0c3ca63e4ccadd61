// SPDX-License-Identifier: Apache-2.0
//
// What happens to a card while it runs: removal, re-plug, other memory sizes,
// injected faults.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "simulator/platform/config_space.h"
#include "simulator/platform/sim_client.h"
#include "simulator/platform/test_stream.h"

namespace heddle::platform {
namespace {

using isa::Error;

constexpr uint64_t kCode = 0x10000;
constexpr uint64_t kData = 0x100000;
constexpr uint64_t kMiB = 1 << 20;

uint32_t Code(Error error) { return static_cast<uint32_t>(error); }

class HotplugTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(host_.Attach()); }
  // A run step over region 0 and 2, both the MiB at kData.
  desc::Step Load(TestStream code) {
    const std::vector<uint8_t> bytes = code.Bytes();
    EXPECT_TRUE(host_.Store(kCode, bytes));
    desc::Region region;
    region.base = kData;
    region.size = kMiB;
    region.flags = desc::kRegionFlagsWritableMask;
    return host_.Run(kCode, bytes.size(), {region, desc::Region(), region});
  }
  bool Ok(const std::string& command) {
    const nlohmann::json answer = process_.Command(command);
    return answer.is_object() && answer["ok"] == true;
  }
  // A job that is busy runs its stream by now. A card with cycles fetches
  // descriptor, steps and table first, and an abort meanwhile ends it at once.
  void WaitForStream() {
    if (std::getenv("HEDDLE_SIM_CORE") == nullptr) return;
    const uint32_t start = host_.Read(reg::kCounterCyclesLoOffset);
    for (int i = 0; i < 5000; ++i) {
      if (host_.Read(reg::kCounterCyclesLoOffset) - start > 10000) return;
      usleep(1000);
    }
    ADD_FAILURE() << "the card is not clocked";
  }
  SimProcess process_{{"--serial", "77"}};
  SimHost host_{&process_};
};

TEST_F(HotplugTest, UnplugDuringAJobAndPlugAgain) {
  ASSERT_TRUE(host_.Store(kData, std::vector<uint8_t>(64, 0xaa)));
  ASSERT_TRUE(Ok("fault stuck_engine"));
  host_.Queue(0, {Load(TestStream())});
  host_.Doorbell(0);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                 reg::kStatusBusyMask));
  ASSERT_TRUE(Ok("unplug"));
  EXPECT_EQ(host_.Read(reg::kIdOffset), 0xffffffffu);
  EXPECT_FALSE(host_.connection().open());
  EXPECT_FALSE(host_.Connect());
  EXPECT_EQ(process_.Command("status")["present"], false);
  desc::Completion record;
  EXPECT_FALSE(host_.Next(&record, 30)) << "a card that is gone writes nothing";
  ASSERT_TRUE(Ok("plug"));
  ASSERT_TRUE(host_.Attach());
  EXPECT_EQ(host_.Read(reg::kUniqueLoOffset), 77u);
  EXPECT_EQ(host_.Read(reg::kCounterJobsOffset), 0u);
  EXPECT_EQ(host_.Fetch(kData, 64), std::vector<uint8_t>(64, 0))
      << "power was off";
  EXPECT_EQ(host_.RunJob({Load(TestStream())}).status, 0u);
}

TEST_F(HotplugTest, HostsComeAndGo) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(host_.Store(kData, std::vector<uint8_t>(64, 0xbb)));
    host_.Queue(0, {host_.Fill(0, isa::kDramBytesDefault, 1)});
    host_.Doorbell(0);
    host_.Detach();
    ASSERT_TRUE(host_.Attach()) << i;
    EXPECT_EQ(host_.Fetch(kData, 64), std::vector<uint8_t>(64, 0));
  }
  EXPECT_EQ(process_.Command("status")["mapped_ranges"], 1);
}

TEST_F(HotplugTest, OneHostAtATime) {
  SimHost second(&process_);
  EXPECT_FALSE(second.Connect());
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
}

TEST_F(HotplugTest, DeathOfTheProcess) {
  kill(process_.pid(), SIGKILL);
  EXPECT_EQ(host_.Read(reg::kIdOffset), 0xffffffffu);
  EXPECT_FALSE(host_.connection().open());
  for (int i = 0; i < 500 && process_.Alive(); ++i) usleep(10000);
  EXPECT_FALSE(process_.Alive());
}

TEST_F(HotplugTest, MemoryChangesSize) {
  ASSERT_TRUE(host_.Store(100 * kMiB, std::vector<uint8_t>(64, 0xcc)));
  ASSERT_TRUE(Ok("memory 64M"));
  EXPECT_EQ(host_.Interrupts(2, 2000), 1u);
  EXPECT_EQ(host_.Read(reg::kDramLoOffset), 64 * kMiB);
  const desc::Completion record = host_.RunJob({host_.Fill(100 * kMiB, 64, 0)});
  EXPECT_EQ(record.status, Code(Error::kCopyBounds));
  EXPECT_EQ(record.fault_address, 100 * kMiB);
  ASSERT_TRUE(Ok("memory 4GiB"));
  EXPECT_EQ(host_.Read(reg::kDramHiOffset), 1u);
  EXPECT_EQ(host_.Fetch(100 * kMiB, 64), std::vector<uint8_t>(64, 0));
  EXPECT_EQ(host_.RunJob({host_.Fill(4096 * kMiB - 64, 64, 3)}).status, 0u);
  for (const char* bad :
       {"memory", "memory 1M", "memory 5G", "memory 67108865", "memory x"}) {
    EXPECT_FALSE(Ok(bad)) << bad;
  }
}

TEST_F(HotplugTest, InterruptFaults) {
  auto job = [&] {
    return host_
        .RunJob({host_.Fill(kData, 4, 0)}, 0,
                desc::kJobDescriptorFlagsInterruptMask)
        .status;
  };
  ASSERT_TRUE(Ok("fault lost_interrupt"));
  EXPECT_EQ(job(), 0u);
  EXPECT_EQ(host_.Interrupts(0, 30), 0u);
  EXPECT_EQ(host_.Read(reg::kIntStatusOffset), reg::kIntStatusCompletionMask);
  EXPECT_EQ(job(), 0u);
  EXPECT_EQ(host_.Interrupts(0, 2000), 1u);
  ASSERT_TRUE(Ok("fault late_interrupt 60"));
  EXPECT_EQ(job(), 0u);
  EXPECT_EQ(host_.Interrupts(0, 20), 0u);
  EXPECT_EQ(host_.Interrupts(0, 2000), 1u);
  ASSERT_TRUE(Ok("fault spurious_interrupt 3"));
  EXPECT_EQ(host_.Interrupts(3, 2000), 1u);
}

TEST_F(HotplugTest, BusErrors) {
  const desc::Step run = Load(TestStream().Load(2, 0, 0, 64));
  ASSERT_TRUE(Ok("fault bus_error device"));
  EXPECT_EQ(host_.RunJob({run}).status, Code(Error::kBusError));
  EXPECT_EQ(host_.RunJob({run}).status, 0u);
  ASSERT_TRUE(Ok("fault bus_error device"));
  EXPECT_EQ(host_.RunJob({host_.Fill(kData, 64, 0)}).status,
            Code(Error::kBusError));
  // The next access to the host is the fetch of a descriptor.
  ASSERT_TRUE(Ok("fault bus_error host"));
  host_.Queue(0, {run});
  host_.Doorbell(0);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusHaltedMask,
                                 reg::kStatusHaltedMask));
  host_.Write(reg::kResetOffset, reg::kResetEngineMask);
  desc::Completion record;
  ASSERT_TRUE(host_.Next(&record));
  EXPECT_EQ(record.status, 0u);
}

TEST_F(HotplugTest, StuckEngine) {
  const desc::Step run = Load(TestStream());
  ASSERT_TRUE(Ok("fault stuck_engine"));
  const uint64_t fence = host_.Queue(1, {run});
  host_.Doorbell(1);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                 reg::kStatusBusyMask));
  WaitForStream();
  host_.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  desc::Completion record;
  EXPECT_FALSE(host_.Next(&record, 50));
  host_.Write(reg::kResetOffset, reg::kResetEngineMask);
  ASSERT_TRUE(host_.Next(&record));
  EXPECT_EQ(record.status, Code(Error::kAborted));
  EXPECT_EQ(host_.RunJob({run}).status, 0u);
}

TEST_F(HotplugTest, StuckUntilACardReset) {
  const desc::Step run = Load(TestStream());
  ASSERT_FALSE(Ok("fault stuck_engine engine"));
  ASSERT_TRUE(Ok("fault stuck_engine card"));
  host_.Queue(1, {run});
  host_.Doorbell(1);
  ASSERT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                                 reg::kStatusBusyMask));
  WaitForStream();
  for (int i = 0; i < 2; ++i) {  // once more does not help
    host_.Write(reg::kResetOffset, reg::kResetEngineMask);
    desc::Completion record;
    EXPECT_FALSE(host_.Next(&record, 50));
    EXPECT_NE(host_.Read(reg::kStatusOffset) & reg::kStatusBusyMask, 0u);
  }
  host_.Write(reg::kResetOffset, reg::kResetCardMask);
  EXPECT_TRUE(host_.WaitRegister(reg::kStatusOffset,
                                 reg::kStatusReadyMask | reg::kStatusBusyMask,
                                 reg::kStatusReadyMask));
  EXPECT_EQ(host_.Read(reg::RingSizeOffset(1)), 0u);
}

// Nothing stops its writes but the bus, and a power cycle.
TEST_F(HotplugTest, RunawayDma) {
  if (std::getenv("HEDDLE_SIM_CORE") != nullptr) {
    EXPECT_FALSE(Ok("fault runaway_dma")) << "an RTL core has no such fault";
    return;
  }
  constexpr uint64_t kBytes = 256 * 1024;
  constexpr uint32_t kMaster = 1 << 2;
  const uint64_t iova = host_.Alloc(kBytes);
  auto* words = static_cast<volatile uint32_t*>(host_.At(iova));
  constexpr size_t kLast = kBytes / sizeof(uint32_t) - 1;
  auto written = [&] {
    words[0] = words[kLast] = 1;
    for (int i = 0; i < 5000; ++i) {
      if (words[0] != 1 && words[kLast] != 1) return true;
      usleep(1000);
    }
    return false;
  };
  auto refused = [&] {
    return process_.Command("status")["refused_dma"].get<uint64_t>();
  };
  ASSERT_TRUE(Ok("fault runaway_dma"));
  const uint64_t fence = host_.Queue(0, {host_.CopyOut(kData, kBytes, iova)});
  host_.Doorbell(0);
  EXPECT_TRUE(written());
  host_.Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  for (uint32_t reset : {reg::kResetEngineMask, reg::kResetCardMask}) {
    host_.Write(reg::kResetOffset, reset);
    EXPECT_TRUE(written()) << reset;
    EXPECT_EQ(host_.Read(reg::kStatusOffset) & reg::kStatusReadyMask, 0u);
  }
  const uint32_t command = host_.ConfigRead(0x04, 2);
  host_.ConfigWrite(0x04, command & ~kMaster, 2);
  EXPECT_EQ(host_.ConfigRead(0x04, 2) & kMaster, 0u);
  words[0] = words[kLast] = 1;
  const uint64_t before = refused();
  for (int i = 0; i < 5000 && refused() < before + 2 * kBytes / 4096; ++i) {
    usleep(1000);
  }
  EXPECT_GE(refused(), before + 2 * kBytes / 4096) << "it does not try";
  EXPECT_EQ(words[0], 1u);
  EXPECT_EQ(words[kLast], 1u);
  host_.ConfigWrite(0x04, command, 2);
  EXPECT_TRUE(written());
  ASSERT_TRUE(Ok("unplug"));
  const uint64_t after = refused();
  ASSERT_TRUE(Ok("plug"));
  EXPECT_EQ(refused(), after);
}

TEST_F(HotplugTest, BitFlips) {
  const std::vector<uint8_t> zeros(64, 0);
  auto flipped = [&](size_t byte, int bit) {
    std::vector<uint8_t> want = zeros;
    want[byte] = static_cast<uint8_t>(1 << bit);
    return want;
  };
  const desc::Step save = Load(TestStream().Store(2, 4096, 0, 64));
  ASSERT_TRUE(Ok("fault bit_flip sram 17 3"));
  ASSERT_EQ(host_.RunJob({save}).status, 0u);
  EXPECT_EQ(host_.Fetch(kData + 4096, 64), zeros);
  EXPECT_EQ(host_.Read(reg::kCounterSramCorrectedOffset), 1u);
  ASSERT_TRUE(Ok("fault bit_flip weights 5 7"));
  ASSERT_EQ(host_.RunJob({save}).status, 0u);
  EXPECT_EQ(host_.Fetch(kData, 64), flipped(5, 7));
  // Bit 7 of an opcode makes it an unknown one; memory keeps the right stream.
  ASSERT_TRUE(Ok("fault bit_flip command 0 7"));
  EXPECT_EQ(host_.RunJob({save}).status, Code(Error::kIllegalCommand));
  EXPECT_EQ(host_.RunJob({save}).status, 0u);
}

TEST_F(HotplugTest, SramErrors) {
  const desc::Step nothing = Load(TestStream());
  ASSERT_TRUE(Ok("fault sram_error single"));
  ASSERT_EQ(host_.RunJob({nothing}).status, 0u);
  EXPECT_EQ(host_.Read(reg::kCounterSramCorrectedOffset), 0u);
  const desc::Step again = Load(TestStream().Store(2, 4096, 0, 64));
  ASSERT_EQ(host_.RunJob({again}).status, 0u);
  EXPECT_EQ(host_.Fetch(kData + 4096, 64), std::vector<uint8_t>(64, 0));
  EXPECT_EQ(host_.Read(reg::kCounterSramCorrectedOffset), 1u);
  EXPECT_EQ(host_.Read(reg::kDeviceErrorOffset), Code(Error::kSramCorrected));
  EXPECT_EQ(process_.Command("status")["sram_corrected"], 1);
  host_.Write(reg::kDeviceErrorOffset, 0xffffffff);

  ASSERT_TRUE(Ok("fault sram_error double"));
  for (int i = 0; i < 2; ++i) {
    const desc::Completion record = host_.RunJob({again});
    EXPECT_EQ(record.status, Code(Error::kSramUncorrectable));
    EXPECT_EQ(record.fault_engine, 0u);
    EXPECT_EQ(record.fault_address, 0u);
  }
  host_.Write(reg::kResetOffset, reg::kResetEngineMask);
  EXPECT_EQ(host_.RunJob({again}).status, 0u);
  EXPECT_EQ(host_.Read(reg::kCounterSramCorrectedOffset), 1u);
  EXPECT_EQ(host_.Read(reg::kDeviceErrorOffset), 0u);

  ASSERT_TRUE(Ok("fault sram_error double"));
  ASSERT_TRUE(Ok("fault none"));
  EXPECT_EQ(host_.RunJob({again}).status, 0u);
}

TEST_F(HotplugTest, LinkDown) {
  ASSERT_TRUE(Ok("fault link_down"));
  EXPECT_EQ(host_.Read(reg::kIdOffset), 0xffffffffu);
  EXPECT_EQ(host_.ConfigRead(0, 4), 0xffffffffu);
  EXPECT_TRUE(host_.connection().open());
  host_.Write(reg::kScratchOffset, 9);
  ASSERT_TRUE(Ok("fault link_up"));
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 0u);
}

// Between two reads of a driver.
TEST_F(HotplugTest, LinkDownBehindARead) {
  ASSERT_TRUE(Ok("fault link_down 0"));
  EXPECT_EQ(host_.Read(reg::kVersionOffset), reg::kVersionReset);
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
  EXPECT_EQ(host_.Read(reg::kVersionOffset), 0xffffffffu);
  EXPECT_EQ(host_.Read(reg::kIdOffset), 0xffffffffu);
  ASSERT_TRUE(Ok("fault link_up"));
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
  EXPECT_FALSE(Ok("fault link_down 0x100000000"));
}

// In D3 a card keeps what it has, unless its slot has no power then.
TEST_F(HotplugTest, PowerLossInD3) {
  const uint32_t pmcsr = ConfigSpace::kPowerManagement + 4;
  auto sleep = [&] {
    host_.ConfigWrite(pmcsr, 3, 2);
    host_.ConfigWrite(pmcsr, 0, 2);
  };
  host_.Write(reg::kScratchOffset, 9);
  ASSERT_TRUE(host_.Store(kData, std::vector<uint8_t>(64, 0x5a)));
  sleep();
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 9u);
  EXPECT_EQ(host_.Fetch(kData, 64), std::vector<uint8_t>(64, 0x5a));
  ASSERT_TRUE(Ok("fault power_loss"));
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 9u) << "only in D3";
  sleep();
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 0u);
  host_.Write(reg::kScratchOffset, 7);
  sleep();
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 7u) << "once";
}

TEST_F(HotplugTest, ControlAnswersNonsense) {
  for (const char* bad :
       {"", "x", "fault", "fault x", "fault bit_flip", "fault bit_flip rom",
        "fault bit_flip sram 0 8", "fault spurious_interrupt 4",
        "fault late_interrupt 99999999999", "fault bus_error",
        "fault sram_error", "fault sram_error 3", "\xff\xfe\""}) {
    const nlohmann::json answer = process_.Command(bad);
    ASSERT_TRUE(answer.is_object()) << bad;
    EXPECT_EQ(answer["ok"], false) << bad;
    EXPECT_FALSE(answer["error"].get<std::string>().empty());
  }
  EXPECT_TRUE(process_.Command(std::string(100000, 'a')).is_null());
  EXPECT_TRUE(Ok("quit"));
  for (int i = 0; i < 500 && process_.Alive(); ++i) usleep(10000);
  EXPECT_FALSE(process_.Alive());
}

}  // namespace
}  // namespace heddle::platform
