// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The clock of all deadlines.
#ifndef HEDDLE_KMD_HOSTED_CLOCK_H_
#define HEDDLE_KMD_HOSTED_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace heddle::hosted {

// CLOCK_MONOTONIC in nanoseconds.
inline uint64_t NowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_CLOCK_H_
