// SPDX-License-Identifier: Apache-2.0
// What no schedule of an operator can go below.
#ifndef HEDDLE_COMPILER_BENCH_OPERATOR_BOUND_H_
#define HEDDLE_COMPILER_BENCH_OPERATOR_BOUND_H_

#include "compiler/bench/operator_cases.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// Cycles of the engines by themselves.
struct OperatorBound {
  double vector = 0;  // OperatorCase::work
  double memory = 0;  // bytes over those of device memory per cycle
  double matrix = 0;  // MACs over those of the array per cycle

  double cycles() const;
  const char* limit() const;  // "vector", "memory", "matrix": the largest
};

// Bytes are those of the node's inputs, outputs and weights, each once, but
// what the case says of them. `output_bytes`: of the outputs, whose shapes the
// model does not state.
OperatorBound BoundOf(const OperatorCase& c, double output_bytes,
                      const isa::Config& config);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BENCH_OPERATOR_BOUND_H_
