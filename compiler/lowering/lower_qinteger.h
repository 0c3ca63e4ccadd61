// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul and QGemm in all forms that lower_quantized.cc does not take.
#ifndef HEDDLE_COMPILER_LOWERING_LOWER_QINTEGER_H_
#define HEDDLE_COMPILER_LOWERING_LOWER_QINTEGER_H_

#include "compiler/device_ops/lowering.h"

namespace heddle::compiler {

absl::Status LowerGeneralMatMul(Lowering* l, const Node& node);
absl::Status LowerGeneralGemm(Lowering* l, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_LOWERING_LOWER_QINTEGER_H_
