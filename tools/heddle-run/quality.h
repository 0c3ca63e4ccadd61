// SPDX-License-Identifier: Apache-2.0
// How near a tensor is to the expected one, in the measures that people ask
// for: cosine similarity, top-1 agreement, the largest differences. What is
// within a tolerance is compare.h's.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_QUALITY_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_QUALITY_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::run {

struct Difference {
  int64_t index = 0;  // row-major
  double value = 0, expected = 0;
};

// |value - expected|; infinite if only one is a number, or they are different
// infinities.
double Distance(const Difference& difference);

struct Quality {
  // Over the elements that are finite in both. Nothing: there are none, or one
  // of the two has only zeros.
  std::optional<double> cosine;
  // Root of the mean square of the differences, as a part of that of the
  // expected values; over the same elements. Nothing: those are all zero.
  std::optional<double> relative_error;
  // Of a classifier's scores: how many vectors there are, and in how many the
  // largest score is that of the same class. 0 vectors: no scores.
  int64_t vectors = 0, top1 = 0;
  int64_t first_class = -1, first_expected = -1;  // in the first vector
  std::vector<Difference> largest;  // at most kLargest, the largest first
};

inline constexpr size_t kLargest = 5;

// Both have the same type and shape. `zero` is the code that stands for 0.
// Scores of a classifier: floating-point or 8-bit, with a second axis longer
// than 1 and at most ones after it, such as [32,1000] and [1,1000,1,1].
Quality QualityOf(const compiler::TensorData& value,
                  const compiler::TensorData& expected, double zero = 0);

// "[0,3,1]" of an index in a tensor of that shape.
std::string ElementText(const compiler::Shape& shape, int64_t index);

// Of one output of several: none of them has to be scores, so that nothing is
// said of classes.
void ForgetClasses(Quality* quality);

// Lines for people, below that of the tensor; "" if there is nothing to say.
std::string Describe(const Quality& quality, const compiler::Shape& shape);

// Adds "cosine", "relative_error", "top1" and "largest", as far as they apply,
// to the object `json`.
void AddQuality(const Quality& quality, const compiler::Shape& shape,
                nlohmann::ordered_json* json);

// JSON has no infinities and no not-a-number: these are texts.
nlohmann::ordered_json JsonNumber(double value);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_QUALITY_H_
