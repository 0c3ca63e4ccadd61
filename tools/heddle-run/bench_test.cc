// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace heddle::run {
namespace {

std::vector<double> UpTo(int n) {
  std::vector<double> ms;
  for (int i = 1; i <= n; ++i) ms.push_back(i);
  std::shuffle(ms.begin(), ms.end(), std::mt19937(1));
  return ms;
}

TEST(Bench, Percentiles) {
  const BenchSummary s = Summarize(UpTo(1000));
  EXPECT_EQ(s.runs, 1000u);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 1000);
  EXPECT_EQ(s.median, 500.5);
  EXPECT_EQ(s.mean, 500.5);
  EXPECT_EQ(s.p90, 900);
  EXPECT_EQ(s.p95, 950);
  EXPECT_EQ(s.p99, 990);
  EXPECT_EQ(s.p99_9, 999);
  EXPECT_NEAR(s.per_second, 1000 / 500.5, 1e-9);
  EXPECT_NEAR(s.relative_mad, 250 / 500.5, 1e-3);
  EXPECT_FALSE(s.halves_differ);
}

TEST(Bench, FewRunsHaveNoTail) {
  EXPECT_FALSE(Summarize(UpTo(999)).p99_9.has_value());
  EXPECT_TRUE(Summarize(UpTo(100)).p99.has_value());
  EXPECT_FALSE(Summarize(UpTo(99)).p99.has_value());
  EXPECT_EQ(Summarize(UpTo(10)).p90, 9);
  EXPECT_FALSE(Summarize(UpTo(9)).p90.has_value());
  const BenchSummary one = Summarize({3});
  EXPECT_EQ(one.median, 3);
  EXPECT_FALSE(one.halves_differ);
  EXPECT_EQ(Summarize({}).runs, 0u);
}

TEST(Bench, AStepInTheMiddleIsSeen) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.1);
  std::vector<double> quiet, step;
  for (int i = 0; i < 100; ++i) {
    quiet.push_back(10 + noise(random));
    step.push_back((i < 50 ? 10 : 11) + noise(random));
  }
  EXPECT_FALSE(Summarize(quiet).halves_differ);
  EXPECT_TRUE(Summarize(step).halves_differ);
  EXPECT_NEAR(Summarize(step).half_difference, 0.1, 0.02);
}

}  // namespace
}  // namespace heddle::run
