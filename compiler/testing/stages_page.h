// SPDX-License-Identifier: Apache-2.0
// compiler/STAGES.md: a convolution and an attention layer after each pass of
// the compiler.
#ifndef HEDDLE_COMPILER_TESTING_STAGES_PAGE_H_
#define HEDDLE_COMPILER_TESTING_STAGES_PAGE_H_

#include <string>

#include "absl/status/statusor.h"

namespace heddle::compiler {

absl::StatusOr<std::string> StagesPage();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_STAGES_PAGE_H_
