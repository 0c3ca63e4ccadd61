// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/clock.h"

#include <gtest/gtest.h>

#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

TEST(Clock, OfConfigurations) {
  for (const isa::Config& config : isa::kConfigs) {
    EXPECT_EQ(ClockMhz(config.name), config.clock_mhz) << config.name;
  }
  EXPECT_EQ(ClockMhz("h0"), 0u);
}

TEST(Clock, TimeAndRateAreOfTheSameCycles) {
  EXPECT_DOUBLE_EQ(MillisecondsOf(2'500'000, 500), 5);
  EXPECT_DOUBLE_EQ(PerSecond(2'500'000, 500), 200);
  EXPECT_EQ(MillisecondsOf(1, 0), 0);
  EXPECT_EQ(PerSecond(1, 0), 0);
  EXPECT_EQ(PerSecond(0, 500), 0);
}

TEST(Clock, HasTheDigitsOfTheCycles) {
  EXPECT_EQ(AtTheClock(2345, 1000),
            "0.002345 ms, 426439 per second at 1000 MHz");
  EXPECT_EQ(AtTheClock(12'345'678, 1000),
            "12.346 ms, 81.0 per second at 1000 MHz");
  EXPECT_EQ(AtTheClock(100'000, 800), "0.125 ms, 8000 per second at 800 MHz");
}

TEST(Clock, SaysNothingWithoutTime) {
  EXPECT_EQ(AtTheClock(0, 1000), "");
  EXPECT_EQ(AtTheClock(1000, 0), "");
}

TEST(Clock, ColumnsHaveOneWidth) {
  EXPECT_EQ(ColumnMilliseconds(17, 2345, 1000), "0.000017");
  EXPECT_EQ(ColumnMilliseconds(1'000'017, 9'000'000, 1000), "1.000017");
  EXPECT_EQ(ColumnMilliseconds(17'400, 20'000'000, 1000), "0.017");
}

}  // namespace
}  // namespace heddle::compiler
