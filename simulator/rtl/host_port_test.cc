// SPDX-License-Identifier: Apache-2.0
#include "simulator/rtl/host_port.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace heddle::rtl {
namespace {

constexpr uint32_t kLatency = 20;

class HostPortTest : public testing::Test {
 protected:
  HostPortTest()
      : memory_(8192),
        port_(kLatency,
              [this](bool write, uint64_t iova, void* data, size_t bytes) {
                calls_.push_back({write, iova, bytes});
                if (fail_) return false;
                if (write) {
                  std::memcpy(&memory_[iova], data, bytes);
                } else {
                  std::memcpy(data, &memory_[iova], bytes);
                }
                return true;
              }) {
    for (size_t i = 0; i < memory_.size(); ++i) {
      memory_[i] = static_cast<uint8_t>(i * 7);
    }
  }
  struct Call {
    bool write;
    uint64_t iova;
    size_t bytes;
  };
  void Request(bool write, uint64_t address, uint32_t beats) {
    HostPort::FromCard in;
    in.request_valid = true;
    in.request_write = write;
    in.request_address = address;
    in.request_beats = beats;
    in.read_ready = true;
    ASSERT_TRUE(port_.outputs().request_ready);
    port_.Clock(in);
  }
  void Idle() {
    HostPort::FromCard in;
    in.read_ready = true;
    port_.Clock(in);
  }

  std::vector<uint8_t> memory_;
  std::vector<Call> calls_;
  bool fail_ = false;
  HostPort port_;
};

TEST_F(HostPortTest, ReadsTakeTheLatencyThenABeatPerCycle) {
  Request(false, 4096, 4);
  Request(false, 0, 64);
  std::vector<uint8_t> got;
  uint64_t first = 0, last = 0;
  for (uint64_t cycle = 2; cycle < 200; ++cycle) {
    if (port_.outputs().read_valid) {
      EXPECT_FALSE(port_.outputs().read_error);
      if (got.empty()) first = cycle;
      last = cycle;
      got.insert(got.end(), port_.outputs().read_data,
                 port_.outputs().read_data + kBeatBytes);
    }
    Idle();
  }
  EXPECT_EQ(first, kLatency + 1)
      << "its slot is in the cycle after its request";
  EXPECT_EQ(last, first + 67);
  ASSERT_EQ(got.size(), 68u * kBeatBytes);
  EXPECT_EQ(std::memcmp(&got[0], &memory_[4096], 64), 0);
  EXPECT_EQ(std::memcmp(&got[64], &memory_[0], 1024), 0);
  ASSERT_EQ(calls_.size(), 2u) << "a burst is one access";
  EXPECT_EQ(calls_[1].bytes, 1024u);
  EXPECT_TRUE(port_.idle());
}

TEST_F(HostPortTest, ABeatThatIsNotTakenStays) {
  Request(false, 64, 2);
  for (uint32_t i = 0; i < kLatency + 10; ++i) port_.Clock({});
  ASSERT_TRUE(port_.outputs().read_valid);
  EXPECT_EQ(std::memcmp(port_.outputs().read_data, &memory_[64], 16), 0);
  Idle();
  ASSERT_TRUE(port_.outputs().read_valid);
  EXPECT_EQ(std::memcmp(port_.outputs().read_data, &memory_[80], 16), 0);
}

TEST_F(HostPortTest, WritesTheBytesOfTheStrobes) {
  Request(true, 32, 2);
  const std::vector<uint8_t> before = memory_;
  uint8_t data[kBeatBytes];
  std::memset(data, 0xaa, sizeof(data));
  for (uint32_t strobe : {0xff00u, 0x0003u}) {
    ASSERT_TRUE(port_.outputs().write_ready);
    HostPort::FromCard in;
    in.write_valid = true;
    in.write_data = data;
    in.write_strobe = strobe;
    EXPECT_TRUE(calls_.empty()) << "with its last beat";
    port_.Clock(in);
  }
  ASSERT_EQ(calls_.size(), 1u);
  EXPECT_EQ(calls_[0].iova, 40u);
  EXPECT_EQ(calls_[0].bytes, 10u);
  for (size_t i = 0; i < memory_.size(); ++i) {
    EXPECT_EQ(memory_[i], i >= 40 && i < 50 ? 0xaa : before[i]) << i;
  }
  uint32_t waited = 1;
  for (; !port_.outputs().answer_valid && waited < 100; ++waited) Idle();
  EXPECT_EQ(waited, kLatency);
  EXPECT_FALSE(port_.outputs().answer_error);
}

TEST_F(HostPortTest, ErrorsBelongToTheirBurst) {
  fail_ = true;
  Request(false, 0, 2);
  Idle();
  fail_ = false;
  Request(false, 0, 1);
  std::vector<bool> errors;
  for (uint32_t i = 0; i < 50; ++i) {
    if (port_.outputs().read_valid) {
      errors.push_back(port_.outputs().read_error);
    }
    Idle();
  }
  EXPECT_EQ(errors, (std::vector<bool>{true, true, false}));
}

TEST_F(HostPortTest, SeesBreachesAndForgetsInAReset) {
  Request(false, 0, 8);
  Request(true, 0, 8);
  for (int i = 0; i < 5; ++i) Idle();
  port_.Reset();
  EXPECT_TRUE(port_.idle());
  EXPECT_FALSE(port_.outputs().read_valid);
  EXPECT_TRUE(port_.violation().empty());
  Request(false, 4096 - 16, 2);
  EXPECT_NE(port_.violation().find("a burst of 2 beats at 0xff0"),
            std::string::npos)
      << port_.violation();
}

}  // namespace
}  // namespace heddle::rtl
