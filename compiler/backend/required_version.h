// SPDX-License-Identifier: Apache-2.0
//
// The earliest version of the hardware contract (VERSION register) whose cards
// do what a package's streams and microprograms say.
#ifndef COMPILER_BACKEND_REQUIRED_VERSION_H_
#define COMPILER_BACKEND_REQUIRED_VERSION_H_

#include <cstdint>
#include <vector>

#include "simulator/timing/timeline.h"

namespace heddle::compiler {

// `words`: whole commands, all legal. `programs`: microprograms one behind the
// other, 8 bytes each micro-instruction, zeros between them.
uint32_t RequiredVersion(const std::vector<uint32_t>& words,
                         const std::vector<timing::KnownBytes>& programs);

}  // namespace heddle::compiler

#endif  // COMPILER_BACKEND_REQUIRED_VERSION_H_
