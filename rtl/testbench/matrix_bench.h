// SPDX-License-Identifier: Apache-2.0
//
// Drives a verilated hd_matrix_engine: commands in, the SRAM with the core's
// arbiter around it, and other clients that take bank slots.
//
//   MatrixBench<Vhd_matrix_engine> bench(isa::kH256);
//   bench.sram() ...                        // contents, before and after
//   bench.Run({command, ...}, traffic)      // until all are done
#ifndef HEDDLE_RTL_TESTBENCH_MATRIX_BENCH_H_
#define HEDDLE_RTL_TESTBENCH_MATRIX_BENCH_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/src/hd_pkg.h"
#include "rtl/testbench/clocked.h"

namespace heddle::testbench {

// What the other clients of the SRAM do.
struct Traffic {
  bool load = false;         // the load DMA writes a word in every cycle
  uint32_t stall = 0;        // percent of requests refused at random
  uint32_t taken_banks = 0;  // banks taken at random per cycle, behind nobody
};

struct Measure {
  int64_t cycles = 0;  // acceptance of the first to the end of the last command
  int64_t load_words = 0;
  int64_t busy = 0, wait_weight = 0, wait_operand = 0, wait_output = 0;
  uint64_t macs = 0;
  bool fault = false;
  uint64_t fault_address = 0;
  uint32_t done = 0, read = 0;
};

template <typename Dut>
class MatrixBench {
 public:
  // Clients as in hd_pkg: 0-1 writer, 2-9 row ports, 10-11 weights, 12
  // residual; 17 is the load DMA.
  static constexpr int kClients = 13;
  static constexpr int64_t kPatience = 400000;  // cycles without any end

  explicit MatrixBench(const isa::Config& config, uint64_t seed = 1)
      : sram_(config.sram_bytes), busy_(config.sram_banks), random_(seed) {
    dut_->cmd_valid_i = 0;
    dut_->clear_i = 0;
    for (int i = 0; i < 4; ++i) Cycle({}, nullptr);
  }

  // What Run() sees, if set: command number n is taken, a word of SRAM is read,
  // the oldest command that has not reached its read point reaches it.
  struct Watch {
    std::function<void(size_t n)> taken;
    std::function<void(uint64_t word)> read;
    std::function<void()> read_point;
  };
  Watch watch;

  std::vector<uint8_t>& sram() { return sram_; }
  Dut* dut() { return &*dut_; }
  void Reset() { dut_.Reset(); }
  int64_t cycle() const { return cycle_; }

  // SRAM contents zero and accumulators cleared, as between clients.
  void Clear() {
    std::fill(sram_.begin(), sram_.end(), 0);
    dut_->clear_i = 1;
    Cycle({}, nullptr);
    dut_->clear_i = 0;
    for (int i = 0; i < 5000 && !dut_->idle_o; ++i) Cycle({}, nullptr);
    EXPECT_TRUE(dut_->idle_o);
  }

  // Gives the commands as fast as they are taken, but one with barrier[i] only
  // when all earlier ones are done (as semaphores would). Stops at a fault.
  Measure Run(const std::vector<isa::Command>& commands,
              const Traffic& traffic = {},
              const std::vector<bool>& barrier = {}) {
    Measure m;
    int64_t start = -1, progress = cycle_;
    size_t given = 0;
    while (m.done < commands.size()) {
      if (cycle_ - progress > kPatience) {
        ADD_FAILURE() << "the engine hangs: " << m.done << " of "
                      << commands.size() << " done, " << given << " given";
        break;
      }
      const bool held =
          given < barrier.size() && barrier[given] && m.done < given;
      dut_->cmd_valid_i = given < commands.size() && !held;
      if (dut_->cmd_valid_i) SetCommand(commands[given]);
      dut_.Settle();
      const bool taken = dut_->cmd_valid_i && dut_->cmd_ready_o;
      if (taken && start < 0) start = cycle_;
      if (dut_->fault_o) {
        m.fault = true;
        const auto cause = rtl::EngineFault::Read(dut_->fault_cause_o);
        m.fault_address = cause.addr;
        EXPECT_EQ(cause.code, static_cast<uint32_t>(isa::Error::kSramBounds));
        break;
      }
      if (dut_->read_o && watch.read_point) watch.read_point();
      m.read += dut_->read_o;
      m.done += dut_->done_o;
      EXPECT_GE(m.read, m.done) << "done before read";
      if (dut_->done_o) {
        m.macs += dut_->macs_o;
        progress = cycle_;
      }
      m.busy += dut_->busy_o;
      m.wait_weight += dut_->wait_weight_o;
      m.wait_operand += dut_->wait_operand_o;
      m.wait_output += dut_->wait_output_o;
      if (taken && watch.taken) watch.taken(given);
      Cycle(traffic, &m);
      given += taken;
    }
    dut_->cmd_valid_i = 0;
    m.cycles = cycle_ - start;
    if (!m.fault) {
      EXPECT_EQ(m.read, m.done);
      for (int i = 0; i < 40 && !dut_->idle_o; ++i) Cycle({}, nullptr);
      EXPECT_TRUE(dut_->idle_o);
    }
    EXPECT_EQ(beyond_, 0) << "requests beyond the SRAM";
    return m;
  }

  // One cycle: grants as hd_sram_arbiter gives them.
  void Cycle(const Traffic& traffic, Measure* m) {
    dut_.Settle();
    const uint32_t req = dut_->req_o, urgent = dut_->urgent_o;
    uint32_t gnt = 0;
    std::fill(busy_.begin(), busy_.end(), false);
    uint32_t refused = 0;
    if (traffic.stall != 0) {
      for (int i = 0; i < kClients; ++i) {
        if (random_() % 100 < traffic.stall) refused |= 1u << i;
      }
    }
    for (uint32_t i = 0; i < traffic.taken_banks; ++i) {
      busy_[random_() % busy_.size()] = true;
    }
    // The second of a pair only with or after the first.
    constexpr uint32_t kChain = 0xaaa, kSecondRound = 0x3fc;
    bool load = traffic.load && m != nullptr, load_granted = false;
    for (int round = 0; round < 3; ++round) {
      const uint32_t who = req & ~refused & ~gnt &
                           (round == 0   ? urgent
                            : round == 1 ? kSecondRound
                                         : ~0u);
      for (int i = 0; i < kClients; ++i) {
        if (!(who >> i & 1)) continue;
        if ((kChain >> i & 1) && (req >> (i - 1) & 1) &&
            !(gnt >> (i - 1) & 1)) {
          continue;
        }
        const uint32_t bank = Address(i) % busy_.size();
        if (busy_[bank]) continue;
        busy_[bank] = true;
        gnt |= 1u << i;
      }
      if (load && !load_granted && (round == 2 || load_age_ > 16) &&
          !busy_[load_word_ % busy_.size()]) {
        busy_[load_word_ % busy_.size()] = true;
        load_granted = true;
      }
    }
    if (load) {
      load_age_ = load_granted ? 0 : load_age_ + 1;
      load_word_ += load_granted;
      m->load_words += load_granted;
    }
    // Accesses take place with the grant (banks serve in that order); the data
    // of a read is there in the second cycle after it, until the next.
    for (int i = 0; i < kClients; ++i) {
      Read& r = read_[i];
      if (r.late_valid) {
        for (int j = 0; j < 4; ++j) dut_->rdata_i[4 * i + j] = r.late[j];
      }
      r.late = r.word;
      r.late_valid = r.valid;
      r.valid = false;
      if (!(gnt >> i & 1)) continue;
      const uint64_t at = uint64_t{Address(i)} * 16;
      if (at + 16 > sram_.size()) {
        ++beyond_;
      } else if (i < 2) {
        std::memcpy(&sram_[at], &dut_->wdata_o[4 * i], 16);
      } else {
        std::memcpy(r.word.data(), &sram_[at], 16);
        r.valid = true;
        if (watch.read) watch.read(at / 16);
      }
    }
    dut_->gnt_i = gnt;
    dut_.Tick();
    ++cycle_;
  }

 private:
  struct Read {
    bool valid = false, late_valid = false;
    std::array<uint32_t, 4> word = {}, late = {};
  };

  uint32_t Address(int client) {
    const int bit = 16 * client;
    return dut_->addr_o[bit / 32] >> (bit % 32) & 0xffff;
  }

  void SetCommand(const isa::Command& command) {
    std::vector<uint32_t> words;
    isa::Append(command, &words);
    for (int i = 0; i < 40; ++i) {
      dut_->cmd_i[i] = i < static_cast<int>(words.size()) ? words[i] : 0;
    }
  }

  std::vector<uint8_t> sram_;
  std::vector<bool> busy_;
  std::mt19937_64 random_;
  rtl::Clocked<Dut> dut_;
  std::array<Read, kClients> read_;
  int64_t cycle_ = 0;
  uint32_t load_word_ = 0, load_age_ = 0;
  int beyond_ = 0;
};

}  // namespace heddle::testbench

#endif  // HEDDLE_RTL_TESTBENCH_MATRIX_BENCH_H_
