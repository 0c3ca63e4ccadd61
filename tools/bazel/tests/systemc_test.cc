// SPDX-License-Identifier: Apache-2.0
//
// SystemC links and simulates: libsystemc brings main(), the test is inside
// sc_main().
#include <gtest/gtest.h>

#include <systemc>

namespace {

SC_MODULE(Ticker) {
  SC_CTOR(Ticker) { SC_THREAD(Run); }
  void Run() {
    for (; ticks < 5; ++ticks) wait(10, sc_core::SC_NS);
  }
  int ticks = 0;
};

TEST(SystemcTest, ThreadAdvancesTime) {
  Ticker ticker("ticker");
  sc_core::sc_start();
  EXPECT_EQ(ticker.ticks, 5);
  EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(50, sc_core::SC_NS));
}

}  // namespace

int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
