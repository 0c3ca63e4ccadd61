// SPDX-License-Identifier: Apache-2.0
// Floats of 8 and 4 bits and integers of 4, as ONNX defines them:
//   float8e4m3fn    no infinity; NaN is all ones
//   float8e4m3fnuz  no infinity, no -0; NaN is the code of -0
//   float8e5m2      as IEEE 754 has it
//   float8e5m2fnuz  no infinity, no -0; NaN is the code of -0
//   float4e2m1      neither infinity nor NaN
// A tensor has an element in each byte, an int4 with its sign extended.
#ifndef HEDDLE_COMPILER_OPS_NARROW_H_
#define HEDDLE_COMPILER_OPS_NARROW_H_

#include <cstdint>

#include "compiler/ops/define.h"

namespace heddle::compiler {

inline constexpr TypeSet kFloat8s =
    Types(DataType::kFloat8E4M3Fn, DataType::kFloat8E4M3FnUz,
          DataType::kFloat8E5M2, DataType::kFloat8E5M2FnUz);
inline constexpr TypeSet kFloat4s = Types(DataType::kFloat4E2M1);
inline constexpr TypeSet kNarrowFloats = kFloat8s | kFloat4s;
inline constexpr TypeSet kFourBitIntegers =
    Types(DataType::kUint4, DataType::kInt4);

// The types of operators that move elements, or ask for shapes, in a range of
// opsets: kMovable, from `floats8` on (19 or 21, as the operator has it) floats
// of 8 bits, from 21 on integers of 4 and from 23 on floats of 4.
struct MovedTypes {
  int since, until;
  TypeSet types;
};
// Calls `define` with each of the ranges from `since` to kMaxOpset.
struct MovingOperator {
  MovingOperator(int since, int floats8, void (*define)(const MovedTypes&));
};

// The value of a code of a type of kNarrowFloats.
float NarrowToF32(DataType type, uint8_t code);

// To nearest, ties to even. What is beyond the largest number is that number
// if it saturates (and always in float4e2m1), else infinity or, in a type
// without, NaN. A NaN stays one; in float4e2m1 it is the largest number.
uint8_t F32ToNarrow(DataType type, float value, bool saturates);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_NARROW_H_
