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

// 256 bytes resident, two windows of 384 bytes.
WeightPlan Good() {
  WeightPlan plan;
  plan.device_bytes = 256;
  plan.windows = 2;
  plan.window_bytes = 384;
  plan.resident = {{0, 0, 0, 128}, {0, 512, 128, 128}};
  plan.copies = {{0, 128, 0, 384}, {2, 640, 0, 128}, {2, 960, 128, 40}};
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

TEST(WeightPlan, WindowsAreTakenInTurn) {
  EXPECT_EQ(Good().window_begin(0), 0u);
  EXPECT_EQ(Good().window_begin(1), 384u);
  EXPECT_EQ(Good().window_begin(2), 0u);
  WeightPlan one = Good();
  one.windows = 1;
  EXPECT_EQ(Wrong(one), "");
  EXPECT_EQ(one.window_begin(1), 0u);
  EXPECT_EQ(WeightPlan().window_begin(7), 0u);
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
    const uint64_t to = 128;
    const uint64_t room = resident ? 256 : 384;
    // The last legal ones.
    EXPECT_EQ(wrong(last, {stream, 960, to, 40}), "");
    EXPECT_EQ(wrong(last, {stream, 64, to, 128}), "");
    EXPECT_NE(wrong(last, {stream, 960, to, 41}), "");
    EXPECT_NE(wrong(last, {stream, 1024, to, 1}), "");
    EXPECT_NE(wrong(last, {stream, 0, to, 0}), "");
    EXPECT_NE(wrong(last, {stream, 1, to, 64}), "");
    EXPECT_NE(wrong(last, {stream, 0, to + 1, 32}), "");
    EXPECT_EQ(wrong(last, {stream, 0, room - 64, 64}), "");
    EXPECT_NE(wrong(last, {stream, 0, room - 64, 65}), "");
    EXPECT_NE(wrong(last, {stream, 0, room, 1}), "");
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
}

TEST(WeightPlan, WindowsAreOneOrTwo) {
  for (const uint32_t windows : {0u, 3u, 4u, UINT32_MAX}) {
    WeightPlan plan = Good();
    plan.windows = windows;
    EXPECT_NE(Wrong(plan), "") << windows;
  }
}

// Neither region 0 nor a window has as many bytes as the weights. Nothing may
// be resident; a region has some bytes.
TEST(WeightPlan, RegionsAreSmallerThanTheWeights) {
  for (const uint64_t bytes :
       {kWeights, kWeights + 1, uint64_t{1024}, UINT64_MAX, UINT64_MAX - 63}) {
    WeightPlan plan = Good();
    plan.device_bytes = bytes;
    EXPECT_NE(Wrong(plan), "") << bytes;
    plan = Good();
    plan.window_bytes = bytes;
    EXPECT_NE(Wrong(plan), "") << bytes;
  }
  for (const uint64_t bytes : {0, 320, 383, 385}) {
    WeightPlan plan = Good();
    plan.window_bytes = bytes;
    EXPECT_NE(Wrong(plan), "") << bytes;
  }
  WeightPlan plan = Good();
  plan.device_bytes = 0;
  EXPECT_NE(Wrong(plan), "");
  plan.resident.clear();
  EXPECT_EQ(Wrong(plan), "");
}

// What a card finds in region 0 and the windows, copy by copy.
TEST(WeightPlan, WeightsOfEachStream) {
  Package package;
  std::vector<uint8_t> weights(kWeights);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = i / 64;
  package.weights = weights;
  package.weight_plan = Good();
  EXPECT_EQ(package.region0_bytes(), 256u);
  EXPECT_EQ(package.weight_device_bytes(), 3 * kPageBytes);
  std::vector<uint8_t> region0(kWeights, 255), windows(2 * 384, 255);
  const auto at = [](const std::vector<uint8_t>& in,
                     std::vector<int> expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(in[64 * i], expected[i]) << i;
    }
  };
  package.PrepareWeights(0, region0.data(), windows.data());
  at(region0, {0, 1, 8, 9, 255});
  at(windows, {2, 3, 4, 5, 6, 7, 255, 255, 255, 255, 255, 255});
  package.PrepareWeights(1, region0.data(), windows.data());
  at(windows, {2, 3, 4, 5, 6, 7, 255, 255, 255, 255, 255, 255});
  package.PrepareWeights(2, region0.data(), windows.data());
  at(windows, {10, 11, 15, 5, 6, 7, 255, 255, 255, 255, 255, 255});
  EXPECT_EQ(windows[128 + 40], 4) << "no byte more";
  for (WeightCopy& c : package.weight_plan.copies) c.stream = 1;
  package.PrepareWeights(1, region0.data(), windows.data());
  at(windows, {10, 11, 15, 5, 6, 7, 10, 11, 15, 5, 6, 7});
  package.PrepareWeights(3, region0.data(), windows.data());
  at(region0, {0, 1, 8, 9, 255});

  package.weight_plan = {};
  EXPECT_EQ(package.region0_bytes(), kWeights);
  region0.assign(kWeights, 255);
  package.PrepareWeights(0, region0.data(), nullptr);
  EXPECT_EQ(region0, weights);
  EXPECT_EQ(package.weight_device_bytes(), kPageBytes);
  region0.assign(kWeights, 255);
  package.PrepareWeights(1, region0.data(), nullptr);
  EXPECT_EQ(region0[0], 255);
}

}  // namespace
}  // namespace heddle::package
