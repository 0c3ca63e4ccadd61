// SPDX-License-Identifier: Apache-2.0
// The page SUPPORTED_OPS.md, written from the operators' own definitions: what
// the page says is what the compiler checks.
#ifndef HEDDLE_COMPILER_SUPPORT_PAGE_H_
#define HEDDLE_COMPILER_SUPPORT_PAGE_H_

#include <string>

namespace heddle::compiler {

// Markdown; deterministic.
std::string SupportPage();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SUPPORT_PAGE_H_
