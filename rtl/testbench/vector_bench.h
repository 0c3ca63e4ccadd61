// SPDX-License-Identifier: Apache-2.0
//
// Drives a verilated hd_vector_engine, one command at a time, with its SRAM, of
// whose grants `stall_percent` go elsewhere. It watches what is read: only what
// the command needs and the rest of its lines, and all of that before read_o.
#ifndef HEDDLE_RTL_TESTBENCH_VECTOR_BENCH_H_
#define HEDDLE_RTL_TESTBENCH_VECTOR_BENCH_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/src/hd_pkg.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/sram_model.h"
#include "simulator/model/read_set.h"

namespace heddle::rtl {

struct VectorOutcome {
  bool fault = false;
  isa::Error code = isa::Error::kOk;
  uint64_t address = 0;
  uint64_t macs = 0;
  uint64_t cycles = 0;  // from acceptance to done
};

template <typename Dut>
class VectorBench {
 public:
  static constexpr uint32_t kWords = 52;

  explicit VectorBench(uint32_t stall_percent = 0, uint64_t seed = 1)
      : config_(isa::kConfigs[0]),
        sram_(config_.sram_bytes, config_.sram_banks, 4, stall_percent, seed) {
    dut_->cmd_valid_i = 0;
    dut_.Settle();
  }

  uint8_t* sram() { return sram_.data(); }
  testbench::SramModel& model() { return sram_; }
  uint64_t cycles() const { return dut_.cycles(); }
  uint64_t writes() const { return writes_; }

  void Step() {
    dut_->clk_i = 0;
    for (int p = 0; p < 4; ++p) {
      std::memcpy(&dut_->sram_rdata_i[4 * p], sram_.ReadData(p), 16);
    }
    dut_->sram_gnt_i = 0;
    dut_->eval();
    uint32_t grants = 0;
    for (int p = 0; p < 4; ++p) {
      if ((dut_->sram_req_o >> p & 1) == 0) continue;
      testbench::SramRequest r;
      const uint64_t addresses = dut_->sram_addr_o;
      r.addr = addresses >> (16 * p) & 0xffff;
      r.write = (dut_->sram_we_o >> p & 1) != 0;
      r.wdata = &dut_->sram_wdata_o[4 * p];
      const uint64_t strobes = dut_->sram_wstrb_o;
      r.wstrb = static_cast<uint16_t>(strobes >> (16 * p));
      r.urgent = (dut_->sram_urgent_o >> p & 1) != 0;
      const bool held = dut_.cycles() >= held_from_ && dut_.cycles() < held_to_;
      if (p == held_port_ && held) continue;
      if (sram_.Grant(p, r)) {
        grants |= 1u << p;
        if (r.write) {
          ++writes_;
        } else if (check_reads_) {
          EXPECT_TRUE(reads_.MarkRead(r.addr)) << "stray read of " << r.addr;
        }
      }
    }
    dut_->sram_gnt_i = grants;
    dut_->eval();
    dut_.Tick();
    sram_.EndCycle();
  }

  VectorOutcome Run(const isa::Command& command) {
    uint32_t words[kWords] = {};
    std::visit([&](const auto& c) { c.Encode(words); }, command);
    VectorOutcome outcome;
    check_reads_ = model::StaysInSram(config_, command);
    reads_ = check_reads_ ? model::SramReads(config_, command, sram_.data())
                          : model::ReadSet();
    dut_->cmd_valid_i = 1;
    for (uint32_t i = 0; i < kWords; ++i) dut_->cmd_i[i] = words[i];
    dut_.Settle();
    EXPECT_EQ(dut_->cmd_ready_o, 1);
    const uint64_t begin = dut_.cycles();
    bool read = false;
    for (;;) {
      Step();
      dut_->cmd_valid_i = 0;
      dut_.Settle();
      if (dut_->read_o) {
        EXPECT_FALSE(read) << "read_o twice";
        read = true;
        EXPECT_EQ(reads_.missing(), 0u) << "words not read at read_o";
      }
      if (dut_->done_o) {
        EXPECT_TRUE(read) << "done_o before read_o";
        outcome.macs = dut_->macs_o;
        Step();
        break;
      }
      if (dut_->fault_o) {
        outcome.fault = true;
        const auto cause = rtl::EngineFault::Read(dut_->fault_cause_o);
        outcome.code = static_cast<isa::Error>(cause.code);
        outcome.address = cause.addr;
        EXPECT_EQ(cause.region, 0u);
        // It stays, and nothing is asked of SRAM any more (what was under way
        // may end).
        for (int i = 0; i < 20; ++i) Step();
        EXPECT_EQ(dut_->sram_req_o, 0);
        EXPECT_EQ(dut_->fault_o, 1);
        Reset();
        break;
      }
      if (dut_.cycles() - begin > 4000000) {
        ADD_FAILURE() << "no end";
        std::abort();
      }
    }
    outcome.cycles = dut_.cycles() - begin;
    EXPECT_TRUE(outcome.fault || dut_->idle_o);
    return outcome;
  }

  void Reset() { dut_.Reset(); }

  // No request of `port` is granted in these cycles from now on.
  void Hold(int port, uint64_t from, uint64_t to) {
    held_port_ = port;
    held_from_ = cycles() + from;
    held_to_ = cycles() + to;
  }

 private:
  isa::Config config_;
  Clocked<Dut> dut_;
  testbench::SramModel sram_;
  uint64_t writes_ = 0;
  int held_port_ = -1;
  uint64_t held_from_ = 0, held_to_ = 0;
  bool check_reads_ = false;
  model::ReadSet reads_;  // of the command
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_VECTOR_BENCH_H_
