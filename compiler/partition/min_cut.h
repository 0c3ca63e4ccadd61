// SPDX-License-Identifier: Apache-2.0
// The cheapest assignment of nodes to two sides, given each node's cost on
// either side and the cost of separating certain pairs: a minimum cut, found as
// a maximum flow (E. A. Dinic, "Algorithm for solution of a problem of maximum
// flow in networks with power estimation", 1970).
#ifndef HEDDLE_COMPILER_PARTITION_MIN_CUT_H_
#define HEDDLE_COMPILER_PARTITION_MIN_CUT_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::compiler {

class MinCut {
 public:
  // A cost that is never paid. All others are 0 to kMostCost, and their sum is
  // less than kNever.
  static constexpr int64_t kNever = int64_t{1} << 60;
  static constexpr int64_t kMostCost = int64_t{1} << 40;

  explicit MinCut(int nodes);

  // What the node costs on the first side and on the second. Once at most.
  void SetCosts(int node, int64_t first, int64_t second);
  // What it costs if `a` is on the first side and `b` on the second.
  void AddEdge(int a, int b, int64_t cost);

  // For each node whether it is on the second side; of several that cost the
  // same, as few as possible. Nothing if that takes more than `most_steps`
  // looks at an edge. Once.
  std::optional<std::vector<bool>> Solve(int64_t most_steps);

 private:
  struct Edge {
    int to;
    int64_t left;  // capacity that is left
  };
  void Connect(int from, int to, int64_t capacity);
  bool FindLevels();
  int64_t Push();

  const int source_, sink_;
  std::vector<Edge> edges_;  // 2 i and 2 i + 1 are each other's opposites
  std::vector<std::vector<int>> of_node_;
  std::vector<int> level_;
  std::vector<size_t> next_;  // of its edges, the one to try next
  int64_t steps_left_ = 0;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_MIN_CUT_H_
