// SPDX-License-Identifier: Apache-2.0
// ONNX's own node cases (Debian package libonnx-testdata) for every operator
// that is registered: a case gives the expected outputs, or is in the list of
// rejections below with its kind.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/pace.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/onnx_files.h"

namespace heddle::compiler {
namespace {

constexpr char kFolder[] = "/usr/share/libonnx-testdata/data/node";

// Cases of registered operators that are refused, and as what. Types that the
// card has no arithmetic for, second outputs, and rank.
const std::map<std::string, Rejection>& ExpectedRejections() {
  static const auto* cases = new std::map<std::string, Rejection>{
      // Not refused. The data truncates to bfloat16, the card rounds to nearest
      // even; and four data sets disagree with the shapes of their models.
      {"test_cast_FLOAT_to_BFLOAT16", Rejection::kNone},
      {"test_castlike_BFLOAT16_to_FLOAT", Rejection::kNone},
      {"test_castlike_BFLOAT16_to_FLOAT_expanded", Rejection::kNone},
      {"test_castlike_FLOAT_to_BFLOAT16", Rejection::kNone},
      {"test_castlike_FLOAT_to_BFLOAT16_expanded", Rejection::kNone},
      // The data takes the resized length before rounding (2.4, not 2); ONNX
      // Runtime does not.
      {"test_resize_downsample_scales_linear_align_corners", Rejection::kNone},
      {"test_resize_downsample_scales_cubic_align_corners", Rejection::kNone},
      {"test_castlike_FLOAT_to_STRING", Rejection::kUnsupportedDatatype},
      {"test_castlike_STRING_to_FLOAT", Rejection::kUnsupportedDatatype},
      {"test_cast_FLOAT_to_STRING", Rejection::kUnsupportedDatatype},
      {"test_cast_STRING_to_FLOAT", Rejection::kUnsupportedDatatype},
      {"test_castlike_FLOAT_to_STRING_expanded",
       Rejection::kUnsupportedDatatype},
      {"test_castlike_STRING_to_FLOAT_expanded",
       Rejection::kUnsupportedDatatype},
      {"test_identity_opt", Rejection::kUnsupportedDatatype},
      {"test_identity_sequence", Rejection::kUnsupportedDatatype},
      {"test_training_dropout", Rejection::kUnsupportedAttribute},
      {"test_training_dropout_default", Rejection::kUnsupportedAttribute},
      {"test_training_dropout_default_mask", Rejection::kUnsupportedAttribute},
      {"test_training_dropout_mask", Rejection::kUnsupportedAttribute},
      {"test_training_dropout_zero_ratio", Rejection::kUnsupportedAttribute},
      {"test_training_dropout_zero_ratio_mask",
       Rejection::kUnsupportedAttribute},
  };
  return *cases;
}

// The data sets store bfloat16 as uint16.
void AdoptBfloat16(DataType type, TensorData* data) {
  if (type == DataType::kBfloat16 && data->type == DataType::kUint16) {
    data->type = type;
  }
}

bool AllOperatorsRegistered(const std::string& folder) {
  auto bytes = ReadFile(folder + "/model.onnx");
  onnx::ModelProto model;
  if (!bytes.ok() || !model.ParseFromString(*bytes)) return true;
  for (const auto& node : model.graph().node()) {
    if (node.domain() != "" && node.domain() != "ai.onnx") return false;
    int opset = 0;
    for (const auto& import : model.opset_import()) {
      if (import.domain() == node.domain()) {
        opset = static_cast<int>(import.version());
      }
    }
    if (FindOperator("", node.op_type(), opset) == nullptr) return false;
  }
  return true;
}

// Whether an input is copied, or its shape told: nothing of that takes long.
bool OnlyCopies(const Graph& graph, const std::vector<TensorData>& values,
                const std::vector<TensorData>& results) {
  static const auto* const names =
      new std::set<std::string>{"Constant", "Dropout", "Shape", "Size"};
  const auto is_input = [&](TensorId id) {
    return !values.empty() && results[id].bytes == values[0].bytes;
  };
  return std::all_of(graph.outputs.begin(), graph.outputs.end(), is_input) ||
         std::all_of(
             graph.nodes.begin(), graph.nodes.end(),
             [](const Node& node) { return names->count(node.op) > 0; });
}

// The host asks often enough whether to go on (compiler/base/pace.h): inside
// every operator that computes, and an answer ends it, whenever it is given.
absl::Status Interrupt(const Graph& graph,
                       const std::vector<TensorData>& values,
                       const std::vector<TensorData>& results) {
  int asked = 0, last = 0;
  const std::function<absl::Status()> stop = [&] {
    return ++asked == last ? absl::CancelledError("enough") : absl::OkStatus();
  };
  const auto evaluate = [&]() -> absl::Status {
    asked = 0;
    const PaceScope scope(stop, 1);
    try {
      return EvaluateGraph(graph, values).status();
    } catch (const Interrupted&) {
      return scope.status();
    }
  };
  absl::Status status = evaluate();
  if (!status.ok()) return status;
  const int in_all = asked, nodes = static_cast<int>(graph.nodes.size());
  const bool is_empty =
      std::all_of(graph.outputs.begin(), graph.outputs.end(),
                  [&](TensorId id) { return results[id].count() == 0; });
  // Once for each node is before it.
  if (in_all <= nodes && !is_empty && !OnlyCopies(graph, values, results)) {
    return absl::InternalError("nothing asks inside of the operator");
  }
  for (last = 1; last <= in_all; last += 1 + in_all / 8) {
    status = evaluate();
    if (status != absl::CancelledError("enough") || asked != last) {
      return absl::InternalError("an answer does not end the operator");
    }
  }
  return absl::OkStatus();
}

absl::Status RunCase(const std::string& folder) {
  auto bytes = ReadFile(folder + "/model.onnx");
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<Graph> graph = AnalyseOnnx(*bytes, {});
  if (!graph.ok() &&
      RejectionOf(graph.status()) != Rejection::kUnsupportedShape) {
    return graph.status();
  }
  auto inputs = ReadTensorFiles(folder + "/test_data_set_0", "input_");
  if (!inputs.ok()) return inputs.status();
  auto expected = ReadTensorFiles(folder + "/test_data_set_0", "output_");
  if (!expected.ok()) return expected.status();

  // Inputs that decide shapes (axes, shape, ...) are what a user gives as
  // weights: all but the first, or all.
  for (size_t first : {1, 0}) {
    if (graph.ok()) break;
    CompileOptions options;
    for (size_t i = first; i < inputs->size(); ++i) {
      options.weights[(*inputs)[i].name] = (*inputs)[i].data;
    }
    graph = AnalyseOnnx(*bytes, options);
  }
  if (!graph.ok()) return graph.status();
  std::vector<TensorData> values;
  for (TensorId id : graph->inputs) {
    for (const NamedTensor& input : *inputs) {
      if (input.name != graph->tensors[id].name) continue;
      values.push_back(input.data);
      AdoptBfloat16(graph->tensors[id].type, &values.back());
    }
  }
  auto results = EvaluateGraph(*graph, values);
  if (!results.ok()) return results.status();
  if (const absl::Status s = Interrupt(*graph, values, *results); !s.ok()) {
    return s;
  }
  if (expected->size() != graph->outputs.size()) {
    return absl::InternalError("number of outputs");
  }
  for (size_t i = 0; i < expected->size(); ++i) {
    const TensorData& result = (*results)[graph->outputs[i]];
    AdoptBfloat16(result.type, &(*expected)[i].data);
    const std::string difference =
        Difference(result, (*expected)[i].data, 1e-3, 1e-7);
    if (!difference.empty()) {
      return absl::InternalError((*expected)[i].name + " " + difference);
    }
  }
  return absl::OkStatus();
}

TEST(NodeDataTest, EveryCaseOfARegisteredOperatorPassesOrIsListed) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    names.insert(entry.path().filename().string());
  }
  ASSERT_GT(names.size(), 900u) << "install libonnx-testdata";
  int passed = 0;
  std::set<std::string> refused;
  for (const std::string& name : names) {
    const std::string folder = std::string(kFolder) + "/" + name;
    if (!AllOperatorsRegistered(folder)) continue;
    const absl::Status status = RunCase(folder);
    if (status.ok()) {
      ++passed;
      EXPECT_EQ(ExpectedRejections().count(name), 0u)
          << name << " passes, take it off the list";
      continue;
    }
    const Rejection kind = RejectionOf(status);
    const auto expected = ExpectedRejections().find(name);
    if (expected == ExpectedRejections().end() || expected->second != kind) {
      ADD_FAILURE() << name << ": " << RejectionName(kind) << ": "
                    << status.message();
    }
    refused.insert(name);
  }
  for (const auto& [name, kind] : ExpectedRejections()) {
    EXPECT_EQ(refused.count(name), 1u) << name;
  }
  RecordProperty("passed", passed);
  RecordProperty("refused", static_cast<int>(refused.size()));
  EXPECT_GE(passed, 243) << "fewer cases pass than did before";
}

}  // namespace
}  // namespace heddle::compiler
