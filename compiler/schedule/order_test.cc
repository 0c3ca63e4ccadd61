// SPDX-License-Identifier: Apache-2.0
// Orders of random graphs: valid, never with a higher peak than the one given,
// and for small ones with the least there is, which is found by trying all.
#include "compiler/schedule/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

namespace heddle::compiler {
namespace {

// Each task makes a tensor of its own.
OrderProblem Tasks(const std::vector<std::vector<int>>& inputs,
                   const std::vector<uint64_t>& bytes) {
  OrderProblem problem;
  for (size_t i = 0; i < inputs.size(); ++i) {
    OrderTask task;
    task.after = inputs[i];
    task.uses = inputs[i];
    task.uses.push_back(static_cast<int>(i));
    problem.tasks.push_back(task);
  }
  problem.bytes = problem.handed = bytes;
  return problem;
}

OrderProblem Random(std::mt19937* random, int count, int reach) {
  std::vector<std::vector<int>> inputs(count);
  std::vector<uint64_t> bytes(count);
  for (int i = 0; i < count; ++i) {
    bytes[i] = 1 + (*random)() % 100;
    if ((*random)() % 5 == 0) bytes[i] *= 20;
    for (int k = std::max(0, i - reach); k < i; ++k) {
      if ((*random)() % (reach / 2 + 1) == 0) inputs[i].push_back(k);
    }
  }
  OrderProblem problem = Tasks(inputs, bytes);
  for (OrderTask& task : problem.tasks) {
    if ((*random)() % 4 == 0) task.own = (*random)() % 200;
  }
  return problem;
}

// Chains between a fork and a join: what branches of a network look like.
OrderProblem Branches(std::mt19937* random, int branches, int length) {
  std::vector<std::vector<int>> inputs = {{}};
  std::vector<int> ends;
  for (int b = 0; b < branches; ++b) {
    int last = 0;
    for (int i = (*random)() % length; i >= 0; --i) {
      inputs.push_back({last});
      last = static_cast<int>(inputs.size()) - 1;
    }
    ends.push_back(last);
  }
  inputs.push_back(ends);
  std::vector<uint64_t> bytes(inputs.size());
  for (uint64_t& b : bytes) b = 1 + (*random)() % 1000;
  return Tasks(inputs, bytes);
}

bool Valid(const OrderProblem& problem, const std::vector<int>& order) {
  std::vector<bool> done(problem.tasks.size(), false);
  for (int i : order) {
    if (done[i]) return false;
    for (int other : problem.tasks[i].after) {
      if (!done[other]) return false;
    }
    done[i] = true;
  }
  return order.size() == problem.tasks.size();
}

std::vector<int> AsGiven(const OrderProblem& problem) {
  std::vector<int> order(problem.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The least of all orders, counted in another way: what lives during each task
// from the tensors' uses.
uint64_t PeakOf(const OrderProblem& problem, const std::vector<int>& order) {
  uint64_t peak = 0;
  for (size_t at = 0; at < order.size(); ++at) {
    uint64_t live = problem.tasks[order[at]].own;
    for (size_t t = 0; t < problem.bytes.size(); ++t) {
      bool before = false, behind = false;
      for (size_t k = 0; k < order.size(); ++k) {
        const std::vector<int>& uses = problem.tasks[order[k]].uses;
        if (std::find(uses.begin(), uses.end(), t) == uses.end()) continue;
        before |= k <= at;
        behind |= k >= at;
      }
      if (before && behind) live += problem.bytes[t];
    }
    peak = std::max(peak, live);
  }
  return peak;
}

uint64_t LeastPeak(const OrderProblem& problem) {
  std::vector<int> order = AsGiven(problem);
  uint64_t least = UINT64_MAX;
  do {
    if (Valid(problem, order)) {
      least = std::min(least, PeakOf(problem, order));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(Order, SmallGraphsHaveTheLeastPeak) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const OrderProblem problem =
        i % 2 ? Random(&random, 7, 4) : Branches(&random, 2 + i % 3, 2);
    const std::vector<int> order = ImproveOrder(problem);
    ASSERT_TRUE(Valid(problem, order));
    EXPECT_EQ(CostOf(problem, order).peak, PeakOf(problem, order));
    if (problem.tasks.size() > 8) continue;
    EXPECT_EQ(CostOf(problem, order).peak, LeastPeak(problem)) << i;
  }
}

// Chains that were put together as runs lose nothing: with every task a run of
// its own, windows are searched over all sets.
TEST(Order, RunsOfChainsLoseNothing) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    // At most 3 x 5 tasks between the ends, so few sets (6^3).
    const OrderProblem problem = Branches(&random, 3, 5);
    const size_t n = problem.tasks.size();
    if (n < 13) continue;  // no runs are made
    // The least peak over sets of tasks that are done.
    std::vector<uint64_t> least(size_t{1} << n, UINT64_MAX);
    std::vector<int> live(problem.bytes.size());
    least[0] = 0;
    for (size_t done = 0; done + 1 < least.size(); ++done) {
      if (least[done] == UINT64_MAX) continue;
      for (size_t task = 0; task < n; ++task) {
        if (done >> task & 1) continue;
        bool ready = true;
        for (int p : problem.tasks[task].after) ready &= done >> p & 1;
        if (!ready) continue;
        uint64_t during = 0;
        for (size_t t = 0; t < n; ++t) {
          bool wanted = t == task;  // made, and not read by all that will
          for (size_t k = 0; k < n && (done >> t & 1); ++k) {
            const std::vector<int>& in = problem.tasks[k].after;
            if (std::find(in.begin(), in.end(), t) == in.end()) continue;
            wanted |= !(done >> k & 1);
          }
          if (wanted) during += problem.bytes[t];
        }
        uint64_t& next = least[done | size_t{1} << task];
        next = std::min(next, std::max(least[done], during));
      }
    }
    EXPECT_EQ(CostOf(problem, ImproveOrder(problem)).peak, least.back()) << i;
  }
}

TEST(Order, IsValidAndNeverAboveTheOneGiven) {
  std::mt19937 random(3);
  int better = 0;
  for (int i = 0; i < 150; ++i) {
    const int count = 10 + random() % 200;
    const OrderProblem problem = i % 2
                                     ? Random(&random, count, 2 + random() % 12)
                                     : Branches(&random, 2 + random() % 10, 12);
    const std::vector<int> order = ImproveOrder(problem);
    ASSERT_TRUE(Valid(problem, order)) << i;
    const OrderCost given = CostOf(problem, AsGiven(problem));
    const OrderCost cost = CostOf(problem, order);
    EXPECT_EQ(cost.peak, PeakOf(problem, order));
    EXPECT_LE(cost.peak, given.peak) << i;
    better += cost.peak < given.peak;
    EXPECT_EQ(order, ImproveOrder(problem));
  }
  EXPECT_GT(better, 50);
}

// Windows over a region that is longer than one.
TEST(Order, LongRegions) {
  std::mt19937 random(4);
  const OrderProblem problem = Random(&random, 4000, 9);
  const std::vector<int> order = ImproveOrder(problem);
  ASSERT_TRUE(Valid(problem, order));
  const OrderCost given = CostOf(problem, AsGiven(problem));
  EXPECT_LE(CostOf(problem, order).peak, given.peak);
  EXPECT_LT(CostOf(problem, order).area, given.area);
}

// Depth before breadth, and the branch last whose result goes on.
TEST(Order, HandsOn) {
  // 0 is read by 1, 2; 1 > 3 > 5; 2 > 4 > 5, written in breadth.
  const OrderProblem problem =
      Tasks({{}, {0}, {0}, {1}, {2}, {3, 4}}, {10, 10, 10, 10, 10, 10});
  const std::vector<int> order = ImproveOrder(problem);
  EXPECT_EQ(CostOf(problem, AsGiven(problem)).handed, 10u);
  EXPECT_EQ(CostOf(problem, order).handed, 30u);
}

class FakeOp : public ClonableOp<FakeOp> {
 public:
  void Emit(Emitter*, const Tile&) const override {}
};

int AddValue(DeviceGraph* graph, int64_t channels) {
  Storage s;
  s.layout = Layout::kBlocked;
  s.type = DataType::kUint8;
  s.extent = ExtentOf({1, channels, 4, 4}, s.layout);
  graph->storages.push_back(s);
  Value v;
  v.storage = static_cast<int>(graph->storages.size()) - 1;
  v.shape = {1, channels, 4, 4};
  v.extent = s.extent;
  graph->values.push_back(v);
  return static_cast<int>(graph->values.size()) - 1;
}

int AddPart(DeviceGraph* graph, int whole, int64_t channels, uint64_t offset) {
  Value v = graph->values[whole];
  v.shape = {1, channels, 4, 4};
  v.extent = ExtentOf(v.shape, Layout::kBlocked);
  v.offset = offset;
  graph->storages[v.storage].shared = true;
  graph->values.push_back(v);
  return static_cast<int>(graph->values.size()) - 1;
}

void AddOp(DeviceGraph* graph, const std::vector<int>& inputs, int output) {
  auto op = std::make_unique<FakeOp>();
  op->name = "op" + std::to_string(graph->ops.size());
  for (int value : inputs) {
    OpInput in;
    in.value = value;
    op->inputs.push_back(in);
  }
  op->output = output;
  graph->ops.push_back(std::move(op));
}

// Parts of a storage wait for each other only where their bytes meet.
TEST(Order, DependenciesAreThoseOfBytes) {
  DeviceGraph graph;
  const int in = AddValue(&graph, 16);
  graph.storages[0].is_input = true;
  const int whole = AddValue(&graph, 32);
  const int low = AddPart(&graph, whole, 16, 0);
  const int high = AddPart(&graph, whole, 16, 256);
  const int out = AddValue(&graph, 32), other = AddValue(&graph, 16);
  AddOp(&graph, {in}, low);     // 0
  AddOp(&graph, {in}, high);    // 1
  AddOp(&graph, {low}, other);  // 2
  AddOp(&graph, {whole}, out);  // 3
  AddOp(&graph, {other}, low);  // 4: behind all that read what was there
  const OrderProblem problem = OrderProblemOf(graph, 1 << 20);
  EXPECT_EQ(problem.tasks[0].after, std::vector<int>());
  EXPECT_EQ(problem.tasks[1].after, std::vector<int>());
  EXPECT_EQ(problem.tasks[2].after, std::vector<int>({0}));
  EXPECT_EQ(problem.tasks[3].after, std::vector<int>({0, 1}));
  EXPECT_EQ(problem.tasks[4].after, std::vector<int>({0, 2, 3}));
  EXPECT_EQ(problem.bytes, std::vector<uint64_t>({0, 512, 512, 256}));
  // What cannot be in SRAM takes no room there.
  EXPECT_EQ(OrderProblemOf(graph, 300).bytes,
            std::vector<uint64_t>({0, 0, 0, 256}));
  ApplyOrder({1, 0, 2, 3, 4}, &graph);
  EXPECT_EQ(graph.ops[0]->name, "op1");
  EXPECT_EQ(graph.ops[1]->name, "op0");
}

// Beyond a number of accesses each waits for all before, through the last.
TEST(Order, ManyReadersStayBehindTheirWriters) {
  DeviceGraph graph;
  const int whole = AddValue(&graph, 16 * 400);
  for (int i = 0; i < 400; ++i) {
    AddOp(&graph, {}, AddPart(&graph, whole, 16, 256 * i));
  }
  for (int i = 0; i < 3; ++i) AddOp(&graph, {whole}, AddValue(&graph, 16));
  const OrderProblem problem = OrderProblemOf(graph, 1 << 20);
  std::vector<std::vector<bool>> before;
  for (const OrderTask& task : problem.tasks) {
    before.emplace_back(problem.tasks.size(), false);
    for (int other : task.after) {
      before.back()[other] = true;
      for (size_t k = 0; k < before[other].size(); ++k) {
        if (before[other][k]) before.back()[k] = true;
      }
    }
  }
  for (int reader = 400; reader < 403; ++reader) {
    for (int i = 0; i < 400; ++i) EXPECT_TRUE(before[reader][i]) << i;
  }
}

}  // namespace
}  // namespace heddle::compiler
