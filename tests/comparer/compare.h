// SPDX-License-Identifier: Apache-2.0
// The comparison itself.
//
// Exact: type, shape and every byte are equal.
// Tolerance: type and shape are equal, and for each element
//     |actual - expected| <= rtol * |expected| + range_tol * (max - min) + atol
// with max and min over the finite expected elements. A non-finite expected
// element needs the same class (and sign) of number. Elements that are not
// floating-point must be equal.
#ifndef TESTS_COMPARER_COMPARE_H_
#define TESTS_COMPARER_COMPARE_H_

#include <cstdint>
#include <string>

#include "tests/comparer/tensor.h"

namespace heddle::comparer {

struct Tolerance {
  double rtol = 1e-3;
  double range_tol = 1e-4;
  double atol = 0;
};

struct Comparison {
  bool equal = false;
  int64_t differing = 0;  // elements outside what is allowed
  int64_t worst = -1;     // index of the element that is furthest out, or -1
  double max_error = 0;   // largest |actual - expected|; infinity if one side
                          // only is finite
  double range = 0;       // of the expected tensor
  std::string reason;     // one phrase if not equal
};

Comparison CompareExact(const Tensor& expected, const Tensor& actual);
Comparison CompareWithin(const Tensor& expected, const Tensor& actual,
                         const Tolerance& tolerance);

// Element `index` as a number.
double ElementValue(const Tensor& tensor, int64_t index);
bool IsFloat(int32_t type);

}  // namespace heddle::comparer

#endif  // TESTS_COMPARER_COMPARE_H_
