// SPDX-License-Identifier: Apache-2.0
// Trigonometric and hyperbolic functions of one element, as microprograms
// (vector_math.h states their errors). float16 is computed in fp32 and rounded
// once.
#include <cmath>

#include "compiler/ops/doubles.h"
#include "compiler/ops/program_operator.h"
#include "compiler/ops/vector_math.h"

namespace heddle::compiler {
namespace {

// out = function(a)
template <Term (*function)(ProgramBuilder*, Term)>
absl::StatusOr<std::vector<ElementwiseStep>> Function(const Graph&,
                                                      const Node&) {
  ProgramBuilder b;
  const Term x = b.Op(isa::MicroOp::kMov, b.A());
  b.Out(function(&b, x));
  return OneStep(b, {0});
}

// C's function of a double.
template <double (*function)(double)>
double Double(const Node&, const double* x) {
  return function(x[0]);
}

Define Unary(const char* op, int since) {
  Define define(op, since, kMaxOpset);
  define.Inputs(1, 1, kRealsAndDouble);
  return define;
}

const ProgramOperator kSin(Unary("Sin", 7), InferSame, Function<Sin>,
                           Double<std::sin>);
const ProgramOperator kCos(Unary("Cos", 7), InferSame, Function<Cos>,
                           Double<std::cos>);
const ProgramOperator kTan(Unary("Tan", 7), InferSame, Function<Tan>,
                           Double<std::tan>);
const ProgramOperator kAsin(Unary("Asin", 7), InferSame, Function<Asin>,
                            Double<std::asin>);
const ProgramOperator kAcos(Unary("Acos", 7), InferSame, Function<Acos>,
                            Double<std::acos>);
const ProgramOperator kAtan(Unary("Atan", 7), InferSame, Function<Atan>,
                            Double<std::atan>);
const ProgramOperator kSinh(Unary("Sinh", 9), InferSame, Function<Sinh>,
                            Double<std::sinh>);
const ProgramOperator kCosh(Unary("Cosh", 9), InferSame, Function<Cosh>,
                            Double<std::cosh>);
const ProgramOperator kAsinh(Unary("Asinh", 9), InferSame, Function<Asinh>,
                             Double<std::asinh>);
const ProgramOperator kAcosh(Unary("Acosh", 9), InferSame, Function<Acosh>,
                             Double<std::acosh>);
const ProgramOperator kAtanh(Unary("Atanh", 9), InferSame, Function<Atanh>,
                             Double<std::atanh>);

}  // namespace
}  // namespace heddle::compiler
