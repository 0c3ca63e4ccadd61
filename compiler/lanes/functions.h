// SPDX-License-Identifier: Apache-2.0
// Functions that the host computes of many elements at once, defined once for
// programs of the vector engine and for vectors of the CPU (terms.h). Streams
// A, B, C are elements, arguments are numbers.
#ifndef HEDDLE_COMPILER_LANES_FUNCTIONS_H_
#define HEDDLE_COMPILER_LANES_FUNCTIONS_H_

#include "compiler/lanes/terms.h"

// Functions of ONNX, as operators write them; then parts of others.
#define HEDDLE_LANE_FUNCTIONS(X)                                             \
  X(Exp, Exp(b, b->A()))                                                     \
  X(Log, Log(b, b->A()))                                                     \
  X(Tanh, Tanh(b, b->A()))                                                   \
  X(Erf, Erf(b, b->A()))                                                     \
  X(Sigmoid, Sigmoid(b, b->A()))                                             \
  X(Softplus, Softplus(b, b->A()))                                           \
  X(Floor, Floor(b, b->A()))                                                 \
  X(Ceil, Ceil(b, b->A()))                                                   \
  X(RoundEven, RoundEven(b, b->A()))                                         \
  X(Sqrt, b->Sqrt(b->A()))                                                   \
  X(GeluExact, GeluExact(b, b->A()))                                         \
  X(GeluTanh, GeluTanh(b, b->A()))                                           \
  X(GeluSigmoid, GeluSigmoid(b, b->A(), b->Arg(0)))                          \
  X(ExpOfDifference, Exp(b, b->Sub(b->A(), b->B())))                         \
  X(Reciprocal, b->Div(b->Imm(1.0f), b->A()))                                \
  X(Sum, b->Add(b->A(), b->B()))                                             \
  X(Difference, b->Sub(b->A(), b->B()))                                      \
  X(Product, b->Mul(b->A(), b->B()))                                         \
  X(Quotient, b->Div(b->A(), b->B()))                                        \
  X(DifferenceOfDifference, b->Sub(b->Sub(b->A(), b->B()), b->C()))          \
  X(FusedMultiplyAdd, b->Fma(b->A(), b->B(), b->C()))                        \
  /* f32(f32(x - arg0) * arg1), times and plus the other streams. */         \
  X(Normalize,                                                               \
    b->Fma(b->Mul(b->Sub(b->A(), b->Arg(0)), b->Arg(1)), b->B(), b->C()))    \
  /* fma(f32(x - arg0), arg1, arg2) */                                       \
  X(NormalizePlane, b->Fma(b->Sub(b->A(), b->Arg(0)), b->Arg(1), b->Arg(2))) \
  /* 1 / sqrt(x + arg0) */                                                   \
  X(ReciprocalRoot, b->Div(b->Imm(1.0f), b->Sqrt(b->Add(b->A(), b->Arg(0)))))

namespace heddle::compiler {

enum class LaneFunction {
#define HEDDLE_LANE_FUNCTION(name, expression) k##name,
  HEDDLE_LANE_FUNCTIONS(HEDDLE_LANE_FUNCTION)
#undef HEDDLE_LANE_FUNCTION
      kCount
};

namespace lane_steps {
using namespace terms;  // NOLINT: the expressions above

#define HEDDLE_LANE_FUNCTION(name, expression) \
  struct Make##name {                          \
    template <typename B>                      \
    HEDDLE_TERMS static void Of(B* b) {        \
      b->Out(expression);                      \
    }                                          \
  };
HEDDLE_LANE_FUNCTIONS(HEDDLE_LANE_FUNCTION)
#undef HEDDLE_LANE_FUNCTION

}  // namespace lane_steps
}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LANES_FUNCTIONS_H_
