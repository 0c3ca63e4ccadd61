// SPDX-License-Identifier: Apache-2.0
// Compares an output with the expected one.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_COMPARE_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_COMPARE_H_

#include <cstdint>
#include <string>

#include "compiler/ir/graph.h"

namespace heddle::run {

// Floating point: |value - expected| <= rtol * |expected| + range * (largest
// minus smallest finite expected value); not-a-number and infinities must be
// the same. Every other type must be equal.
struct Tolerance {
  double rtol = 1e-3;
  double range = 1e-4;
  bool exact = false;  // equal bytes, whatever the type
};

struct Comparison {
  bool equal = false;
  std::string problem;             // other type or shape; nothing below is set
  double max_error = 0;            // absolute, over all elements
  int64_t differing = 0;           // elements outside the tolerance
  int64_t first = -1;              // index of the first one, row-major
  double value = 0, expected = 0;  // there
};

Comparison Compare(const compiler::TensorData& value,
                   const compiler::TensorData& expected,
                   const Tolerance& tolerance);

// The element as a number. 64-bit integers may lose their lowest bits.
double ElementAsDouble(const compiler::TensorData& tensor, int64_t index);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_COMPARE_H_
