// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::run {
namespace {

using compiler::DataType;
using compiler::Graph;
using compiler::Node;
using compiler::TensorData;
using compiler::TensorId;

// One arithmetic explains the outputs if it leaves so many times fewer
// differences than the other. Not none: a sum in another order may round to the
// neighbouring code, and so does what follows.
constexpr int64_t kClearly = 4;
// Steps (of 255) up to which a distance is taken for one of rounding.
constexpr double kNear = 16;

// Through operators that only move values.
const Node* Origin(const Graph& graph, TensorId id) {
  const std::vector<int> producers = graph.Producers();
  for (size_t guard = 0; guard <= graph.nodes.size(); ++guard) {
    if (producers[id] < 0) return nullptr;
    const Node& node = graph.nodes[producers[id]];
    const bool moves = node.op == "Reshape" || node.op == "Flatten" ||
                       node.op == "Transpose" || node.op == "Identity" ||
                       node.op == "Squeeze" || node.op == "Unsqueeze";
    if (!moves) return &node;
    id = node.inputs[0];
  }
  return nullptr;
}

}  // namespace

std::map<std::string, double> OutputSteps(const Graph& graph) {
  std::map<std::string, double> steps;
  for (TensorId id : graph.outputs) {
    const compiler::Tensor& output = graph.tensors[id];
    const Node* node = Origin(graph, id);
    if (node == nullptr) continue;
    if (node->op == "DequantizeLinear") {
      const compiler::Tensor& scale = graph.tensors[node->inputs[1]];
      if (scale.is_constant() && scale.type == DataType::kFloat &&
          scale.constant->count() == 1) {
        steps[output.name] = std::fabs(scale.constant->as<float>()[0]);
      }
    } else if (node->op == "QuantizeLinear" ||
               node->op.compare(0, 7, "QLinear") == 0) {
      steps[output.name] = 1;
    }
  }
  return steps;
}

bool IsQuantized(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) {
    return n.op == "QuantizeLinear" || n.op == "DequantizeLinear";
  });
}

Arithmetic FindArithmetic(const Graph& graph,
                          const std::vector<TensorData>& values,
                          const std::vector<TensorData>& card,
                          const std::vector<TensorData>& expected,
                          const Tolerance& tolerance) {
  const std::map<std::string, double> steps = OutputSteps(graph);
  Tolerance half = tolerance;
  half.steps = 0.5;
  half.exact = false;
  Arithmetic result;
  bool all_in_steps = true;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto step = steps.find(graph.tensors[graph.outputs[i]].name);
    const double size = step == steps.end() ? 0 : step->second;
    const Comparison integer = Compare(card[i], expected[i], half, size);
    const Comparison floating =
        Compare(values[graph.outputs[i]], expected[i], half, size);
    if (!integer.problem.empty() || !floating.problem.empty()) return result;
    result.integer += integer.differing;
    result.floating += floating.differing;
    all_in_steps &= size > 0 || integer.equal;
    result.integer_steps = std::max(result.integer_steps, integer.max_steps);
    result.floating_steps = std::max(result.floating_steps, floating.max_steps);
  }
  if (!all_in_steps) result.integer_steps = result.floating_steps = 0;
  if (kClearly * result.floating < result.integer) {
    result.kind = Arithmetic::Kind::kFloat;
  } else if (kClearly * result.integer < result.floating) {
    result.kind = Arithmetic::Kind::kInteger;
  } else if (result.integer_steps > 0 && result.integer_steps < kNear &&
             result.floating_steps < kNear) {
    result.kind = Arithmetic::Kind::kRounding;
  }
  return result;
}

std::string Describe(const Arithmetic& a) {
  std::string text = absl::StrFormat(
      "expected      %d %s from integer operators, %d from floating point on "
      "dequantized values: ",
      a.integer, a.integer == 1 ? "element differs" : "elements differ",
      a.floating);
  switch (a.kind) {
    case Arithmetic::Kind::kFloat:
      text += "the file comes from a floating-point run\n";
      break;
    case Arithmetic::Kind::kInteger:
      text += "the file comes from a run with integer operators\n";
      break;
    case Arithmetic::Kind::kRounding:
      text +=
          "the file comes from a run that rounds differently, such as floating "
          "point with another order of sums\n";
      break;
    case Arithmetic::Kind::kUnknown:
      text += "the file comes from neither, or something else differs\n";
  }
  const bool other = a.kind == Arithmetic::Kind::kFloat ||
                     a.kind == Arithmetic::Kind::kRounding;
  if (other && a.integer_steps > 0) {
    const double whole = std::ceil(a.integer_steps - 1e-3);
    absl::StrAppendFormat(
        &text,
        "              the outputs are within %.0f quantization step%s of it: "
        "--atol-steps %.0f accepts that\n",
        whole, whole == 1 ? "" : "s", whole);
  }
  return text;
}

}  // namespace heddle::run
