// SPDX-License-Identifier: Apache-2.0
// CONTEXT_CREATE and CONTEXT_DESTROY.
#include <set>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class ContextTest : public UapiTest {};

TEST_F(ContextTest, TakesEveryPriority) {
  const uint32_t priorities = DeviceInfo(c()).priorities;
  const uint32_t stream = NewStream(c(), EmptyStream());
  for (uint32_t priority = 0; priority < priorities; ++priority) {
    uint32_t id = 0;
    ASSERT_EQ(CreateContext(c(), priority, &id), 0) << priority;
    EXPECT_EQ(Do(c(), id, {RunStream(stream)}).status, 0u) << priority;
  }
}

TEST_F(ContextTest, GivesIdsThatDiffer) {
  std::set<uint32_t> ids;
  for (int i = 0; i < 100; ++i) ids.insert(NewContext(c()));
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_EQ(ids.count(0), 0u);
}

TEST_F(ContextTest, WantsTheRightToTheHighestPriority) {
  InChild([this] {
    if (!Driver::Get().DropPriority()) return;
    auto mine = Open();
    ASSERT_NE(mine, nullptr);
    uint32_t id = 0;
    EXPECT_EQ(CreateContext(mine.get(), 0, &id), -EACCES);
    EXPECT_EQ(CreateContext(mine.get(), 1, &id), -EACCES);
  });
}

TEST_F(ContextTest, WantsNoRightToTheOtherPriorities) {
  InChild([this] {
    if (!Driver::Get().DropPriority()) return;
    auto mine = Open();
    ASSERT_NE(mine, nullptr);
    for (uint32_t priority : {2u, 3u}) {
      uint32_t id = 0;
      EXPECT_EQ(CreateContext(mine.get(), priority, &id), 0) << priority;
    }
  });
}

TEST_F(ContextTest, RefusesPrioritiesThatDoNotExist) {
  const uint32_t priorities = DeviceInfo(c()).priorities;
  for (uint32_t priority : {priorities, priorities + 1, 0x80000000u, ~0u}) {
    uint32_t id = 0;
    EXPECT_EQ(CreateContext(c(), priority, &id), -EINVAL) << priority;
  }
}

TEST_F(ContextTest, RefusesFlags) {
  for (uint32_t bit : EachBit()) {
    drm_heddle_context_create args = {};
    args.priority = 1;
    args.flags = bit;
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args), -EINVAL)
        << bit;
  }
}

TEST_F(ContextTest, RefusesPad) {
  for (uint32_t bit : EachBit()) {
    drm_heddle_context_create args = {};
    args.priority = 1;
    args.pad = bit;
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args), -EINVAL)
        << bit;
  }
}

TEST_F(ContextTest, Destroys) {
  const uint32_t id = NewContext(c());
  EXPECT_EQ(DestroyContext(c(), id), 0);
  const uint32_t stream = NewStream(c(), EmptyStream());
  EXPECT_EQ(Submit(c(), id, {RunStream(stream)}), -ENOENT);
}

TEST_F(ContextTest, DestroysOnlyTheOneThatIsMeant) {
  const uint32_t stream = NewStream(c(), EmptyStream());
  const uint32_t stays = NewContext(c()), goes = NewContext(c());
  EXPECT_EQ(DestroyContext(c(), goes), 0);
  EXPECT_EQ(Do(c(), stays, {RunStream(stream)}).status, 0u);
}

TEST_F(ContextTest, RefusesToDestroyTwice) {
  const uint32_t id = NewContext(c());
  EXPECT_EQ(DestroyContext(c(), id), 0);
  EXPECT_EQ(DestroyContext(c(), id), -ENOENT);
}

TEST_F(ContextTest, RefusesToDestroyWhatDoesNotExist) {
  const uint32_t id = NewContext(c());
  for (uint32_t other : {0u, id + 1, id + 1000, ~0u}) {
    EXPECT_EQ(DestroyContext(c(), other), -ENOENT) << other;
  }
}

TEST_F(ContextTest, RefusesToDestroyWithPad) {
  const uint32_t id = NewContext(c());
  for (uint32_t bit : EachBit()) {
    drm_heddle_context_destroy args = {id, bit};
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &args), -EINVAL)
        << bit;
  }
  EXPECT_EQ(DestroyContext(c(), id), 0) << "it is still there";
}

TEST_F(ContextTest, KeepsWorkingAfterAFault) {
  const uint32_t context = NewContext(c());
  const uint32_t bo = NewDevice(c(), kPage);
  const uint32_t bad = NewStream(c(), FaultingStream(0));
  const uint32_t good = NewStream(c(), EmptyStream());
  const std::vector<drm_heddle_region> regions = {Region(0, bo, kPage)};
  const uint64_t first = NewJob(c(), context, {RunStream(bad, regions)});
  const uint64_t second = NewJob(c(), context, {RunStream(good)});
  EXPECT_NE(ResultOf(c(), context, first).status, 0u);
  EXPECT_EQ(ResultOf(c(), context, second).status, 0u);
}

}  // namespace
}  // namespace heddle::uapi
