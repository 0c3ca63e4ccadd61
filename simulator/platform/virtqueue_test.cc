// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/virtqueue.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace heddle::platform {
namespace {

constexpr uint64_t kBase = 0x100000;
constexpr uint64_t kBytes = 0x10000;
constexpr uint32_t kSize = 8;
constexpr uint64_t kDescriptors = kBase + 0x1000;
constexpr uint64_t kAvailable = kBase + 0x2000;
constexpr uint64_t kUsed = kBase + 0x3000;
constexpr uint64_t kData = kBase + 0x4000;

struct Descriptor {
  uint64_t address;
  uint32_t length;
  uint16_t flags;
  uint16_t next;
};

class VirtqueueTest : public testing::Test {
 protected:
  VirtqueueTest() : fd_(memfd_create("guest", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, kBytes), 0);
    EXPECT_TRUE(memory_.Map(kBase, kBytes, fd_, 0, true, true).ok());
    bytes_ = static_cast<uint8_t*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    EXPECT_TRUE(queue_.SetSize(kSize));
    EXPECT_TRUE(queue_.SetAddresses(kDescriptors, kUsed, kAvailable));
    queue_.Enable(true);
  }
  ~VirtqueueTest() override {
    munmap(bytes_, kBytes);
    close(fd_);
  }
  template <typename T>
  T* At(uint64_t address) {
    return reinterpret_cast<T*>(bytes_ + (address - kBase));
  }
  void Describe(uint16_t i, const Descriptor& descriptor) {
    At<Descriptor>(kDescriptors)[i] = descriptor;
  }
  void Offer(uint16_t head) {
    auto* ring = At<uint16_t>(kAvailable);
    ring[2 + ring[1]++ % kSize] = head;
  }
  // The reason, empty if there is none.
  std::string WrongAfterOffer(uint16_t head) {
    Offer(head);
    Virtqueue::Chain chain;
    return queue_.Pop(&chain) == Virtqueue::Result::kBad ? queue_.error() : "";
  }
  int fd_;
  uint8_t* bytes_;
  HostMemory memory_;
  Virtqueue queue_{&memory_};
};

TEST_F(VirtqueueTest, ChainsGoRound) {
  Virtqueue::Chain chain;
  for (uint32_t i = 0; i < 70000; ++i) {  // the indices wrap
    ASSERT_EQ(queue_.Pop(&chain), Virtqueue::Result::kEmpty);
    const auto head = static_cast<uint16_t>(i % kSize);
    Describe(head, {kData, 4, 0, 0});
    Offer(head);
    ASSERT_EQ(queue_.Pop(&chain), Virtqueue::Result::kChain);
    ASSERT_EQ(chain.head, head);
    ASSERT_TRUE(queue_.Push(chain, i));
    ASSERT_EQ(At<uint16_t>(kUsed)[1], static_cast<uint16_t>(i + 1));
    const auto* used = At<uint32_t>(kUsed + 4) + 2 * (i % kSize);
    ASSERT_EQ(used[0], head);
    ASSERT_EQ(used[1], i);
  }
}

TEST_F(VirtqueueTest, ReadsAndWritesAcrossDescriptors) {
  std::memcpy(At<char>(kData), "abcdef", 6);
  Describe(3, {kData, 2, Virtqueue::kNext, 5});
  Describe(5, {kData + 2, 0, Virtqueue::kNext, 0});
  Describe(0, {kData + 3, 3, Virtqueue::kNext, 7});
  Describe(7, {kData + 0x100, 3, Virtqueue::kNext | Virtqueue::kWritable, 1});
  Describe(1, {kData + 0x200, 2, Virtqueue::kWritable, 1});
  Offer(3);
  Virtqueue::Chain chain;
  ASSERT_EQ(queue_.Pop(&chain), Virtqueue::Result::kChain);
  EXPECT_EQ(chain.out.size(), 3u);
  EXPECT_EQ(Virtqueue::Bytes(chain.out), 5u);
  EXPECT_EQ(Virtqueue::Bytes(chain.in), 5u);
  char text[6] = {};
  EXPECT_TRUE(queue_.Read(chain, 0, text, 5));
  EXPECT_STREQ(text, "abdef");
  EXPECT_TRUE(queue_.Read(chain, 1, text, 3));
  EXPECT_EQ(std::string(text, 3), "bde");
  EXPECT_TRUE(queue_.Read(chain, 5, text, 0));
  EXPECT_FALSE(queue_.Read(chain, 1, text, 5));
  EXPECT_FALSE(queue_.Read(chain, UINT64_MAX, text, 1));
  EXPECT_TRUE(queue_.Write(chain, 1, "wxyz", 4));
  EXPECT_EQ(std::string(At<char>(kData + 0x101), 2), "wx");
  EXPECT_EQ(std::string(At<char>(kData + 0x200), 2), "yz");
  EXPECT_FALSE(queue_.Write(chain, 2, "wxyz", 4));
  EXPECT_EQ(At<char>(kData + 0x202)[0], 0);
}

TEST_F(VirtqueueTest, SetupThatCannotBe) {
  for (uint32_t size : {0u, 3u, 255u, 65536u, ~0u}) {
    EXPECT_FALSE(queue_.SetSize(size)) << size;
  }
  EXPECT_TRUE(queue_.SetSize(1));
  EXPECT_TRUE(queue_.SetSize(32768));
  EXPECT_TRUE(queue_.SetBase(65535));
  EXPECT_FALSE(queue_.SetBase(65536));
  EXPECT_FALSE(queue_.SetAddresses(kDescriptors + 8, kUsed, kAvailable));
  EXPECT_FALSE(queue_.SetAddresses(kDescriptors, kUsed + 2, kAvailable));
  EXPECT_FALSE(queue_.SetAddresses(kDescriptors, kUsed, kAvailable + 1));
  EXPECT_FALSE(queue_.SetAddresses(~uint64_t{15}, kUsed, kAvailable));
  EXPECT_FALSE(queue_.SetAddresses(0, kUsed, kAvailable));
}

TEST_F(VirtqueueTest, NothingIsTakenFromAQueueThatIsNotReady) {
  Describe(0, {kData, 4, 0, 0});
  Offer(0);
  Virtqueue::Chain chain;
  queue_.Enable(false);
  EXPECT_EQ(queue_.Pop(&chain), Virtqueue::Result::kEmpty);
  queue_.Enable(true);
  EXPECT_EQ(queue_.Pop(&chain), Virtqueue::Result::kChain);
  queue_.Reset();
  Offer(0);
  queue_.Enable(true);
  EXPECT_EQ(queue_.Pop(&chain), Virtqueue::Result::kEmpty);
}

TEST_F(VirtqueueTest, CallsAsTheDriverWants) {
  EXPECT_TRUE(queue_.WantsCall());
  At<uint16_t>(kAvailable)[0] = Virtqueue::kNoCall;
  EXPECT_FALSE(queue_.WantsCall());
}

TEST_F(VirtqueueTest, ChainsThatDoNotEnd) {
  Describe(0, {kData, 4, Virtqueue::kNext, 0});
  EXPECT_NE(WrongAfterOffer(0), "");
}

TEST_F(VirtqueueTest, ChainsAsLongAsTheRingEnd) {
  for (uint16_t i = 0; i < kSize; ++i) {
    Describe(i, {kData, 4, Virtqueue::kNext, static_cast<uint16_t>(i + 1)});
  }
  Describe(kSize - 1, {kData, 4, 0, 0});
  EXPECT_EQ(WrongAfterOffer(0), "");
  Describe(kSize - 1, {kData, 4, Virtqueue::kNext, 3});
  EXPECT_NE(WrongAfterOffer(0), "");
}

TEST_F(VirtqueueTest, IndicesOutOfRange) {
  EXPECT_NE(WrongAfterOffer(kSize), "");
  EXPECT_NE(WrongAfterOffer(65535), "");
  queue_.SetBase(At<uint16_t>(kAvailable)[1]);
  Describe(0, {kData, 4, Virtqueue::kNext, kSize});
  EXPECT_NE(WrongAfterOffer(0), "");
  queue_.SetBase(0);
  At<uint16_t>(kAvailable)[1] = kSize + 1;
  Virtqueue::Chain chain;
  EXPECT_EQ(queue_.Pop(&chain), Virtqueue::Result::kBad);
  At<uint16_t>(kAvailable)[1] = 65535;  // it went back
  EXPECT_EQ(queue_.Pop(&chain), Virtqueue::Result::kBad);
}

TEST_F(VirtqueueTest, DescriptorsThatMakeNoSense) {
  Describe(0, {kData, 4, 4, 0});  // indirect
  EXPECT_NE(WrongAfterOffer(0), "");
  queue_.SetBase(At<uint16_t>(kAvailable)[1]);
  Describe(0, {kData, 4, Virtqueue::kNext | Virtqueue::kWritable, 1});
  Describe(1, {kData, 4, 0, 0});
  EXPECT_NE(WrongAfterOffer(0), "");
  queue_.SetBase(At<uint16_t>(kAvailable)[1]);
  Describe(0, {kData, UINT32_MAX, Virtqueue::kNext, 1});
  Describe(1, {kData, 1, 0, 0});
  EXPECT_NE(WrongAfterOffer(0), "");
}

TEST_F(VirtqueueTest, BuffersOutsideMemory) {
  for (uint64_t address : {uint64_t{0}, kBase - 1, kBase + kBytes - 3,
                           UINT64_MAX, UINT64_MAX - 3}) {
    Describe(0, {address, 4, Virtqueue::kNext, 1});
    Describe(1, {address, 4, Virtqueue::kWritable, 0});
    Offer(0);
    Virtqueue::Chain chain;
    ASSERT_EQ(queue_.Pop(&chain), Virtqueue::Result::kChain);
    uint32_t word = 0;
    EXPECT_FALSE(queue_.Read(chain, 0, &word, sizeof(word))) << address;
    EXPECT_FALSE(queue_.Write(chain, 0, &word, sizeof(word))) << address;
  }
}

TEST_F(VirtqueueTest, RingsOutsideMemory) {
  Virtqueue::Chain chain;
  const uint64_t outside = kBase + kBytes;
  ASSERT_TRUE(queue_.SetAddresses(kDescriptors, kUsed, outside));
  EXPECT_EQ(queue_.Pop(&chain), Virtqueue::Result::kBad);
  EXPECT_TRUE(queue_.WantsCall());
  // Its index is in memory, its entries are not.
  *At<uint16_t>(outside - 2) = 1;
  ASSERT_TRUE(queue_.SetAddresses(kDescriptors, kUsed, outside - 4));
  EXPECT_EQ(queue_.Pop(&chain), Virtqueue::Result::kBad);
  ASSERT_TRUE(queue_.SetAddresses(outside, kUsed, kAvailable));
  EXPECT_NE(WrongAfterOffer(0), "");
  ASSERT_TRUE(queue_.SetAddresses(kDescriptors, outside, kAvailable));
  EXPECT_FALSE(queue_.Push(chain, 0));
}

TEST_F(VirtqueueTest, MemoryThatVanishes) {
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  Virtqueue::Chain chain;
  EXPECT_EQ(queue_.Pop(&chain), Virtqueue::Result::kBad);
  EXPECT_FALSE(queue_.Push(chain, 0));
  EXPECT_TRUE(queue_.WantsCall());
}

// Rings of random numbers: an end, no access outside (the sanitizers' part).
TEST_F(VirtqueueTest, RandomRings) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    for (uint16_t i = 0; i < kSize; ++i) {
      Describe(i,
               {random() % 8 ? kBase + random() % kBytes : uint64_t{random()},
                random() % 8 ? static_cast<uint32_t>(random() % 64)
                             : static_cast<uint32_t>(random()),
                static_cast<uint16_t>(random() % 16 ? random() % 4 : random()),
                static_cast<uint16_t>(random() % (kSize + 1))});
    }
    auto* ring = At<uint16_t>(kAvailable);
    for (uint16_t i = 0; i < kSize; ++i) ring[2 + i] = random() % kSize;
    ring[1] = static_cast<uint16_t>(ring[1] + random() % 4);
    Virtqueue::Chain chain;
    for (uint32_t i = 0; i < kSize; ++i) {
      if (queue_.Pop(&chain) != Virtqueue::Result::kChain) break;
      std::vector<uint8_t> data(std::min<uint64_t>(
          4096,
          std::max(Virtqueue::Bytes(chain.out), Virtqueue::Bytes(chain.in))));
      queue_.Read(chain, random() % 32, data.data(), data.size());
      // Not into the rings: they are for the next round.
      if (std::all_of(chain.in.begin(), chain.in.end(),
                      [](const Virtqueue::Buffer& b) {
                        return b.address >= kData && b.length < 0x1000;
                      })) {
        queue_.Write(chain, random() % 32, data.data(), data.size());
      }
      EXPECT_TRUE(queue_.Push(chain, 0));
    }
    queue_.SetBase(ring[1]);
  }
}

}  // namespace
}  // namespace heddle::platform
