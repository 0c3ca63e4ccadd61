// SPDX-License-Identifier: Apache-2.0
#include "tools/rtl-speed/simulation.h"

namespace heddle::rtl {

absl::StatusOr<uint64_t> Simulate(Program* program) {
  auto run = SimulateCard(program);
  if (!run.ok()) return run.status();
  return run->cycles;
}

}  // namespace heddle::rtl
