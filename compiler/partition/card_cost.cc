// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/card_cost.h"

#include <map>
#include <set>
#include <utility>

#include "compiler/backend/backend.h"
#include "compiler/base/status_macros.h"
#include "compiler/partition/compile_parts.h"
#include "compiler/partition/partition.h"
#include "compiler/passes/expand.h"
#include "compiler/passes/fuse_elementwise.h"
#include "compiler/passes/registry.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

double CardTime(uint64_t cycles, const std::string& config) {
  return static_cast<double>(cycles) * 1e3 / isa::FindConfig(config)->clock_mhz;
}

absl::StatusOr<Graph> AsForCard(Graph graph, const CompileOptions& options) {
  RETURN_IF_ERROR(ExpandKept(&graph));
  if (options.features.fuse_elementwise) {
    RETURN_IF_ERROR(FuseElementwise(&graph));
  }
  return graph;
}

absl::Status CheckPart(const Graph& graph, const CompileOptions& options) {
  Graph expanded = graph;
  RETURN_IF_ERROR(ExpandKept(&expanded));
  return CheckPackage(expanded, options);
}

absl::Status CheckNodeOfPart(const Graph& graph, int node) {
  if (!IsForEither(graph, graph.nodes[node])) {
    return CheckNodeOnCard(graph, graph.nodes[node]);
  }
  Graph alone = Extract(graph, {node});
  RETURN_IF_ERROR(ExpandKept(&alone));
  for (const Node& part : alone.nodes) {
    RETURN_IF_ERROR(CheckNodeOnCard(alone, part));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> CardTimes(const Graph& graph,
                                              const CompileOptions& options) {
  CompileOptions quick = options;
  quick.goal = Goal::kCompileTime;
  quick.details = false;
  quick.progress = nullptr;
  quick.after_pass = nullptr;
  ASSIGN_OR_RETURN(const Graph composed, AsForCard(graph, quick));
  ASSIGN_OR_RETURN(const BackendResult made, GeneratePackage(composed, quick));
  std::map<std::string, std::vector<size_t>> nodes_of;  // by ONNX node
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const std::string& source : graph.nodes[n].sources) {
      nodes_of[source].push_back(n);
    }
  }
  std::vector<double> times(graph.nodes.size(), 0);
  for (const LayerReport& layer : made.report.layers) {
    std::set<size_t> nodes;
    for (const std::string& source : layer.sources) {
      const auto found = nodes_of.find(source);
      if (found == nodes_of.end()) continue;
      nodes.insert(found->second.begin(), found->second.end());
    }
    for (size_t n : nodes) {
      times[n] += CardTime(layer.estimated_cycles, options.config) /
                  static_cast<double>(nodes.size());
    }
  }
  return times;
}

}  // namespace heddle::compiler
