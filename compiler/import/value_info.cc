// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/value_info.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/input_declaration.h"
#include "compiler/import/tensor_proto.h"

namespace heddle::compiler {

absl::Status FromValueInfoProto(const onnx::ValueInfoProto& proto,
                                const std::string& what,
                                Declaration* declared) {
  const onnx::TypeProto& type = proto.type();
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) {
    return absl::OkStatus();
  }
  if (type.value_case() != onnx::TypeProto::kTensorType) {
    return Reject(
        Rejection::kUnsupportedDatatype,
        absl::StrCat(what, " is not a dense tensor, which is not supported"));
  }
  const auto& tensor = type.tensor_type();
  const int elem = tensor.elem_type();
  if (const char* newer = NewerTypeName(elem)) {
    return Reject(
        Rejection::kUnsupportedDatatype,
        absl::StrCat(what, " has type ", newer, ", which is not supported"));
  }
  if (elem < 0 || elem > static_cast<int>(kLastDataType)) {
    return Reject(Rejection::kInvalidModel,
                  absl::StrCat(what, " has the unknown element type ", elem));
  }
  declared->type = static_cast<DataType>(elem);
  if (declared->type == DataType::kString ||
      declared->type == DataType::kComplex64 ||
      declared->type == DataType::kComplex128) {
    return Reject(Rejection::kUnsupportedDatatype,
                  absl::StrCat(what, " has type ", DataTypeName(declared->type),
                               ", which is not supported"));
  }
  declared->has_shape = tensor.has_shape();
  for (const auto& dimension : tensor.shape().dim()) {
    const bool fixed =
        dimension.value_case() == onnx::TensorShapeProto::Dimension::kDimValue;
    // Exporters write -1 for a dimension that is open.
    if (fixed && dimension.dim_value() < -1) {
      return Reject(
          Rejection::kInvalidModel,
          absl::StrCat(what, " has a dimension of ", dimension.dim_value()));
    }
    declared->shape.push_back(fixed ? dimension.dim_value() : -1);
    declared->symbols.push_back(dimension.dim_param());
  }
  return absl::OkStatus();
}

absl::Status CheckDeclared(const std::string& what, const Declaration& declared,
                           DataType type, const Shape& shape) {
  if (declared.type != DataType::kUndefined && declared.type != type) {
    return Reject(
        Rejection::kMismatchingDatatype,
        absl::StrCat(what, " is declared as ", DataTypeName(declared.type),
                     ", but is ", DataTypeName(type)));
  }
  bool fits = !declared.has_shape || declared.shape.size() == shape.size();
  for (size_t i = 0; fits && i < declared.shape.size(); ++i) {
    fits = declared.shape[i] == -1 || declared.shape[i] == shape[i];
  }
  if (fits) return absl::OkStatus();
  return Reject(Rejection::kMismatchingShape,
                absl::StrCat(what, " is declared with shape ",
                             OpenShapeText(declared.shape, declared.symbols),
                             ", but has ", ShapeToString(shape)));
}

}  // namespace heddle::compiler
