// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/host_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace heddle::platform {
namespace {

constexpr uint64_t kPage = 4096;

class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() : fd_(memfd_create("test", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, 8 * kPage), 0);
  }
  ~HostMemoryTest() override { close(fd_); }
  bool Map(uint64_t iova, uint64_t pages, uint64_t offset, bool read = true,
           bool write = true) {
    return memory_.Map(iova, pages * kPage, fd_, offset * kPage, read, write)
        .ok();
  }
  int fd_;
  HostMemory memory_;
};

TEST_F(HostMemoryTest, ReachesWhatIsMappedOnly) {
  ASSERT_TRUE(Map(0x10000, 2, 3));
  const char text[] = "through the card";
  EXPECT_TRUE(memory_.Write(0x10ff0, text, sizeof(text)));
  char back[sizeof(text)];
  ASSERT_EQ(pread(fd_, back, sizeof(back), 3 * kPage + 0xff0),
            (ssize_t)sizeof(back));
  EXPECT_STREQ(back, text);
  std::memset(back, 0, sizeof(back));
  EXPECT_TRUE(memory_.Read(0x10ff0, back, sizeof(back)));
  EXPECT_STREQ(back, text);
  EXPECT_FALSE(memory_.Read(0xffff, back, 2));
  EXPECT_FALSE(memory_.Read(0x12000, back, 1));
  EXPECT_FALSE(memory_.Write(0x11fff, back, 2));
  EXPECT_FALSE(memory_.Read(UINT64_MAX, back, 2));
}

TEST_F(HostMemoryTest, SpansAdjacentRanges) {
  ASSERT_TRUE(Map(0x20000, 1, 5));
  ASSERT_TRUE(Map(0x21000, 1, 0));
  std::vector<uint8_t> data(kPage, 0x5a);
  EXPECT_TRUE(memory_.Write(0x20800, data.data(), data.size()));
  uint8_t byte = 0;
  ASSERT_EQ(pread(fd_, &byte, 1, 0x7ff), 1);
  EXPECT_EQ(byte, 0x5a);
}

TEST_F(HostMemoryTest, RefusesBadRanges) {
  ASSERT_TRUE(Map(0x10000, 2, 0));
  EXPECT_FALSE(Map(0x11000, 1, 0));  // overlaps
  EXPECT_FALSE(Map(0xf000, 2, 0));
  EXPECT_FALSE(Map(0x10000, 2, 0));
  EXPECT_FALSE(Map(0x40000, 0, 0));  // empty
  EXPECT_FALSE(Map(0x40000, 9, 0));  // longer than the file
  EXPECT_FALSE(Map(0x40000, 1, 8));  // behind it
  EXPECT_FALSE(Map(UINT64_MAX - kPage + 1, 2, 0));
  EXPECT_FALSE(memory_.Map(0x40000, kPage, fd_, 17, true, true).ok());
  EXPECT_FALSE(memory_.Map(0x40000, kPage, -1, 0, true, true).ok());
  EXPECT_FALSE(
      memory_.Map(0x40000, kPage, fd_, UINT64_MAX - 10, true, true).ok());
  EXPECT_FALSE(memory_.Map(0x40000, kPage, fd_, 0, false, false).ok());
  EXPECT_EQ(memory_.ranges(), 1u);
}

TEST_F(HostMemoryTest, Permissions) {
  ASSERT_TRUE(Map(0x10000, 1, 0, true, false));
  ASSERT_TRUE(Map(0x11000, 1, 0, false, true));
  uint32_t word = 1;
  EXPECT_TRUE(memory_.Read(0x10000, &word, 4));
  EXPECT_FALSE(memory_.Write(0x10000, &word, 4));
  EXPECT_TRUE(memory_.Write(0x11000, &word, 4));
  EXPECT_FALSE(memory_.Read(0x11000, &word, 4));
}

TEST_F(HostMemoryTest, UnmapTakesWholeRanges) {
  ASSERT_TRUE(Map(0x10000, 2, 0));
  EXPECT_FALSE(memory_.Unmap(0x10000, kPage).ok());
  EXPECT_FALSE(memory_.Unmap(0x11000, kPage).ok());
  EXPECT_TRUE(memory_.Unmap(0x10000, 2 * kPage).ok());
  uint8_t byte;
  EXPECT_FALSE(memory_.Read(0x10000, &byte, 1));
}

TEST_F(HostMemoryTest, SurvivesAFileThatShrinks) {
  ASSERT_TRUE(Map(0x10000, 8, 0));
  ASSERT_EQ(ftruncate(fd_, kPage), 0);
  std::vector<uint8_t> data(2 * kPage, 1);
  EXPECT_FALSE(memory_.Write(0x12000, data.data(), data.size()));
  EXPECT_FALSE(memory_.Read(0x12000, data.data(), data.size()));
  EXPECT_FALSE(memory_.Read(0x10000, data.data(), data.size()));
  EXPECT_TRUE(memory_.Read(0x10000, data.data(), kPage));
}

}  // namespace
}  // namespace heddle::platform
