// SPDX-License-Identifier: Apache-2.0
//
// heddle-sim as a PCI card: config space, registers, interrupts, bus control.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <set>

#include "simulator/platform/config_space.h"
#include "simulator/platform/sim_client.h"

namespace heddle::platform {
namespace {

TEST(CardTest, RegistersBehaveAsTheTableSays) {
  SimProcess process({"--serial", "1"});
  SimHost host(&process);
  ASSERT_TRUE(host.Connect());
  host.SetCommand(true, false);
  // It has been powered up a moment ago.
  ASSERT_TRUE(host.WaitRegister(reg::kStatusOffset, reg::kStatusReadyMask,
                                reg::kStatusReadyMask));
  // Values that say what card this is.
  const bool clocked = std::getenv("HEDDLE_SIM_CORE") != nullptr;
  const std::map<uint32_t, uint32_t> identity = {
      {reg::kCoreKindOffset,
       static_cast<uint32_t>(clocked ? isa::CoreKind::kRtl
                                     : isa::CoreKind::kFunctional)},
      {reg::kUniqueLoOffset, 1}};
  // Registers that act when written; job_test writes them.
  std::set<uint32_t> acts = {reg::kCompletionSizeOffset, reg::kResetOffset};
  for (uint32_t i = 0; i < isa::kRings; ++i) {
    acts.insert(reg::RingSizeOffset(i));
    acts.insert(reg::RingHeadOffset(i));
  }
  // In RTL the clock runs while registers are read.
  if (clocked) acts.insert(reg::kCounterCyclesLoOffset);
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t offset = info.offset + i * info.stride;
      if (clocked && offset == reg::kCounterCyclesLoOffset) continue;
      auto it = identity.find(offset);
      const uint32_t reset =
          it == identity.end() ? info.reset & ~info.wo_mask : it->second;
      EXPECT_EQ(host.Read(offset), reset) << info.name;
    }
  }
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t offset = info.offset + i * info.stride;
      if (acts.count(offset)) continue;
      const uint32_t before = host.Read(offset);
      for (uint32_t pattern : {0xffffffffu, 0x5a5a5a5au, 0u}) {
        host.Write(offset, pattern);
        const uint32_t keeps = ~(info.rw_mask | info.w1c_mask | info.w1s_mask);
        EXPECT_EQ(host.Read(offset) & (info.rw_mask | keeps),
                  (pattern & info.rw_mask) | (before & keeps & ~info.wo_mask))
            << info.name;
      }
    }
  }
  host.Write(reg::kIntRaiseOffset, 5);
  EXPECT_EQ(host.Read(reg::kIntStatusOffset) & 5, 5u);
  host.Write(reg::kIntStatusOffset, 1);
  EXPECT_EQ(host.Read(reg::kIntStatusOffset) & 5, 4u) << "write one to clear";
}

TEST(CardTest, OptionsShowInRegisters) {
  SimProcess process({"--config", "h1024", "--memory", "4G", "--serial",
                      "0x123456789abcdef0"});
  SimHost host(&process);
  ASSERT_TRUE(host.Attach());
  EXPECT_EQ(host.Read(reg::kConfigOffset), isa::FindConfig("h1024")->id);
  EXPECT_EQ(host.Read(reg::kDramLoOffset), 0u);
  EXPECT_EQ(host.Read(reg::kDramHiOffset), 1u);
  EXPECT_EQ(host.Read(reg::kUniqueLoOffset), 0x9abcdef0u);
  EXPECT_EQ(host.Read(reg::kUniqueHiOffset), 0x12345678u);
}

TEST(CardTest, SerialNumbersDifferByThemselves) {
  SimProcess one, other;
  SimHost host(&one), second(&other);
  ASSERT_TRUE(host.Attach());
  ASSERT_TRUE(second.Attach());
  EXPECT_NE(host.Read(reg::kUniqueLoOffset), second.Read(reg::kUniqueLoOffset));
}

TEST(CardTest, AccessRules) {
  SimProcess process;
  SimHost host(&process);
  ASSERT_TRUE(host.Connect());
  EXPECT_EQ(host.Read(reg::kIdOffset), 0xffffffffu) << "memory space is off";
  EXPECT_EQ(host.ConfigRead(0, 4), reg::kPciVendorId | reg::kPciDeviceId << 16);
  host.ConfigWrite(0x10, 0xffffffff, 4);
  EXPECT_EQ(host.ConfigRead(0x10, 4), ~(reg::kBlockBytes - 1));
  host.SetCommand(true, false);
  EXPECT_EQ(host.Read(reg::kIdOffset), reg::kIdReset);
  EXPECT_EQ(host.Read(reg::kIdOffset + 2), 0xffffffffu) << "not aligned";
  EXPECT_EQ(host.Read(0x7ff0), 0u) << "no register";
  EXPECT_EQ(host.Read(reg::kBlockBytes), 0xffffffffu) << "behind the BAR";
  for (uint32_t bytes : {1u, 2u, 8u}) {
    const vfio::RegionAccess access = {reg::kIdOffset, vfio::kRegionBar0,
                                       bytes};
    std::vector<uint8_t> reply;
    ASSERT_EQ(host.connection().Call(vfio::kRegionRead, &access, sizeof(access),
                                     &reply),
              0);
    EXPECT_EQ(std::vector<uint8_t>(reply.begin() + sizeof(access), reply.end()),
              std::vector<uint8_t>(bytes, 0xff));
  }
  host.Write(reg::kScratchOffset, 0x1234);
  host.ConfigWrite(ConfigSpace::kExpress + 8, 0x8000,
                   2);  // function-level reset
  host.SetCommand(true, false);
  EXPECT_EQ(host.Read(reg::kScratchOffset), 0u);
}

TEST(CardTest, MsixVectorsAndMsi) {
  SimProcess process;
  SimHost host(&process);
  ASSERT_TRUE(host.Attach());
  for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
    host.Write(reg::kIntRaiseOffset, 1u << v);
    for (uint32_t w = 0; w < reg::kPciMsixVectors; ++w) {
      EXPECT_EQ(host.Interrupts(w, w == v ? 2000 : 0), w == v ? 1u : 0u)
          << v << " " << w;
    }
  }
  host.SetCommand(true, false);
  host.Write(reg::kIntRaiseOffset, 1);
  EXPECT_EQ(host.Interrupts(0, 20), 0u) << "a message needs bus mastering";
  host.SetCommand(true, true);
  host.Write(reg::kIntEnableOffset, 0);
  host.Write(reg::kIntRaiseOffset, 2);
  EXPECT_EQ(host.Interrupts(1, 20), 0u) << "not enabled";

  // All MSI-X vectors off, MSI on: every interrupt takes its one vector.
  const vfio::SetIrqsPayload off = {
      sizeof(off), vfio::kIrqDataNone | vfio::kIrqActionTrigger, vfio::kIrqMsix,
      0, 0};
  ASSERT_EQ(host.connection().Call(vfio::kSetIrqs, &off, sizeof(off), nullptr),
            0);
  const int event = eventfd(0, EFD_CLOEXEC);
  const vfio::SetIrqsPayload on = {
      sizeof(on), vfio::kIrqDataEventfd | vfio::kIrqActionTrigger,
      vfio::kIrqMsi, 0, 1};
  ASSERT_EQ(
      host.connection().Call(vfio::kSetIrqs, &on, sizeof(on), nullptr, {event}),
      0);
  host.Write(reg::kIntStatusOffset, 0xf);
  host.Write(reg::kIntEnableOffset, 0xf);
  host.Write(reg::kIntRaiseOffset, 0xc);
  uint64_t count = 0;
  ASSERT_EQ(read(event, &count, sizeof(count)), (ssize_t)sizeof(count));
  EXPECT_EQ(count, 2u);
  close(event);
}

TEST(CardTest, NoDmaWithoutBusMastering) {
  SimProcess process;
  SimHost host(&process);
  ASSERT_TRUE(host.Attach());
  host.SetCommand(true, false);
  host.Queue(0, {host.Fill(0, 4096, 1)});
  host.Doorbell(0);
  ASSERT_TRUE(host.WaitRegister(reg::kStatusOffset, reg::kStatusHaltedMask,
                                reg::kStatusHaltedMask));
  EXPECT_EQ(host.Read(reg::kDeviceErrorOffset),
            static_cast<uint32_t>(isa::Error::kHostDma));
  EXPECT_EQ(host.Read(reg::RingTailOffset(0)), 0u);
  // Nothing is lost: after an engine reset the descriptor is fetched again.
  host.SetCommand(true, true);
  host.Write(reg::kDeviceErrorOffset, 0xffffffff);
  host.Write(reg::kResetOffset, reg::kResetEngineMask);
  desc::Completion record;
  ASSERT_TRUE(host.Next(&record));
  EXPECT_EQ(record.status, 0u);
}

TEST(CardTest, IdleCardTakesNoCpu) {
  SimProcess process;
  SimHost host(&process);
  ASSERT_TRUE(host.Attach());
  ASSERT_TRUE(host.Store(0, std::vector<uint8_t>(4096, 1)));
  const int64_t before = process.CpuMs();
  usleep(400000);
  EXPECT_LE(process.CpuMs() - before, 20);
}

TEST(CardTest, EndsWithItsParentPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(fcntl(ends[0], F_SETFD, 0), 0);  // only this end is inherited
  SimProcess process({"--parent-fd", std::to_string(ends[0])});
  SimHost host(&process);
  ASSERT_TRUE(host.Connect());
  close(ends[0]);
  EXPECT_TRUE(process.Alive());
  close(ends[1]);
  for (int i = 0; i < 500 && process.Alive(); ++i) usleep(10000);
  EXPECT_FALSE(process.Alive());
}

}  // namespace
}  // namespace heddle::platform
