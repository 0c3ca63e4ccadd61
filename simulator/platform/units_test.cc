// SPDX-License-Identifier: Apache-2.0
//
// Device memory, register file and number parsing.
#include <gtest/gtest.h>

#include <random>

#include "rtl/spec/generated/isa.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/parse.h"
#include "simulator/platform/register_file.h"

namespace heddle::platform {
namespace {

TEST(DramStoreTest, SizesAndBounds) {
  EXPECT_FALSE(DramStore::Create(isa::kDramBytesMin - 4096).ok());
  EXPECT_FALSE(DramStore::Create(isa::kDramBytesMin + 1).ok());
  EXPECT_FALSE(DramStore::Create(isa::kDramBytesMax + 4096).ok());
  auto store = DramStore::Create(isa::kDramBytesMax);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE((*store)->Contains(isa::kDramBytesMax - 1, 1));
  EXPECT_FALSE((*store)->Contains(isa::kDramBytesMax - 1, 2));
  EXPECT_FALSE((*store)->Contains(UINT64_MAX, 2));
  EXPECT_FALSE((*store)->Contains(2, UINT64_MAX));
}

TEST(DramStoreTest, WhatIsCutOffIsGone) {
  auto store = DramStore::Create(2 * isa::kDramBytesMin);
  ASSERT_TRUE(store.ok());
  uint8_t* data = (*store)->data();
  data[5] = 7;
  data[isa::kDramBytesMin + 5] = 8;
  ASSERT_TRUE((*store)->Resize(isa::kDramBytesMin).ok());
  ASSERT_TRUE((*store)->Resize(4 * isa::kDramBytesMin).ok());
  EXPECT_EQ(data[5], 7);
  EXPECT_EQ(data[isa::kDramBytesMin + 5], 0);
  (*store)->Clear();
  EXPECT_EQ(data[5], 0);
}

TEST(RegisterFileTest, TableHoldsWithoutHooks) {
  RegisterFile file;
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t offset = info.offset + i * info.stride;
      EXPECT_EQ(file.Read(offset), info.reset & ~info.wo_mask) << info.name;
      file.Write(offset, 0xffffffff);
      const uint32_t after =
          (info.reset | info.rw_mask | info.w1s_mask) & ~info.w1c_mask;
      EXPECT_EQ(file.Read(offset), after & ~info.wo_mask) << info.name;
    }
  }
  EXPECT_EQ(file.Read(reg::kBlockBytes - 4), 0u);
  file.Write(reg::kBlockBytes + 4, 1);
  EXPECT_EQ(file.Read(reg::kBlockBytes + 4), 0u);
}

TEST(ParseTest, Sizes) {
  EXPECT_EQ(*ParseSize("512M"), 512u << 20);
  EXPECT_EQ(*ParseSize("4g"), 4ull << 30);
  EXPECT_EQ(*ParseSize("64MiB"), 64u << 20);
  EXPECT_EQ(*ParseSize("1024"), 1024u);
  EXPECT_EQ(*ParseSize("0x1000"), 4096u);
  for (const char* bad : {"", "M", "-1M", "12Q", "1.5G", "1 G", "99999999999G",
                          "iB", "64ib", "18446744073709551616", "+5"}) {
    EXPECT_FALSE(ParseSize(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace heddle::platform
