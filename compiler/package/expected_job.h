// SPDX-License-Identifier: Apache-2.0
// What a run of a package takes as a job: its streams, and the copies of inputs
// and outputs around them.
#ifndef HEDDLE_COMPILER_PACKAGE_EXPECTED_JOB_H_
#define HEDDLE_COMPILER_PACKAGE_EXPECTED_JOB_H_

#include <cstdint>

#include "compiler/package/package.h"

namespace heddle::package {

// Cycles, estimated (compiler/stream/job_cycles.h). 0 where that is no one
// figure: there are several jobs (segments), none at all, or weights are copied
// in parallel with streams.
uint64_t ExpectedJobCycles(const Package& package);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_EXPECTED_JOB_H_
