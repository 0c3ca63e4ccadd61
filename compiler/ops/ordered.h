// SPDX-License-Identifier: Apache-2.0
// Programs that see integers as signed or unsigned: comparisons and remainders.
#ifndef HEDDLE_COMPILER_OPS_ORDERED_H_
#define HEDDLE_COMPILER_OPS_ORDERED_H_

#include "compiler/ir/graph.h"
#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

enum class Order { kReal, kSigned, kUnsigned };

// How lanes compare elements of a type (int64 as the int32 that the card
// holds).
Order OrderOf(DataType type);

enum class Comparison {
  kEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual
};

// out = 1 where the comparison of a with b holds, else 0.
Microprogram CompareProgram(Comparison comparison, Order order);

// out = a - b * q of integers, q = a / b toward minus infinity, or toward zero
// if it `truncates`; out = a where b is 0.
Microprogram RemainderProgram(Order order, bool truncates);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_ORDERED_H_
