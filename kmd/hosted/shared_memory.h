// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Memory with a descriptor, shared by driver, card and clients.
#ifndef HEDDLE_KMD_HOSTED_SHARED_MEMORY_H_
#define HEDDLE_KMD_HOSTED_SHARED_MEMORY_H_

#include <cstdint>

namespace heddle::hosted {

// A descriptor of `bytes` bytes of zeroed memory (the caller closes it), or -1.
// Nobody who gets it can take the memory away from the others.
int NewSharedMemory(uint64_t bytes);

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_SHARED_MEMORY_H_
