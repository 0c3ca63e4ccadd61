// SPDX-License-Identifier: Apache-2.0
// What every package says of who made it.
#ifndef HEDDLE_COMPILER_BACKEND_PRODUCER_H_
#define HEDDLE_COMPILER_BACKEND_PRODUCER_H_

#include "heddle/version.h"

namespace heddle::compiler {

inline constexpr char kProducer[] = "heddle-compile " HEDDLE_VERSION;

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_PRODUCER_H_
