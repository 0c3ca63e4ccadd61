// SPDX-License-Identifier: Apache-2.0
// What a job takes beside its streams, in cycles of the card: its copies, and
// the way to the host and back. Measured on the RTL card, whose host answers
// after half a microsecond (simulator/rtl/card_test.cc).
#ifndef HEDDLE_COMPILER_STREAM_JOB_CYCLES_H_
#define HEDDLE_COMPILER_STREAM_JOB_CYCLES_H_

#include <cstdint>

namespace heddle::compiler {

// For 512 bytes of a copy between host and device memory.
constexpr uint64_t kCopyCyclesOf512 = 35;
// Of a copy: its scatter list, and the way there and back.
constexpr uint64_t kCopyLatency = 1650;
// From the begin of a run to its first command.
constexpr uint64_t kRunLatency = 650;
// Of a job: steps, region tables, completion record. Fitted to later jobs of
// the two digit models (`heddle-run --core rtl --bench 2`); a client's first
// job, for which SRAM is cleared, takes 2,050 more.
constexpr uint64_t kJobLatency = 1800;

inline uint64_t CopyCycles(uint64_t bytes, uint64_t copies) {
  return bytes * kCopyCyclesOf512 / 512 + copies * kCopyLatency;
}

// What the card counts of a job in which no copy is in parallel with a run: of
// `runs` streams that take `cycles` together, and `copies` of `bytes` together.
inline uint64_t JobCycles(uint64_t cycles, uint64_t runs, uint64_t bytes,
                          uint64_t copies) {
  return kJobLatency + runs * kRunLatency + cycles + CopyCycles(bytes, copies);
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_JOB_CYCLES_H_
