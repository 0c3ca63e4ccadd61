// SPDX-License-Identifier: Apache-2.0
// Cycles of the card as time: at the clock of a hardware configuration.
#ifndef HEDDLE_COMPILER_BASE_CLOCK_H_
#define HEDDLE_COMPILER_BASE_CLOCK_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace heddle::compiler {

// Of a configuration; 0 if this build does not know it.
uint32_t ClockMhz(absl::string_view config);

// 0 without a clock.
double MillisecondsOf(uint64_t cycles, uint32_t clock_mhz);
// Inferences, if each takes so many cycles; 0 if they take no time.
double PerSecond(uint64_t cycles, uint32_t clock_mhz);

// "0.002345 ms, 426439 per second at 1000 MHz", with as many digits as the
// cycles have, but not more; "" where there is no time to tell: without a
// clock, or if the card has nothing to do.
std::string AtTheClock(uint64_t cycles, uint32_t clock_mhz);

// Milliseconds for a column whose sum is `whole` cycles: all with the same
// digits, and enough of them for a part of it.
std::string ColumnMilliseconds(uint64_t cycles, uint64_t whole,
                               uint32_t clock_mhz);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_CLOCK_H_
