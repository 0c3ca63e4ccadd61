// SPDX-License-Identifier: Apache-2.0
//
// Ranges of all lengths and alignments, compared with the bytes of memory;
// errors in any beat.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "Vhd_host_fetch.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"

namespace heddle::rtl {
namespace {

class Bench {
 public:
  explicit Bench(uint64_t seed) : memory(1 << 16, {20, 10, 20}, seed) {
    port = {&dut->req_valid_o, &dut->req_ready_i, &no,     &dut->req_addr_o,
            &dut->req_beats_o, nullptr,           nullptr, nullptr,
            nullptr,           &dut->r_valid_i,   &yes,    &dut->r_data_i[0],
            &dut->r_error_i,   nullptr,           nullptr};
    dut->start_i = 0;
    dut.Reset();
    std::mt19937_64 random(seed);
    for (uint64_t i = 0; i < memory.size(); ++i)
      memory.data()[i] = static_cast<uint8_t>(random());
  }
  // False: error.
  bool Fetch(uint64_t address, uint32_t words, std::vector<uint8_t>* got) {
    EXPECT_FALSE(dut->busy_o);
    dut->addr_i = address;
    dut->words_i = static_cast<uint16_t>(words);
    dut->start_i = 1;
    got->clear();
    for (int i = 0; i < 5000; ++i) {
      dut->clk_i = 0;
      memory.Drive(&port);
      dut->eval();
      memory.Sample(port);
      const bool done = dut->done_o, error = dut->error_o;
      if (dut->valid_o) {
        EXPECT_FALSE(done);
        got->resize(got->size() + 16);
        std::memcpy(got->data() + got->size() - 16, &dut->data_o[0], 16);
      }
      dut->clk_i = 1;
      dut->eval();
      dut->start_i = 0;
      if (done) {
        EXPECT_TRUE(memory.quiet());
        return !error;
      }
    }
    ADD_FAILURE() << "does not end";
    return false;
  }
  uint8_t no = 0, yes = 1;
  Clocked<Vhd_host_fetch> dut;
  testbench::MemoryModel memory;
  testbench::MemoryPort port;
};

TEST(HostFetchTest, AnyRange) {
  Bench b(1);
  std::mt19937 random(2);
  std::vector<uint8_t> got;
  for (int i = 0; i < 500; ++i) {
    const uint32_t words = i < 256 ? i + 1 : 1 + random() % 256;
    const uint64_t at = random() % ((1 << 16) - 4112);
    ASSERT_TRUE(b.Fetch(i % 3 == 0 ? at / 64 * 64 : at, words, &got));
    const uint8_t* want = b.memory.data() + (i % 3 == 0 ? at / 64 * 64 : at);
    ASSERT_EQ(got, std::vector<uint8_t>(want, want + words * 16)) << at;
  }
  EXPECT_EQ(b.memory.violations(), std::vector<std::string>());
}

TEST(HostFetchTest, Errors) {
  Bench b(3);
  std::mt19937 random(4);
  std::vector<uint8_t> got;
  int errors = 0;
  for (int i = 0; i < 500; ++i) {
    const uint32_t words = 1 + random() % 40;
    const uint64_t at = 4096 + random() % 4096;
    const uint64_t bad = (at + random() % 900 - 100) / 16 * 16;
    b.memory.set_error_range(bad, bad + 16);
    const bool hit = bad + 16 > at && bad < at + words * 16;
    ASSERT_EQ(b.Fetch(at, words, &got), !hit)
        << at << " " << words << " " << bad;
    errors += hit;
  }
  EXPECT_GT(errors, 50);
  EXPECT_LT(errors, 450);
}

}  // namespace
}  // namespace heddle::rtl
