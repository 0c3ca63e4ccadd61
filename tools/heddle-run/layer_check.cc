// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/layer_check.h"

#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/ops/operator.h"
#include "tools/cli/printable.h"

namespace heddle::run {

absl::StatusOr<LayerCheck> CompareLayers(
    const compiler::Graph& graph,
    const std::vector<compiler::TensorData>& inputs,
    const std::vector<NamedTensor>& card) {
  const auto reference = compiler::EvaluateGraph(graph, inputs);
  if (!reference.ok()) return reference.status();
  std::map<std::string, const compiler::TensorData*> tensors;
  for (const NamedTensor& t : card) tensors[t.name] = &t.data;
  Tolerance exact;
  exact.exact = true;
  LayerCheck check;
  for (const compiler::Node& node : graph.nodes) {
    for (compiler::TensorId id : node.outputs) {
      if (id == compiler::kNoTensor) continue;
      const auto found = tensors.find(graph.tensors[id].name);
      if (found == tensors.end()) continue;
      ++check.compared;
      const Comparison c = Compare(*found->second, (*reference)[id], exact);
      if (c.equal || check.differing++ > 0) continue;
      check.tensor = graph.tensors[id].name;
      check.node = node.name;
      check.op = node.op;
      check.sources = node.sources;
      check.first = c;
    }
  }
  return check;
}

std::string Describe(const LayerCheck& check) {
  if (check.compared == 0) {
    return "layers        none of the card's tensors could be compared\n";
  }
  if (check.differing == 0) {
    return absl::StrFormat(
        "layers        all %d tensors of the card equal the reference "
        "semantics byte for byte\n",
        check.compared);
  }
  std::string text = absl::StrFormat(
      "layers        %d of %d tensors differ from the reference semantics\n"
      "first         tensor '%s' of %s '%s'",
      check.differing, check.compared, cli::Printable(check.tensor),
      cli::Printable(check.op), cli::Printable(check.node));
  if (check.sources.size() > 1) {
    absl::StrAppendFormat(&text, " (%s)",
                          cli::Printable(absl::StrJoin(check.sources, ", ")));
  }
  const Comparison& c = check.first;
  if (!c.problem.empty()) {
    absl::StrAppendFormat(&text, ": %s\n", c.problem);
  } else {
    absl::StrAppendFormat(&text,
                          ": %d elements, first at %d: %.9g, reference %.9g\n",
                          c.differing, c.first, c.value, c.expected);
  }
  return text;
}

}  // namespace heddle::run
