// SPDX-License-Identifier: Apache-2.0
// CPU time of the process so far, for benchmarks.
#ifndef HEDDLE_COMPILER_TESTING_CPU_SECONDS_H_
#define HEDDLE_COMPILER_TESTING_CPU_SECONDS_H_

#include <ctime>

namespace heddle::compiler {

inline double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_CPU_SECONDS_H_
