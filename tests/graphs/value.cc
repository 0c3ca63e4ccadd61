// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/value.h"

#include <algorithm>
#include <cmath>

namespace heddle::tests {
namespace {

constexpr int kFloatBits = 24;
constexpr double kRounding = 1.0 / (1 << 23);
constexpr double kLargest = 1 << 14;
constexpr double kMostError = 2e-4;  // of the magnitude

}  // namespace

compiler::Shape ShapeOf(const Dims& dims, const Sizes& sizes) {
  compiler::Shape shape;
  for (const Dim& dim : dims) {
    shape.push_back(dim.symbol < 0 ? dim.size : dim.size * sizes[dim.symbol]);
  }
  return shape;
}

int64_t CountOf(const Dims& dims, const Sizes& sizes) {
  return compiler::ElementCount(ShapeOf(dims, sizes));
}

std::optional<Dims> Broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  const Dim one;
  Dims result = longer;
  for (size_t i = 1; i <= shorter.size(); ++i) {
    Dim& dim = result[result.size() - i];
    const Dim& other = shorter[shorter.size() - i];
    if (dim == other || other == one) continue;
    if (!(dim == one)) return std::nullopt;
    dim = other;
  }
  return result;
}

Value Rounded(Value value) {
  const int whole = value.magnitude < 1 ? 0 : std::ilogb(value.magnitude) + 1;
  if (value.error > 0 || whole + value.fraction > kFloatBits) {
    value.error += value.magnitude * kRounding;
  }
  return value;
}

bool IsUseful(const Value& value) {
  if (value.type != compiler::DataType::kFloat) return true;
  return value.magnitude <= kLargest &&
         value.error <= kMostError * std::max(1.0, value.magnitude);
}

}  // namespace heddle::tests
