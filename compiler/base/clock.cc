// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/clock.h"

#include "absl/strings/str_format.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

uint32_t ClockMhz(absl::string_view config) {
  const isa::Config* found = isa::FindConfig(config);
  return found == nullptr ? 0 : found->clock_mhz;
}

double MillisecondsOf(uint64_t cycles, uint32_t clock_mhz) {
  return clock_mhz == 0 ? 0 : static_cast<double>(cycles) / (clock_mhz * 1e3);
}

double PerSecond(uint64_t cycles, uint32_t clock_mhz) {
  return cycles == 0 ? 0 : clock_mhz * 1e6 / static_cast<double>(cycles);
}

std::string AtTheClock(uint64_t cycles, uint32_t clock_mhz) {
  if (cycles == 0 || clock_mhz == 0) return "";
  const double ms = MillisecondsOf(cycles, clock_mhz);
  const double rate = PerSecond(cycles, clock_mhz);
  return absl::StrFormat("%.*f ms, %.*f per second at %d MHz", ms < 0.1 ? 6 : 3,
                         ms, rate < 1000 ? 1 : 0, rate, clock_mhz);
}

std::string ColumnMilliseconds(uint64_t cycles, uint64_t whole,
                               uint32_t clock_mhz) {
  return absl::StrFormat("%.*f", MillisecondsOf(whole, clock_mhz) < 10 ? 6 : 3,
                         MillisecondsOf(cycles, clock_mhz));
}

}  // namespace heddle::compiler
