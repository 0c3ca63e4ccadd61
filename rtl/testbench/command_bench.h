// SPDX-License-Identifier: Apache-2.0
// The command processor between a memory that holds the stream and four engines
// that do nothing but reach their points after random times. The bench watches
// what the engines get:
//   * every engine gets the commands of the stream that are its own, in order,
//     with the right words;
//   * a command is handed over only when the units it waits for have been
//     signalled, and after a barrier only when all before it is done;
//   * nothing is handed over after a fault or an abort was seen;
//   * after a fault the engines are reset only when the DMA engines are quiet.
// violations() says what was broken.
#ifndef HEDDLE_RTL_TESTBENCH_COMMAND_BENCH_H_
#define HEDDLE_RTL_TESTBENCH_COMMAND_BENCH_H_

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "rtl/src/hd_pkg.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"

namespace heddle::rtl {

struct CommandResult {
  bool done = false;  // done_o came
  isa::Error status = isa::Error::kOk;
  uint32_t offset = 0, tag = 0, engine = 0, region = 0;
  uint64_t address = 0;
  uint64_t commands = 0, macs = 0, bytes_loaded = 0, bytes_stored = 0;
  uint64_t cycles = 0, matrix_busy = 0, vector_busy = 0, dma_busy = 0;
  uint64_t measured = 0;  // cycles from start_i to done_o
};

struct BenchFault {
  uint32_t tag = 0;  // of the command that faults in its engine
  uint8_t code = 0;
  uint8_t region = 0;
  uint64_t address = 0;
};

template <typename Dut>
class CommandBench {
 public:
  static constexpr uint64_t kBase = 0x3000;

  CommandBench(uint64_t seed, const testbench::MemoryTiming& timing)
      : random_(seed), memory_(1 << 20, timing, seed) {
    Dut* d = &*dut;
    port_.req_valid = &d->mem_req_valid_o;
    port_.req_ready = &d->mem_req_ready_i;
    port_.req_write = &zero_;
    port_.req_addr = &d->mem_req_addr_o;
    port_.req_beats = &d->mem_req_beats_o;
    port_.r_valid = &d->mem_r_valid_i;
    port_.r_ready = &d->mem_r_ready_o;
    port_.r_data = &d->mem_r_data_i[0];
    port_.r_error = &d->mem_r_error_i;
    d->start_i = d->abort_i = d->clear_i = d->hang_i = 0;
    d->sram_clear_busy_i = d->sram_failed_i = 0;
    Cycle();
  }

  Clocked<Dut> dut;
  int slowness = 20;       // an engine's command takes up to so many cycles
  bool has_fault = false;  // an engine faults
  BenchFault fault;
  uint64_t abort_at = ~uint64_t{0};  // cycle after start
  // In that cycle a word of SRAM is lost, this one.
  uint64_t sram_fails_at = ~uint64_t{0};
  uint64_t sram_address = 0x12340;

  testbench::MemoryModel& memory() { return memory_; }
  const std::vector<std::string>& violations() const { return violations_; }
  uint64_t macs() const { return macs_; }
  uint64_t bytes(int engine) const { return bytes_[engine]; }
  // Cycles in which one of the engines (bit i: load, store, matrix, vector) had
  // busy_i.
  uint64_t busy(uint32_t engines) const {
    uint64_t n = 0;
    for (uint32_t set = 0; set < 16; ++set) {
      if ((set & engines) != 0) n += busy_[set];
    }
    return n;
  }
  uint64_t accepted() const { return accepted_; }
  uint64_t completed() const { return completed_; }
  int resets() const { return resets_; }
  uint32_t last_retired_tag() const { return last_tag_; }

  // Puts the stream into memory; `bytes` of it are run.
  void Load(const std::vector<uint32_t>& words, size_t bytes) {
    stream_ = words;
    bytes_run_ = bytes;
    std::memcpy(memory_.data() + kBase, words.data(), words.size() * 4);
    expected_.clear();
    for (auto& list : own_) list.clear();
    uint32_t barrier = 0;
    for (size_t at = 0; at + 4 <= words.size();) {
      const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
      if (info == nullptr || at + info->words > words.size()) break;
      Expected e;
      e.at = at;
      e.words = info->words;
      e.engine = static_cast<int>(info->engine) - 1;
      e.needs = barrier;
      if (e.engine >= 0) own_[e.engine].push_back(expected_.size());
      expected_.push_back(e);
      if (info->opcode == isa::Opcode::kBarrier) barrier = expected_.size();
      at += info->words;
    }
  }

  void Start() {
    for (Engine& e : engines_) e = Engine();
    std::memset(semaphores_, 0, sizeof(semaphores_));
    std::memset(busy_, 0, sizeof(busy_));
    macs_ = bytes_[0] = bytes_[1] = accepted_ = completed_ = 0;
    resets_ = 0;
    dut->start_i = 1;
    dut->stream_addr_i = kBase;
    dut->stream_bytes_i = static_cast<uint32_t>(bytes_run_);
    Cycle();
    dut->start_i = 0;
    dut->stream_addr_i = 0;
    dut->stream_bytes_i = 0;
  }

  CommandResult Run(uint64_t limit = 200000) {
    Start();
    CommandResult r;
    for (r.measured = 1; r.measured < limit; ++r.measured) {
      dut->abort_i = r.measured >= abort_at;
      dut->sram_failed_i = r.measured == sram_fails_at;
      dut->sram_failed_addr_i = sram_address;
      dut.Settle();
      if (dut->done_o) break;
      Cycle();
    }
    r.done = dut->done_o;
    r.status = static_cast<isa::Error>(dut->status_o);
    Cycle();
    dut->abort_i = 0;
    dut.Settle();
    if (r.done && dut->busy_o) Violation("busy after done");
    if (r.status != static_cast<isa::Error>(dut->status_o)) {
      Violation("the status is not stable");
    }
    const auto where = rtl::StreamFault::Read(dut->fault_o);
    r.offset = where.offset;
    r.tag = where.tag;
    r.engine = where.engine;
    r.region = where.region;
    r.address = where.addr;
    r.commands = dut->commands_o;
    r.macs = dut->macs_o;
    r.bytes_loaded = dut->bytes_loaded_o;
    r.bytes_stored = dut->bytes_stored_o;
    r.cycles = dut->cycles_o;
    r.matrix_busy = dut->matrix_busy_o;
    r.vector_busy = dut->vector_busy_o;
    r.dma_busy = dut->dma_busy_o;
    for (const std::string& v : memory_.violations()) Violation(v);
    if (r.done && !memory_.quiet()) Violation("memory is not quiet at the end");
    return r;
  }

  // One cycle of everything.
  void Cycle() {
    memory_.Drive(&port_);
    for (int i = 0; i < 4; ++i) DriveEngine(i);
    ++busy_[dut->load_busy_i | dut->store_busy_i << 1 |
            dut->matrix_busy_i << 2 | dut->vector_busy_i << 3];
    dut.Settle();
    memory_.Sample(port_);
    Watch();
    for (int i = 0; i < 4; ++i) SampleEngine(i);
    dut.Tick();
    ++cycle_;
  }

 private:
  struct Expected {
    size_t at = 0, words = 0;
    int engine = -1;
    size_t needs = 0;  // so many commands must be done before
    bool done = false;
  };
  struct Running {
    size_t index;
    uint64_t read_at, done_at;
    bool read = false;
  };
  struct Engine {
    std::deque<Running> running;
    size_t next = 0;  // of own_
    bool ready = false, read = false, done = false, fault = false;
    uint64_t macs = 0;
    uint32_t moved = 0;
    uint64_t idle_at = 0;  // idle from this cycle on, when nothing runs
    uint64_t stop_at = 0;  // quiet from this cycle on, when stopped
    bool stopped = false, idle = true;
  };

  uint32_t Below(uint32_t n) {
    return static_cast<uint32_t>(random_() >> 20) % n;
  }
  void Violation(const std::string& what) {
    if (violations_.size() < 20) violations_.push_back(what);
  }
  uint32_t Tag(size_t index) const { return stream_[expected_[index].at + 3]; }

  void DriveEngine(int i) {
    Engine& e = engines_[i];
    e.ready = e.running.size() < 3 && !e.fault && Below(4) != 0;
    e.read = e.done = false;
    if (!e.fault && !dut->stop_o) {
      for (Running& r : e.running) {
        if (r.read) continue;
        if (r.read_at <= cycle_) e.read = r.read = true;
        break;
      }
      if (!e.running.empty()) {
        const Running& r = e.running.front();
        if (r.read && r.done_at <= cycle_) {
          if (has_fault && Tag(r.index) == fault.tag) {
            e.fault = true;
          } else {
            e.done = true;
          }
        }
      }
    }
    e.macs = Below(1000000);
    e.moved = Below(3) ? 0 : 1 + Below(16);
    if (dut->stop_o && !e.stopped) {
      e.stopped = true;
      e.stop_at = cycle_ + Below(30);
    }
    e.idle = e.stopped ? e.stop_at <= cycle_
                       : e.running.empty() && e.idle_at <= cycle_;
    const bool busy = !e.running.empty();
    Dut* d = &*dut;
    const EngineFault cause = {fault.code, fault.region, fault.address};
    switch (i) {
#define HEDDLE_DRIVE(name)               \
  d->name##_cmd_ready_i = e.ready;       \
  d->name##_read_i = e.read;             \
  d->name##_done_i = e.done;             \
  d->name##_fault_i = e.fault;           \
  cause.Write(&d->name##_fault_cause_i); \
  d->name##_idle_i = e.idle;             \
  d->name##_busy_i = busy
      case 0:
        HEDDLE_DRIVE(load);
        d->load_bytes_valid_i = e.moved != 0 && busy;
        d->load_bytes_i = e.moved;
        if (busy) bytes_[0] += e.moved;
        break;
      case 1:
        HEDDLE_DRIVE(store);
        d->store_bytes_valid_i = e.moved != 0 && busy;
        d->store_bytes_i = e.moved;
        if (busy) bytes_[1] += e.moved;
        break;
      case 2:
        HEDDLE_DRIVE(matrix);
        d->matrix_macs_i = e.macs;
        if (e.done) macs_ += e.macs;
        break;
      default:
        HEDDLE_DRIVE(vector);
        d->vector_macs_i = e.macs;
        if (e.done) macs_ += e.macs;
        break;
#undef HEDDLE_DRIVE
    }
  }

  void Watch() {
    if (!dut->engine_rst_no && cycle_ > 5) {
      ++resets_;
      if (!engines_[0].idle || !engines_[1].idle) {
        Violation("engines are reset while a DMA engine is at work");
      }
      if (!memory_.quiet()) Violation("engines are reset, memory is not quiet");
      for (Engine& e : engines_) {
        e.running.clear();
        e.fault = false;
      }
    }
  }

  bool Valid(int i, const uint32_t** words) {
    Dut* d = &*dut;
    switch (i) {
      case 0:
        *words = &d->load_cmd_o[0];
        return d->load_cmd_valid_o;
      case 1:
        *words = &d->store_cmd_o[0];
        return d->store_cmd_valid_o;
      case 2:
        *words = &d->matrix_cmd_o[0];
        return d->matrix_cmd_valid_o;
      default:
        *words = &d->vector_cmd_o[0];
        return d->vector_cmd_valid_o;
    }
  }

  void SampleEngine(int i) {
    Engine& e = engines_[i];
    const uint32_t* words = nullptr;
    if (Valid(i, &words) && e.ready) Accept(i, words);
    // Units signalled in this cycle can be taken from the next one on.
    if (e.done) {
      const size_t index = e.running.front().index;
      Give(index, 1);
      expected_[index].done = true;
      e.running.pop_front();
      e.idle_at = cycle_ + Below(4);
      ++completed_;
    }
    if (e.read) Give(read_index_[i]++, 0, i);
  }

  void Accept(int i, const uint32_t* words) {
    Engine& e = engines_[i];
    if (dut->stop_o || dut->abort_i) Violation("a start after fault or abort");
    if (e.next == 0) read_index_[i] = 0;
    if (e.next >= own_[i].size()) {
      Violation("an engine gets more than its commands");
      return;
    }
    const size_t index = own_[i][e.next++];
    const Expected& x = expected_[index];
    if (std::memcmp(words, &stream_[x.at], x.words * 4) != 0) {
      Violation("words of the command at " + std::to_string(x.at * 4));
    }
    for (size_t b = 0; b < x.needs; ++b) {
      if (expected_[b].engine >= 0 && !expected_[b].done) {
        Violation("a start before the barrier's work was done");
        break;
      }
    }
    const uint32_t w = stream_[x.at + 1];
    for (int n = 0; n < 2; ++n) {
      const uint32_t f = w >> (14 * n);
      if ((f & 1) == 0) continue;
      int& s = semaphores_[f >> 1 & 31];
      s -= static_cast<int>(f >> 6 & 255);
      if (s < 0) Violation("a start without its units");
    }
    Running r;
    r.index = index;
    r.read_at = cycle_ + 1 + Below(slowness);
    r.done_at = r.read_at + Below(slowness);
    e.running.push_back(r);
    ++accepted_;
  }

  // Signals of a command at a point; for input_read the n-th of the engine.
  void Give(size_t index, uint32_t point, int engine = -1) {
    if (engine >= 0) index = own_[engine][index];
    const uint32_t w = stream_[expected_[index].at + 2];
    for (int n = 0; n < 2; ++n) {
      const uint32_t f = w >> (15 * n);
      if ((f & 1) != 0 && (f >> 14 & 1) == point) {
        semaphores_[f >> 1 & 31] += static_cast<int>(f >> 6 & 255);
      }
    }
    if (point == 1) last_tag_ = Tag(index);
  }

  std::mt19937_64 random_;
  testbench::MemoryModel memory_;
  testbench::MemoryPort port_;
  uint8_t zero_ = 0;
  std::vector<uint32_t> stream_;
  size_t bytes_run_ = 0;
  std::vector<Expected> expected_;
  std::vector<size_t> own_[4];
  Engine engines_[4];
  size_t read_index_[4] = {};
  int semaphores_[32] = {};
  uint64_t busy_[16] = {};  // by the set of engines
  uint64_t cycle_ = 0, macs_ = 0, bytes_[2] = {}, accepted_ = 0, completed_ = 0;
  uint32_t last_tag_ = 0;
  int resets_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_COMMAND_BENCH_H_
