// SPDX-License-Identifier: Apache-2.0
#include "tests/comparer/compare.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"

namespace heddle::comparer {
namespace {

using onnx::TensorProto;

template <typename T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

double FromHalf(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double FromBfloat(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  return Load<float>(reinterpret_cast<const char*>(&wide));
}

bool SameForm(const Tensor& expected, const Tensor& actual,
              Comparison* result) {
  if (expected.type != actual.type || expected.shape != actual.shape) {
    result->reason = absl::StrCat("is ", Describe(actual), ", expected ",
                                  Describe(expected));
    return false;
  }
  const int size = ElementBytes(expected.type);
  if (size == 0 || expected.bytes.size() != actual.bytes.size() ||
      static_cast<int64_t>(expected.bytes.size()) !=
          Elements(expected.shape) * size) {
    result->reason = "has another number of bytes than its shape";
    return false;
  }
  return true;
}

double Distance(double expected, double actual) {
  if (std::isnan(expected) && std::isnan(actual)) return 0;
  if (expected == actual) return 0;
  const double distance = std::abs(actual - expected);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity()
                              : distance;
}

double RangeOf(const Tensor& tensor, int64_t elements) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int64_t i = 0; i < elements; ++i) {
    const double value = ElementValue(tensor, i);
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > low ? high - low : 0;
}

Comparison Compare(const Tensor& expected, const Tensor& actual,
                   const Tolerance* tolerance) {
  Comparison result;
  if (!SameForm(expected, actual, &result)) return result;
  const int64_t elements = Elements(expected.shape);
  const int size = ElementBytes(expected.type);
  const bool exact = tolerance == nullptr || !IsFloat(expected.type);
  result.range = RangeOf(expected, elements);
  double worst_excess = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const double wanted = ElementValue(expected, i);
    const double distance = Distance(wanted, ElementValue(actual, i));
    result.max_error = std::max(result.max_error, distance);
    const bool same_bytes = std::memcmp(&expected.bytes[i * size],
                                        &actual.bytes[i * size], size) == 0;
    double allowed = 0;
    if (!exact && std::isfinite(wanted)) {
      allowed = tolerance->rtol * std::abs(wanted) +
                tolerance->range_tol * result.range + tolerance->atol;
    }
    if (same_bytes || (!exact && distance <= allowed)) continue;
    ++result.differing;
    const double excess = distance - allowed;
    if (result.worst < 0 || excess > worst_excess) {
      result.worst = i;
      worst_excess = excess;
    }
  }
  result.equal = result.differing == 0;
  if (!result.equal) {
    result.reason = absl::StrCat(
        result.differing, " of ", elements, " elements differ; element ",
        result.worst, " is ", ElementValue(actual, result.worst), ", expected ",
        ElementValue(expected, result.worst));
  }
  return result;
}

}  // namespace

bool IsFloat(int32_t type) {
  return type == TensorProto::FLOAT || type == TensorProto::DOUBLE ||
         type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16;
}

double ElementValue(const Tensor& tensor, int64_t index) {
  const char* at = tensor.bytes.data() + index * ElementBytes(tensor.type);
  switch (tensor.type) {
    case TensorProto::FLOAT:
      return Load<float>(at);
    case TensorProto::DOUBLE:
      return Load<double>(at);
    case TensorProto::FLOAT16:
      return FromHalf(Load<uint16_t>(at));
    case TensorProto::BFLOAT16:
      return FromBfloat(Load<uint16_t>(at));
    case TensorProto::INT8:
      return Load<int8_t>(at);
    case TensorProto::INT16:
      return Load<int16_t>(at);
    case TensorProto::INT32:
      return Load<int32_t>(at);
    case TensorProto::INT64:
      return static_cast<double>(Load<int64_t>(at));
    case TensorProto::UINT16:
      return Load<uint16_t>(at);
    case TensorProto::UINT32:
      return Load<uint32_t>(at);
    case TensorProto::UINT64:
      return static_cast<double>(Load<uint64_t>(at));
    default:
      return Load<uint8_t>(at);
  }
}

Comparison CompareExact(const Tensor& expected, const Tensor& actual) {
  return Compare(expected, actual, nullptr);
}

Comparison CompareWithin(const Tensor& expected, const Tensor& actual,
                         const Tolerance& tolerance) {
  return Compare(expected, actual, &tolerance);
}

}  // namespace heddle::comparer
