// SPDX-License-Identifier: Apache-2.0
#include "tests/node_cases/node_case.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tests/comparer/tensor.h"

namespace heddle::tests {
namespace {

constexpr char kFolder[] = "/usr/share/libonnx-testdata/data/node/";
constexpr char kExpanded[] = "_expanded";

// Of "test_softmax_axis_0_expanded_ver13", "test_softmax_axis_0".
std::string Unexpanded(const std::string& name) {
  return name.substr(0, name.find(kExpanded));
}

absl::StatusOr<onnx::ModelProto> ReadModel(const std::string& name) {
  const auto bytes = comparer::ReadFile(kFolder + name + "/model.onnx");
  if (!bytes.ok()) return bytes.status();
  onnx::ModelProto model;
  if (!model.ParseFromString(*bytes)) {
    return absl::InvalidArgumentError(name + " holds no model");
  }
  return model;
}

std::string GroupOf(const std::string& name, const onnx::ModelProto& model) {
  if (!absl::StrContains(name, kExpanded)) {
    return model.graph().node(model.graph().node_size() - 1).op_type();
  }
  const auto whole = ReadModel(Unexpanded(name));
  return absl::StrCat(
      whole.ok() ? whole->graph().node(0).op_type() : Unexpanded(name),
      " (expanded)");
}

// The files store bfloat16 as uint16; the model says what is meant.
void AdoptBfloat16(const onnx::ValueInfoProto& value,
                   comparer::Tensor* tensor) {
  if (value.type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16 &&
      tensor->type == onnx::TensorProto::UINT16) {
    tensor->type = onnx::TensorProto::BFLOAT16;
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadCaseNames(
    const std::string& path) {
  const auto text = comparer::ReadFile(path);
  if (!text.ok()) return text.status();
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  std::vector<std::string> names;
  if (!json.is_array()) {
    return absl::InvalidArgumentError(path + " holds no JSON array");
  }
  for (const auto& name : json) {
    if (!name.is_string()) {
      return absl::InvalidArgumentError(path +
                                        " holds something else than "
                                        "strings");
    }
    names.push_back(name.get<std::string>());
  }
  return names;
}

absl::StatusOr<NodeCase> ReadNodeCase(const std::string& name) {
  NodeCase result;
  result.name = name;
  auto model = ReadModel(name);
  if (!model.ok()) return model.status();
  result.model = *std::move(model);
  auto folder = comparer::ReadModelFolder(kFolder + name, -1);
  if (!folder.ok()) return folder.status();
  result.folder = *std::move(folder);
  result.group = GroupOf(name, result.model);
  const auto& graph = result.model.graph();
  for (comparer::DataSet& set : result.folder.sets) {
    // Node cases have no initializers: input i is the graph's input i.
    for (size_t i = 0; i < set.inputs.size(); ++i) {
      AdoptBfloat16(graph.input(static_cast<int>(i)), &set.inputs[i]);
    }
    for (size_t i = 0; i < set.outputs.size(); ++i) {
      AdoptBfloat16(graph.output(static_cast<int>(i)), &set.outputs[i]);
    }
  }
  return result;
}

std::string ModelIn(Form form, const NodeCase& node_case,
                    std::vector<size_t>* inputs) {
  const std::vector<comparer::Tensor>& given = node_case.folder.sets[0].inputs;
  onnx::ModelProto model = node_case.model;
  inputs->clear();
  for (size_t i = 0; i < given.size(); ++i) {
    if (form != Form::kConstants || i == 0) {
      inputs->push_back(i);
      continue;
    }
    onnx::TensorProto* initializer = model.mutable_graph()->add_initializer();
    initializer->set_name(given[i].name);
    initializer->set_data_type(given[i].type);
    for (int64_t dimension : given[i].shape) initializer->add_dims(dimension);
    initializer->set_raw_data(given[i].bytes);
  }
  return model.SerializeAsString();
}

}  // namespace heddle::tests
