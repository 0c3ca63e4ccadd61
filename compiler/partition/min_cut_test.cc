// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/min_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace heddle::compiler {
namespace {

struct Problem {
  std::vector<std::pair<int64_t, int64_t>> nodes;  // costs of the two sides
  std::vector<std::tuple<int, int, int64_t>> edges;

  int64_t CostOf(const std::vector<bool>& second) const {
    int64_t cost = 0;
    for (size_t n = 0; n < nodes.size(); ++n) {
      cost += second[n] ? nodes[n].second : nodes[n].first;
    }
    for (const auto& [a, b, c] : edges) cost += !second[a] && second[b] ? c : 0;
    return cost;
  }
  MinCut Make() const {
    MinCut cut(static_cast<int>(nodes.size()));
    for (size_t n = 0; n < nodes.size(); ++n) {
      cut.SetCosts(static_cast<int>(n), nodes[n].first, nodes[n].second);
    }
    for (const auto& [a, b, c] : edges) cut.AddEdge(a, b, c);
    return cut;
  }
};

TEST(MinCut, AnIslandThatDoesNotPay) {
  // The second side takes the ends; the middle is a little faster on the first.
  const Problem dear{{{MinCut::kNever, 0}, {1, 5}, {MinCut::kNever, 0}},
                     {{1, 0, 3}, {1, 2, 3}}};
  EXPECT_EQ(*dear.Make().Solve(1000), std::vector<bool>({true, true, true}));
  const Problem cheap{{{MinCut::kNever, 0}, {1, 8}, {MinCut::kNever, 0}},
                      {{1, 0, 3}, {1, 2, 3}}};
  EXPECT_EQ(*cheap.Make().Solve(1000), std::vector<bool>({true, false, true}));
}

TEST(MinCut, OfEqualCostsTheFirstSide) {
  const Problem p{{{4, 4}, {0, 0}, {MinCut::kNever, 0}}, {{0, 1, 2}}};
  EXPECT_EQ(*p.Make().Solve(1000), std::vector<bool>({false, false, true}));
}

// Against all ways to share up to ten nodes.
TEST(MinCut, RandomProblems) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    Problem p;
    const int count = 1 + static_cast<int>(random() % 10);
    for (int n = 0; n < count; ++n) {
      p.nodes.emplace_back(random() % 6 == 0 ? MinCut::kNever : random() % 20,
                           random() % 20);
      if (random() % 6 == 0) p.nodes.back() = {random() % 20, MinCut::kNever};
    }
    for (int e = static_cast<int>(random() % 24); e > 0; --e) {
      p.edges.emplace_back(random() % count, random() % count, random() % 12);
    }
    int64_t best = INT64_MAX;
    int fewest = 0;
    for (unsigned bits = 0; bits < 1u << count; ++bits) {
      std::vector<bool> second;
      bool never = false;
      for (int n = 0; n < count; ++n) {
        second.push_back(bits >> n & 1);
        never |= (second[n] ? p.nodes[n].second : p.nodes[n].first) ==
                 MinCut::kNever;
      }
      if (never) continue;
      const int size = static_cast<int>(__builtin_popcount(bits));
      const int64_t cost = p.CostOf(second);
      if (std::make_pair(cost, size) < std::make_pair(best, fewest)) {
        best = cost;
        fewest = size;
      }
    }
    const auto found = p.Make().Solve(1 << 20);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(p.CostOf(*found), best);
    EXPECT_EQ(std::count(found->begin(), found->end(), true), fewest);
  }
}

// 10^5 nodes in a chain of which every hundredth is forced.
TEST(MinCut, ALongChain) {
  Problem p;
  constexpr int kCount = 100000;
  for (int n = 0; n < kCount; ++n) {
    p.nodes.emplace_back(n % 100 == 99 ? MinCut::kNever : 10, n % 7 * 5);
    if (n > 0) p.edges.emplace_back(n - 1, n, 50);
    if (n > 0) p.edges.emplace_back(n, n - 1, 50);
  }
  const auto found = p.Make().Solve(int64_t{1} << 28);
  ASSERT_TRUE(found.has_value());
  EXPECT_LE(p.CostOf(*found), p.CostOf(std::vector<bool>(kCount, true)));
}

TEST(MinCut, StepsAreBounded) {
  const Problem p{{{0, 9}, {9, 0}}, {{0, 1, 3}}};
  EXPECT_FALSE(p.Make().Solve(3).has_value());
  EXPECT_TRUE(p.Make().Solve(100).has_value());
}

}  // namespace
}  // namespace heddle::compiler
