// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/choose_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

namespace heddle::compiler {
namespace {

constexpr Place C = Place::kCard, H = Place::kHost, L = Place::kControl;

// Node i reads the results of the nodes in reads[i] (-1: the graph's input) and
// computes 256 floats. What nobody reads is an output.
Graph GraphOf(const std::vector<std::vector<int>>& reads) {
  Graph g;
  Tensor t;
  t.type = DataType::kFloat;
  t.shape = {256};
  t.shape_known = true;
  t.name = "x";
  g.inputs = {g.AddTensor(t)};
  std::vector<bool> read(reads.size(), false);
  for (size_t i = 0; i < reads.size(); ++i) {
    t.name = "t" + std::to_string(i);
    Node node;
    node.outputs = {g.AddTensor(t)};
    for (int from : reads[i]) {
      node.inputs.push_back(from + 1);
      if (from >= 0) read[from] = true;
    }
    g.nodes.push_back(node);
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    if (!read[i]) g.outputs.push_back(g.nodes[i].outputs[0]);
  }
  return g;
}

HostProfile Profile(double job_us, double byte_ns) {
  HostProfile profile;
  profile.job_us = job_us;
  profile.transfer_byte_ns = byte_ns;
  return profile;
}

TEST(Crossings, AChain) {
  const Graph g = GraphOf({{-1}, {0}, {1}, {2}});
  // x in, t1 out; t2 in, t3 out.
  Crossings c = CrossingsOf(g, {C, C, H, C});
  EXPECT_EQ(c.jobs, 2);
  EXPECT_EQ(c.bytes, 4 * 1024u);
  c = CrossingsOf(g, {H, H, H, H});
  EXPECT_EQ(c.jobs, 0);
  EXPECT_EQ(c.bytes, 0u);
  c = CrossingsOf(g, {C, L, C, C});
  EXPECT_EQ(c.jobs, 2);
  EXPECT_EQ(c.bytes, 4 * 1024u);
}

// A tensor is copied out once, and into each part that reads it.
TEST(Crossings, SeveralReaders) {
  const Graph g = GraphOf({{-1}, {0}, {0}, {0, 1}, {2, 3}});
  const Crossings c = CrossingsOf(g, {C, H, H, C, C});
  EXPECT_EQ(c.jobs, 2);
  // x, t0 out for 1 to 3; t0, t1 and t2 in; t4 out.
  EXPECT_EQ(c.bytes, 6 * 1024u);
}

TEST(CostOf, AddsNodesJobsAndBytes) {
  const Graph g = GraphOf({{-1}, {0}});
  const std::vector<NodeCost> costs = {{100, 7000}, {200, 3000}};
  EXPECT_DOUBLE_EQ(CostOf(g, {C, H}, costs, Profile(10, 0.5)),
                   100 + 3000 + 10e3 + 2048 * 0.5);
  EXPECT_DOUBLE_EQ(CostOf(g, {H, H}, costs, Profile(10, 0.5)), 10000);
}

// The host has to take the nodes at both ends.
TEST(ChoosePlaces, IslandsThatDoNotPayGo) {
  const Graph g = GraphOf({{-1}, {0}, {1}, {2}});
  const std::vector<Place> card = {H, C, C, H};
  const std::vector<bool> movable = {false, true, true, false};
  const auto choose = [&](double host_ns) {
    return ChoosePlaces(g, card, movable,
                        {{0, 50}, {100, host_ns}, {100, host_ns}, {0, 50}},
                        Profile(10, 1));
  };
  // A job and two tensors are 12048 ns.
  EXPECT_EQ(choose(6000), std::vector<Place>({H, H, H, H}));
  EXPECT_EQ(choose(6200), card);
}

// A part of an island, where that makes what crosses smaller, or a job fewer.
TEST(ChoosePlaces, ANodeBetweenTwoOfTheHost) {
  const Graph g = GraphOf({{-1}, {0}, {1}, {2}, {3}});
  const std::vector<NodeCost> costs = {
      {100, 90000}, {0, 10}, {100, 900}, {0, 10}, {100, 90000}};
  const std::vector<bool> movable = {true, false, true, false, true};
  EXPECT_EQ(ChoosePlaces(g, {C, H, C, H, C}, movable, costs, Profile(10, 0.1)),
            std::vector<Place>({C, H, H, H, C}));
  EXPECT_EQ(ChoosePlaces(g, {C, H, C, H, C}, {true, false, false, false, true},
                         costs, Profile(10, 0.1)),
            std::vector<Place>({C, H, C, H, C}));
}

TEST(ChoosePlaces, FreeCrossingsLeaveEverythingOnTheFasterSide) {
  const Graph g = GraphOf({{-1}, {0}, {1}});
  EXPECT_EQ(ChoosePlaces(g, {C, C, C}, {true, true, true},
                         {{5, 5}, {9, 4}, {4, 9}}, Profile(0, 0)),
            std::vector<Place>({C, H, C}));
}

TEST(ChoosePlaces, ControlFlowStays) {
  const Graph g = GraphOf({{-1}, {0}, {1}});
  EXPECT_EQ(ChoosePlaces(g, {C, L, C}, {true, false, true},
                         {{10, 20}, {0, 0}, {10, 20}}, Profile(10, 1)),
            std::vector<Place>({H, L, H}));
}

// Never dearer than where it begins, and against all possibilities not often
// dearer than the best.
TEST(ChoosePlaces, RandomGraphs) {
  std::mt19937 random(3);
  int missed = 0;
  double worst = 1;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    const size_t count = 1 + random() % 9;
    std::vector<std::vector<int>> reads(count);
    std::vector<Place> card;
    std::vector<bool> movable;
    std::vector<NodeCost> costs;
    for (size_t n = 0; n < count; ++n) {
      for (size_t i = 0; i < 1 + random() % 2; ++i) {
        reads[n].push_back(static_cast<int>(random() % (n + 1)) - 1);
      }
      const bool host = random() % 4 == 0;
      card.push_back(host ? H : C);
      movable.push_back(!host && random() % 5 != 0);
      costs.push_back({static_cast<double>(random() % 2000),
                       static_cast<double>(random() % 20000)});
    }
    const Graph g = GraphOf(reads);
    const HostProfile profile =
        Profile(static_cast<double>(random() % 20), random() % 3 * 0.5);
    const std::vector<Place> found =
        ChoosePlaces(g, card, movable, costs, profile);
    const double cost = CostOf(g, found, costs, profile);
    EXPECT_LE(cost, CostOf(g, card, costs, profile));
    double best = cost;
    for (unsigned bits = 0; bits < 1u << count; ++bits) {
      std::vector<Place> places = card;
      bool possible = true;
      for (size_t n = 0; n < count; ++n) {
        if ((bits >> n & 1) == 0) continue;
        possible &= movable[n];
        places[n] = H;
      }
      if (possible) best = std::min(best, CostOf(g, places, costs, profile));
    }
    for (size_t n = 0; n < count; ++n) {
      EXPECT_TRUE(movable[n] || found[n] == card[n]) << n;
    }
    if (cost > best * 1.000001) {
      ++missed;
      worst = std::max(worst, cost / best);
    }
  }
  std::printf("%d of %d are not the best, %.3f times it at worst\n", missed,
              kRounds, worst);
  EXPECT_LE(missed, kRounds / 20);
  EXPECT_LE(worst, 1.25);
}

// As large as a network may become, in bounded time.
TEST(ChoosePlaces, ManyNodes) {
  constexpr int kCount = 30000;
  std::vector<std::vector<int>> reads(kCount);
  std::vector<Place> card;
  std::vector<bool> movable;
  std::vector<NodeCost> costs;
  for (int n = 0; n < kCount; ++n) {
    reads[n] = {n - 1};
    if (n > 3) reads[n].push_back(n - 4);
    card.push_back(n % 50 == 7 ? H : C);
    movable.push_back(n % 50 != 7);
    costs.push_back({10.0 * (n % 3), 100.0 * (n % 7)});
  }
  const Graph g = GraphOf(reads);
  const HostProfile profile = Profile(10, 0.2);
  const auto found = ChoosePlaces(g, card, movable, costs, profile);
  EXPECT_LE(CostOf(g, found, costs, profile), CostOf(g, card, costs, profile));
}

}  // namespace
}  // namespace heddle::compiler
