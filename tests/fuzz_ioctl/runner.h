// SPDX-License-Identifier: Apache-2.0
// Sequences of random ioctls from several threads. After each sequence all
// files are closed and the card must be as before: no memory in use, no job
// waiting, nothing mapped, no descriptor left.
#ifndef TESTS_FUZZ_IOCTL_RUNNER_H_
#define TESTS_FUZZ_IOCTL_RUNNER_H_

#include <cstdint>
#include <string>

#include "tests/fuzz_ioctl/target.h"

namespace heddle::fuzz {

struct Options {
  uint64_t seed = 1;
  uint64_t first = 0;  // number of the first sequence: repeats a later one
  uint64_t sequences = 20;
  uint64_t seconds = 0;  // end after so long, if not 0
  int threads = 4;
  int files = 2;
  int steps = 200;   // of each thread in a sequence
  int limit_s = 60;  // longest time of one call
  bool disturb = true;
  bool progress = false;
};

struct Report {
  std::string failure;  // empty: everything held
  uint64_t sequences = 0;
  uint64_t calls = 0;
  uint64_t removals = 0;
  uint64_t malformed = 0;  // raw messages sent
};

// A call that does not return ends the process with a message.
Report Run(Target* target, const Options& options);

}  // namespace heddle::fuzz

#endif  // TESTS_FUZZ_IOCTL_RUNNER_H_
