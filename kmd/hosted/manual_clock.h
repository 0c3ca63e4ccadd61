// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The monotonic clock of a test's whole process, the driver's included
// (clock.h), under the test's control: while held, it advances only when the
// test says so. Sleeping and polling take real time as usual.
//
// The binary is linked with --wrap=clock_gettime.
#ifndef HEDDLE_KMD_HOSTED_MANUAL_CLOCK_H_
#define HEDDLE_KMD_HOSTED_MANUAL_CLOCK_H_

#include <cstdint>

namespace heddle::hosted {

// Held as long as there is one.
class ManualClock {
 public:
  ManualClock();
  ~ManualClock();
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  void Advance(uint64_t ns);
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_MANUAL_CLOCK_H_
