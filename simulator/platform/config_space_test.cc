// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/config_space.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace heddle::platform {
namespace {

uint32_t Read(const ConfigSpace& space, uint32_t offset, size_t bytes) {
  uint32_t value = 0;
  space.Read(offset, &value, bytes);
  return value;
}

bool Write(ConfigSpace* space, uint32_t offset, uint32_t value, size_t bytes) {
  return space->Write(offset, &value, bytes);
}

TEST(ConfigSpaceTest, Identity) {
  ConfigSpace space;
  EXPECT_EQ(Read(space, 0x00, 2), reg::kPciVendorId);
  EXPECT_EQ(Read(space, 0x02, 2), reg::kPciDeviceId);
  EXPECT_EQ(Read(space, 0x08, 4),
            reg::kPciRevisionId | reg::kPciClassCode << 8);
  EXPECT_EQ(Read(space, 0x0e, 1), 0u);  // one function, type 0
  EXPECT_EQ(Read(space, 0x3d, 1), 0u);  // no INTx
}

TEST(ConfigSpaceTest, BarSizing) {
  ConfigSpace space;
  Write(&space, 0x10, 0xffffffff, 4);
  EXPECT_EQ(Read(space, 0x10, 4), ~(reg::kBlockBytes - 1));
  Write(&space, 0x10, 0xfe9a1234, 4);
  EXPECT_EQ(space.Bar0(), 0xfe9a0000u);
  for (uint32_t bar = 0x14; bar <= 0x24; bar += 4) {
    Write(&space, bar, 0xffffffff, 4);
    EXPECT_EQ(Read(space, bar, 4), 0u) << bar;
  }
  Write(&space, 0x30, 0xffffffff, 4);
  EXPECT_EQ(Read(space, 0x30, 4), 0u);  // no ROM
}

TEST(ConfigSpaceTest, CapabilityListIsComplete) {
  ConfigSpace space;
  ASSERT_TRUE(Read(space, 0x06, 2) & 0x10);
  std::map<uint32_t, uint32_t> found;
  uint32_t at = Read(space, 0x34, 1);
  for (int i = 0; at != 0; ++i) {
    ASSERT_LT(i, 16) << "the list has a loop";
    ASSERT_GE(at, 0x40u);
    ASSERT_EQ(at % 4, 0u);
    found[Read(space, at, 1)] = at;
    at = Read(space, at + 1, 1);
  }
  ASSERT_EQ(found.size(), 4u);
  const uint32_t msix = found.at(0x11);
  EXPECT_EQ((Read(space, msix + 2, 2) & 0x7ff) + 1, reg::kPciMsixVectors);
  EXPECT_EQ(Read(space, msix + 4, 4), reg::kPciMsixTableOffset);
  EXPECT_EQ(Read(space, msix + 8, 4), reg::kPciMsixPbaOffset);
  EXPECT_TRUE(found.count(0x01));
  EXPECT_TRUE(found.count(0x05));
  EXPECT_EQ((Read(space, found.at(0x10) + 2, 2) >> 4) & 0xf, 0u);  // endpoint
}

TEST(ConfigSpaceTest, CommandGatesMemoryAndMastering) {
  ConfigSpace space;
  EXPECT_FALSE(space.MemoryEnabled());
  EXPECT_FALSE(space.BusMaster());
  Write(&space, 0x04, 0x06, 2);
  EXPECT_TRUE(space.MemoryEnabled());
  EXPECT_TRUE(space.BusMaster());
  Write(&space, ConfigSpace::kPowerManagement + 4, 3, 2);  // D3hot
  EXPECT_FALSE(space.MemoryEnabled());
  EXPECT_FALSE(space.BusMaster());
  Write(&space, ConfigSpace::kPowerManagement + 4, 0, 2);
  EXPECT_TRUE(space.MemoryEnabled());
}

TEST(ConfigSpaceTest, FunctionLevelReset) {
  ConfigSpace space;
  EXPECT_TRUE(Write(&space, ConfigSpace::kExpress + 8, 0x8000, 2));
  EXPECT_TRUE(Write(&space, ConfigSpace::kExpress + 8, 0x8000, 4));
  EXPECT_FALSE(Write(&space, ConfigSpace::kExpress + 8, 0x0010, 2));
  EXPECT_EQ(Read(space, ConfigSpace::kExpress + 8, 2) & 0x8000, 0u);
}

TEST(ConfigSpaceTest, MsiMessage) {
  ConfigSpace space;
  Write(&space, ConfigSpace::kMsi + 4, 0xfee01003, 4);
  Write(&space, ConfigSpace::kMsi + 8, 0x12, 4);
  Write(&space, ConfigSpace::kMsi + 12, 0x4041, 2);
  EXPECT_FALSE(space.MsiEnabled());
  Write(&space, ConfigSpace::kMsi + 2, 1, 2);
  EXPECT_TRUE(space.MsiEnabled());
  EXPECT_EQ(space.Msi().address, 0x12fee01000ull);
  EXPECT_EQ(space.Msi().data, 0x4041u);
}

TEST(ConfigSpaceTest, BeyondTheEndIsOnes) {
  ConfigSpace space;
  EXPECT_EQ(Read(space, 254, 4) >> 16, 0xffffu);
  EXPECT_EQ(Read(space, 0xfffffffc, 4), 0xffffffffu);
  Write(&space, 254, 0, 4);
  Write(&space, 0xfffffffe, 0, 4);
}

TEST(ConfigSpaceTest, RandomWritesKeepTheIdentity) {
  ConfigSpace space;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    Write(&space, random() % 260, random(), 1 + random() % 4);
  }
  EXPECT_EQ(Read(space, 0, 4), reg::kPciVendorId | reg::kPciDeviceId << 16);
  EXPECT_EQ(Read(space, 0x34, 1), ConfigSpace::kPowerManagement);
  EXPECT_EQ(Read(space, ConfigSpace::kMsix + 4, 4), reg::kPciMsixTableOffset);
  space.Reset();
  EXPECT_EQ(Read(space, 0x04, 2), 0u);
}

}  // namespace
}  // namespace heddle::platform
