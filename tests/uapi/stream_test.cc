// SPDX-License-Identifier: Apache-2.0
// STREAM_CREATE and STREAM_DESTROY.
#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class StreamTest : public UapiTest {
 protected:
  // Expects -ENOEXEC with this place and reason.
  void ExpectRefused(const std::vector<uint32_t>& words, uint32_t offset,
                     uint32_t code) {
    uint32_t id = 0;
    drm_heddle_stream_create out;
    EXPECT_EQ(CreateStream(c(), words, &id, &out), -ENOEXEC);
    EXPECT_EQ(out.error_offset, offset);
    EXPECT_EQ(out.error_code, code);
  }
  int CreateRaw(uint64_t pointer, uint32_t count, uint32_t stride,
                uint32_t flags = 0) {
    drm_heddle_stream_create args = {};
    args.data = {pointer, count, stride};
    args.flags = flags;
    return c()->Ioctl(DRM_IOCTL_HEDDLE_STREAM_CREATE, &args);
  }
};

TEST_F(StreamTest, TakesTheShortest) {
  uint32_t id = 0;
  ASSERT_EQ(CreateStream(c(), EmptyStream(), &id), 0);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(Do(c(), NewContext(c()), {RunStream(id)}).commands, 1u);
}

TEST_F(StreamTest, TakesTheLongest) {
  const uint32_t bytes = DeviceInfo(c()).max_stream_bytes;
  const std::vector<uint32_t> nop = Command("nop").words();
  const std::vector<uint32_t> end = Command("end").words();
  std::vector<uint32_t> words;
  words.reserve(bytes / 4);
  while (words.size() < bytes / 4 - end.size()) {
    words.insert(words.end(), nop.begin(), nop.end());
  }
  words.insert(words.end(), end.begin(), end.end());
  const uint32_t id = NewStream(c(), words);
  EXPECT_EQ(MemoryInfo(c()).used_here, bytes);
  EXPECT_EQ(DestroyStream(c(), id), 0);
}

TEST_F(StreamTest, RefusesLongerOnes) {
  std::vector<uint32_t> words(DeviceInfo(c()).max_stream_bytes / 4 + 4);
  uint32_t id = 0;
  EXPECT_EQ(CreateStream(c(), words, &id), -EINVAL);
}

TEST_F(StreamTest, TakesAPointerThatIsNotAligned) {
  const std::vector<uint32_t> words = CopyStream(1, 2, 64);
  std::vector<uint8_t> bytes(words.size() * 4 + 8);
  for (size_t shift : {1, 2, 3, 4, 7}) {
    std::memcpy(bytes.data() + shift, words.data(), words.size() * 4);
    EXPECT_EQ(CreateRaw(reinterpret_cast<uint64_t>(bytes.data() + shift),
                        words.size() * 4, 1),
              0)
        << shift;
  }
}

TEST_F(StreamTest, IsACopy) {
  std::vector<uint32_t> words = EmptyStream();
  const uint32_t id = NewStream(c(), words);
  words.assign(words.size(), ~0u);
  EXPECT_EQ(Do(c(), NewContext(c()), {RunStream(id)}).status, 0u);
}

TEST_F(StreamTest, RefusesNoBytes) {
  const auto words = EmptyStream();
  EXPECT_EQ(CreateRaw(reinterpret_cast<uint64_t>(words.data()), 0, 1), -EINVAL);
}

TEST_F(StreamTest, RefusesWhatIsNotWholeWords) {
  const std::vector<uint32_t> words(16);
  for (uint32_t count : {1u, 4u, 15u, 17u, 20u}) {
    EXPECT_EQ(CreateRaw(reinterpret_cast<uint64_t>(words.data()), count, 1),
              -EINVAL)
        << count;
  }
}

TEST_F(StreamTest, RefusesOtherStrides) {
  const std::vector<uint32_t> words(64);
  for (uint32_t stride : {0u, 2u, 4u, 16u}) {
    EXPECT_EQ(CreateRaw(reinterpret_cast<uint64_t>(words.data()), 16, stride),
              -EINVAL)
        << stride;
  }
}

TEST_F(StreamTest, RefusesFlags) {
  const auto words = EmptyStream();
  for (uint32_t bit : EachBit()) {
    EXPECT_EQ(CreateRaw(reinterpret_cast<uint64_t>(words.data()),
                        words.size() * 4, 1, bit),
              -EINVAL)
        << bit;
  }
}

TEST_F(StreamTest, RefusesBadPointers) {
  for (uint64_t bad : Driver::Get().BadPointers()) {
    EXPECT_EQ(CreateRaw(bad, 16, 1), -EFAULT) << bad;
    EXPECT_EQ(CreateRaw(bad, 64 * kPage, 1), -EFAULT) << bad;
  }
}

TEST_F(StreamTest, RefusesInstructionsThatDoNotExist) {
  ExpectRefused(Stream({Command("nop"), Command("nop").Set("opcode", 0xff),
                        Command("end")}),
                16, HEDDLE_VALIDATE_OPCODE);
}

TEST_F(StreamTest, RefusesAWrongLength) {
  ExpectRefused(Stream({Command("nop"), Command("end").Set("words", 5)}), 16,
                HEDDLE_VALIDATE_LENGTH);
}

TEST_F(StreamTest, RefusesACommandThatIsCut) {
  std::vector<uint32_t> words = Stream({Command("nop"), Command("load")});
  words.resize(16);
  ExpectRefused(words, 16, HEDDLE_VALIDATE_TRUNCATED);
}

TEST_F(StreamTest, RefusesReservedBits) {
  std::vector<uint32_t> words = EmptyStream();
  words[0] |= 1u << 16;
  ExpectRefused(words, 0, HEDDLE_VALIDATE_RESERVED);
}

TEST_F(StreamTest, RefusesAFieldOutOfItsRange) {
  ExpectRefused(
      Stream({Command("nop"), Command("load").Set("n0", 0), Command("end")}),
      16, HEDDLE_VALIDATE_FIELD);
}

TEST_F(StreamTest, RefusesABrokenRule) {
  // Both waits for one semaphore.
  ExpectRefused(Stream({Command("load")
                            .Set("wait0_enable", 1)
                            .Set("wait1_enable", 1)
                            .Set("s0", 1)
                            .Set("t0", 1),
                        Command("end")}),
                0, HEDDLE_VALIDATE_RULE);
}

TEST_F(StreamTest, RefusesToLeaveSram) {
  ExpectRefused(
      Stream({Command("load").Set("sram_addr", 0xffffff), Command("end")}), 0,
      HEDDLE_VALIDATE_SRAM);
}

TEST_F(StreamTest, RefusesToWaitForever) {
  ExpectRefused(
      Stream({Command("nop"),
              Command("load").Set("wait0_enable", 1).Set("wait0_count", 1),
              Command("end")}),
      16, HEDDLE_VALIDATE_WAIT);
}

TEST_F(StreamTest, RefusesNoEnd) {
  uint32_t id = 0;
  drm_heddle_stream_create out;
  EXPECT_EQ(CreateStream(c(), Stream({Command("nop")}), &id, &out), -ENOEXEC);
  EXPECT_EQ(out.error_code, HEDDLE_VALIDATE_END + 0u);
}

TEST_F(StreamTest, RefusesAnEarlyEnd) {
  ExpectRefused(Stream({Command("end"), Command("nop")}), 16,
                HEDDLE_VALIDATE_END);
}

TEST_F(StreamTest, ARefusedOneTakesNoMemory) {
  uint32_t id = 0;
  EXPECT_EQ(CreateStream(c(), Stream({Command("nop")}), &id), -ENOEXEC);
  EXPECT_EQ(MemoryInfo(c()).used, 0u);
}

TEST_F(StreamTest, IsRefusedWhenMemoryIsFull) {
  NewDevice(c(), MemoryInfo(c()).total);
  uint32_t id = 0;
  EXPECT_EQ(CreateStream(c(), EmptyStream(), &id), -ENOSPC);
}

TEST_F(StreamTest, TakesTheLastPage) {
  NewDevice(c(), MemoryInfo(c()).total - kPage);
  const uint32_t id = NewStream(c(), EmptyStream());
  EXPECT_EQ(Do(c(), NewContext(c()), {RunStream(id)}).status, 0u);
}

TEST_F(StreamTest, DestroyGivesItsMemoryBack) {
  const uint32_t id = NewStream(c(), EmptyStream());
  EXPECT_EQ(DestroyStream(c(), id), 0);
  EXPECT_EQ(MemoryInfo(c()).used_here, 0u);
  EXPECT_TRUE(Eventually([&] { return MemoryInfo(c()).used == 0; }));
}

TEST_F(StreamTest, RefusesToDestroyTwice) {
  const uint32_t id = NewStream(c(), EmptyStream());
  EXPECT_EQ(DestroyStream(c(), id), 0);
  EXPECT_EQ(DestroyStream(c(), id), -ENOENT);
}

TEST_F(StreamTest, RefusesToDestroyWhatDoesNotExist) {
  const uint32_t id = NewStream(c(), EmptyStream());
  for (uint32_t other : {0u, id + 1, ~0u}) {
    EXPECT_EQ(DestroyStream(c(), other), -ENOENT) << other;
  }
}

TEST_F(StreamTest, RefusesToDestroyWithPad) {
  const uint32_t id = NewStream(c(), EmptyStream());
  for (uint32_t bit : EachBit()) {
    drm_heddle_stream_destroy args = {id, bit};
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_STREAM_DESTROY, &args), -EINVAL)
        << bit;
  }
  EXPECT_EQ(DestroyStream(c(), id), 0) << "it is still there";
}

}  // namespace
}  // namespace heddle::uapi
