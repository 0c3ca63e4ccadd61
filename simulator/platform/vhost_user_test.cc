// SPDX-License-Identifier: Apache-2.0
//
// The front end for user-mode Linux, without it: what UML does when it finds
// the card, interrupts through its queue, and that nothing it sends ends the
// card. job_test, hotplug_test and fuzz_test run over it as well
// (HEDDLE_SIM_FRONT).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "simulator/platform/config_space.h"
#include "simulator/platform/sim_client.h"

namespace heddle::platform {
namespace {

using vhost::kCommandQueue;
using vhost::kConfigRead;
using vhost::kConfigWrite;
using vhost::kInterruptQueue;
using vhost::kMmioMemset;
using vhost::kMmioRead;
using vhost::kMmioWrite;
using vhost::PcidevMessage;

class VhostUserTest : public testing::Test {
 protected:
  UmlGuest& uml() { return host_.uml(); }
  Connection& connection() { return host_.connection(); }
  void ExpectWorkingCard() {
    ASSERT_TRUE(process_.Alive());
    host_.Detach();
    ASSERT_TRUE(host_.Attach());
    const std::vector<uint8_t> data(300, 0x3c);
    ASSERT_TRUE(host_.Store(0x3000, data));
    ASSERT_EQ(host_.Fetch(0x3000, 300), data);
    host_.Detach();
  }
  // A guest that is connected, does that, and is cut off.
  void ExpectCutOff(const char* what, const std::function<void()>& doing) {
    host_.Detach();
    ASSERT_TRUE(host_.Attach()) << what;
    doing();
    EXPECT_NE(host_.Read(reg::kIdOffset), reg::kIdReset) << what;
    EXPECT_FALSE(connection().open()) << what;
    EXPECT_TRUE(process_.Alive()) << what;
  }

  SimProcess process_;
  SimHost host_{&process_};
};

TEST_F(VhostUserTest, EnumerationReadsIdentityAndSizesBars) {
  ASSERT_TRUE(host_.Connect());
  EXPECT_EQ(host_.ConfigRead(0, 2), reg::kPciVendorId);
  EXPECT_EQ(host_.ConfigRead(2, 2), reg::kPciDeviceId);
  EXPECT_EQ(host_.ConfigRead(0xb, 1), reg::kPciClassCode >> 16);
  EXPECT_EQ(uml().Read(kConfigRead, 0, 8),
            host_.ConfigRead(0, 4) | uint64_t{host_.ConfigRead(4, 4)} << 32);
  EXPECT_EQ(host_.ConfigRead(0x100, 4), 0xffffffffu) << "no extended space";
  for (uint32_t bar = 0x10; bar <= 0x24; bar += 4) {
    const uint32_t before = host_.ConfigRead(bar, 4);
    host_.ConfigWrite(bar, 0xffffffff, 4);
    EXPECT_EQ(host_.ConfigRead(bar, 4),
              bar == 0x10 ? ~(reg::kBlockBytes - 1) : 0u)
        << bar;
    host_.ConfigWrite(bar, before, 4);
    EXPECT_EQ(host_.ConfigRead(bar, 4), before);
  }
  // UML always sends eight bytes of data; the size tells how many count.
  EXPECT_EQ(host_.Read(reg::kIdOffset), 0xffffffffu) << "memory is off";
  EXPECT_TRUE(uml().Write(kConfigWrite, 4, ~uint64_t{0}, 1));
  EXPECT_EQ(host_.ConfigRead(4, 2) & 0x100, 0u);
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
}

TEST_F(VhostUserTest, AccessesOfAllSizes) {
  ASSERT_TRUE(host_.Attach());
  host_.Write(reg::kScratchOffset, 0x12345678);
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 0x12345678u);
  EXPECT_EQ(uml().Read(kMmioRead, reg::kIdOffset, 8),
            host_.Read(reg::kIdOffset) |
                uint64_t{host_.Read(reg::kIdOffset + 4)} << 32);
  for (uint32_t bytes : {1u, 2u}) {
    EXPECT_EQ(uml().Read(kMmioRead, reg::kIdOffset, bytes),
              (1u << 8 * bytes) - 1);
    EXPECT_TRUE(uml().Write(kMmioWrite, reg::kScratchOffset, 0, bytes));
  }
  EXPECT_EQ(uml().Read(kMmioRead, reg::kIdOffset + 2, 4), 0xffffffffu);
  EXPECT_EQ(uml().Read(kMmioRead, reg::kIdOffset + 2, 8), ~uint64_t{0});
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 0x12345678u);
  uint64_t any;
  // Eight bytes are two registers.
  const uint32_t entry = reg::kPciMsixTableOffset;
  EXPECT_TRUE(uml().Write(kMmioWrite, entry, 0x11111110deadbeec, 8));
  EXPECT_EQ(host_.Read(entry), 0xdeadbeecu);
  EXPECT_EQ(host_.Read(entry + 4), 0x11111110u);
  EXPECT_TRUE(uml().Command({kMmioRead, 0, 0, 0, 0}, nullptr, 0, &any, 8));
  EXPECT_TRUE(uml().Command({kMmioWrite, 0, 0, 0, 0}, nullptr, 0, nullptr, 0));
  EXPECT_TRUE(uml().Command({kConfigRead, 0, 0, 0, 0}, nullptr, 0, &any, 8));
  // Other BARs, and what is behind the end.
  EXPECT_EQ(uml().Read(kMmioRead, reg::kIdOffset, 4, 2), 0xffffffffu);
  EXPECT_TRUE(uml().Write(kMmioWrite, reg::kScratchOffset, 1, 4, 1));
  for (uint64_t address : {uint64_t{reg::kBlockBytes}, uint64_t{1} << 32,
                           ~uint64_t{3}, ~uint64_t{0}}) {
    EXPECT_EQ(uml().Read(kMmioRead, address, 4), 0xffffffffu) << address;
    EXPECT_TRUE(uml().Write(kMmioWrite, address, 0, 4)) << address;
  }
  EXPECT_EQ(uml().Read(kMmioRead, reg::kBlockBytes - 4, 8) >> 32, 0xffffffffu);
  EXPECT_EQ(host_.Read(reg::kScratchOffset), 0x12345678u);
  // Nor is there anything behind 4 GiB in config space.
  EXPECT_EQ(uml().Read(kConfigRead, 0xfffffffe, 4), 0xffffffffu);
}

TEST_F(VhostUserTest, CopiesAreOneMessage) {
  ASSERT_TRUE(host_.Attach());
  std::vector<uint32_t> entries(4 * reg::kPciMsixVectors);
  std::iota(entries.begin(), entries.end(), 0);
  for (uint32_t& word : entries) word = word % 4 == 3 ? 1 : word << 8;
  const auto bytes = static_cast<uint32_t>(entries.size() * 4);
  for (bool apart : {false, true}) {
    std::vector<uint32_t> zeros(entries.size()), back(entries.size());
    for (const auto& table : {zeros, entries}) {
      ASSERT_TRUE(
          uml().Command({kMmioWrite, 0, 0, bytes, reg::kPciMsixTableOffset},
                        table.data(), bytes, nullptr, 0, apart));
      ASSERT_TRUE(
          uml().Command({kMmioRead, 0, 0, bytes, reg::kPciMsixTableOffset},
                        nullptr, 0, back.data(), bytes));
      EXPECT_EQ(back, table) << apart;
    }
  }
  const uint8_t byte = 1;
  ASSERT_TRUE(uml().Command({kMmioMemset, 0, 0, 16, reg::kPciMsixTableOffset},
                            &byte, 1, nullptr, 0));
  EXPECT_EQ(host_.Read(reg::kPciMsixTableOffset + 8), 0x01010101u);
  EXPECT_EQ(host_.Read(reg::kPciMsixTableOffset + 16), entries[4]);
  for (uint32_t size : {7u, UINT32_MAX}) {
    EXPECT_TRUE(
        uml().Command({kMmioMemset, 0, 0, size, reg::kPciMsixTableOffset + 2},
                      &byte, 1, nullptr, 0));
  }
  EXPECT_EQ(host_.Read(reg::kPciMsixTableOffset + 16), entries[4]);
  // What is behind the end of the BAR takes no time.
  EXPECT_TRUE(uml().Command({kMmioMemset, 0, 0, ~3u, reg::kPciMsixPbaOffset},
                            &byte, 1, nullptr, 0));
  // The whole BAR and a little more.
  std::vector<uint32_t> all(reg::kBlockBytes / 4 + 2);
  ASSERT_TRUE(
      uml().Command({kMmioRead, 0, 0, static_cast<uint32_t>(all.size() * 4), 0},
                    nullptr, 0, all.data(), all.size() * 4));
  EXPECT_EQ(all[reg::kIdOffset / 4], reg::kIdReset);
  EXPECT_EQ(all[reg::kBlockBytes / 4 + 1], 0xffffffffu);
}

TEST_F(VhostUserTest, PostedWritesAreDoneInOrderAndToldOf) {
  ASSERT_TRUE(host_.Attach());
  ASSERT_TRUE(uml().ReadCalls(0));
  const uint32_t before = uml().calls(kCommandQueue);
  for (uint32_t i = 0; i < 40; ++i) host_.Write(reg::kScratchOffset, i);
  ASSERT_TRUE(uml().ReadCalls(0));
  EXPECT_EQ(uml().calls(kCommandQueue), before + 1);
  // Announced together.
  PcidevMessage message = {kMmioWrite, 0, 0, 4, reg::kScratchOffset};
  for (uint16_t i = 0; i < UmlGuest::kEntries; ++i) {
    const uint64_t offset = UmlGuest::kMessage + 32 * i;
    std::memcpy(uml().data(offset), &message, sizeof(message));
    std::memcpy(uml().data(offset + sizeof(message)), &i, sizeof(i));
    uml().descriptors(kCommandQueue)[i] = {uml().at(offset), 20, 0, 0};
    uml().Offer(kCommandQueue, i);
  }
  ASSERT_TRUE(uml().Kick(kCommandQueue));
  ASSERT_TRUE(uml().ReadCalls(0));
  EXPECT_EQ(uml().calls(kCommandQueue), before + 1 + 264 / 32);
  EXPECT_EQ(host_.Read(reg::kScratchOffset) & 0xffff, UmlGuest::kEntries - 1);
  // A guest that does not want to be told.
  uml().available(kCommandQueue)[0] = 1;
  for (uint32_t i = 0; i < 100; ++i) host_.Write(reg::kScratchOffset, i);
  ASSERT_TRUE(uml().ReadCalls(0));
  EXPECT_EQ(uml().calls(kCommandQueue), before + 1 + 264 / 32);
}

TEST_F(VhostUserTest, MsixComesThroughTheQueue) {
  ASSERT_TRUE(host_.Attach());
  for (int round = 0; round < 20; ++round) {  // more than there are buffers
    for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
      host_.Write(reg::kIntRaiseOffset, 1u << v);
      ASSERT_EQ(host_.Interrupts(v, 2000), 1u) << v;
    }
  }
  // Masked: pending, and sent when the mask goes.
  const uint32_t entry = reg::kPciMsixTableOffset + 16;
  host_.Write(entry + 12, 1);
  host_.Write(reg::kIntRaiseOffset, 2);
  EXPECT_EQ(host_.Interrupts(1, 30), 0u);
  EXPECT_EQ(host_.Read(reg::kPciMsixPbaOffset), 2u);
  host_.Write(entry + 12, 0);
  EXPECT_EQ(host_.Interrupts(1, 2000), 1u);
  // MSI instead.
  host_.ConfigWrite(ConfigSpace::kMsix + 2, 0, 2);
  host_.ConfigWrite(ConfigSpace::kMsi + 4, SimHost::kMessage, 4);
  host_.ConfigWrite(ConfigSpace::kMsi + 12, SimHost::kMessageData + 3, 2);
  host_.ConfigWrite(ConfigSpace::kMsi + 2, 1, 2);
  host_.Write(reg::kIntRaiseOffset, 1);
  EXPECT_EQ(host_.Interrupts(3, 2000), 1u);
}

TEST_F(VhostUserTest, InterruptsWaitForBuffers) {
  ASSERT_TRUE(host_.Attach());
  // All buffers are used up, and then some vectors more, one of them twice.
  for (uint32_t i = 0; i < UmlGuest::kBufferCount; ++i) {
    host_.Write(reg::kIntRaiseOffset, 1);
    EXPECT_EQ(uml().TakeInterrupts(2000, true).size(), 1u);
  }
  for (uint32_t bits : {2u, 2u, 4u, 8u})
    host_.Write(reg::kIntRaiseOffset, bits);
  EXPECT_TRUE(uml().TakeInterrupts(30, true).empty());
  // The driver masks one while it waits: then it is the card's to keep.
  host_.Write(reg::kPciMsixTableOffset + 3 * 16 + 12, 1);
  uml().GiveBuffers(1);
  ASSERT_TRUE(uml().Kick(kInterruptQueue));
  std::vector<UmlGuest::Interrupt> taken = uml().TakeInterrupts(2000, true);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].address, SimHost::kMessage);
  EXPECT_EQ(taken[0].data, SimHost::kMessageData + 1);
  uml().GiveBuffers(3);
  ASSERT_TRUE(uml().Kick(kInterruptQueue));
  taken = uml().TakeInterrupts(2000);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].data, SimHost::kMessageData + 2);
  EXPECT_EQ(host_.Read(reg::kPciMsixPbaOffset), 8u);
  host_.Write(reg::kPciMsixTableOffset + 3 * 16 + 12, 0);
  EXPECT_EQ(host_.Interrupts(3, 2000), 1u);
}

TEST_F(VhostUserTest, AGuestThatReadsNoCallsStopsNothing) {
  ASSERT_TRUE(host_.Attach());
  // Far more than the socket holds; the buffers are given back at once.
  const uint16_t* used = uml().used(kInterruptQueue);
  for (int i = 0; i < 6000; ++i) {
    host_.Write(reg::kIntRaiseOffset, 1);
    const auto head = static_cast<uint16_t>(
        reinterpret_cast<const uint32_t*>(used + 2)[2 * (i % 256)]);
    uml().Offer(kInterruptQueue, head);
    ASSERT_TRUE(uml().Kick(kInterruptQueue));
  }
  EXPECT_EQ(used[1], 6000);
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
  // What was not sent comes once there is room, and the next ones as ever.
  ASSERT_TRUE(uml().ReadCalls(0));
  ASSERT_TRUE(uml().ReadCalls(2000));
  EXPECT_GT(uml().calls(kInterruptQueue), 10u);
  uml().TakeInterrupts(0, true);
  host_.Write(reg::kIntRaiseOffset, 2);
  EXPECT_EQ(host_.Interrupts(1, 2000), 1u);
}

TEST_F(VhostUserTest, MemoryIsWhatTheLastTableSaid) {
  ASSERT_TRUE(host_.Attach());
  const std::vector<uint8_t> data(64, 7);
  ASSERT_TRUE(host_.Store(0, data));
  EXPECT_EQ(process_.Command("status")["mapped_ranges"], 1);
  // The queues stay where they are, the rings of the card are gone; another
  // file is there from its second page on.
  const UmlGuest::Memory all = host_.memory();
  const int other = memfd_create("other", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(other, 0x3000), 0);
  const uint64_t area = all.bytes - UmlGuest::kArea;
  ASSERT_TRUE(uml().SetMemory({{all.address + area, UmlGuest::kArea, 0, area},
                               {0x5000, 0x2000, 0, 0x1000}},
                              {all.fd, other}));
  EXPECT_EQ(process_.Command("status")["mapped_ranges"], 2);
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
  host_.Queue(0, {host_.Fill(0, 64, 1)});
  host_.Doorbell(0);
  EXPECT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusHaltedMask,
                                 reg::kStatusHaltedMask))
      << "unmapped memory cannot be reached";
  // A command from the new region: its place in the file is right.
  const PcidevMessage message = {kConfigRead, 0, 0, 2, 0};
  ASSERT_EQ(pwrite(other, &message, sizeof(message), 0x1010),
            static_cast<ssize_t>(sizeof(message)));
  uml().descriptors(kCommandQueue)[0] = {0x5010, 16, 1, 1};
  uml().descriptors(kCommandQueue)[1] = {0x6000, 2, 2, 0};
  uml().Offer(kCommandQueue, 0);
  ASSERT_TRUE(uml().Kick(kCommandQueue));
  uint16_t vendor = 0;
  ASSERT_EQ(pread(other, &vendor, 2, 0x2000), 2);
  EXPECT_EQ(vendor, reg::kPciVendorId);
  close(other);
  // A region that cannot be mapped is told of.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_FALSE(uml().SetMemory({{0x5000, 0x2000, 0, 0}}, {null}));
  EXPECT_TRUE(connection().open());
  close(null);
  ExpectWorkingCard();
}

TEST_F(VhostUserTest, HostsComeAndGo) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(host_.Attach());
    EXPECT_EQ(host_.Read(reg::kScratchOffset), 0u) << "as after power-up";
    host_.Write(reg::kScratchOffset, 5);
    host_.Write(reg::kIntRaiseOffset, 1);
    host_.Detach();
  }
  ExpectWorkingCard();
}

// This is how UML notices.
TEST_F(VhostUserTest, TheCallSocketEndsWithTheCard) {
  ASSERT_TRUE(host_.Attach());
  ASSERT_TRUE(uml().ReadCalls(0));
  ASSERT_TRUE(process_.Command("unplug")["ok"].get<bool>());
  EXPECT_FALSE(uml().ReadCalls(2000));
  EXPECT_FALSE(host_.Connect());
  ASSERT_TRUE(process_.Command("plug")["ok"].get<bool>());
  ASSERT_TRUE(host_.Attach());
  kill(process_.pid(), SIGKILL);
  EXPECT_FALSE(uml().ReadCalls(5000));
}

TEST_F(VhostUserTest, DisabledQueuesAreNotServed) {
  ASSERT_TRUE(host_.Attach());
  ASSERT_TRUE(uml().Vring(vhost::kSetVringEnable, kCommandQueue, 0));
  EXPECT_EQ(host_.Read(reg::kIdOffset), 0xffffffffu);
  EXPECT_TRUE(connection().open());
  ASSERT_TRUE(uml().Vring(vhost::kSetVringEnable, kCommandQueue, 1));
  ASSERT_TRUE(uml().Kick(kCommandQueue));  // what was left
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
}

// Nothing of the host before is left: not its queues, not its memory.
TEST_F(VhostUserTest, KicksBeforeThereAreQueuesDoNothing) {
  ASSERT_TRUE(host_.Attach());
  host_.Detach();
  ASSERT_TRUE(connection().Connect(process_.socket()));
  ASSERT_TRUE(uml().Negotiate());
  EXPECT_TRUE(uml().Kick(kCommandQueue));
  EXPECT_TRUE(uml().Kick(kInterruptQueue));
  EXPECT_EQ(process_.Command("status")["mapped_ranges"], 0);
}

TEST_F(VhostUserTest, NotEveryRequestIsAnswered) {
  ASSERT_TRUE(connection().Connect(process_.socket()));
  const vhost::Header owner = {vhost::kSetOwner, vhost::kVersion, 0};
  ASSERT_TRUE(connection().SendRaw(&owner, sizeof(owner)));
  uint64_t features = 0;
  ASSERT_TRUE(
      connection().VhostCall(vhost::kGetFeatures, nullptr, 0, &features));
  EXPECT_EQ(features, vhost::kFeatures);
}

TEST_F(VhostUserTest, RequestsThatMakeNoSense) {
  const uint64_t zeros[40] = {};
  auto request = [&](uint32_t number, size_t bytes,
                     const std::vector<int>& fds = {}) {
    return [=, &zeros] {
      uint64_t answer;
      EXPECT_FALSE(connection().VhostCall(number, zeros, bytes, &answer, fds))
          << number << " " << bytes;
    };
  };
  for (uint32_t number : {0u, 4u, 6u, 7u, 11u, 12u, 13u, 14u, 17u, 19u, 20u,
                          22u, 24u, 25u, 34u, 36u, 1000u, ~0u}) {
    ExpectCutOff("unknown request", request(number, 8));
  }
  for (uint32_t number :
       {vhost::kSetFeatures, vhost::kSetProtocolFeatures, vhost::kSetVringNum,
        vhost::kSetVringAddr, vhost::kSetVringBase, vhost::kSetVringEnable,
        vhost::kVringKick}) {
    for (size_t bytes : {0, 7, 9, 41, 264})
      ExpectCutOff("size", request(number, bytes));
  }
  ExpectCutOff("no features", request(vhost::kSetFeatures, 8));
  ExpectCutOff("no features", request(vhost::kSetProtocolFeatures, 8));
  ExpectCutOff("longer than any", request(vhost::kSetMemTable, 265));
  ExpectCutOff("no table", request(vhost::kSetMemTable, 0));
  ExpectCutOff("half a count", request(vhost::kSetMemTable, 7));
  ExpectCutOff("no socket", request(vhost::kSetBackendSocket, 0));
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  ExpectCutOff("no socket", request(vhost::kSetBackendSocket, 0, {null}));
  ExpectCutOff("two", request(vhost::kSetBackendSocket, 0, {null, null}));
  ExpectCutOff("a descriptor too many",
               request(vhost::kSetMemTable, 264, {null}));
  close(null);
  ExpectCutOff("no descriptor", [&] {
    EXPECT_FALSE(uml().SetMemory({{0x5000, 0x1000, 0, 0}}, {}));
  });
  ExpectCutOff("nine regions", [&] {
    vhost::MemTablePayload table = {};
    table.count = 9;
    EXPECT_FALSE(uml().Request(vhost::kSetMemTable, &table, sizeof(table)));
  });
  for (uint64_t features :
       {vhost::kFeatures | 1, ~uint64_t{0}, vhost::kFeatureProtocol}) {
    ExpectCutOff("features", [&] {
      EXPECT_FALSE(uml().Request(vhost::kSetFeatures, &features, 8));
    });
  }
  for (uint32_t flags : {0u, 2u, 3u, 5u}) {
    ExpectCutOff("flags", [&] {
      const vhost::Header header = {vhost::kGetFeatures, flags, 0};
      connection().SendRaw(&header, sizeof(header));
    });
  }
  ExpectWorkingCard();
}

TEST_F(VhostUserTest, QueuesThatMakeNoSense) {
  const struct {
    uint32_t request, queue, value;
  } states[] = {
      {vhost::kSetVringNum, 2, 256},    {vhost::kSetVringNum, 0, 0},
      {vhost::kSetVringNum, 0, 100},    {vhost::kSetVringNum, 0, 1u << 31},
      {vhost::kSetVringBase, 0, 65536}, {vhost::kSetVringBase, ~0u, 0},
      {vhost::kSetVringEnable, 7, 1},   {vhost::kVringKick, 2, 0},
      {vhost::kVringKick, 1u << 31, 0},
  };
  for (const auto& s : states) {
    ExpectCutOff("state", [&] {
      EXPECT_FALSE(uml().Vring(s.request, s.queue, s.value));
    });
  }
  auto move = [&](uint64_t descriptors, uint64_t used, uint64_t available) {
    const vhost::VringAddress address = {kCommandQueue, 0,         descriptors,
                                         used,          available, 0};
    return uml().Request(vhost::kSetVringAddr, &address, sizeof(address));
  };
  const uint64_t good = uml().at(0), outside = SimHost::kIova - 0x100000;
  ExpectCutOff("misaligned", [&] { EXPECT_FALSE(move(good + 1, good, good)); });
  ExpectCutOff("wraps", [&] { EXPECT_FALSE(move(good, ~uint64_t{3}, good)); });
  ExpectCutOff("outside", [&] { EXPECT_TRUE(move(outside, good, good)); });
  ExpectCutOff("outside",
               [&] { EXPECT_TRUE(move(good, outside, good + 0x1000)); });
  ExpectCutOff("outside", [&] { EXPECT_TRUE(move(good, good, outside)); });
  // Rings in a file that has become shorter.
  ExpectCutOff("file cut", [&] {
    const int other = memfd_create("other", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(other, 0x100000), 0);
    ASSERT_TRUE(uml().SetMemory({{0x500000, 0x100000, 0, 0}}, {other}));
    ASSERT_TRUE(move(0x500000, 0x510000, 0x520000));
    ASSERT_EQ(ftruncate(other, 0), 0);
    close(other);
  });
  const PcidevMessage read = {kConfigRead, 0, 0, 4, 0};
  auto damaged = [&](const std::function<void(UmlGuest::Descriptor*)>& how) {
    return [&, how] {
      uml().Prepare(read, nullptr, 0, 8, false);
      how(uml().descriptors(kCommandQueue));
      EXPECT_FALSE(uml().Kick(kCommandQueue));
    };
  };
  using D = UmlGuest::Descriptor;
  ExpectCutOff("loop", damaged([](D* d) { d[2] = {d[2].address, 8, 3, 2}; }));
  ExpectCutOff("loop", damaged([](D* d) { d[0].next = 0; }));
  ExpectCutOff("next", damaged([](D* d) { d[0].next = 256; }));
  ExpectCutOff("next", damaged([](D* d) { d[0].next = 65535; }));
  ExpectCutOff("indirect", damaged([](D* d) { d[0].flags |= 4; }));
  ExpectCutOff("order", damaged([](D* d) {
                 d[0].flags |= 2;
                 d[2].flags = 0;
               }));
  ExpectCutOff("address", damaged([](D* d) { d[0].address = 0x1000; }));
  ExpectCutOff("address", damaged([](D* d) { d[2].address = ~uint64_t{7}; }));
  ExpectCutOff("length", damaged([](D* d) { d[0].length = 15; }));
  ExpectCutOff("length", damaged([](D* d) { d[0].length = ~0u; }));
  ExpectCutOff("answer", damaged([](D* d) { d[2].length = 3; }));
  ExpectCutOff("answer", damaged([](D* d) { d[0].flags = 0; }));
  ExpectCutOff("head", [&] {
    uml().Offer(kCommandQueue, 256);
    EXPECT_FALSE(uml().Kick(kCommandQueue));
  });
  ExpectCutOff("index", [&] {
    uml().available(kCommandQueue)[1] += 300;
    EXPECT_FALSE(uml().Kick(kCommandQueue));
  });
  ExpectWorkingCard();
}

TEST_F(VhostUserTest, CommandsThatMakeNoSense) {
  uint64_t data = 0;
  auto command = [&](const PcidevMessage& message, size_t out, size_t in) {
    return [&, message, out, in] {
      EXPECT_FALSE(uml().Command(message, &data, out, &data, in));
    };
  };
  for (uint8_t op : {0, 6, 7, 8, 9, 255})
    ExpectCutOff("op", command({op, 0, 0, 4, 0}, 8, 8));
  ExpectCutOff("short data", command({kMmioWrite, 0, 0, 8, 0}, 4, 0));
  ExpectCutOff("short data", command({kConfigWrite, 0, 0, 4, 0}, 1, 0));
  ExpectCutOff("no data", command({kMmioMemset, 0, 0, 4, 0}, 0, 0));
  ExpectCutOff("no place", command({kMmioRead, 0, 0, 8, 0}, 0, 4));
  ExpectCutOff("no place", command({kConfigRead, 0, 0, 2, 0}, 8, 0));
  ExpectCutOff("config", command({kConfigRead, 0, 0, 9, 0}, 0, 8));
  ExpectCutOff("config", command({kConfigRead, 0, 0, 4, 1ull << 32}, 0, 8));
  ExpectCutOff("config", command({kConfigWrite, 0, 0, ~0u, 0}, 8, 0));
  ExpectCutOff("long", command({kMmioRead, 0, 0, ~0u, 0}, 0, 8));
  ExpectCutOff("long", command({kMmioWrite, 0, 0, 0x100001, 0}, 8, 0));
  ExpectWorkingCard();
}

// Interrupts come when no message is being handled, too: the end of a job.
TEST_F(VhostUserTest, InterruptBuffersThatMakeNoSense) {
  for (bool late : {false, true}) {
    for (int kind = 0; kind < 5; ++kind) {
      ExpectCutOff("interrupt buffer", [&] {
        UmlGuest::Descriptor* d = uml().descriptors(kInterruptQueue);
        if (kind == 0) d[0].length = 19;
        if (kind == 1) d[0].flags = 0;
        if (kind == 2) d[0].address = 0x1000;
        if (kind == 3) d[0] = {d[0].address, 20, 3, 0};
        if (kind == 4) uml().available(kInterruptQueue)[2] = 1000;
        if (late) {
          host_.Queue(0, {host_.Fill(0, 64, 1)},
                      desc::kJobDescriptorFlagsInterruptMask);
          host_.Doorbell(0);
          pollfd gone = {uml().calls_fd(), POLLIN, 0};
          EXPECT_EQ(poll(&gone, 1, 5000), 1) << kind;
        } else {
          host_.Write(reg::kIntRaiseOffset, 1);
        }
      });
    }
  }
  ExpectWorkingCard();
}

TEST_F(VhostUserTest, OptionsThatMakeNoSense) {
  const char* binary = std::getenv("HEDDLE_SIM");
  ASSERT_NE(binary, nullptr);
  for (const char* options : {"--uml --qemu", "--uml --qtest-fd 0"}) {
    const std::string command =
        std::string(binary) + " --socket /tmp/none " + options + " 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2) << options;
  }
}

}  // namespace
}  // namespace heddle::platform
