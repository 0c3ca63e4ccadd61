// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/shrink.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace heddle::tests {
namespace {

using compiler::DataType;

RandomModel WithOutput(const RandomModel& model, int i) {
  RandomModel made = model;
  made.outputs = {model.outputs[i]};
  auto* outputs = made.model.mutable_graph()->mutable_output();
  const onnx::ValueInfoProto kept = outputs->Get(i);
  outputs->Clear();
  *outputs->Add() = kept;
  Prune(&made);
  return made;
}

// With an input in the place of a value that a node computes; false: of that
// type or size none can be drawn.
bool Cut(const Value& value, RandomModel* model) {
  for (const Dim& dim : value.dims) {
    // (A model's input has no dimension of two times a symbol.)
    if (dim.symbol >= 0 && dim.size != 1) return false;
  }
  if (value.bounded) return false;
  RandomInput input;
  input.value = value;
  input.value.error = 0;
  input.value.fraction = std::min(value.fraction, 4);
  input.high = static_cast<int64_t>(std::floor(std::min(value.magnitude, 1e6)));
  input.low = -input.high;
  switch (value.type) {
    case DataType::kFloat:
    case DataType::kDouble:
    case DataType::kInt32:
    case DataType::kInt64:
      break;
    case DataType::kBool:
    case DataType::kUint8:
    case DataType::kUint64:
      input.low = 0;
      break;
    default:
      return false;
  }
  onnx::GraphProto* graph = model->model.mutable_graph();
  bool computed = false;
  for (auto& node : *graph->mutable_node()) {
    for (auto& output : *node.mutable_output()) {
      if (output != value.name) continue;
      output += "_before";
      computed = true;
    }
  }
  if (!computed) return false;
  for (const auto& output : graph->output()) {
    if (output.name() == value.name) return false;
  }
  DeclareValue(input.value, model->symbols, graph->add_input());
  model->inputs.push_back(input);
  Prune(model);
  return true;
}

void AppendText(const onnx::GraphProto& graph, const std::string& indent,
                std::string* text) {
  for (const auto& node : graph.node()) {
    absl::StrAppend(text, indent, absl::StrJoin(node.output(), ", "), " = ",
                    node.op_type(), "(", absl::StrJoin(node.input(), ", "),
                    ")\n");
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) {
        absl::StrAppend(text, indent, "  ", attribute.name(), ":\n");
        AppendText(attribute.g(), indent + "    ", text);
      } else {
        absl::StrAppend(text, indent, "  ", attribute.ShortDebugString(), "\n");
      }
    }
  }
  const std::string outputs = absl::StrJoin(
      graph.output(), ", ", [](std::string* out, const auto& output) {
        absl::StrAppend(out, output.name());
      });
  absl::StrAppend(text, indent, "-> ", outputs, "\n");
}

}  // namespace

RandomModel Shrink(RandomModel model,
                   const std::function<bool(const RandomModel&)>& fails,
                   int most) {
  const auto take = [&](RandomModel candidate) {
    if (most <= 0) return false;
    --most;
    if (!fails(candidate)) return false;
    model = std::move(candidate);
    return true;
  };
  for (size_t i = 0; model.outputs.size() > 1 && i < model.outputs.size();
       ++i) {
    if (take(WithOutput(model, static_cast<int>(i)))) break;
  }
  // The last values first: what is cut off is the most.
  const std::vector<Value> values = model.values;
  for (auto value = values.rbegin(); value != values.rend(); ++value) {
    RandomModel candidate = model;
    if (Cut(*value, &candidate)) take(std::move(candidate));
  }
  return model;
}

std::string TextOf(const RandomModel& model) {
  std::string text;
  for (const RandomInput& input : model.inputs) {
    absl::StrAppend(&text, input.value.name, ": ",
                    compiler::DataTypeName(input.value.type), " [");
    const char* comma = "";
    for (const Dim& dim : input.value.dims) {
      absl::StrAppend(&text, comma, dim.size);
      if (dim.symbol >= 0) absl::StrAppend(&text, model.symbols[dim.symbol]);
      comma = ",";
    }
    absl::StrAppend(&text, "], ", input.low, " to ", input.high, "\n");
  }
  for (const auto& constant : model.model.graph().initializer()) {
    absl::StrAppend(&text, constant.name(), ": constant [",
                    absl::StrJoin(constant.dims(), ","), "]\n");
  }
  AppendText(model.model.graph(), "", &text);
  return text;
}

}  // namespace heddle::tests
