// SPDX-License-Identifier: Apache-2.0
// float16 operands of operators that compute in fp32: widened exactly before,
// rounded once after.
#ifndef HEDDLE_COMPILER_OPS_HALF_H_
#define HEDDLE_COMPILER_OPS_HALF_H_

#include <deque>
#include <vector>

#include "compiler/ops/define.h"

namespace heddle::compiler {

// fp32 copies of float16 inputs; fp32 inputs are not copied. Absent inputs are
// null. The inputs must outlive it.
class Widened {
 public:
  explicit Widened(const Inputs& inputs);
  Widened(const Widened&) = delete;
  const TensorData* operator[](size_t i) const { return At(views_, i); }

 private:
  std::deque<TensorData> copies_;
  Inputs views_;
};

// fp32 data in `type`, float or float16.
TensorData Narrowed(TensorData data, DataType type);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_HALF_H_
