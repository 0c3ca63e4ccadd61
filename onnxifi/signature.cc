// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/signature.h"

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <climits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/import/wire_check.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {
namespace {

using compiler::DataType;

DeclaredTensor Declare(const onnx::ValueInfoProto& info) {
  DeclaredTensor tensor;
  tensor.name = info.name();
  const onnx::TypeProto_Tensor& type = info.type().tensor_type();
  tensor.type = static_cast<DataType>(type.elem_type());
  tensor.has_shape = type.has_shape();
  for (const auto& dim : type.shape().dim()) {
    DeclaredDim declared;
    if (dim.has_dim_value()) declared.value = dim.dim_value();
    if (dim.has_dim_param()) declared.parameter = dim.dim_param();
    tensor.dims.push_back(std::move(declared));
  }
  return tensor;
}

const DeclaredTensor* FindIn(const std::vector<DeclaredTensor>& tensors,
                             absl::string_view name) {
  for (const DeclaredTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

}  // namespace

bool DeclaredTensor::symbolic() const {
  for (const DeclaredDim& dim : dims) {
    if (dim.value < 0) return true;
  }
  return false;
}

const DeclaredTensor* Signature::FindInput(absl::string_view name) const {
  return FindIn(inputs, name);
}

const DeclaredTensor* Signature::FindOutput(absl::string_view name) const {
  return FindIn(outputs, name);
}

absl::StatusOr<Signature> ReadSignature(absl::string_view model) {
  if (model.size() > INT_MAX) {
    return Fail(ONNXIFI_STATUS_INVALID_PROTOBUF,
                "a protobuf message has at most 2 GiB");
  }
  absl::Status wire =
      compiler::CheckWire(model, *onnx::ModelProto::descriptor());
  if (!wire.ok()) return wire;
  // On an arena, because protobuf loses what it had allocated elsewhere when
  // memory ends in the middle of parsing.
  google::protobuf::Arena arena;
  auto& proto =
      *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  if (!proto.ParseFromArray(model.data(), static_cast<int>(model.size()))) {
    return Fail(ONNXIFI_STATUS_INVALID_PROTOBUF,
                "the bytes are not an onnx.ModelProto");
  }
  if (!proto.has_graph()) {
    return Fail(ONNXIFI_STATUS_INVALID_MODEL, "the model has no graph");
  }
  Signature signature;
  std::set<std::string> initializers;
  for (const auto& tensor : proto.graph().initializer()) {
    initializers.insert(tensor.name());
  }
  for (const auto& tensor : proto.graph().sparse_initializer()) {
    initializers.insert(tensor.values().name());
  }
  signature.has_initializers = !initializers.empty();
  signature.quantization = ReadQuantization(proto.graph());
  for (const auto& info : proto.graph().input()) {
    if (initializers.count(info.name()) == 0) {
      signature.inputs.push_back(Declare(info));
    }
  }
  for (const auto& info : proto.graph().output()) {
    signature.outputs.push_back(Declare(info));
  }
  return signature;
}

void PrepareSignatures() { onnx::ModelProto::descriptor()->full_name(); }

absl::Status MatchShape(const DeclaredTensor& declared,
                        const compiler::Shape& shape, Dimensions* dimensions) {
  if (!declared.has_shape) return absl::OkStatus();
  if (shape.size() != declared.dims.size()) {
    return Fail(ONNXIFI_STATUS_MISMATCHING_SHAPE,
                absl::StrCat("'", declared.name, "' has ", declared.dims.size(),
                             " dimensions in the model and ", shape.size(),
                             " in its descriptor"));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const DeclaredDim& dim = declared.dims[i];
    int64_t want = dim.value;
    std::string source = "in the model";
    if (want < 0) {
      if (dim.parameter.empty()) continue;
      const auto [entry, is_new] = dimensions->emplace(dim.parameter, shape[i]);
      if (is_new) continue;
      want = entry->second;
      source = absl::StrCat("by '", dim.parameter, "' of another tensor");
    }
    if (want != shape[i]) {
      return Fail(
          ONNXIFI_STATUS_MISMATCHING_SHAPE,
          absl::StrCat("dimension ", i, " of '", declared.name, "' is ", want,
                       " ", source, " and ", shape[i], " in its descriptor"));
    }
  }
  return absl::OkStatus();
}

bool SameType(compiler::DataType type, uint64_t data_type) {
  if (type == DataType::kBool) return data_type == ONNXIFI_DATATYPE_UINT8;
  return static_cast<uint64_t>(type) == data_type;
}

}  // namespace heddle::onnxifi
