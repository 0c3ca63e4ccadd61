// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/layer_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/cli/printable.h"

namespace heddle::run {
namespace {

using compiler::Graph;
using compiler::Node;
using compiler::TensorData;
using compiler::TensorId;
using nlohmann::ordered_json;

// Rows of the table for people; JSON has them all.
constexpr size_t kRows = 10;

// The code that stands for 0 in each tensor of codes, as far as the nodes that
// make and take them say: the third input of QuantizeLinear, DequantizeLinear,
// and, for their first input, of the QLinear operators.
std::map<TensorId, double> Zeros(const Graph& graph) {
  std::map<TensorId, double> zeros;
  for (const Node& node : graph.nodes) {
    const bool makes = node.op == "QuantizeLinear";
    if (!makes && node.op != "DequantizeLinear" &&
        !absl::StartsWith(node.op, "QLinear")) {
      continue;
    }
    const TensorId zero = node.input(2);
    if (zero == compiler::kNoTensor || !graph.tensors[zero].is_constant() ||
        graph.tensors[zero].constant->count() != 1) {
      continue;
    }
    zeros[makes ? node.outputs[0] : node.inputs[0]] =
        ElementAsDouble(*graph.tensors[zero].constant, 0);
  }
  return zeros;
}

// What puts the worst layer first.
double Badness(const LayerDifference& d) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!d.bytes.problem.empty()) return kInfinity;
  const std::vector<Difference>& largest = d.quality.largest;
  if (!largest.empty() && std::isinf(Distance(largest[0]))) return kInfinity;
  if (d.quality.relative_error) return *d.quality.relative_error;
  return largest.empty() ? 0 : kInfinity;
}

std::string NodeText(const LayerDifference& d) {
  std::string text =
      absl::StrFormat("tensor '%s' of %s '%s'", cli::Printable(d.tensor),
                      cli::Printable(d.op), cli::Printable(d.node));
  if (d.sources.size() > 1) {
    absl::StrAppendFormat(&text, " (%s)",
                          cli::Printable(absl::StrJoin(d.sources, ", ")));
  }
  return text;
}

std::string Measure(int digits, const std::optional<double>& value) {
  return value.has_value() ? absl::StrFormat("%.*g", digits, *value) : "-";
}

// `other`: what the value is compared with.
std::string Table(const LayerCheck& check, const char* other) {
  std::vector<const LayerDifference*> worst;
  for (const LayerDifference& d : check.differences) worst.push_back(&d);
  std::stable_sort(worst.begin(), worst.end(),
                   [](const LayerDifference* a, const LayerDifference* b) {
                     return Badness(*a) > Badness(*b);
                   });
  worst.resize(std::min(worst.size(), kRows));
  std::string text =
      absl::StrFormat("  %10s  %10s  %12s  %s\n", "rel. error", "cosine",
                      "elements", "largest difference");
  for (const LayerDifference* d : worst) {
    absl::StrAppendFormat(
        &text, "  %10s  %10s  %12d  %s", Measure(3, d->quality.relative_error),
        Measure(8, d->quality.cosine), d->bytes.differing, NodeText(*d));
    if (!d->bytes.problem.empty()) {
      absl::StrAppend(&text, ": ", d->bytes.problem);
    } else if (!d->quality.largest.empty()) {
      const Difference& most = d->quality.largest[0];
      absl::StrAppendFormat(&text, ": %s is %.9g, %s %.9g",
                            ElementText(d->shape, most.index), most.value,
                            other, most.expected);
    }
    text += "\n";
  }
  if (check.differences.size() > worst.size()) {
    absl::StrAppendFormat(&text, "  and %d more (--json has all of them)\n",
                          check.differences.size() - worst.size());
  }
  return text;
}

}  // namespace

LayerCheck CompareLayers(const Graph& graph,
                         const std::vector<TensorData>& values,
                         const std::vector<NamedTensor>& card) {
  std::map<std::string, const TensorData*> tensors;
  for (const NamedTensor& t : card) tensors[t.name] = &t.data;
  const std::map<TensorId, double> zeros = Zeros(graph);
  Tolerance exact;
  exact.exact = true;
  LayerCheck check;
  for (const Node& node : graph.nodes) {
    for (TensorId id : node.outputs) {
      if (id == compiler::kNoTensor) continue;
      const auto found = tensors.find(graph.tensors[id].name);
      if (found == tensors.end()) continue;
      ++check.compared;
      const TensorData& value = *found->second;
      Comparison bytes = Compare(value, values[id], exact);
      if (bytes.equal) continue;
      LayerDifference difference = {
          graph.tensors[id].name, node.name, node.op, node.sources, value.shape,
          std::move(bytes),       {}};
      if (difference.bytes.problem.empty()) {
        const auto zero = zeros.find(id);
        difference.quality = QualityOf(value, values[id],
                                       zero == zeros.end() ? 0 : zero->second);
      }
      check.differences.push_back(std::move(difference));
    }
  }
  return check;
}

LayerCheck CompareLayersInFloat(const Graph& graph,
                                const std::vector<TensorData>& values,
                                const std::vector<NamedTensor>& card) {
  LayerCheck check = CompareLayers(graph, values, card);
  std::vector<LayerDifference>& all = check.differences;
  const auto others = std::remove_if(
      all.begin(), all.end(),
      [](const LayerDifference& d) { return !d.bytes.problem.empty(); });
  check.compared -= static_cast<size_t>(all.end() - others);
  all.erase(others, all.end());
  return check;
}

std::string Describe(const LayerCheck& check) {
  if (check.compared == 0) {
    return "layers        none of the card's tensors could be compared\n";
  }
  if (check.differences.empty()) {
    return absl::StrFormat(
        "layers        all %d tensors of the card equal the reference "
        "semantics byte for byte\n",
        check.compared);
  }
  const LayerDifference& first = check.differences.front();
  std::string text = absl::StrFormat(
      "layers        %d of %d tensors differ from the reference semantics\n"
      "first         %s",
      check.differences.size(), check.compared, NodeText(first));
  const Comparison& c = first.bytes;
  if (!c.problem.empty()) {
    absl::StrAppendFormat(&text, ": %s\n", c.problem);
  } else {
    absl::StrAppendFormat(
        &text, ": %d %s, first at %s: %.9g, reference %.9g\n", c.differing,
        c.differing == 1 ? "element" : "elements",
        ElementText(first.shape, c.first), c.value, c.expected);
  }
  return text + Table(check, "reference");
}

std::string DescribeInFloat(const LayerCheck& check) {
  if (check.compared == 0) return "";
  if (check.differences.empty()) {
    return absl::StrFormat(
        "quantization  all %d tensors equal those of floating point on "
        "dequantized values\n",
        check.compared);
  }
  return absl::StrFormat(
             "quantization  %d of %d tensors differ from floating point on "
             "dequantized values; the largest:\n",
             check.differences.size(), check.compared) +
         Table(check, "in floating point");
}

ordered_json LayerCheckJson(const LayerCheck& check) {
  ordered_json json = {{"compared", check.compared},
                       {"differing", check.differences.size()}};
  if (check.differences.empty()) return json;
  json["layers"] = ordered_json::array();
  for (const LayerDifference& d : check.differences) {
    ordered_json one = {{"tensor", d.tensor},
                        {"node", d.node},
                        {"op", d.op},
                        {"sources", d.sources}};
    const Comparison& c = d.bytes;
    if (!c.problem.empty()) {
      one["problem"] = c.problem;
    } else {
      one["differing"] = c.differing;
      one["index"] = c.first;
      one["value"] = JsonNumber(c.value);
      one["reference"] = JsonNumber(c.expected);
      AddQuality(d.quality, d.shape, &one);
    }
    json["layers"].push_back(std::move(one));
  }
  json["first"] = json["layers"][0];
  return json;
}

}  // namespace heddle::run
