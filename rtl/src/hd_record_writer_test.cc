// SPDX-License-Identifier: Apache-2.0
//
// A record arrives whole: first all but its sequence number, then that, and
// nothing beside it is touched. Errors of either write are told.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "Vhd_record_writer.h"
#include "rtl/spec/generated/descriptors.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"

namespace heddle::rtl {
namespace {

TEST(RecordWriterTest, BodyThenSequence) {
  std::mt19937_64 random(1);
  Clocked<Vhd_record_writer> dut;
  testbench::MemoryModel memory(1 << 14, {20, 10, 30}, 1);
  testbench::MemoryPort port = {
      &dut->req_valid_o, &dut->req_ready_i, nullptr,         &dut->req_addr_o,
      &dut->req_beats_o, &dut->w_valid_o,   &dut->w_ready_i, &dut->w_data_o[0],
      &dut->w_strb_o,    nullptr,           nullptr,         nullptr,
      nullptr,           &dut->b_valid_i,   &dut->b_error_i};
  const uint8_t yes = 1;
  port.req_write = &yes;
  dut->body_i = dut->sequence_i = 0;
  dut.Reset();
  // True: done without error.
  auto write = [&](bool sequence) {
    (sequence ? dut->sequence_i : dut->body_i) = 1;
    for (int i = 0; i < 500; ++i) {
      dut->clk_i = 0;
      memory.Drive(&port);
      dut->eval();
      memory.Sample(port);
      dut->clk_i = 1;
      dut->eval();
      dut->body_i = dut->sequence_i = 0;
      if (dut->done_o) {
        EXPECT_TRUE(memory.quiet());
        return !dut->error_o;
      }
    }
    ADD_FAILURE() << "does not end";
    return false;
  };
  std::vector<uint8_t> want(memory.size());
  constexpr size_t kBody = offsetof(desc::Completion, sequence);
  for (int i = 0; i < 300; ++i) {
    uint8_t record[sizeof(desc::Completion)];
    for (uint8_t& b : record) b = static_cast<uint8_t>(random());
    const uint64_t at = random() % (memory.size() / 128) * 128;
    dut->iova_i = at;
    std::memcpy(&dut->record_i[0], record, sizeof(record));
    ASSERT_TRUE(write(false));
    std::memcpy(&want[at], record, kBody);
    ASSERT_EQ(std::memcmp(memory.data(), want.data(), want.size()), 0);
    ASSERT_TRUE(write(true));
    std::memcpy(&want[at], record, sizeof(record));
    ASSERT_EQ(std::memcmp(memory.data(), want.data(), want.size()), 0);
    // Each word of it may fail.
    const uint64_t bad = at + random() % 8 * 16;
    memory.set_error_range(bad, bad + 16);
    EXPECT_FALSE(write(false));
    EXPECT_EQ(write(true), bad != at + 112);
    memory.set_error_range(0, 0);
    ASSERT_TRUE(write(false));
    ASSERT_TRUE(write(true));
  }
  EXPECT_EQ(memory.violations(), std::vector<std::string>());
}

}  // namespace
}  // namespace heddle::rtl
