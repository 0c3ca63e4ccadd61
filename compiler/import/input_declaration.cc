// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/input_declaration.h"

#include <onnx/onnx_pb.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/parse_model.h"

namespace heddle::compiler {

std::string InputDeclaration::ShapeText() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < shape.size(); ++i) {
    parts.push_back(shape[i] >= 0        ? absl::StrCat(shape[i])
                    : symbols[i].empty() ? "?"
                                         : symbols[i]);
  }
  return absl::StrCat("[", absl::StrJoin(parts, ","), "]");
}

std::vector<InputDeclaration> DeclaredInputs(absl::string_view model) {
  onnx::ModelProto proto;
  TakenBytes raw;
  if (!ParseModel(model, &proto, &raw).ok()) return {};
  std::set<std::string> initialized;
  for (const auto& tensor : proto.graph().initializer()) {
    initialized.insert(tensor.name());
  }
  for (const auto& tensor : proto.graph().sparse_initializer()) {
    initialized.insert(tensor.values().name());
  }
  std::vector<InputDeclaration> inputs;
  for (const auto& input : proto.graph().input()) {
    if (initialized.count(input.name()) != 0) continue;
    InputDeclaration declared;
    declared.name = input.name();
    const auto& tensor = input.type().tensor_type();
    declared.has_shape = tensor.has_shape();
    for (const auto& dimension : tensor.shape().dim()) {
      const bool fixed = dimension.value_case() ==
                             onnx::TensorShapeProto::Dimension::kDimValue &&
                         dimension.dim_value() >= 0;
      declared.shape.push_back(fixed ? dimension.dim_value() : -1);
      declared.symbols.push_back(dimension.dim_param());
    }
    inputs.push_back(std::move(declared));
  }
  return inputs;
}

}  // namespace heddle::compiler
