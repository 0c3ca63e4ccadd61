// SPDX-License-Identifier: Apache-2.0
// A load or store engine between a command queue, the SRAM and device memory,
// and the same commands on the functional model.
#ifndef HEDDLE_RTL_TESTBENCH_DMA_BENCH_H_
#define HEDDLE_RTL_TESTBENCH_DMA_BENCH_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/src/hd_pkg.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"
#include "rtl/testbench/sram_model.h"
#include "simulator/model/model.h"
#include "simulator/model/read_set.h"

namespace heddle::rtl {

struct DmaResult {
  uint64_t cycles = 0;  // from the first command's offer to the last done
  uint64_t bytes = 0;
  size_t reads = 0, dones = 0;
  bool fault = false;
  uint32_t code = 0, region = 0;
  uint64_t address = 0;
};

// Dut: Vhd_load_engine or Vhd_store_engine.
template <typename Dut, bool kStore>
class DmaBench {
 public:
  static constexpr uint64_t kMemoryBytes = 1 << 20;

  explicit DmaBench(const testbench::MemoryTiming& timing = {},
                    uint32_t sram_stall = 0, uint64_t seed = 1)
      : memory(kMemoryBytes, timing, seed),
        sram(isa::kH256.sram_bytes, isa::kH256.sram_banks, 1, sram_stall,
             seed + 1),
        random_(seed + 2),
        gaps_(sram_stall != 0) {
    std::mt19937_64 random(seed + 3);
    for (uint64_t i = 0; i < memory.size(); ++i) memory.data()[i] = random();
    for (uint64_t i = 0; i < sram.size(); ++i) sram.data()[i] = random();
    regions[0] = {0, kMemoryBytes / 2, false};
    regions[1] = {kMemoryBytes / 2, kMemoryBytes / 2, true};
    Dut* d = &*dut;
    port.req_valid = &d->req_valid_o;
    port.req_ready = &d->req_ready_i;
    port.req_write = &d->req_write_o;
    port.req_addr = &d->req_addr_o;
    port.req_beats = &d->req_beats_o;
    if constexpr (kStore) {
      port.w_valid = &d->w_valid_o;
      port.w_ready = &d->w_ready_i;
      port.w_data = &d->w_data_o[0];
      port.w_strb = &d->w_strb_o;
      port.b_valid = &d->b_valid_i;
      port.b_error = &d->b_error_i;
    } else {
      port.r_valid = &d->r_valid_i;
      port.r_ready = &d->r_ready_o;
      port.r_data = &d->r_data_i[0];
      port.r_error = &d->r_error_i;
    }
    d->stop_i = 0;
    d->cmd_valid_i = 0;
    Quiet();
    dut.Reset();
  }

  template <typename T>
  void Add(const T& command) {
    commands.push_back(isa::Command(command));
  }

  // One cycle. Returns what happened on the command side in `r`.
  void Cycle(DmaResult* r) {
    Dut* d = &*dut;
    memory.Drive(&port);
    std::memcpy(&d->sram_rdata_i[0], sram.ReadData(0), 16);
    d->sram_gnt_i = 0;
    dut.Settle();
    const model::Region& region = regions[d->region_o];
    d->region_base_i = region.base;
    d->region_size_i = region.size;
    d->region_writable_i = region.writable;
    if (d->sram_req_o) {
      testbench::SramRequest q;
      q.addr = d->sram_addr_o;
      q.urgent = d->sram_urgent_o;
      if constexpr (!kStore) {
        q.write = d->sram_we_o;
        q.wdata = &d->sram_wdata_o[0];
        q.wstrb = d->sram_wstrb_o;
      }
      if (sram_held_ && held_addr_ != q.addr) ADD_FAILURE() << "request moved";
      d->sram_gnt_i = sram.Grant(0, q);
      held_addr_ = q.addr;
    } else if (sram_held_ && !d->fault_o) {
      ADD_FAILURE() << "SRAM request withdrawn";
    }
    sram_held_ = d->sram_req_o && !d->sram_gnt_i;
    dut.Settle();
    memory.Sample(port);
    Watch();
    r->bytes += d->bytes_o;
    r->reads += d->read_o;
    r->dones += d->done_o;
    EXPECT_GE(r->reads, r->dones);
    accepted_ = d->cmd_valid_i && d->cmd_ready_o;
    if (d->fault_o) {
      r->fault = true;
      const rtl::EngineFault cause = rtl::EngineFault::Read(d->fault_cause_o);
      r->code = cause.code;
      r->region = cause.region;
      r->address = cause.addr;
    }
    dut.Tick();
    sram.EndCycle();
    ++cycle;
  }

  // Runs `commands` to their end or a fault, then until the ports are quiet.
  DmaResult Run(uint64_t limit = 2000000) {
    DmaResult r;
    Dut* d = &*dut;
    size_t next = 0;
    taken_.clear();
    read_ = done_ = 0;
    const uint64_t start = cycle;
    while (r.dones < commands.size() && !r.fault && cycle - start < limit) {
      if (next < commands.size() && !d->cmd_valid_i &&
          (!gaps_ || random_() % 4 != 0)) {
        std::vector<uint32_t> words;
        isa::Append(commands[next], &words);
        words.resize(20);
        d->cmd_valid_i = 1;
        std::memcpy(&d->cmd_i[0], words.data(), 80);
      }
      Cycle(&r);
      if (accepted_) {
        ++next;
        d->cmd_valid_i = 0;
      }
    }
    r.cycles = cycle - start;
    if (!r.fault && r.dones < commands.size()) {
      ADD_FAILURE() << "stuck: " << r.dones << " of " << commands.size();
      return r;
    }
    d->cmd_valid_i = 0;
    if (!r.fault) {
      EXPECT_EQ(r.reads, r.dones);
    }
    // Nothing comes after the end; what was asked for is answered.
    DmaResult after;
    after.reads = r.reads;
    after.dones = r.dones;
    for (int i = 0; i < 40 || (!d->quiet_o && i < 5000); ++i) Cycle(&after);
    EXPECT_TRUE(d->quiet_o);
    EXPECT_TRUE(memory.quiet());
    EXPECT_EQ(after.dones, r.dones);
    if (!r.fault) {
      EXPECT_FALSE(after.fault);
      EXPECT_TRUE(d->idle_o);
    }
    for (const std::string& v : memory.violations()) ADD_FAILURE() << v;
    for (const std::string& v : sram.violations()) ADD_FAILURE() << v;
    return r;
  }

  // The model's result of `commands` on the memories as they are.
  model::RunResult Reference(std::vector<uint8_t>* dram,
                             std::vector<uint8_t>* sram_after) {
    dram->assign(memory.data(), memory.data() + memory.size());
    model::FlatMemory flat(dram->data(), dram->size());
    model::Options options;
    options.implementation = model::Implementation::kReference;
    model::Model m(isa::kH256, &flat, options);
    std::memcpy(m.sram(), sram.data(), sram.size());
    std::vector<uint32_t> words;
    for (const isa::Command& c : commands) isa::Append(c, &words);
    isa::Append(isa::Command(isa::End()), &words);
    const model::RunResult r = m.Run(words.data(), words.size() * 4, regions);
    sram_after->assign(m.sram(), m.sram() + m.sram_bytes());
    return r;
  }

  // Runs both and compares everything.
  DmaResult Compare(const std::string& what) {
    std::vector<uint8_t> dram, sram_after;
    const model::RunResult want = Reference(&dram, &sram_after);
    const DmaResult r = Run();
    EXPECT_EQ(r.fault, want.status != isa::Error::kOk) << what;
    if (want.status != isa::Error::kOk) {
      EXPECT_EQ(r.code, static_cast<uint32_t>(want.status)) << what;
      EXPECT_EQ(r.region, want.fault_region) << what;
      EXPECT_EQ(r.address, want.fault_address) << what;
      EXPECT_EQ(r.dones, want.commands) << what;
      return r;
    }
    EXPECT_EQ(r.bytes, kStore ? want.bytes_stored : want.bytes_loaded) << what;
    for (uint64_t i = 0; i < sram.size(); ++i) {
      if (sram.data()[i] != sram_after[i]) {
        ADD_FAILURE() << what << ": SRAM byte " << i << " is "
                      << int(sram.data()[i]) << ", not " << int(sram_after[i]);
        break;
      }
    }
    for (uint64_t i = 0; i < memory.size(); ++i) {
      if (memory.data()[i] != dram[i]) {
        ADD_FAILURE() << what << ": memory byte " << i << " is "
                      << int(memory.data()[i]) << ", not " << int(dram[i]);
        break;
      }
    }
    return r;
  }

  Clocked<Dut> dut;
  testbench::MemoryModel memory;
  testbench::SramModel sram;
  testbench::MemoryPort port;
  model::RegionTable regions = {};
  std::vector<isa::Command> commands;
  uint64_t cycle = 0;

 private:
  // Whether the engine says what it does: busy while it has a command, idle
  // only when nothing of it is under way at the memory port either, the read
  // point of a command when all it needs of SRAM is read, and no other read.
  void Watch() {
    Dut* d = &*dut;
    if (d->idle_o) {
      EXPECT_TRUE(d->quiet_o) << "idle, but not quiet";
    }
    if (d->fault_o) return;
    EXPECT_EQ(d->busy_o, taken_.size() > done_) << "cycle " << cycle;
    if (d->cmd_valid_i && d->cmd_ready_o && taken_.size() < commands.size()) {
      Taken taken;
      taken.inside = model::StaysInSram(isa::kH256, commands[taken_.size()]);
      if (taken.inside) {
        taken.reads =
            model::SramReads(isa::kH256, commands[taken_.size()], nullptr);
      }
      taken_.push_back(std::move(taken));
    }
    bool read = d->sram_req_o && d->sram_gnt_i;
    if constexpr (!kStore) read = read && !d->sram_we_o;
    if (read) {
      bool known = false;
      for (size_t i = read_; i < taken_.size(); ++i) {
        known |= !taken_[i].inside || taken_[i].reads.MarkRead(d->sram_addr_o);
      }
      EXPECT_TRUE(known) << "stray read of SRAM word " << d->sram_addr_o;
    }
    if (d->read_o && read_ < taken_.size()) {
      const Taken& command = taken_[read_++];
      EXPECT_TRUE(!command.inside || command.reads.missing() == 0)
          << command.reads.missing() << " words not read at the read point";
    }
    done_ += d->done_o;
  }

  void Quiet() {
    Dut* d = &*dut;
    d->req_ready_i = 0;
    d->sram_gnt_i = 0;
    if constexpr (kStore) {
      d->w_ready_i = 0;
      d->b_valid_i = 0;
      d->b_error_i = 0;
    } else {
      d->r_valid_i = 0;
      d->r_error_i = 0;
    }
  }

  struct Taken {
    bool inside;  // of the SRAM; otherwise the command faults
    model::ReadSet reads;
  };
  std::vector<Taken> taken_;    // commands of this run
  size_t read_ = 0, done_ = 0;  // of them, those beyond the point

  std::mt19937_64 random_;
  bool gaps_;
  bool accepted_ = false, sram_held_ = false;
  uint32_t held_addr_ = 0;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_DMA_BENCH_H_
