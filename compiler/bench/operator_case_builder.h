// SPDX-License-Identifier: Apache-2.0
// For operator_cases_*.cc: how cases are written.
#ifndef HEDDLE_COMPILER_BENCH_OPERATOR_CASE_BUILDER_H_
#define HEDDLE_COMPILER_BENCH_OPERATOR_CASE_BUILDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/bench/operator_cases.h"
#include "compiler/ops/microprogram.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {

// Cycles for a vector: a quotient or a root, a look-up by a computed index, an
// integer quotient.
inline constexpr double kDivide = 29, kPick = 2, kIntDivide = 35;
// Additions of the sum of 16 lanes.
inline constexpr double kLaneSum = 15;

// Cycles of sixteen lanes of `function`, a microprogram of one body.
double CyclesOf(const std::function<Term(ProgramBuilder*)>& function);

// A table in the making: `Sized` appends the cases of an operator, one for each
// shape, from small to large.
class CaseTable {
 public:
  struct Made {
    ModelBuilder model;
    double lane_operations = 0;  // sixteen are a cycle
    double macs = 0, unread_bytes = 0, again_bytes = 0;
  };
  using Make = std::function<Made(const Shape& shape)>;

  void Sized(const std::string& op, const std::string& formula,
             const std::vector<Shape>& shapes, const Make& make);
  std::vector<OperatorCase> Take() { return std::move(cases_); }

 private:
  std::vector<OperatorCase> cases_;
};

void AddPointwiseCases(CaseTable* table);
void AddRowCases(CaseTable* table);
void AddMoveCases(CaseTable* table);
void AddSpatialCases(CaseTable* table);
void AddProductCases(CaseTable* table);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BENCH_OPERATOR_CASE_BUILDER_H_
