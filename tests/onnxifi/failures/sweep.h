// SPDX-License-Identifier: Apache-2.0
// One call again and again, each time with another of its allocations, threads
// or descriptors failing: its status must say so, a repetition must succeed,
// and nothing may stay behind.
#ifndef TESTS_ONNXIFI_FAILURES_SWEEP_H_
#define TESTS_ONNXIFI_FAILURES_SWEEP_H_

#include <functional>
#include <string>
#include <vector>

#include "tests/support/fault_injection.h"

namespace heddle::tests {

struct SweepCase {
  std::string name;
  std::function<void()> prepare;  // what the call needs
  std::function<bool()> call;  // whether it succeeded; needs no memory itself
  // Fails the test if the call failed as it may not for want of this.
  std::function<void(faults::Kind wanted)> check;
  std::function<void()> undo;   // what the call made, if it succeeded
  std::function<void()> clean;  // what `prepare` made
  bool absorbs = false;         // the call must succeed whatever fails
};

// All n, or with HEDDLE_SWEEP_SAMPLES about so many, the first and the last
// among them. Fails the test.
void Sweep(const SweepCase& tested, faults::Kind kind, bool forever);

// Number of faults injected so far.
long Injected();

}  // namespace heddle::tests

#endif  // TESTS_ONNXIFI_FAILURES_SWEEP_H_
