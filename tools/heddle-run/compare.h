// SPDX-License-Identifier: Apache-2.0
// Compares an output with the expected one.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_COMPARE_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/ir/graph.h"

namespace heddle::run {

// Floating point: |value - expected| <= rtol * |expected| + range * (largest
// minus smallest finite expected value) + steps * (the output's quantization
// step); not-a-number and infinities must be the same. Integers must be equal,
// but for `steps` where they are quantized.
struct Tolerance {
  // Unless they are given, by type: see DefaultTolerance().
  std::optional<double> rtol, range;
  double steps = 0;
  bool exact = false;  // equal bytes, whatever the type
};

// What different orders of summation make of values: 1e-3 and 1e-4 for float
// and double; for float16 and bfloat16, whose values between operators are
// rounded too, ten units of their last place (1e-2, 8e-2) and as many
// thousandths of the range.
Tolerance DefaultTolerance(compiler::DataType type);

struct Comparison {
  bool equal = false;
  std::string problem;             // other type or shape; nothing below is set
  double max_error = 0;            // absolute, over all elements
  int64_t differing = 0;           // elements outside the tolerance
  int64_t first = -1;              // index of the first one, row-major
  double value = 0, expected = 0;  // there
  double max_steps = 0;            // max_error in quantization steps; 0: none
};

// `step`: distance of neighbouring values of a quantized output; 0: not known.
Comparison Compare(const compiler::TensorData& value,
                   const compiler::TensorData& expected,
                   const Tolerance& tolerance, double step = 0);

// The element as a number. 64-bit integers may lose their lowest bits.
double ElementAsDouble(const compiler::TensorData& tensor, int64_t index);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_COMPARE_H_
