// SPDX-License-Identifier: Apache-2.0
// onnxifi-conformance --fuzz and --replay: many sequences, each group of them
// in a process of its own; what fails is shrunk to a file that replays it.
#ifndef ONNXIFI_CONFORMANCE_FUZZ_FUZZ_H_
#define ONNXIFI_CONFORMANCE_FUZZ_FUZZ_H_

#include <cstdint>
#include <string>
#include <vector>

#include "onnxifi/conformance/runner.h"

namespace heddle::conformance {

struct FuzzOptions {
  RunOptions run;  // the timeout is that of one sequence
  uint64_t sequences = 0;
  std::vector<std::string> replays;  // files, or folders of *.txt
  std::string keep = ".";            // where a file for a failure goes
  int findings = 10;                 // stop after so many
  double seconds = 0;                // stop after that; 0: no limit
  int jobs = 1;                      // processes that take sequences at a time
};

// Prints to stdout; the last line counts. 0: no finding, 1: some, 2: a file is
// wrong, 3: the library cannot be used.
int Fuzz(const FuzzOptions& options);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_FUZZ_FUZZ_H_
