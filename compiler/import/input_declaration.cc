// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/input_declaration.h"

#include <onnx/onnx_pb.h>

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/parse_model.h"

namespace heddle::compiler {

std::string OpenShapeText(const Shape& shape,
                          const std::vector<std::string>& symbols) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < shape.size(); ++i) {
    parts.push_back(shape[i] >= 0        ? absl::StrCat(shape[i])
                    : symbols[i].empty() ? "?"
                                         : symbols[i]);
  }
  return absl::StrCat("[", absl::StrJoin(parts, ","), "]");
}

namespace {

InputDeclaration Declared(const onnx::ValueInfoProto& proto) {
  InputDeclaration declared;
  declared.name = proto.name();
  const auto& tensor = proto.type().tensor_type();
  declared.type = static_cast<DataType>(tensor.elem_type());
  declared.has_shape = tensor.has_shape();
  for (const auto& dimension : tensor.shape().dim()) {
    const bool fixed = dimension.value_case() ==
                           onnx::TensorShapeProto::Dimension::kDimValue &&
                       dimension.dim_value() >= 0;
    declared.shape.push_back(fixed ? dimension.dim_value() : -1);
    declared.symbols.push_back(dimension.dim_param());
  }
  return declared;
}

}  // namespace

absl::StatusOr<ModelSummary> SummariseModel(absl::string_view model) {
  onnx::ModelProto proto;
  TakenBytes raw;
  RETURN_IF_ERROR(ParseModel(model, &proto, &raw));
  ModelSummary summary;
  const onnx::GraphProto& graph = proto.graph();
  summary.graph = graph.name();
  summary.producer = proto.producer_name();
  summary.ir_version = proto.ir_version();
  for (const auto& opset : proto.opset_import()) {
    summary.opsets.emplace_back(opset.domain(), opset.version());
  }
  summary.nodes = static_cast<size_t>(graph.node_size());
  std::set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) {
    initialized.insert(tensor.name());
  }
  for (const auto& tensor : graph.sparse_initializer()) {
    initialized.insert(tensor.values().name());
  }
  summary.initializers = initialized.size();
  for (const auto& input : graph.input()) {
    if (initialized.count(input.name()) != 0) continue;
    summary.inputs.push_back(Declared(input));
  }
  for (const auto& output : graph.output()) {
    summary.outputs.push_back(Declared(output));
  }
  return summary;
}

std::vector<InputDeclaration> DeclaredInputs(absl::string_view model) {
  auto summary = SummariseModel(model);
  if (!summary.ok()) return {};
  return std::move(summary->inputs);
}

}  // namespace heddle::compiler
