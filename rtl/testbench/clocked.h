// SPDX-License-Identifier: Apache-2.0
//
// Clock and reset of a verilated module with ports clk_i and rst_ni.
//
//   Clocked<Vhd_foo> dut;         // reset, then out of it
//   dut->valid_i = 1;             // inputs of this cycle
//   dut.Settle();                 // combinational outputs of this cycle
//   dut.Tick();                   // falling edge, rising edge
//
// The clock falls only when all inputs of the cycle are there, also those that
// answer outputs (grants): the falling edge samples what gated clocks depend on
// (hd_clock_gate).
#ifndef HEDDLE_RTL_TESTBENCH_CLOCKED_H_
#define HEDDLE_RTL_TESTBENCH_CLOCKED_H_

#include <cstdint>
#include <memory>

#include "verilated.h"

namespace heddle::rtl {

template <typename Dut>
class Clocked {
 public:
  Clocked() : dut_(std::make_unique<Dut>()) { Reset(); }
  ~Clocked() { dut_->final(); }

  Dut* operator->() { return dut_.get(); }
  Dut& operator*() { return *dut_; }

  void Reset(int cycles = 3) {
    dut_->rst_ni = 0;
    for (int i = 0; i < cycles; ++i) Tick();
    dut_->rst_ni = 1;
    Settle();
  }
  void Settle() { dut_->eval(); }
  void Tick() {
    dut_->clk_i = 0;
    dut_->eval();
    dut_->clk_i = 1;
    dut_->eval();
    ++cycles_;
  }
  uint64_t cycles() const { return cycles_; }

 private:
  std::unique_ptr<Dut> dut_;
  uint64_t cycles_ = 0;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_CLOCKED_H_
