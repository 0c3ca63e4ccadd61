// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/min_cut.h"

#include <algorithm>

namespace heddle::compiler {

MinCut::MinCut(int nodes)
    : source_(nodes), sink_(nodes + 1), of_node_(nodes + 2) {}

void MinCut::Connect(int from, int to, int64_t capacity) {
  if (capacity == 0) return;
  of_node_[from].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  of_node_[to].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

void MinCut::SetCosts(int node, int64_t first, int64_t second) {
  // What both sides cost anyway decides nothing.
  const int64_t both = std::min(first, second);
  Connect(source_, node, second - both);
  Connect(node, sink_, first - both);
}

void MinCut::AddEdge(int a, int b, int64_t cost) { Connect(a, b, cost); }

bool MinCut::FindLevels() {
  level_.assign(of_node_.size(), -1);
  level_[source_] = 0;
  std::vector<int> queue = {source_};
  for (size_t i = 0; i < queue.size(); ++i) {
    steps_left_ -= static_cast<int64_t>(of_node_[queue[i]].size());
    for (int e : of_node_[queue[i]]) {
      const Edge& edge = edges_[e];
      if (edge.left == 0 || level_[edge.to] >= 0) continue;
      level_[edge.to] = level_[queue[i]] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[sink_] >= 0;
}

// One path along rising levels, and what flows along it; 0: there is none.
int64_t MinCut::Push() {
  std::vector<int> path;
  int at = source_;
  while (at != sink_ && steps_left_ > 0) {
    --steps_left_;
    if (next_[at] == of_node_[at].size()) {
      if (path.empty()) return 0;
      // A dead end.
      level_[at] = -1;
      at = edges_[path.back() ^ 1].to;
      path.pop_back();
      continue;
    }
    const int e = of_node_[at][next_[at]];
    const Edge& edge = edges_[e];
    if (edge.left > 0 && level_[edge.to] == level_[at] + 1) {
      path.push_back(e);
      at = edge.to;
    } else {
      ++next_[at];
    }
  }
  if (at != sink_) return 0;
  int64_t flow = edges_[path[0]].left;
  for (int e : path) flow = std::min(flow, edges_[e].left);
  steps_left_ -= static_cast<int64_t>(path.size());
  for (int e : path) {
    edges_[e].left -= flow;
    edges_[e ^ 1].left += flow;
  }
  return flow;
}

std::optional<std::vector<bool>> MinCut::Solve(int64_t most_steps) {
  steps_left_ = most_steps;
  while (steps_left_ > 0 && FindLevels()) {
    next_.assign(of_node_.size(), 0);
    while (Push() > 0) {
    }
  }
  if (steps_left_ <= 0) return std::nullopt;
  // The second side: from where something could still flow to the sink.
  std::vector<bool> second(of_node_.size(), false);
  second[sink_] = true;
  std::vector<int> queue = {sink_};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int e : of_node_[queue[i]]) {
      const int from = edges_[e].to;
      if (edges_[e ^ 1].left == 0 || second[from]) continue;
      second[from] = true;
      queue.push_back(from);
    }
  }
  second.resize(source_);
  return second;
}

}  // namespace heddle::compiler
