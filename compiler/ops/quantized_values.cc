// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/quantized_values.h"

#include <algorithm>

#include "compiler/ops/define.h"
#include "compiler/ops/map_elements.h"

namespace heddle::compiler {
namespace {

// Of elements that have one zero point.
void Center(const TensorData& codes, int64_t begin, int64_t count,
            int32_t zero_point, int32_t* values) {
  const auto center = [zero_point](int32_t code) { return code - zero_point; };
  switch (codes.type) {
    case DataType::kInt8:
      return MapElements(codes.as<int8_t>() + begin, count, values, center);
    case DataType::kUint8:
      return MapElements(codes.as<uint8_t>() + begin, count, values, center);
    default:
      return MapElements(codes.as<int32_t>() + begin, count, values, center);
  }
}

}  // namespace

void Requantize(const int32_t* acc, int64_t count, float multiplier,
                int32_t zero_point, DataType type, uint8_t* codes) {
  MapElements(acc, count, codes, [=](int32_t a) {
    return static_cast<uint8_t>(Requantize(a, multiplier, zero_point, type));
  });
}

std::vector<int32_t> Centered(const TensorData& codes,
                              const TensorData* zero_point, int64_t channels,
                              int64_t block) {
  const int64_t count = codes.count();
  std::vector<int32_t> values(static_cast<size_t>(count));
  if (count == 0) return values;
  if (block == 0 || zero_point == nullptr || zero_point->count() == 1) {
    Center(codes, 0, count, ZeroPointAt(zero_point, 0), values.data());
    return values;
  }
  for (int64_t i = 0; i < count; i += block) {
    Center(codes, i, std::min(block, count - i),
           ZeroPointAt(zero_point, i / block % channels), &values[i]);
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
