// SPDX-License-Identifier: Apache-2.0
#include "tests/onnxifi/failures/sweep.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "tests/support/virtual_card.h"

namespace heddle::tests {
namespace {

// What is not given back after so many repetitions is lost.
constexpr int kRepetitions = 3;
long injected = 0;

bool Holds(const faults::Holdings& now, const faults::Holdings& before) {
  return now.allocations <= before.allocations &&
         now.descriptors <= before.descriptors && now.threads <= before.threads;
}

// Once, with the n-th failing, and once more without. Whether one failed.
bool Once(const SweepCase& tested, const faults::Plan& plan, long* count) {
  tested.prepare();
  faults::Arm(plan);
  bool ok = tested.call();
  const faults::Seen seen = faults::Disarm();
  *count = seen.count;
  injected += seen.failed;
  if (!ok && (tested.absorbs || !seen.failed)) {
    ADD_FAILURE() << tested.name << " failed, "
                  << (seen.failed ? "which it must not" : "of itself");
  }
  if (!ok && seen.failed) {
    tested.check(plan.kind);
    ok = tested.call();
    EXPECT_TRUE(ok) << tested.name << " fails when repeated";
  }
  if (ok) tested.undo();
  tested.clean();
  return seen.failed;
}

long Samples() {
  const char* text = getenv("HEDDLE_SWEEP_SAMPLES");
  return text != nullptr ? atol(text) : 0;
}

}  // namespace

long Injected() { return injected; }

void Sweep(const SweepCase& tested, faults::Kind kind, bool forever) {
  SCOPED_TRACE(tested.name);
  faults::Plan plan{kind, 1L << 40, forever};
  long total = 0, ignored = 0;
  // Twice: the first call may fill what is kept for the next.
  Once(tested, plan, &total);
  Once(tested, plan, &total);
  const long samples = Samples();
  const long step = samples > 0 ? std::max(1L, total / samples) : 1;
  for (plan.skip = 0; plan.skip < total; plan.skip += step) {
    SCOPED_TRACE(testing::Message()
                 << faults::Name(kind) << " " << plan.skip << " of " << total
                 << (forever ? " and all after it" : "") << " fails");
    faults::Holdings before, after;
    bool held = false;
    for (int i = 0; i < kRepetitions && !held; ++i) {
      before = faults::Held();
      Once(tested, plan, &ignored);
      held = Eventually([&] { return Holds(after = faults::Held(), before); },
                        absl::Seconds(5));
    }
    EXPECT_TRUE(held) << "left behind: "
                      << after.allocations - before.allocations
                      << " allocations, "
                      << after.descriptors - before.descriptors
                      << " descriptors, " << after.threads - before.threads
                      << " threads";
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace heddle::tests
