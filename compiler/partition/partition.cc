// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/partition.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace heddle::compiler {
namespace {

constexpr int kTurns = 3;

// For each node the stage in which it runs; card, host and control flow take
// turns. `first` is that of stage 0, card or host.
std::vector<int> Stages(const Graph& graph, const std::vector<Place>& places,
                        Place first) {
  std::vector<int> stage(graph.nodes.size(), 0);
  std::vector<int> of_tensor(graph.tensors.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    int earliest = 0;
    for (TensorId id : graph.nodes[n].inputs) {
      if (id != kNoTensor) earliest = std::max(earliest, of_tensor[id]);
    }
    const int turn = places[n] == Place::kControl ? 2
                     : places[n] == first         ? 0
                                                  : 1;
    stage[n] = earliest + (turn - earliest % kTurns + kTurns) % kTurns;
    for (TensorId id : graph.nodes[n].outputs) {
      if (id != kNoTensor) of_tensor[id] = stage[n];
    }
  }
  return stage;
}

class Extractor {
 public:
  Extractor(const Graph& graph, const std::vector<int>& nodes)
      : graph_(graph), inside_(graph.nodes.size(), false) {
    for (int n : nodes) inside_[n] = true;
  }

  Graph Run(const std::vector<int>& nodes) {
    made_.name = graph_.name;
    const std::vector<int> producers = graph_.Producers();
    for (int n : nodes) {
      Node node = graph_.nodes[n];
      for (TensorId& id : node.inputs) {
        if (id == kNoTensor) continue;
        const bool outside = !graph_.tensors[id].is_constant() &&
                             (producers[id] < 0 || !inside_[producers[id]]);
        const auto [own, fresh] = Own(id);
        if (outside && fresh) made_.inputs.push_back(own);
        id = own;
      }
      for (TensorId& id : node.outputs) {
        if (id != kNoTensor) id = Own(id).first;
      }
      made_.nodes.push_back(std::move(node));
    }
    const auto needed = Needed();
    for (int n : nodes) {
      for (TensorId id : graph_.nodes[n].outputs) {
        if (id != kNoTensor && needed[id]) made_.outputs.push_back(own_[id]);
      }
    }
    return std::move(made_);
  }

 private:
  std::pair<TensorId, bool> Own(TensorId id) {
    const auto [it, fresh] = own_.try_emplace(id, kNoTensor);
    if (fresh) it->second = made_.AddTensor(graph_.tensors[id]);
    return {it->second, fresh};
  }

  // Tensors that somebody outside reads.
  std::vector<bool> Needed() const {
    std::vector<bool> needed(graph_.tensors.size(), false);
    for (TensorId id : graph_.outputs) needed[id] = true;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (inside_[n]) continue;
      for (TensorId id : graph_.nodes[n].inputs) {
        if (id != kNoTensor) needed[id] = true;
      }
    }
    return needed;
  }

  const Graph& graph_;
  std::vector<bool> inside_;
  std::map<TensorId, TensorId> own_;
  Graph made_;
};

bool Writes(const Part& part, const std::string& name) {
  return std::any_of(
      part.graph.outputs.begin(), part.graph.outputs.end(),
      [&](TensorId id) { return part.graph.tensors[id].name == name; });
}

// What no node computes becomes an output of a part of the host.
void AddConstants(const Graph& graph, const std::vector<TensorId>& ids,
                  Part* part) {
  for (TensorId id : ids) {
    if (id == kNoTensor || !graph.tensors[id].is_constant() ||
        Writes(*part, graph.tensors[id].name)) {
      continue;
    }
    TensorId own = part->graph.FindTensor(graph.tensors[id].name);
    if (own == kNoTensor) own = part->graph.AddTensor(graph.tensors[id]);
    part->graph.outputs.push_back(own);
  }
}

// What control flow reads: of a part before all others.
void AddConstantInputs(const Graph& graph, std::vector<Part>* parts) {
  Part first{Place::kHost, {}, {}};
  for (const Part& part : *parts) {
    if (part.place != Place::kControl) continue;
    AddConstants(graph, graph.nodes[part.nodes[0]].inputs, &first);
  }
  if (first.graph.outputs.empty()) return;
  first.graph.name = graph.name;
  parts->insert(parts->begin(), std::move(first));
}

// Outputs that no node computes, and that are no inputs either.
void AddConstantOutputs(const Graph& graph, std::vector<Part>* parts) {
  std::vector<TensorId> left;
  for (TensorId id : graph.outputs) {
    if (!graph.tensors[id].is_constant() ||
        (!parts->empty() && Writes(parts->front(), graph.tensors[id].name))) {
      continue;
    }
    left.push_back(id);
  }
  if (left.empty()) return;
  auto last = std::find_if(parts->rbegin(), parts->rend(), [](const Part& p) {
    return p.place == Place::kHost;
  });
  if (last == parts->rend()) {
    parts->push_back({Place::kHost, {}, {}});
    last = parts->rbegin();
  }
  AddConstants(graph, left, &*last);
}

}  // namespace

std::vector<Place> PlacesOf(const std::vector<NodeSupport>& support) {
  std::vector<Place> places;
  for (const NodeSupport& node : support) {
    places.push_back(node.place == Place::kRefused ? Place::kHost : node.place);
  }
  return places;
}

Graph Extract(const Graph& graph, const std::vector<int>& nodes) {
  return Extractor(graph, nodes).Run(nodes);
}

std::vector<int> StagesOf(const Graph& graph,
                          const std::vector<Place>& places) {
  std::vector<int> card = Stages(graph, places, Place::kCard);
  std::vector<int> host = Stages(graph, places, Place::kHost);
  const auto count = [](const std::vector<int>& stages) {
    return std::set<int>(stages.begin(), stages.end()).size();
  };
  return count(host) < count(card) ? host : card;
}

std::vector<Part> Partition(const Graph& graph,
                            const std::vector<Place>& places) {
  std::map<int, std::vector<int>> best;
  const std::vector<int> stages = StagesOf(graph, places);
  for (size_t n = 0; n < stages.size(); ++n) {
    best[stages[n]].push_back(static_cast<int>(n));
  }
  std::vector<Part> parts;
  const auto add = [&](std::vector<int> nodes) {
    Part part;
    part.place = places[nodes[0]];
    part.graph = Extract(graph, nodes);
    part.nodes = std::move(nodes);
    parts.push_back(std::move(part));
  };
  for (auto& [stage, nodes] : best) {
    if (places[nodes[0]] != Place::kControl) {
      add(std::move(nodes));
      continue;
    }
    for (int node : nodes) add({node});
  }
  AddConstantInputs(graph, &parts);
  AddConstantOutputs(graph, &parts);
  return parts;
}

}  // namespace heddle::compiler
