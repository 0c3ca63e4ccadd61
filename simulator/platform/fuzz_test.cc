// SPDX-License-Identifier: Apache-2.0
//
// Nothing that a host sends may end the card: random bytes and messages on the
// socket, random queues, random registers, random descriptors. Each round ends
// with a card that works. HEDDLE_FUZZ_SEED and HEDDLE_FUZZ_ROUNDS widen a run;
// HEDDLE_SIM_FRONT may be "uml".
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "simulator/platform/sim_client.h"
#include "simulator/platform/test_stream.h"

namespace heddle::platform {
namespace {

uint32_t Setting(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::atoi(text));
}

class FuzzTest : public testing::Test {
 protected:
  FuzzTest()
      : random_(Setting("HEDDLE_FUZZ_SEED", 1)),
        rounds_(Setting("HEDDLE_FUZZ_ROUNDS", 1)) {}

  void ExpectWorkingCard() {
    ASSERT_TRUE(process_.Alive());
    ASSERT_TRUE(host_.Attach());
    const std::vector<uint8_t> data(300, static_cast<uint8_t>(Random()));
    ASSERT_TRUE(host_.Store(0x3000, data));
    ASSERT_EQ(host_.Fetch(0x3000, 300), data);
    const std::vector<uint8_t> code = TestStream().Barrier().Bytes();
    ASSERT_TRUE(host_.Store(0x10000, code));
    ASSERT_EQ(host_.RunJob({host_.Run(0x10000, code.size(), {})}).status, 0u);
    host_.Detach();
  }
  UmlGuest& uml() { return host_.uml(); }
  // Small numbers, powers of two and their neighbours, and anything.
  uint64_t Number() {
    switch (Random() % 4) {
      case 0:
        return Random() % 64;
      case 1:
        return (uint64_t{1} << (Random() % 64)) + Random() % 3 - 1;
      case 2:
        return SimHost::kIova + Random() % SimHost::kBytes / 64 * 64;
      default:
        return Random() | uint64_t{Random()} << 32;
    }
  }
  uint32_t Random() { return static_cast<uint32_t>(random_()); }
  // Reads what came back, so that the card is not stopped by a full socket.
  void Drain(int fd) {
    char buffer[65536];
    while (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) > 0) {
    }
  }

  std::mt19937 random_;
  uint32_t rounds_;
  SimProcess process_;
  SimHost host_{&process_};
};

TEST_F(FuzzTest, RandomBytes) {
  for (uint32_t round = 0; round < 100 * rounds_; ++round) {
    Connection connection;
    ASSERT_TRUE(connection.Connect(process_.socket()));
    std::vector<uint8_t> bytes(Random() % 3000);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(Random());
    connection.SendRaw(bytes.data(), bytes.size());
    Drain(connection.fd());
  }
  ExpectWorkingCard();
}

TEST_F(FuzzTest, RandomMessages) {
  ASSERT_EQ(FrontOfTest(), Front::kVfioUser);  // BUILD leaves it out
  for (uint32_t round = 0; round < 60 * rounds_; ++round) {
    Connection connection;
    ASSERT_TRUE(connection.Connect(process_.socket()));
    if (Random() % 8 != 0) {
      ASSERT_TRUE(connection.Version());
    }
    for (int i = 0; i < 30; ++i) {
      std::vector<uint32_t> payload(Random() % 12);
      for (uint32_t& word : payload) word = static_cast<uint32_t>(Number());
      vfio::Header header = {
          static_cast<uint16_t>(i), static_cast<uint16_t>(Random() % 18),
          static_cast<uint32_t>(sizeof(header) + payload.size() * 4), 0, 0};
      if (Random() % 16 == 0) header.size = static_cast<uint32_t>(Number());
      if (Random() % 8 == 0) header.flags = Random();
      if (!connection.SendRaw(&header, sizeof(header))) break;
      connection.SendRaw(payload.data(), payload.size() * 4);
      Drain(connection.fd());
    }
  }
  ExpectWorkingCard();
}

TEST_F(FuzzTest, RandomDescriptorsOfFiles) {
  ASSERT_EQ(FrontOfTest(), Front::kVfioUser);  // BUILD leaves it out
  // Mappings and eventfds that are something else, too many, or cut off.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int folder = open("/", O_RDONLY | O_CLOEXEC);
  for (uint32_t round = 0; round < 40 * rounds_; ++round) {
    Connection connection;
    ASSERT_TRUE(connection.Connect(process_.socket()));
    ASSERT_TRUE(connection.Version());
    for (int i = 0; i < 5; ++i) {
      std::vector<int> fds(Random() % 13, Random() % 2 ? null : folder);
      if (Random() % 2) {
        const vfio::DmaMapPayload map = {32, Random() % 4, Number() & ~4095ull,
                                         Number(), Number()};
        connection.Call(vfio::kDmaMap, &map, sizeof(map), nullptr, fds);
      } else {
        const vfio::SetIrqsPayload irqs = {
            20, 1u << (Random() % 6) | 1u << (Random() % 6), Random() % 6,
            Random() % 5, Random() % 6};
        connection.Call(vfio::kSetIrqs, &irqs, sizeof(irqs), nullptr, fds);
      }
    }
  }
  close(null);
  close(folder);
  ExpectWorkingCard();
}

// Requests in any order, most of them right on their own: the first wrong one
// is the last of a connection.
TEST_F(FuzzTest, RandomUmlRequests) {
  ASSERT_EQ(FrontOfTest(), Front::kUml);  // BUILD leaves it out
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  constexpr uint32_t kRequests[] = {1, 2, 3, 5, 8, 9, 10, 15, 16, 18, 21, 35};
  uint32_t done = 0;
  for (uint32_t round = 0; round < 100 * rounds_; ++round) {
    host_.Detach();
    ASSERT_TRUE(host_.Connect());
    const UmlGuest::Memory memory = host_.memory();
    for (int i = 0; i < 50 && host_.connection().open(); ++i) {
      const uint32_t request = kRequests[Random() % std::size(kRequests)];
      size_t bytes = 8;
      uint64_t payload[33] = {};
      std::vector<int> fds;
      auto state = [&](uint64_t value) {
        payload[0] = Random() % 2 | value << 32;
      };
      switch (request) {
        case vhost::kSetFeatures:
          payload[0] = vhost::kFeatures;
          break;
        case vhost::kSetProtocolFeatures:
          payload[0] = vhost::kProtocolFeatures;
          break;
        case vhost::kSetVringNum:
          state(uint64_t{1} << Random() % 16);
          break;
        case vhost::kSetVringBase:
          state(Random() % 0x10000);
          break;
        case vhost::kSetVringEnable:
        case vhost::kVringKick:
          state(Random() % 2);
          break;
        case vhost::kSetVringAddr:
          bytes = 40;
          payload[0] = Random() % 2;
          for (int n = 1; n < 4; ++n) {
            payload[n] =
                (Random() % 4 ? memory.address + Random() % memory.bytes
                              : Number() >> 1) &
                ~15ull;
          }
          break;
        case vhost::kSetMemTable:
          bytes = 264;
          payload[0] = Random() % 9;
          for (size_t r = 1; r + 3 < std::size(payload); r += 4) {
            payload[r] = SimHost::kIova + Random() % 64 * 0x100000;
            payload[r + 1] = (1 + Random() % 8) << 20;
            payload[r + 3] = Random() % 24 << 20;
          }
          fds.assign(payload[0], Random() % 8 ? memory.fd : null);
          break;
        case vhost::kSetBackendSocket:
          if (Random() % 16) {
            if (uml().SetBackendSocket()) ++done;
            continue;
          }
          fds.assign(Random() % 3, null);
          [[fallthrough]];
        default:
          bytes = 0;
      }
      if (Random() % 32 == 0) payload[Random() % (bytes / 8 + 1)] = Number();
      if (Random() % 64 == 0) bytes = Random() % 265;
      uint64_t answer;
      if (host_.connection().VhostCall(request, payload, bytes, &answer, fds))
        ++done;
    }
  }
  EXPECT_GT(done, 500 * rounds_);
  close(null);
  ExpectWorkingCard();
}

TEST_F(FuzzTest, RandomUmlQueues) {
  ASSERT_EQ(FrontOfTest(), Front::kUml);  // BUILD leaves it out
  uint32_t done = 0;
  for (uint32_t round = 0; round < 300 * rounds_; ++round) {
    if (!host_.connection().open()) {
      host_.Detach();
      ASSERT_TRUE(host_.Attach());
    }
    // A command, which may be a right one.
    const uint32_t size =
        Random() % 4 ? 1u << Random() % 4 : static_cast<uint32_t>(Number());
    const vhost::PcidevMessage message = {
        static_cast<uint8_t>(Random() % 16 ? 1 + Random() % 5 : Random()),
        static_cast<uint8_t>(Random() % 8 ? 0 : Random()), 0, size,
        Random() % 4 ? Random() % reg::kBlockBytes : Number()};
    const uint64_t data[4] = {Number(), Number(), Number(), Number()};
    uml().Prepare(message, data, Random() % sizeof(data), Random() % 32,
                  Random() % 2);
    for (uint32_t q = 0; q < vhost::kQueues; ++q) {
      // Damage, in a few places.
      for (uint32_t n = Random() % 8 ? 0 : Random() % 4; n > 0; --n) {
        UmlGuest::Descriptor* d = &uml().descriptors(q)[Random() % 10];
        switch (Random() % 6) {
          case 0:
            d->address = Number();
            break;
          case 1:
            d->length = static_cast<uint32_t>(Number());
            break;
          case 2:
            d->flags = static_cast<uint16_t>(Random() % 5);
            break;
          case 3:
            d->next = static_cast<uint16_t>(Number());
            break;
          case 4:
            uml().Offer(q, static_cast<uint16_t>(Number()));
            break;
          default:
            uml().available(q)[1] = static_cast<uint16_t>(Number());
        }
      }
      if (uml().Kick(q)) ++done;
    }
    if (Random() % 4 == 0) host_.Write(reg::kIntRaiseOffset, Random() % 16);
    uml().TakeInterrupts(0);
  }
  EXPECT_GT(done, 100 * rounds_);
  host_.Detach();
  ExpectWorkingCard();
}

TEST_F(FuzzTest, RandomRegisters) {
  for (uint32_t round = 0; round < 5 * rounds_; ++round) {
    ASSERT_TRUE(host_.Attach());
    for (int i = 0; i < 400; ++i) {
      const uint32_t offset =
          Random() % 4 ? Random() % 0x300 & ~3u : Random() % 0x10000;
      host_.Write(offset, static_cast<uint32_t>(Number()));
      if (i % 64 == 0)
        host_.ConfigWrite(Random() % 256, Random(), 1 + Random() % 4);
      if (i % 64 == 1) host_.SetCommand(true, true);
    }
    host_.Detach();
  }
  ExpectWorkingCard();
}

TEST_F(FuzzTest, RandomJobs) {
  ASSERT_TRUE(host_.Attach());
  uint32_t told = 0;
  for (uint32_t round = 0; round < 300 * rounds_; ++round) {
    std::vector<desc::Step> steps(1 + Random() % 4);
    for (desc::Step& step : steps) {
      step.type = 1 + Random() % 5;
      step.device_address = Random() % 2 ? Random() % 0x100000 : Number();
      step.length = Random() % 2 ? Random() % 0x10000 : Number();
      // No fill or copy of gigabytes: they are legal and take their time.
      if (step.length < isa::kDramBytesMax) step.length %= 0x100000;
      if (static_cast<isa::StepType>(step.type) == isa::StepType::kRun &&
          Random() % 4) {
        step.device_address &= ~63ull;
        step.length = 16 * (1 + Random() % 64);
      }
      step.table_iova =
          Random() % 4 ? SimHost::kIova + Random() % 0x10000 * 16 : Number();
      step.sg_count =
          Random() % 4 ? Random() % 8 : static_cast<uint32_t>(Number());
      step.destination = Random() % 2 ? Random() % 0x100000 : Number();
      if (Random() % 16 == 0) step.flags = Random() % 3;
      if (Random() % 3 == 0) {
        // A list that is half right.
        std::vector<desc::SgEntry> list(1 + Random() % 4);
        for (desc::SgEntry& entry : list)
          entry = {Number(), step.length / list.size()};
        step.table_iova = host_.Put(list);
        step.sg_count = static_cast<uint32_t>(list.size());
      }
    }
    desc::JobDescriptor job;
    job.fence = round;
    job.steps_iova = Random() % 8 ? host_.Put(steps) : Number();
    job.step_count =
        Random() % 8 ? static_cast<uint32_t>(steps.size()) : Random() % 100;
    job.flags = Random() % 8 ? Random() % 8 : Random();
    if (Random() % 8 ? job.flags & desc::kJobDescriptorFlagsTraceMask
                     : Random() % 2) {
      job.trace_entries = Random() % 300;
      job.trace_iova = Random() % 4 ? host_.Alloc(job.trace_entries * 32 + 32)
                                    : Number() / 32 * 32;
    }
    if (Random() % 16 == 0) job.reserved1 = Random() % 2;
    const uint32_t ring = Random() % isa::kRings;
    host_.QueueRaw(ring, job);
    host_.Doorbell(ring);
    desc::Completion record;
    if (host_.Next(&record, 3000)) {
      ++told;
      ASSERT_EQ(record.fence, round);
      ASSERT_LE(record.status, static_cast<uint32_t>(isa::Error::kCopyBounds));
    } else {
      // A copy out may have hit the rings themselves; a fresh start.
      ASSERT_TRUE(process_.Alive());
      host_.Detach();
      ASSERT_TRUE(host_.Attach());
    }
  }
  EXPECT_GT(told, 200 * rounds_);
  host_.Detach();
  ExpectWorkingCard();
}

}  // namespace
}  // namespace heddle::platform
