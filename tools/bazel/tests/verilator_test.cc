// SPDX-License-Identifier: Apache-2.0
//
// verilator_cc_library passes parameters, produces a working model and a
// readable FST trace.
#include <gtest/gtest.h>
#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "Vcounter.h"

// Verilator's run-time library refers to it when no context time is set.
double sc_time_stamp() { return 0; }

namespace {

TEST(VerilatorTest, CounterWrapsAtItsParameterAndTraces) {
  const std::string path =
      std::string(std::getenv("TEST_TMPDIR")) + "/counter.fst";
  VerilatedContext context;
  context.traceEverOn(true);
  Vcounter dut(&context);
  VerilatedFstC trace;
  dut.trace(&trace, 99);
  trace.open(path.c_str());
  int time = 0;
  const auto tick = [&] {
    dut.clk = 1;
    dut.eval();
    trace.dump(time++);
    dut.clk = 0;
    dut.eval();
    trace.dump(time++);
  };
  dut.rst = 1;
  tick();
  dut.rst = 0;
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(dut.count, i % 16);
    tick();
  }
  trace.close();
  EXPECT_GT(std::filesystem::file_size(path), 100u);
}

}  // namespace
