// SPDX-License-Identifier: Apache-2.0
#ifndef HEDDLE_COMPILER_CACHE_BUILD_ID_H_
#define HEDDLE_COMPILER_CACHE_BUILD_ID_H_

#include <string>

namespace heddle::compiler {

// The linker's identity of the program or library that this function is in
// (NT_GNU_BUILD_ID), and with it of the compiler, which is linked into it: a
// hash of all its bytes. "" if it was linked without one.
std::string BuildId();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_CACHE_BUILD_ID_H_
