// SPDX-License-Identifier: Apache-2.0
//
// Both users of the host's port at once, against a memory that takes its time:
// every byte arrives, every answer reaches who wrote, nobody waits for ever;
// and alone, the front end's signals pass through.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "Vhd_host_merge.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"

namespace heddle::rtl {
namespace {

constexpr uint64_t kHalf = 1 << 16;  // main below, trace above
constexpr uint32_t kMostOpen = 64;   // as copy engine and trace writer have

// A master that writes bursts and waits for their answers; main also reads.
struct Master {
  bool asking = false, write = false;
  uint64_t address = 0;
  uint32_t beats = 0;
  std::deque<uint8_t> data;  // of each beat that is to be sent
  uint32_t open = 0;         // writes without an answer
  uint32_t written = 0, longest = 0, waited = 0;
};

TEST(HostMergeTest, NeitherDisturbsTheOther) {
  std::mt19937_64 random(1);
  Clocked<Vhd_host_merge> dut;
  testbench::MemoryModel memory(2 * kHalf, {30, 15, 20}, 1);
  uint8_t r_valid = 0, r_ready = 1, r_error = 0, b_error = 0;
  uint32_t r_data[4];
  testbench::MemoryPort port = {
      &dut->req_valid_o, &dut->req_ready_i, &dut->req_write_o,
      &dut->req_addr_o,  &dut->req_beats_o, &dut->w_valid_o,
      &dut->w_ready_i,   &dut->w_data_o[0], &dut->w_strb_o,
      &r_valid,          &r_ready,          r_data,
      &r_error,          &dut->b_valid_i,   &b_error};
  dut->m_req_valid_i = dut->t_req_valid_i = 0;
  dut->m_w_valid_i = dut->t_w_valid_i = 0;
  dut.Reset();
  std::vector<uint8_t> want(memory.size());
  Master main, trace;
  auto ask = [&](Master* m, uint64_t base, bool may_read) {
    m->asking = true;
    m->write = !may_read || random() % 2;
    m->beats = may_read ? 1 + random() % 16 : 2;
    m->address = base + random() % (kHalf / 256) * 256;
    m->waited = 0;
  };
  // The bytes of a burst that was accepted.
  auto start = [&](Master* m) {
    m->asking = false;
    if (!m->write) return;
    ++m->open;
    ++m->written;
    for (uint32_t i = 0; i < m->beats; ++i) {
      const uint8_t byte = static_cast<uint8_t>(random());
      m->data.push_back(byte);
      std::memset(&want[m->address + 16 * i], byte, 16);
    }
  };
  for (int cycle = 0; cycle < 60000; ++cycle) {
    // At first both, then main alone, and at the end what is under way.
    const bool more = cycle < 55000;
    if (more && !main.asking && main.open < kMostOpen && random() % 3 == 0)
      ask(&main, 0, true);
    if (cycle < 40000 && !trace.asking && trace.open < kMostOpen &&
        random() % 10 == 0)
      ask(&trace, kHalf, false);
    dut->m_req_valid_i = main.asking;
    dut->m_req_write_i = main.write;
    dut->m_req_addr_i = main.address;
    dut->m_req_beats_i = static_cast<uint8_t>(main.beats);
    dut->m_w_valid_i = !main.data.empty();
    dut->m_w_strb_i = 0xffff;
    if (!main.data.empty())
      std::memset(&dut->m_w_data_i[0], main.data.front(), 16);
    dut->t_req_valid_i = trace.asking;
    dut->t_req_addr_i = trace.address;
    dut->t_w_valid_i = !trace.data.empty();
    if (!trace.data.empty())
      std::memset(&dut->t_w_data_i[0], trace.data.front(), 16);
    dut->clk_i = 0;
    memory.Drive(&port);
    dut->eval();
    memory.Sample(port);
    if (cycle > 42000) {
      ASSERT_EQ(dut->req_valid_o, main.asking);
      ASSERT_EQ(dut->m_req_ready_o, dut->req_ready_i);
      ASSERT_EQ(dut->m_w_ready_o, dut->w_ready_i);
      ASSERT_EQ(dut->m_b_valid_o, dut->b_valid_i);
    }
    ASSERT_FALSE(dut->m_b_valid_o && dut->t_b_valid_o);
    if (dut->m_b_valid_o) {
      ASSERT_GT(main.open, 0u);
      --main.open;
    }
    if (dut->t_b_valid_o) {
      ASSERT_GT(trace.open, 0u);
      --trace.open;
    }
    if (dut->m_w_valid_i && dut->m_w_ready_o) main.data.pop_front();
    if (dut->t_w_valid_i && dut->t_w_ready_o) trace.data.pop_front();
    for (Master* m : {&main, &trace}) {
      m->longest = std::max(m->longest, m->asking ? ++m->waited : 0);
    }
    if (main.asking && dut->m_req_ready_o) start(&main);
    if (trace.asking && dut->t_req_ready_o) start(&trace);
    dut->clk_i = 1;
    dut->eval();
  }
  EXPECT_EQ(main.open + trace.open, 0u);
  EXPECT_TRUE(memory.quiet());
  EXPECT_EQ(memory.violations(), std::vector<std::string>());
  EXPECT_EQ(std::memcmp(memory.data(), want.data(), want.size()), 0);
  EXPECT_GT(main.written, 1000u);
  EXPECT_GT(trace.written, 400u);
  EXPECT_LT(main.longest, 2000u);
  EXPECT_LT(trace.longest, 2000u);
}

}  // namespace
}  // namespace heddle::rtl
