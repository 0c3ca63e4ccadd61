// SPDX-License-Identifier: Apache-2.0
// Random cases of an operator against ONNX Runtime: what all tests of this
// folder draw from, and the loop over the cases.
#ifndef TESTS_OPERATORS_RANDOM_CASES_H_
#define TESTS_OPERATORS_RANDOM_CASES_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "compiler/ops/define.h"
#include "compiler/testing/card_case.h"
#include "tests/operators/runtime_case.h"

namespace heddle::tests {

class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : random_(seed) {}
  uint64_t Next() { return random_(); }
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % n); }
  int64_t Between(int64_t low, int64_t high) {
    return low + Below(high - low + 1);
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  // Of `least` to `most` dimensions of 1 to `largest`.
  compiler::Shape AnyShape(int64_t least, int64_t most, int64_t largest);
  // Floats from -range to range.
  compiler::TensorData Floats(const compiler::Shape& shape, float range);

 private:
  std::mt19937_64 random_;
};

// Inputs of floats become the same in double, and the tolerance a double's.
void MakeDouble(RuntimeCase* c);

// An operator of an opset; its name is that of its test.
struct OperatorVersion {
  std::string op, domain;
  int opset = 0;

  std::string TestName() const;
  // Where its random cases begin.
  uint64_t Seed() const { return op.size() * 100 + opset; }
};

// Fifty cases, each made by `make` of one whose operator and tolerance are set;
// says of each that differs what it is. Skips, saying so, without ../shared.
void ExpectAsRuntime(const OperatorVersion& version, double tolerance,
                     const std::function<void(RuntimeCase*)>& make);

}  // namespace heddle::tests

#endif  // TESTS_OPERATORS_RANDOM_CASES_H_
