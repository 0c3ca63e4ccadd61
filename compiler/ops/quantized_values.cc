// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/quantized_values.h"

#include "compiler/base/pace.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {

std::vector<int32_t> Centered(const TensorData& codes,
                              const TensorData* zero_point, int64_t channels,
                              int64_t block) {
  const int64_t count = codes.count();
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    PaceAt(i);
    const int64_t channel = block == 0 ? 0 : i / block % channels;
    values[i] = LoadQuantized(codes, i) - ZeroPointAt(zero_point, channel);
  }
  return values;
}

std::vector<uint8_t> CodeTable(float (*function)(float, float), float parameter,
                               float xs, int32_t xz, float ys, int32_t yz,
                               DataType type) {
  std::vector<uint8_t> table(256);
  for (int i = 0; i < 256; ++i) {
    const int32_t code = type == DataType::kInt8 ? static_cast<int8_t>(i) : i;
    const float x = model::FMul(xs, model::I32ToF32(code - xz));
    table[i] = static_cast<uint8_t>(
        ToCode(model::FDiv(function(x, parameter), ys), yz, type));
  }
  return table;
}

absl::Status CheckChannelParameters(const Graph& graph, const Node& node,
                                    size_t scale_index, DataType type,
                                    int64_t channels) {
  const Tensor& scale = InputOf(graph, node, scale_index);
  const auto fits = [channels](const Tensor& tensor) {
    const int64_t count = ElementCount(tensor.shape);
    return count == 1 || (tensor.shape.size() == 1 && count == channels);
  };
  const std::string one_or_more =
      channels > 1 ? absl::StrCat("1 or ", channels, " elements")
                   : std::string("1 element");
  if (scale.type != DataType::kFloat || !fits(scale)) {
    return RejectNode(
        scale.type != DataType::kFloat ? Rejection::kMismatchingDatatype
                                       : Rejection::kMismatchingShape,
        node, "scale '", scale.name, "' must be float with ", one_or_more,
        ", but is ", DataTypeName(scale.type), ShapeToString(scale.shape));
  }
  if (!HasInput(node, scale_index + 1)) return absl::OkStatus();
  const Tensor& zero = InputOf(graph, node, scale_index + 1);
  if (zero.type != type) {
    return RejectNode(Rejection::kInvalidModel, node, "zero point '", zero.name,
                      "' has type ", DataTypeName(zero.type), ", must be ",
                      DataTypeName(type));
  }
  if (!fits(zero)) {
    return RejectNode(Rejection::kMismatchingShape, node, "zero point '",
                      zero.name, "' must have ", one_or_more, ", its shape is ",
                      ShapeToString(zero.shape));
  }
  return absl::OkStatus();
}

absl::Status CheckScalarParameters(const Graph& graph, const Node& node,
                                   size_t scale_index, DataType type) {
  return CheckChannelParameters(graph, node, scale_index, type, 1);
}

}  // namespace heddle::compiler
