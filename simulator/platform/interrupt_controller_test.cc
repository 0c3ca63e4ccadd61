// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/interrupt_controller.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace heddle::platform {
namespace {

class InterruptControllerTest : public testing::Test, public InterruptSink {
 protected:
  InterruptControllerTest()
      : controller_(&config_, &faults_,
                    [this](uint32_t ms, std::function<void()> what) {
                      late_ms_ = ms;
                      late_ = std::move(what);
                    }) {
    controller_.SetSink(this);
    const uint16_t command = 6;
    config_.Write(4, &command, sizeof(command));
  }
  void RaiseInterrupt(uint32_t vector) override { raised_.push_back(vector); }
  std::vector<uint32_t> Raised() { return std::exchange(raised_, {}); }
  void EnableMsix(uint16_t control) {
    config_.Write(ConfigSpace::kMsix + 2, &control, sizeof(control));
    controller_.ConfigChanged();
  }

  ConfigSpace config_;
  Faults faults_;
  InterruptController controller_;
  std::vector<uint32_t> raised_;
  uint32_t late_ms_ = 0;
  std::function<void()> late_;
};

using Vectors = std::vector<uint32_t>;

TEST_F(InterruptControllerTest, EveryEventSends) {
  controller_.Enable(reg::kIntStatusCompletionMask | reg::kIntStatusErrorMask);
  controller_.Raise(reg::kIntStatusCompletionMask);
  controller_.Raise(reg::kIntStatusCompletionMask);
  controller_.Raise(reg::kIntStatusFaultMask);
  EXPECT_EQ(Raised(), (Vectors{0, 0}));
  EXPECT_EQ(controller_.status(),
            reg::kIntStatusCompletionMask | reg::kIntStatusFaultMask);
  controller_.Acknowledge(reg::kIntStatusCompletionMask);
  EXPECT_EQ(controller_.status(), reg::kIntStatusFaultMask);
  controller_.Enable(reg::kIntEnableMaskMask);
  EXPECT_EQ(Raised(), (Vectors{1})) << "enabling a pending interrupt sends it";
}

TEST_F(InterruptControllerTest, NeedsTheBus) {
  controller_.Enable(reg::kIntEnableMaskMask);
  const uint16_t off = 2;
  config_.Write(4, &off, sizeof(off));
  controller_.Raise(1);
  EXPECT_EQ(Raised(), Vectors());
  EXPECT_EQ(controller_.status(), 1u);
}

TEST_F(InterruptControllerTest, Faults) {
  controller_.Enable(reg::kIntEnableMaskMask);
  faults_.lost_interrupts = 2;
  for (int i = 0; i < 3; ++i) controller_.Raise(4);
  EXPECT_EQ(Raised(), (Vectors{2}));
  faults_.late_interrupt_ms = 50;
  controller_.Raise(1);
  EXPECT_EQ(Raised(), Vectors());
  EXPECT_EQ(late_ms_, 50u);
  late_();
  EXPECT_EQ(Raised(), (Vectors{0}));
  controller_.Spurious(3);
  EXPECT_EQ(Raised(), (Vectors{3}));
  faults_.late_interrupt_ms = 50;
  controller_.Raise(1);
  controller_.Reset();
  late_();
  EXPECT_EQ(Raised(), Vectors()) << "a reset takes late interrupts with it";
}

TEST_F(InterruptControllerTest, MsixTable) {
  uint32_t value;
  const uint32_t entry = reg::kPciMsixTableOffset + 2 * 16;
  ASSERT_TRUE(controller_.TableRead(entry + 12, &value));
  EXPECT_EQ(value, 1u) << "masked after reset";
  EXPECT_FALSE(controller_.TableRead(
      reg::kPciMsixTableOffset + reg::kPciMsixVectors * 16, &value));
  EXPECT_FALSE(controller_.TableWrite(reg::kIdOffset, 1));
  controller_.TableWrite(entry, 0xfee00007);
  controller_.TableWrite(entry + 4, 1);
  controller_.TableWrite(entry + 8, 0x41);
  MsiMessage message;
  EXPECT_FALSE(controller_.Message(2, &message))
      << "neither MSI nor MSI-X is enabled";
  EnableMsix(0x8000);
  EXPECT_FALSE(controller_.Message(2, &message)) << "masked";
  ASSERT_TRUE(controller_.TableRead(reg::kPciMsixPbaOffset, &value));
  EXPECT_EQ(value, 4u);
  controller_.TableWrite(entry + 12, 0);
  EXPECT_EQ(Raised(), (Vectors{2})) << "pending, sent when unmasked";
  ASSERT_TRUE(controller_.Message(2, &message));
  EXPECT_EQ(message.address, 0x1fee00004ull);
  EXPECT_EQ(message.data, 0x41u);
  EnableMsix(0xc000);
  EXPECT_FALSE(controller_.Message(2, &message)) << "function mask";
  EnableMsix(0x8000);
  EXPECT_EQ(Raised(), (Vectors{2}));
}

}  // namespace
}  // namespace heddle::platform
