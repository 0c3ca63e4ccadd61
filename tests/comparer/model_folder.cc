// SPDX-License-Identifier: Apache-2.0
#include "tests/comparer/model_folder.h"

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"

namespace heddle::comparer {
namespace {

struct Names {
  std::vector<std::string> inputs, outputs;
};

absl::StatusOr<Names> NamesOf(const std::string& path,
                              const std::string& bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " does not hold a ModelProto"));
  }
  std::set<std::string> initializers;
  for (const auto& tensor : model.graph().initializer()) {
    initializers.insert(tensor.name());
  }
  Names names;
  for (const auto& input : model.graph().input()) {
    if (initializers.count(input.name()) == 0) {
      names.inputs.push_back(input.name());
    }
  }
  for (const auto& output : model.graph().output()) {
    names.outputs.push_back(output.name());
  }
  return names;
}

absl::Status ReadNumbered(const std::string& folder, const std::string& kind,
                          const std::vector<std::string>& names,
                          std::vector<Tensor>* tensors) {
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StatusOr<Tensor> tensor =
        ReadTensor(absl::StrCat(folder, "/", kind, "_", i, ".pb"));
    if (!tensor.ok()) return tensor.status();
    tensor->name = names[i];
    tensors->push_back(*std::move(tensor));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelFolder> ReadModelFolder(const std::string& path, int set) {
  ModelFolder folder;
  folder.path = path;
  absl::StatusOr<std::string> model = ReadFile(path + "/model.onnx");
  if (!model.ok()) return model.status();
  folder.model = *std::move(model);
  const absl::StatusOr<Names> names =
      NamesOf(path + "/model.onnx", folder.model);
  if (!names.ok()) return names.status();
  for (int number = set < 0 ? 0 : set; set < 0 || number == set; ++number) {
    const std::string data = absl::StrCat(path, "/test_data_set_", number);
    if (!std::filesystem::is_directory(data)) break;
    DataSet read;
    read.number = number;
    absl::Status status =
        ReadNumbered(data, "input", names->inputs, &read.inputs);
    status.Update(ReadNumbered(data, "output", names->outputs, &read.outputs));
    if (!status.ok()) return status;
    folder.sets.push_back(std::move(read));
  }
  if (folder.sets.empty()) {
    return absl::NotFoundError(
        absl::StrCat(path, " has no folder test_data_set_", set < 0 ? 0 : set));
  }
  return folder;
}

absl::StatusOr<std::map<std::string, Tensor>> ReadNamedTensors(
    const std::string& folder) {
  const absl::StatusOr<std::vector<std::string>> files =
      ListTensorFiles(folder);
  if (!files.ok()) return files.status();
  std::map<std::string, Tensor> tensors;
  for (const std::string& file : *files) {
    absl::StatusOr<Tensor> tensor = ReadTensor(file);
    if (!tensor.ok()) return tensor.status();
    const std::string name = tensor->name;
    if (name.empty() || !tensors.emplace(name, *std::move(tensor)).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          file, ": the tensor needs a name that no other file of the folder ",
          "has; it is \"", name, "\""));
    }
  }
  return tensors;
}

}  // namespace heddle::comparer
