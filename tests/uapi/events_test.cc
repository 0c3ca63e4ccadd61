// SPDX-License-Identifier: Apache-2.0
// EVENTS.
#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class EventsTest : public UapiTest {
 protected:
  int Ask(const drm_heddle_array& array, uint64_t deadline_ns = 0) {
    drm_heddle_events args = {};
    args.events = array;
    args.deadline_ns = deadline_ns;
    return c()->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &args);
  }
};

TEST_F(EventsTest, ANewFileHasNone) {
  drm_heddle_event event;
  EXPECT_EQ(NextEvent(c(), 0, &event), -ETIME);
}

TEST_F(EventsTest, DoesNotWaitPastItsDeadline) {
  drm_heddle_event event;
  EXPECT_EQ(NextEvent(c(), 1, &event), -ETIME);
  const uint64_t deadline = NowNs() + 20 * 1000000;
  EXPECT_EQ(NextEvent(c(), deadline, &event), -ETIME);
  EXPECT_GE(NowNs(), deadline) << "too early";
}

TEST_F(EventsTest, RefusesNoElement) {
  drm_heddle_event event;
  EXPECT_EQ(Ask(ArrayOf(&event, 0)), -EINVAL);
}

TEST_F(EventsTest, RefusesASmallerStride) {
  drm_heddle_event event;
  for (uint32_t stride : {0u, 8u, unsigned{sizeof(event) - 1}}) {
    EXPECT_EQ(Ask({reinterpret_cast<uint64_t>(&event), 1, stride}), -EINVAL)
        << stride;
  }
}

TEST_F(EventsTest, TakesManyElements) {
  std::vector<drm_heddle_event> events(256);
  EXPECT_EQ(Ask(ArrayOf(events)), -ETIME);
}

TEST_F(EventsTest, TellsOfAReset) {
  auto other = Open();
  const uint32_t context = NewContext(c());
  const uint32_t stream = NewStream(c(), EmptyStream());
  if (!Driver::Get().Control("fault stuck_engine")) {
    GTEST_SKIP() << "this card cannot be told to fail";
  }
  const uint64_t before = NowNs();
  const uint64_t seqno =
      NewJob(c(), context, {RunStream(stream)}, {}, kSecond / 4);
  const auto result = ResultOf(c(), context, seqno);
  EXPECT_NE(result.status, 0u);
  EXPECT_EQ(result.error, uint32_t{ETIME});
  drm_heddle_event event = {};
  ASSERT_EQ(NextEvent(c(), InMs(20000), &event), 0);
  EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_RESET + 0u);
  EXPECT_EQ(event.context, context);
  EXPECT_EQ(event.value, seqno);
  EXPECT_GE(event.time_ns, before);
  EXPECT_LE(event.time_ns, NowNs());
  // Others hear of it, but not whose fault it was.
  ASSERT_EQ(NextEvent(other.get(), InMs(20000), &event), 0);
  EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_RESET + 0u);
  EXPECT_EQ(event.context, 0u);
  EXPECT_EQ(event.value, 0u);
  EXPECT_EQ(Do(c(), context, {RunStream(stream)}).status, 0u)
      << "it works again";
}

// Without progress for so long a job is aborted, and others' are not.
TEST_F(EventsTest, TimeoutSparesTheJobsOfOthers) {
  auto other = Open();
  const uint32_t mine = NewContext(c()), theirs = NewContext(other.get());
  const uint32_t stream = NewStream(c(), EmptyStream());
  const uint32_t bo = NewDevice(other.get(), kPage);
  auto host = NewHost(other.get(), kPage);
  if (!Driver::Get().Control("fault stuck_engine")) {
    GTEST_SKIP() << "this card cannot be told to fail";
  }
  const uint64_t resets = Counters(c()).resets;
  const uint64_t bad = NewJob(c(), mine, {RunStream(stream)}, {}, kSecond / 4);
  const uint64_t good =
      NewJob(other.get(), theirs,
             {Fill(bo, kPage, 31), CopyOut(bo, host->handle, kPage)});
  EXPECT_NE(ResultOf(c(), mine, bad).status, 0u);
  EXPECT_EQ(ResultOf(other.get(), theirs, good).status, 0u);
  EXPECT_EQ(host->Word(1023), 31u);
  EXPECT_EQ(Counters(c()).resets, resets + 1);
  // The reset is not over when the job is.
  drm_heddle_event event = {};
  EXPECT_EQ(NextEvent(c(), InMs(20000), &event), 0);
  EXPECT_EQ(NextEvent(other.get(), InMs(20000), &event), 0);
}

TEST_F(EventsTest, TellsOfAChangeOfMemory) {
  const auto before = MemoryInfo(c());
  if (!Driver::Get().Control("memory 128M")) {
    GTEST_SKIP() << "this card cannot be told to change";
  }
  drm_heddle_event event = {};
  ASSERT_EQ(NextEvent(c(), InMs(20000), &event), 0);
  EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_MEMORY + 0u);
  EXPECT_EQ(event.value, MemoryInfo(c()).total);
  EXPECT_EQ(event.value, before.total + 64 * kMiB);
  EXPECT_GT(MemoryInfo(c()).generation, before.generation);
  Driver::Get().Control("memory 64M");
  ASSERT_EQ(NextEvent(c(), InMs(20000), &event), 0);
  EXPECT_EQ(event.value, before.total);
}

TEST_F(EventsTest, DoesNotTouchItsArrayWithoutAnEvent) {
  for (uint64_t bad : Driver::Get().BadPointers()) {
    // With nothing to write there is nothing to refuse.
    EXPECT_EQ(Ask({bad, 1, sizeof(drm_heddle_event)}), -ETIME) << bad;
  }
}

}  // namespace
}  // namespace heddle::uapi
