// SPDX-License-Identifier: Apache-2.0
//
// The front end for QEMU, without QEMU: what QEMU does when it makes the
// device, MSI-X through the qtest channel, and that nothing QEMU sends ends the
// card. job_test and hotplug_test run over it as well (HEDDLE_SIM_FRONT).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "simulator/platform/config_space.h"
#include "simulator/platform/sim_client.h"

namespace heddle::platform {
namespace {

class QemuTest : public testing::Test {
 protected:
  bool Config(int32_t command, const mpqemu::ConfigPayload& access,
              uint64_t* reply) {
    return host_.connection().QemuCall(command, &access, sizeof(access), reply);
  }
  uint64_t BarRead(uint64_t address, uint32_t bytes, uint8_t memory = 1) {
    const mpqemu::BarPayload access = {address, 0, bytes, memory, {}};
    uint64_t reply = 0x5a5a5a5a;
    EXPECT_TRUE(host_.connection().QemuCall(mpqemu::kBarRead, &access,
                                            sizeof(access), &reply));
    return reply;
  }
  void ExpectWorkingCard() {
    ASSERT_TRUE(process_.Alive());
    ASSERT_TRUE(host_.Attach());
    const std::vector<uint8_t> data(300, 0x3c);
    ASSERT_TRUE(host_.Store(0x3000, data));
    ASSERT_EQ(host_.Fetch(0x3000, 300), data);
    host_.Detach();
  }

  SimProcess process_;
  SimHost host_{&process_};
};

TEST_F(QemuTest, RealizeReadsIdentityAndSizesBars) {
  ASSERT_TRUE(host_.Connect());
  EXPECT_EQ(host_.ConfigRead(0, 2), reg::kPciVendorId);
  EXPECT_EQ(host_.ConfigRead(2, 2), reg::kPciDeviceId);
  EXPECT_EQ(host_.ConfigRead(0xa, 2), reg::kPciClassCode >> 8);
  EXPECT_EQ(host_.ConfigRead(0xb, 1), reg::kPciClassCode >> 16);
  EXPECT_EQ(host_.ConfigRead(0x2c, 4),
            reg::kPciSubsystemVendorId | reg::kPciSubsystemId << 16);
  // Five more BARs and, at 0x28, what QEMU takes for a seventh: none of them.
  for (uint32_t bar = 0x10; bar <= 0x28; bar += 4) {
    const uint32_t before = host_.ConfigRead(bar, 4);
    host_.ConfigWrite(bar, 0xffffffff, 4);
    EXPECT_EQ(host_.ConfigRead(bar, 4),
              bar == 0x10 ? ~(reg::kBlockBytes - 1) : 0u)
        << bar;
    host_.ConfigWrite(bar, before, 4);
    EXPECT_EQ(host_.ConfigRead(bar, 4), before);
  }
}

TEST_F(QemuTest, AccessesAreOfTheBus) {
  ASSERT_TRUE(host_.Attach());
  const uint64_t bar = SimHost::kQemuBar;
  EXPECT_EQ(BarRead(bar + reg::kIdOffset, 4), reg::kIdReset);
  EXPECT_EQ(BarRead(bar + reg::kIdOffset, 1), 0xffu);
  EXPECT_EQ(BarRead(bar + reg::kIdOffset, 8), ~0ull);
  EXPECT_EQ(BarRead(bar + reg::kIdOffset, 4, 0), 0xffffffffu) << "I/O space";
  EXPECT_EQ(BarRead(bar + reg::kBlockBytes, 4), 0xffffffffu);
  EXPECT_EQ(BarRead(bar - 4, 4), 0xffffffffu);
  EXPECT_EQ(BarRead(0, 4), 0xffffffffu);
  // The guest moves the BAR.
  host_.ConfigWrite(0x10, 0xc0000000, 4);
  EXPECT_EQ(BarRead(0xc0000000 + reg::kIdOffset, 4), reg::kIdReset);
  EXPECT_EQ(BarRead(bar + reg::kIdOffset, 4), 0xffffffffu);
  uint64_t reply = 1;
  ASSERT_TRUE(
      host_.connection().QemuCall(mpqemu::kDeviceReset, nullptr, 0, &reply));
  EXPECT_EQ(reply, 0u);
  EXPECT_EQ(host_.ConfigRead(0x10, 4), 0u);
  EXPECT_EQ(host_.ConfigRead(0, 4), reg::kPciVendorId | reg::kPciDeviceId << 16)
      << "a reset is no removal";
}

TEST_F(QemuTest, MsixComesThroughQtest) {
  ASSERT_TRUE(host_.Attach());
  for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
    host_.Write(reg::kIntRaiseOffset, 1u << v);
    EXPECT_EQ(host_.Interrupts(v, 2000), 1u) << v;
  }
  // Masked: pending, and sent when the mask goes.
  const uint32_t entry = reg::kPciMsixTableOffset + 16;
  host_.Write(entry + 12, 1);
  host_.Write(reg::kIntRaiseOffset, 2);
  EXPECT_EQ(host_.Interrupts(1, 30), 0u);
  EXPECT_EQ(host_.Read(reg::kPciMsixPbaOffset), 2u);
  host_.Write(entry + 12, 0);
  EXPECT_EQ(host_.Interrupts(1, 2000), 1u);
  EXPECT_EQ(host_.Read(reg::kPciMsixPbaOffset), 0u);
  host_.ConfigWrite(ConfigSpace::kMsix + 2, 0xc000, 2);  // all masked
  host_.Write(reg::kIntRaiseOffset, 1);
  EXPECT_EQ(host_.Interrupts(0, 30), 0u);
  host_.ConfigWrite(ConfigSpace::kMsix + 2, 0x8000, 2);
  EXPECT_EQ(host_.Interrupts(0, 2000), 1u);
  // MSI instead.
  host_.ConfigWrite(ConfigSpace::kMsix + 2, 0, 2);
  host_.ConfigWrite(ConfigSpace::kMsi + 4, SimHost::kMessage, 4);
  host_.ConfigWrite(ConfigSpace::kMsi + 12, SimHost::kMessageData + 3, 2);
  host_.ConfigWrite(ConfigSpace::kMsi + 2, 1, 2);
  host_.Write(reg::kIntRaiseOffset, 1);
  EXPECT_EQ(host_.Interrupts(3, 2000), 1u);
}

TEST_F(QemuTest, AQtestThatTakesNothingStopsNothing) {
  ASSERT_TRUE(host_.Attach());
  // Far more than a socket's buffer holds; nobody reads.
  for (int i = 0; i < 6000; ++i) host_.Write(reg::kIntRaiseOffset, 1);
  EXPECT_EQ(host_.Read(reg::kIdOffset), reg::kIdReset);
  EXPECT_GT(host_.Interrupts(0, 2000), 0u);
}

TEST_F(QemuTest, MemoryIsWhatTheLastMessageSaid) {
  ASSERT_TRUE(host_.Attach());
  const std::vector<uint8_t> data(64, 7);
  ASSERT_TRUE(host_.Store(0, data));
  EXPECT_EQ(process_.Command("status")["mapped_ranges"], 1);
  mpqemu::SysmemPayload none = {};
  ASSERT_TRUE(host_.connection().QemuCall(mpqemu::kSyncSysmem, &none,
                                          sizeof(none), nullptr));
  EXPECT_EQ(process_.Command("status")["mapped_ranges"], 0);
  host_.Queue(0, {host_.Fill(0, 64, 1)});
  host_.Doorbell(0);
  EXPECT_TRUE(host_.WaitRegister(reg::kStatusOffset, reg::kStatusHaltedMask,
                                 reg::kStatusHaltedMask))
      << "unmapped memory cannot be reached";
}

// What is no message ends the connection, and nothing else.
TEST_F(QemuTest, MalformedMessagesCutTheHostOff) {
  const uint64_t some[30] = {};
  struct {
    int32_t command;
    size_t bytes;
  } const cases[] = {
      {mpqemu::kRet, 8},
      {-1, 0},
      {8, 0},
      {mpqemu::kConfigRead, 0},
      {mpqemu::kConfigRead, 8},
      {mpqemu::kConfigWrite, 24},
      {mpqemu::kBarRead, 12},
      {mpqemu::kBarWrite, 0},
      {mpqemu::kSyncSysmem, 184},
      {mpqemu::kSyncSysmem, 200},
  };
  for (const auto& c : cases) {
    ASSERT_TRUE(host_.Connect());
    uint64_t reply;
    EXPECT_FALSE(host_.connection().QemuCall(c.command, some, c.bytes, &reply))
        << c.command << " " << c.bytes;
    EXPECT_FALSE(host_.connection().open());
  }
  for (const mpqemu::ConfigPayload& access :
       {mpqemu::ConfigPayload{0, 0, 5}, mpqemu::ConfigPayload{0, 0, -1},
        mpqemu::ConfigPayload{0, 0, INT32_MIN}}) {
    ASSERT_TRUE(host_.Connect());
    uint64_t reply;
    EXPECT_FALSE(Config(mpqemu::kConfigRead, access, &reply)) << access.bytes;
  }
  ASSERT_TRUE(host_.Connect());
  for (uint32_t offset : {256u, 0xfffffffeu, 0x80000000u}) {
    EXPECT_EQ(host_.ConfigRead(offset, 4), 0xffffffffu);
  }
  ExpectWorkingCard();
}

TEST_F(QemuTest, RandomMessages) {
  const char* text = std::getenv("HEDDLE_FUZZ_ROUNDS");
  const int rounds = text == nullptr ? 1 : std::atoi(text);
  std::mt19937 random(1);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int memory = memfd_create("guest", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(memory, 1 << 20), 0);
  constexpr size_t kSizes[] = {192, 8, 12, 12, 24, 24, 0, 0};
  for (int round = 0; round < 100 * rounds; ++round) {
    Connection connection;
    ASSERT_TRUE(connection.Connect(process_.socket()));
    for (int i = 0; i < 40; ++i) {
      const auto command = static_cast<int32_t>(random() % 8);
      if (command == mpqemu::kRet && random() % 8 != 0) continue;
      std::vector<uint64_t> payload(kSizes[command] / 8 + 1);
      for (uint64_t& word : payload) {
        word = random() % 2 ? random() % 0x200 : uint64_t{random()} << 12;
      }
      size_t bytes = kSizes[command];
      if (random() % 32 == 0) bytes = random() % (payload.size() * 8);
      if (command == mpqemu::kConfigRead || command == mpqemu::kConfigWrite) {
        payload[1] = random() % 16 == 0 ? random() : random() % 5;
      }
      if (command == mpqemu::kBarRead || command == mpqemu::kBarWrite) {
        payload[2] = (random() % 10) | uint64_t{random() % 2} << 32;
      }
      const std::vector<int> fds(random() % 11, random() % 2 ? null : memory);
      if (!connection.QemuCall(
              command, payload.data(), bytes, nullptr,
              command == 0 || random() % 16 == 0 ? fds : std::vector<int>())) {
        break;
      }
      char buffer[4096];
      while (recv(connection.fd(), buffer, sizeof(buffer), MSG_DONTWAIT) > 0) {
      }
    }
    host_.Interrupts(0, 0);
  }
  close(null);
  close(memory);
  ExpectWorkingCard();
}

TEST_F(QemuTest, OptionsThatMakeNoSense) {
  const char* binary = std::getenv("HEDDLE_SIM");
  ASSERT_NE(binary, nullptr);
  for (const char* options : {"--qtest-fd 0", "--qemu --qtest-fd 77",
                              "--qemu --qtest-fd 1 >/dev/null"}) {
    const std::string command =
        std::string(binary) + " --socket /tmp/none " + options + " 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2) << options;
  }
}

}  // namespace
}  // namespace heddle::platform
