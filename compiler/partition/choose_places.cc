// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/choose_places.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "compiler/partition/min_cut.h"
#include "compiler/partition/partition.h"

namespace heddle::compiler {
namespace {

// A second or so, all together.
constexpr int64_t kMostCutSteps = int64_t{1} << 24;  // of a cut
constexpr int64_t kMostLooks = int64_t{1} << 24;     // at nodes, of all CostOf

// Who writes a tensor and who reads it.
struct Flow {
  int writer = -1;  // a node; -1: an input of the graph
  std::vector<int> readers;
  bool output = false;
  uint64_t bytes = 0;
};

std::vector<Flow> FlowsOf(const Graph& graph) {
  std::vector<Flow> flows(graph.tensors.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (TensorId id : graph.nodes[n].outputs) {
      if (id != kNoTensor) flows[id].writer = static_cast<int>(n);
    }
    for (TensorId id : graph.nodes[n].inputs) {
      if (id == kNoTensor || graph.tensors[id].is_constant()) continue;
      std::vector<int>& readers = flows[id].readers;
      if (readers.empty() || readers.back() != static_cast<int>(n)) {
        readers.push_back(static_cast<int>(n));
      }
    }
  }
  for (TensorId id : graph.outputs) {
    flows[id].output = !graph.tensors[id].is_constant();
  }
  for (size_t id = 0; id < flows.size(); ++id) {
    const Tensor& t = graph.tensors[id];
    flows[id].bytes = static_cast<uint64_t>(ElementCount(t.shape)) *
                      static_cast<uint64_t>(ElementBytes(t.type));
  }
  return flows;
}

size_t CountDistinct(std::vector<int>* numbers) {
  std::sort(numbers->begin(), numbers->end());
  return static_cast<size_t>(std::unique(numbers->begin(), numbers->end()) -
                             numbers->begin());
}

Crossings CrossingsOf(const std::vector<Flow>& flows,
                      const std::vector<Place>& places,
                      const std::vector<int>& stages) {
  const auto on_card = [&](int node) {
    return node >= 0 && places[node] == Place::kCard;
  };
  Crossings crossings;
  std::vector<int> jobs;
  for (size_t n = 0; n < places.size(); ++n) {
    if (on_card(static_cast<int>(n))) jobs.push_back(stages[n]);
  }
  crossings.jobs = static_cast<int>(CountDistinct(&jobs));
  std::vector<int> in;
  for (const Flow& flow : flows) {
    const int own = on_card(flow.writer) ? stages[flow.writer] : -1;
    bool out = flow.output;
    in.clear();
    for (int reader : flow.readers) {
      if (on_card(reader) && stages[reader] == own) continue;
      out = true;
      if (on_card(reader)) in.push_back(stages[reader]);
    }
    crossings.bytes +=
        flow.bytes * (CountDistinct(&in) + (own >= 0 && out ? 1 : 0));
  }
  return crossings;
}

double Sum(const Crossings& crossings, const std::vector<Place>& places,
           const std::vector<NodeCost>& costs, const HostProfile& profile) {
  double cost = crossings.jobs * profile.job_us * 1e3 +
                static_cast<double>(crossings.bytes) * profile.transfer_byte_ns;
  for (size_t n = 0; n < places.size(); ++n) {
    if (places[n] == Place::kCard) cost += costs[n].card_ns;
    if (places[n] == Place::kHost) cost += costs[n].host_ns;
  }
  return cost;
}

// Of nanoseconds.
int64_t CutCost(double cost) {
  constexpr auto kMost = static_cast<double>(MinCut::kMostCost);
  return std::llround(std::min(std::max(cost, 0.0), kMost));
}

class Chooser {
 public:
  Chooser(const Graph& graph, const std::vector<Place>& card,
          const std::vector<bool>& movable, const std::vector<NodeCost>& costs,
          const HostProfile& profile)
      : graph_(graph),
        card_(card),
        movable_(movable),
        costs_(costs),
        profile_(profile),
        flows_(FlowsOf(graph)) {}

  std::vector<Place> Choose() {
    best_ = card_;
    best_cost_ = Cost(card_);
    std::vector<Place> host = card_;
    for (size_t n = 0; n < host.size(); ++n) {
      if (movable_[n]) host[n] = Place::kHost;
    }
    if (host == card_) return best_;
    Try(host);
    // Each part has some tensors that cross, which share its job.
    for (double share : {0.0, 0.5, 1.0})
      Try(Cut(share * profile_.job_us * 1e3));
    while (ImproveParts()) {
    }
    return std::move(best_);
  }

 private:
  double Cost(const std::vector<Place>& places) {
    looks_ += static_cast<int64_t>(graph_.nodes.size() + flows_.size());
    return Sum(CrossingsOf(flows_, places, StagesOf(graph_, places)), places,
               costs_, profile_);
  }

  bool Try(const std::vector<Place>& places) {
    const double cost = Cost(places);
    if (cost >= best_cost_) return false;
    best_ = places;
    best_cost_ = cost;
    return true;
  }

  // The minimum cut, with so many nanoseconds more for each tensor that
  // crosses; the first side is the card's.
  std::vector<Place> Cut(double crossing) const {
    const int count = static_cast<int>(graph_.nodes.size());
    const int world = count;  // where inputs come from and outputs go
    // Two nodes for each tensor: it is copied once, whoever reads it.
    MinCut cut(count + 1 + 2 * static_cast<int>(flows_.size()));
    cut.SetCosts(world, MinCut::kNever, 0);
    for (int n = 0; n < count; ++n) {
      if (movable_[n]) {
        cut.SetCosts(n, CutCost(costs_[n].card_ns), CutCost(costs_[n].host_ns));
      } else if (card_[n] == Place::kCard) {
        cut.SetCosts(n, 0, MinCut::kNever);
      } else {
        cut.SetCosts(n, MinCut::kNever, 0);
      }
    }
    for (size_t i = 0; i < flows_.size(); ++i) {
      const Flow& flow = flows_[i];
      if (flow.readers.empty() && !flow.output) continue;
      const int64_t cost = CutCost(crossing + static_cast<double>(flow.bytes) *
                                                  profile_.transfer_byte_ns);
      const int writer = flow.writer < 0 ? world : flow.writer;
      const int out = count + 1 + 2 * static_cast<int>(i), in = out + 1;
      cut.AddEdge(writer, out, cost);
      cut.AddEdge(in, writer, cost);
      for (int reader : flow.readers) {
        cut.AddEdge(out, reader, MinCut::kNever);
        cut.AddEdge(reader, in, MinCut::kNever);
      }
      if (flow.output) cut.AddEdge(out, world, MinCut::kNever);
    }
    const auto host = cut.Solve(kMostCutSteps);
    std::vector<Place> places = card_;
    for (int n = 0; n < count && host.has_value(); ++n) {
      if (movable_[n] && (*host)[n]) places[n] = Place::kHost;
    }
    return places;
  }

  // Parts that go to the other side, as far as their nodes are movable, the
  // smallest first, and then single nodes. False: none does, or enough has been
  // looked at.
  bool ImproveParts() {
    std::map<int, std::vector<int>> parts;
    const std::vector<int> stages = StagesOf(graph_, best_);
    std::vector<std::vector<int>> groups;
    for (size_t n = 0; n < stages.size(); ++n) {
      if (!movable_[n]) continue;
      parts[stages[n]].push_back(static_cast<int>(n));
    }
    for (auto& [stage, nodes] : parts) groups.push_back(std::move(nodes));
    std::stable_sort(
        groups.begin(), groups.end(),
        [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (size_t n = 0; n < stages.size(); ++n) {
      if (movable_[n]) groups.push_back({static_cast<int>(n)});
    }
    for (const std::vector<int>& nodes : groups) {
      if (looks_ > kMostLooks) return false;
      std::vector<Place> places = best_;
      for (int n : nodes) {
        places[n] = places[n] == Place::kCard ? Place::kHost : Place::kCard;
      }
      if (Try(places)) return true;
    }
    return false;
  }

  const Graph& graph_;
  const std::vector<Place>& card_;
  const std::vector<bool>& movable_;
  const std::vector<NodeCost>& costs_;
  const HostProfile& profile_;
  const std::vector<Flow> flows_;
  std::vector<Place> best_;
  double best_cost_ = 0;
  int64_t looks_ = 0;
};

}  // namespace

Crossings CrossingsOf(const Graph& graph, const std::vector<Place>& places) {
  return CrossingsOf(FlowsOf(graph), places, StagesOf(graph, places));
}

double CostOf(const Graph& graph, const std::vector<Place>& places,
              const std::vector<NodeCost>& costs, const HostProfile& profile) {
  return Sum(CrossingsOf(graph, places), places, costs, profile);
}

std::vector<Place> ChoosePlaces(const Graph& graph,
                                const std::vector<Place>& card,
                                const std::vector<bool>& movable,
                                const std::vector<NodeCost>& costs,
                                const HostProfile& profile) {
  return Chooser(graph, card, movable, costs, profile).Choose();
}

}  // namespace heddle::compiler
