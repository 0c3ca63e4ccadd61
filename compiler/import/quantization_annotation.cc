// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/quantization_annotation.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/quote.h"

namespace heddle::compiler {
namespace {

constexpr char kScale[] = "SCALE_TENSOR", kZeroPoint[] = "ZERO_POINT_TENSOR";

template <typename... Args>
absl::Status Invalid(const std::string& what, const Args&... why) {
  return Reject(Rejection::kInvalidModel, absl::StrCat(what, " ", why...));
}

absl::Status CheckTypes(const std::string& what, const Tensor* scale,
                        const Tensor* zero_point) {
  const auto wrong = [&what](const char* key, const Tensor& tensor,
                             const char* must) {
    return Reject(Rejection::kMismatchingDatatype,
                  absl::StrCat(what, " has as ", key, " the tensor ",
                               Quote(tensor.name), " of type ",
                               DataTypeName(tensor.type), ", must be ", must));
  };
  // Types of computed tensors are not known yet.
  if (scale->type != DataType::kUndefined && scale->type != DataType::kFloat) {
    return wrong(kScale, *scale, "float");
  }
  if (zero_point == nullptr) return absl::OkStatus();
  if (zero_point->type != DataType::kUndefined &&
      zero_point->type != DataType::kUint8 &&
      zero_point->type != DataType::kInt8 &&
      zero_point->type != DataType::kInt32) {
    return wrong(kZeroPoint, *zero_point, "uint8, int8 or int32");
  }
  if (scale->shape_known && zero_point->shape_known &&
      scale->shape != zero_point->shape) {
    return Invalid(what, "has a scale of shape ", ShapeToString(scale->shape),
                   " and a zero point of shape ",
                   ShapeToString(zero_point->shape), "; they must be equal");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAnnotations(
    const onnx::GraphProto& proto,
    const std::function<TensorId(const std::string&)>& find, Graph* graph) {
  std::set<std::string> seen;
  for (const auto& annotation : proto.quantization_annotation()) {
    const std::string& name = annotation.tensor_name();
    const std::string what =
        absl::StrCat("quantization_annotation of ", Quote(name));
    if (name.empty()) {
      return Reject(Rejection::kInvalidModel,
                    "a quantization_annotation has no tensor_name");
    }
    if (!seen.insert(name).second) return Invalid(what, "occurs twice");
    if (find(name) == kNoTensor) {
      return Invalid(what, "is about a tensor that nothing defines");
    }
    std::map<std::string, const Tensor*> parameters;
    std::string keys;
    for (const auto& entry : annotation.quant_parameter_tensor_names()) {
      if (entry.key().empty()) return Invalid(what, "has an entry without key");
      const TensorId id = find(entry.value());
      if (id == kNoTensor) {
        return Invalid(what, "has as ", Quote(entry.key()), " the tensor ",
                       Quote(entry.value()), ", which nothing defines");
      }
      if (!parameters.emplace(entry.key(), &graph->tensors[id]).second) {
        return Invalid(what, "has two entries ", Quote(entry.key()));
      }
      absl::StrAppend(&keys, keys.empty() ? "" : ", ", Quote(entry.key()));
    }
    const auto scale = parameters.find(kScale);
    const auto zero_point = parameters.find(kZeroPoint);
    if (scale != parameters.end()) {
      RETURN_IF_ERROR(CheckTypes(
          what, scale->second,
          zero_point == parameters.end() ? nullptr : zero_point->second));
    } else if (zero_point != parameters.end()) {
      return Invalid(what, "has a ", kZeroPoint, ", but no ", kScale);
    }
    graph->notes.push_back(absl::StrCat(
        what, " (", keys, ") is not used; quantization follows the nodes"));
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
