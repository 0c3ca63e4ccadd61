// SPDX-License-Identifier: GPL-2.0-only OR MIT
extern "C" {
#include "kmd/core/heddle_args.h"

#include "heddle_hw.h"
}
#include <errno.h>

#include "gtest/gtest.h"

namespace {

TEST(HeddleArgs, Arrays) {
  drm_heddle_array a = {0, 0, 0};
  EXPECT_EQ(heddle_check_array(&a, 16, 4), 0)
      << "empty: the stride does not matter";
  a = {1, 4, 16};
  EXPECT_EQ(heddle_check_array(&a, 16, 4), 0);
  a.count = 5;
  EXPECT_EQ(heddle_check_array(&a, 16, 4), -EINVAL);
  a = {1, 1, 15};
  EXPECT_EQ(heddle_check_array(&a, 16, 4), -EINVAL);
  a.stride = 4096;
  EXPECT_EQ(heddle_check_array(&a, 16, 4), 0) << "structures may have grown";
}

TEST(HeddleArgs, Query) {
  drm_heddle_query q = {};
  EXPECT_EQ(heddle_check_query(&q), 0) << "size only";
  q.data = {1, 2, 8};
  EXPECT_EQ(heddle_check_query(&q), -EINVAL);
  q.data.count = 1;
  EXPECT_EQ(heddle_check_query(&q), 0);
  q.pad = 1;
  EXPECT_EQ(heddle_check_query(&q), -EINVAL);
  q.pad = 0;
  q.type = DRM_HEDDLE_QUERY_COUNTERS + 1;
  EXPECT_EQ(heddle_check_query(&q), -EINVAL);
}

TEST(HeddleArgs, ContextCreate) {
  drm_heddle_context_create c = {};
  EXPECT_EQ(heddle_check_context_create(&c, false), -EACCES);
  EXPECT_EQ(heddle_check_context_create(&c, true), 0);
  c.priority = HEDDLE_RINGS - 1;
  EXPECT_EQ(heddle_check_context_create(&c, false), 0);
  c.priority = HEDDLE_RINGS;
  EXPECT_EQ(heddle_check_context_create(&c, true), -EINVAL);
  c.priority = 1;
  c.flags = 1;
  EXPECT_EQ(heddle_check_context_create(&c, true), -EINVAL);
  drm_heddle_context_destroy d = {1, 1};
  EXPECT_EQ(heddle_check_context_destroy(&d), -EINVAL);
}

TEST(HeddleArgs, BoAndStreamCreate) {
  drm_heddle_bo_create b = {};
  EXPECT_EQ(heddle_check_bo_create(&b), -EINVAL);
  b.size = 1;
  EXPECT_EQ(heddle_check_bo_create(&b), 0);
  b.placement = 2;
  EXPECT_EQ(heddle_check_bo_create(&b), -EINVAL);
  drm_heddle_stream_create s = {};
  s.data = {1, 16, 1};
  EXPECT_EQ(heddle_check_stream_create(&s), 0);
  for (u32 count : {0u, 15u, 17u, HEDDLE_STREAM_BYTES_MAX + 16, ~0u}) {
    s.data.count = count;
    EXPECT_EQ(heddle_check_stream_create(&s), -EINVAL) << count;
  }
  s.data = {1, 16, 4};
  EXPECT_EQ(heddle_check_stream_create(&s), -EINVAL);
}

TEST(HeddleArgs, Submit) {
  drm_heddle_submit s = {};
  EXPECT_EQ(heddle_check_submit(&s), -EINVAL);
  s.steps = {1, HEDDLE_STEPS_MAX, sizeof(drm_heddle_step)};
  EXPECT_EQ(heddle_check_submit(&s), 0);
  s.steps.count++;
  EXPECT_EQ(heddle_check_submit(&s), -EINVAL);
  s.steps.count = 1;
  s.in_syncs = {1, 1, 8};
  EXPECT_EQ(heddle_check_submit(&s), -EINVAL);
  s.in_syncs = {};
  s.out_syncs = {1, ~0u, sizeof(drm_heddle_sync)};
  EXPECT_EQ(heddle_check_submit(&s), -EINVAL);
}

TEST(HeddleArgs, Steps) {
  drm_heddle_step s = {};
  for (u32 type : {0u, 4u, 6u, ~0u}) {
    s.type = type;
    s.length = 4;
    EXPECT_EQ(heddle_check_step(&s), -EINVAL) << type;
  }
  s.type = DRM_HEDDLE_FILL;
  EXPECT_EQ(heddle_check_step(&s), 0);
  s.length = 6;
  EXPECT_EQ(heddle_check_step(&s), -EINVAL);
  s.type = DRM_HEDDLE_COPY_IN;
  EXPECT_EQ(heddle_check_step(&s), 0);
  s.length = 0;
  EXPECT_EQ(heddle_check_step(&s), -EINVAL);
  s.type = DRM_HEDDLE_RUN;
  s.regions = {1, HEDDLE_REGIONS, sizeof(drm_heddle_region)};
  EXPECT_EQ(heddle_check_step(&s), 0);
  s.regions.count++;
  EXPECT_EQ(heddle_check_step(&s), -EINVAL);
}

TEST(HeddleArgs, Regions) {
  drm_heddle_region r = {};
  u32 used = 0;
  r.size = 1;
  r.index = HEDDLE_REGIONS - 1;
  EXPECT_EQ(heddle_check_region(&r, &used), 0);
  EXPECT_EQ(used, 1u << (HEDDLE_REGIONS - 1));
  EXPECT_EQ(heddle_check_region(&r, &used), -EINVAL) << "bound twice";
  r.index = HEDDLE_REGIONS;
  EXPECT_EQ(heddle_check_region(&r, &used), -EINVAL);
  r.index = 0;
  r.offset = 32;
  EXPECT_EQ(heddle_check_region(&r, &used), -EINVAL);
  r.offset = 64;
  r.flags = 2;
  EXPECT_EQ(heddle_check_region(&r, &used), -EINVAL);
  r.flags = DRM_HEDDLE_REGION_WRITE;
  EXPECT_EQ(heddle_check_region(&r, &used), 0);
}

TEST(HeddleArgs, RangesDoNotWrap) {
  EXPECT_EQ(heddle_check_range(0, 10, 10), 0);
  EXPECT_EQ(heddle_check_range(1, 10, 10), -ERANGE);
  EXPECT_EQ(heddle_check_range(~u64{0}, 2, 10), -ERANGE);
  EXPECT_EQ(heddle_check_range(2, ~u64{0}, ~u64{0}), -ERANGE);
}

TEST(HeddleArgs, WaitAndEvents) {
  drm_heddle_wait w = {};
  EXPECT_EQ(heddle_check_wait(&w), -EINVAL) << "jobs count from 1";
  w.seqno = 1;
  EXPECT_EQ(heddle_check_wait(&w), 0);
  w.result = {1, 2, sizeof(drm_heddle_result)};
  EXPECT_EQ(heddle_check_wait(&w), -EINVAL);
  drm_heddle_events e = {};
  EXPECT_EQ(heddle_check_events(&e), -EINVAL);
  e.events = {1, 4, sizeof(drm_heddle_event)};
  EXPECT_EQ(heddle_check_events(&e), 0);
}

}  // namespace
