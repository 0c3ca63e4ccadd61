// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/quality.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/heddle-run/compare.h"

namespace heddle::run {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;
using nlohmann::ordered_json;

bool HoldsScores(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble ||
         type == DataType::kFloat16 || type == DataType::kBfloat16 ||
         type == DataType::kInt8 || type == DataType::kUint8;
}

// 0: these are not the scores of a classifier. Axes behind the classes are what
// a pool over an image leaves; one before them is a direction, or a time.
int64_t Classes(const TensorData& tensor) {
  if (!HoldsScores(tensor.type) || tensor.shape.size() < 2) return 0;
  for (size_t i = 2; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] != 1) return 0;
  }
  return tensor.shape[1] > 1 ? tensor.shape[1] : 0;
}

// The first of the largest; not-a-number is never the largest.
int64_t LargestOf(const TensorData& tensor, int64_t begin, int64_t count) {
  int64_t at = -1;
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = ElementAsDouble(tensor, begin + i);
    if (std::isnan(value) || (at >= 0 && value <= largest)) continue;
    at = i;
    largest = value;
  }
  return at;
}

void SetTop1(const TensorData& value, const TensorData& expected,
             Quality* quality) {
  const int64_t classes = Classes(value);
  if (classes == 0) return;
  quality->vectors = value.shape[0];
  for (int64_t n = 0; n < quality->vectors; ++n) {
    const int64_t have = LargestOf(value, n * classes, classes);
    const int64_t want = LargestOf(expected, n * classes, classes);
    if (n == 0) {
      quality->first_class = have;
      quality->first_expected = want;
    }
    quality->top1 += have == want;
  }
}

void AddDifference(const Difference& difference,
                   std::vector<Difference>* largest) {
  const double distance = Distance(difference);
  if (distance == 0) return;
  if (largest->size() == kLargest && Distance(largest->back()) >= distance) {
    return;
  }
  // Behind those of the same distance, which come first in the tensor.
  const auto place = std::upper_bound(
      largest->begin(), largest->end(), distance,
      [](double d, const Difference& other) { return d > Distance(other); });
  largest->insert(place, difference);
  if (largest->size() > kLargest) largest->pop_back();
}

}  // namespace

double Distance(const Difference& d) {
  if (d.value == d.expected) return 0;
  if (std::isnan(d.value) && std::isnan(d.expected)) return 0;
  if (!std::isfinite(d.value) || !std::isfinite(d.expected)) {
    return std::numeric_limits<double>::infinity();
  }
  return std::fabs(d.value - d.expected);
}

Quality QualityOf(const TensorData& value, const TensorData& expected,
                  double zero) {
  Quality quality;
  const int64_t count = value.count();
  // Squares of what is divided by the largest neither overflow nor vanish.
  double most = 0, most_expected = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Difference d = {i, ElementAsDouble(value, i),
                          ElementAsDouble(expected, i)};
    AddDifference(d, &quality.largest);
    if (!std::isfinite(d.value) || !std::isfinite(d.expected)) continue;
    most = std::max(most, std::fabs(d.value - zero));
    most_expected = std::max(most_expected, std::fabs(d.expected - zero));
  }
  double product = 0, squares = 0, expected_squares = 0, errors = 0;
  for (int64_t i = 0; most_expected > 0 && i < count; ++i) {
    const double have = ElementAsDouble(value, i) - zero;
    const double want = ElementAsDouble(expected, i) - zero;
    if (!std::isfinite(have) || !std::isfinite(want)) continue;
    const double v = most > 0 ? have / most : 0, e = want / most_expected;
    const double error = (have - want) / most_expected;
    product += v * e;
    squares += v * v;
    expected_squares += e * e;
    errors += error * error;
  }
  if (expected_squares > 0) {
    quality.relative_error = std::sqrt(errors / expected_squares);
    if (squares > 0) {
      // Of equal tensors exactly 1, whatever the roots are.
      quality.cosine = errors == 0 ? 1
                                   : product / std::sqrt(squares) /
                                         std::sqrt(expected_squares);
    }
  }
  SetTop1(value, expected, &quality);
  return quality;
}

void ForgetClasses(Quality* quality) {
  quality->vectors = quality->top1 = 0;
  quality->first_class = quality->first_expected = -1;
}

std::string ElementText(const Shape& shape, int64_t index) {
  std::vector<int64_t> position(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    position[i] = shape[i] > 0 ? index % shape[i] : 0;
    if (shape[i] > 0) index /= shape[i];
  }
  return absl::StrCat("[", absl::StrJoin(position, ","), "]");
}

std::string Describe(const Quality& quality, const Shape& shape) {
  std::vector<std::string> parts;
  if (quality.cosine.has_value()) {
    parts.push_back(absl::StrFormat("cosine similarity %.8f", *quality.cosine));
  }
  if (quality.relative_error.has_value()) {
    parts.push_back(
        absl::StrFormat("relative error %.3g", *quality.relative_error));
  }
  if (quality.vectors == 1) {
    parts.push_back(
        quality.top1 == 1
            ? absl::StrFormat("top-1 agrees (class %d)", quality.first_class)
            : absl::StrFormat("top-1 DIFFERS (class %d, expected %d)",
                              quality.first_class, quality.first_expected));
  } else if (quality.vectors > 1) {
    parts.push_back(absl::StrFormat("top-1 agrees in %d of %d (%.2f %%)",
                                    quality.top1, quality.vectors,
                                    100.0 * static_cast<double>(quality.top1) /
                                        static_cast<double>(quality.vectors)));
  }
  std::string text;
  if (!parts.empty()) {
    absl::StrAppendFormat(&text, "  %-12s%s\n", "quality",
                          absl::StrJoin(parts, ", "));
  }
  for (size_t i = 0; i < quality.largest.size(); ++i) {
    const Difference& d = quality.largest[i];
    absl::StrAppendFormat(&text,
                          "  %-12s%s: %.9g, expected %.9g, off by %.3g\n",
                          i == 0 ? "largest" : "", ElementText(shape, d.index),
                          d.value, d.expected, Distance(d));
  }
  return text;
}

ordered_json JsonNumber(double value) {
  if (std::isfinite(value)) return value;
  return absl::StrCat(value);
}

void AddQuality(const Quality& quality, const Shape& shape,
                ordered_json* json) {
  if (quality.cosine) (*json)["cosine"] = *quality.cosine;
  if (quality.relative_error) {
    (*json)["relative_error"] = *quality.relative_error;
  }
  if (quality.vectors > 0) {
    (*json)["top1"] = {{"agree", quality.top1}, {"of", quality.vectors}};
  }
  if (quality.largest.empty()) return;
  (*json)["largest"] = ordered_json::array();
  for (const Difference& d : quality.largest) {
    (*json)["largest"].push_back({{"index", d.index},
                                  {"position", ElementText(shape, d.index)},
                                  {"value", JsonNumber(d.value)},
                                  {"expected", JsonNumber(d.expected)}});
  }
}

}  // namespace heddle::run
