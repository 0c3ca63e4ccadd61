// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/value_range.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/diagnostic.h"
#include "simulator/model/numerics.h"

namespace heddle::run {
namespace {

using compiler::DataType;

// Integers beyond it are not all doubles.
constexpr double kExact = 9007199254740992.0;  // 2^53

template <typename T>
ValueRange LimitsOf() {
  return {std::max(-kExact, static_cast<double>(std::numeric_limits<T>::min())),
          std::min(kExact, static_cast<double>(std::numeric_limits<T>::max()))};
}

// Floats have their largest finite values.
ValueRange LimitsOfType(DataType type) {
  switch (type) {
    case DataType::kBool:
      return {0, 1};
    case DataType::kInt8:
      return LimitsOf<int8_t>();
    case DataType::kUint8:
      return LimitsOf<uint8_t>();
    case DataType::kInt16:
      return LimitsOf<int16_t>();
    case DataType::kUint16:
      return LimitsOf<uint16_t>();
    case DataType::kInt32:
      return LimitsOf<int32_t>();
    case DataType::kUint32:
      return LimitsOf<uint32_t>();
    case DataType::kInt64:
      return LimitsOf<int64_t>();
    case DataType::kUint64:
      return LimitsOf<uint64_t>();
    case DataType::kFloat16:
      return {-65504, 65504};
    case DataType::kDouble:
      return {-std::numeric_limits<double>::max() / 4,
              std::numeric_limits<double>::max() / 4};
    case DataType::kFloat:
    case DataType::kBfloat16: {
      const double most = std::numeric_limits<float>::max();
      return {-most, most};
    }
    default:  // nothing is in it
      return {1, 0};
  }
}

bool IsFloat(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble ||
         type == DataType::kFloat16 || type == DataType::kBfloat16;
}

// Down to a value of the type where the nearest one is too large.
uint16_t Half(DataType type, double value, const ValueRange& range) {
  const auto f = static_cast<float>(value);
  const bool half = type == DataType::kFloat16;
  uint16_t bits = half ? model::F32ToF16(f) : model::F32ToBf16(f);
  const float rounded = half ? model::F16ToF32(bits) : model::Bf16ToF32(bits);
  if (rounded == value || range.low == range.high) return bits;
  // Rounded out of the range: the value beside it that is within.
  if (rounded >= range.high)
    return static_cast<uint16_t>(rounded > 0 ? bits - 1 : bits + 1);
  if (rounded < range.low)
    return static_cast<uint16_t>(rounded < 0 ? bits - 1 : bits + 1);
  return bits;
}

}  // namespace

absl::Status ParseRanges(const std::vector<std::string>& texts,
                         ValueRanges* ranges) {
  for (const std::string& text : texts) {
    const auto bad = [&text](const char* why) {
      return absl::InvalidArgumentError(
          absl::StrCat("--range ", text, ": ", why,
                       "; give [NAME=]LOW:HIGH, such as -1:1 or ids=0:30521"));
    };
    // Names of tensors may contain '=' and ':'.
    const size_t equals = text.rfind('=');
    const size_t start = equals == std::string::npos ? 0 : equals + 1;
    const size_t colon = text.find(':', start);
    if (equals == 0) return bad("no name before '='");
    if (colon == std::string::npos) return bad("no ':'");
    ValueRange range;
    if (!absl::SimpleAtod(text.substr(start, colon - start), &range.low) ||
        !absl::SimpleAtod(text.substr(colon + 1), &range.high) ||
        !std::isfinite(range.low) || !std::isfinite(range.high)) {
      return bad("LOW or HIGH is not a number");
    }
    if (range.low > range.high) return bad("LOW is above HIGH");
    const std::string name =
        equals == std::string::npos ? "" : text.substr(0, equals);
    if (!ranges->emplace(name, range).second) {
      return bad(name.empty() ? "a second range for all inputs"
                              : "the input has a range already");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRanges(const ValueRanges& ranges,
                         const std::vector<package::TensorInfo>& inputs) {
  for (const auto& [name, range] : ranges) {
    bool found = name.empty();
    for (const package::TensorInfo& input : inputs) {
      if (FindRange(ranges, input.name) != &range) continue;
      found = true;
      const ValueRange most = LimitsOfType(input.type);
      const bool whole =
          IsFloat(input.type) || (std::floor(range.low) == range.low &&
                                  std::floor(range.high) == range.high);
      if (whole && range.low >= most.low && range.high <= most.high) continue;
      if (most.low > most.high) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--range: input '", input.name, "' is ",
            compiler::DataTypeName(input.type), ", which has no ranges"));
      }
      return absl::InvalidArgumentError(
          absl::StrCat("--range ", range.low, ":", range.high, ": input '",
                       input.name, "' is ", compiler::DataTypeName(input.type),
                       whole ? ", whose values go from "
                             : ", which has whole values only, from ",
                       most.low, " to ", most.high));
    }
    if (found) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--range: the model has no input '", name, "'; it has ",
        absl::StrJoin(inputs, ", ",
                      [](std::string* out, const package::TensorInfo& input) {
                        absl::StrAppend(out, "'", input.name, "'");
                      })));
  }
  return absl::OkStatus();
}

const ValueRange* FindRange(const ValueRanges& ranges,
                            const std::string& input) {
  auto range = ranges.find(input);
  if (range == ranges.end()) range = ranges.find("");
  return range == ranges.end() ? nullptr : &range->second;
}

void PutValue(DataType type, const ValueRange& range, double unit,
              uint8_t* to) {
  const auto put = [to](auto value) { std::memcpy(to, &value, sizeof(value)); };
  if (IsFloat(type)) {
    const double value = range.low + (range.high - range.low) * unit;
    if (type == DataType::kDouble) return put(value);
    if (type != DataType::kFloat) return put(Half(type, value, range));
    auto f = static_cast<float>(value);
    if (f >= range.high && range.high > range.low)
      f = std::nextafter(f, static_cast<float>(range.low));
    return put(f);
  }
  const double value = std::min(
      range.high, range.low + std::floor((range.high - range.low + 1) * unit));
  switch (type) {
    case DataType::kBool:
    case DataType::kUint8:
      return put(static_cast<uint8_t>(value));
    case DataType::kInt8:
      return put(static_cast<int8_t>(value));
    case DataType::kInt16:
      return put(static_cast<int16_t>(value));
    case DataType::kUint16:
      return put(static_cast<uint16_t>(value));
    case DataType::kInt32:
      return put(static_cast<int32_t>(value));
    case DataType::kUint32:
      return put(static_cast<uint32_t>(value));
    case DataType::kInt64:
      return put(static_cast<int64_t>(value));
    case DataType::kUint64:
      return put(static_cast<uint64_t>(value));
    default:
      return;
  }
}

}  // namespace heddle::run
