// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/weight_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/package/package.h"

namespace heddle::package {
namespace {

constexpr uint64_t kWeights = 1000, kStreams = 3;

// [0, 256) resident, a window of 384 bytes behind it.
WeightPlan Good() {
  WeightPlan plan;
  plan.device_bytes = 640;
  plan.resident = {{0, 0, 0, 128}, {0, 512, 128, 128}};
  plan.copies = {{0, 128, 256, 384}, {2, 640, 256, 128}, {2, 960, 384, 40}};
  return plan;
}

std::string Wrong(const WeightPlan& plan) {
  return WhatIsWrong(plan, kWeights, kStreams);
}

TEST(WeightPlan, Sums) {
  EXPECT_EQ(Wrong(Good()), "");
  EXPECT_EQ(Good().resident_bytes(), 256u);
  EXPECT_EQ(Good().copied_bytes(), 552u);
  EXPECT_TRUE(WeightPlan().empty());
}

// Each field of a copy, beyond its range by as little and as much as possible.
TEST(WeightPlan, HostileCopies) {
  for (const bool resident : {false, true}) {
    const auto wrong = [&](size_t i, const WeightCopy& change) {
      WeightPlan plan = Good();
      (resident ? plan.resident : plan.copies)[i] = change;
      return Wrong(plan);
    };
    const size_t last = resident ? 1 : 2;
    const uint32_t stream = resident ? 0 : 2;
    const uint64_t to = resident ? 128 : 384;
    // The last legal ones.
    EXPECT_EQ(wrong(last, {stream, 960, to, 40}), "");
    EXPECT_EQ(wrong(last, {stream, 64, to, 128}), "");
    EXPECT_NE(wrong(last, {stream, 960, to, 41}), "");
    EXPECT_NE(wrong(last, {stream, 1024, to, 1}), "");
    EXPECT_NE(wrong(last, {stream, 0, to, 0}), "");
    EXPECT_NE(wrong(last, {stream, 1, to, 64}), "");
    EXPECT_NE(wrong(last, {stream, 0, to + 1, 32}), "");
    EXPECT_NE(wrong(last, {stream, 0, 576, 65}), "");
    EXPECT_NE(wrong(last, {stream, 0, 640, 1}), "");
    EXPECT_NE(wrong(last, {stream, 64, to, UINT64_MAX}), "");
    EXPECT_NE(wrong(last, {stream, 64, to, UINT64_MAX - 63}), "");
    EXPECT_NE(wrong(last, {stream, UINT64_MAX - 63, to, 64}), "");
    EXPECT_NE(wrong(last, {stream, 0, UINT64_MAX - 63, 64}), "");
    EXPECT_NE(wrong(last, {3, 0, to, 64}), "");
    EXPECT_NE(wrong(last, {UINT32_MAX, 0, to, 64}), "");
  }
}

TEST(WeightPlan, OverlapsAndOrder) {
  WeightPlan plan = Good();
  plan.resident[0].size = 129;
  EXPECT_NE(Wrong(plan), "");
  plan = Good();
  plan.resident[1].stream = 1;
  EXPECT_NE(Wrong(plan), "");
  plan = Good();
  plan.copies[1].size = 129;
  EXPECT_NE(Wrong(plan), "");
  plan = Good();
  std::swap(plan.copies[0], plan.copies[1]);
  EXPECT_NE(Wrong(plan), "");
  plan = Good();
  std::swap(plan.copies[1], plan.copies[2]);
  EXPECT_NE(Wrong(plan), "");
  // On resident weights: from before, from inside, all of them.
  for (const uint64_t to : {0, 64, 192}) {
    plan = Good();
    plan.copies = {{1, 0, to, 128}};
    EXPECT_NE(Wrong(plan), "") << to;
  }
  plan.resident = {{0, 0, 256, 64}};
  plan.copies = {{1, 0, 192, 64}, {1, 0, 320, 320}};
  EXPECT_EQ(Wrong(plan), "");
  plan.copies[0].size = 65;
  EXPECT_NE(Wrong(plan), "");
  plan.copies = {{1, 0, 0, 640}};
  EXPECT_NE(Wrong(plan), "");
}

TEST(WeightPlan, Region0IsSmallerThanTheWeights) {
  for (const uint64_t bytes : {uint64_t{0}, kWeights, kWeights + 1}) {
    WeightPlan plan = Good();
    plan.device_bytes = bytes;
    EXPECT_NE(Wrong(plan), "") << bytes;
  }
}

// What a card finds in region 0, copy by copy.
TEST(WeightPlan, Region0OfEachStream) {
  Package package;
  std::vector<uint8_t> weights(kWeights);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = i / 64;
  package.weights = weights;
  package.weight_plan = Good();
  EXPECT_EQ(package.region0_bytes(), 640u);
  std::vector<uint8_t> region0(640, 255);
  const auto at = [&](std::vector<int> expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(region0[64 * i], expected[i]) << i;
    }
  };
  package.PrepareRegion0(0, region0.data());
  at({0, 1, 8, 9, 2, 3, 4, 5, 6, 7});
  package.PrepareRegion0(1, region0.data());
  at({0, 1, 8, 9, 2, 3, 4, 5, 6, 7});
  package.PrepareRegion0(2, region0.data());
  at({0, 1, 8, 9, 10, 11, 15, 5, 6, 7});
  EXPECT_EQ(region0[384 + 40], 4) << "no byte more";

  package.weight_plan = {};
  EXPECT_EQ(package.region0_bytes(), kWeights);
  region0.assign(kWeights, 255);
  package.PrepareRegion0(0, region0.data());
  EXPECT_EQ(region0, weights);
  region0.assign(kWeights, 255);
  package.PrepareRegion0(1, region0.data());
  EXPECT_EQ(region0[0], 255);
}

}  // namespace
}  // namespace heddle::package
