// SPDX-License-Identifier: Apache-2.0
//
// A host around the card's front end (hd_front) or the card (hd_card): host and
// device memory behind its ports, register accesses, job rings filled by hand,
// interrupts counted, and in place of the front end's compute core one that
// does as it is told (FakeCore).
//
// Host memory is kHost .. kHost + kHostBytes of the host's addresses: the
// completion ring, the job rings, then what Alloc hands out. All else answers
// with an error, and so does the access that FailAccess names.
#ifndef HEDDLE_RTL_TESTBENCH_FRONT_BENCH_H_
#define HEDDLE_RTL_TESTBENCH_FRONT_BENCH_H_

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/spec/generated/registers.h"
#include "rtl/src/hd_pkg.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"

namespace heddle::rtl {

inline uint32_t Code(isa::Error error) { return static_cast<uint32_t>(error); }

// What the core answers to the next streams, and what it was asked.
struct FakeCore {
  struct Region {
    uint64_t base, size;
    bool writable;
    bool operator==(const Region& o) const {
      return base == o.base && size == o.size && writable == o.writable;
    }
  };
  struct Stream {
    uint64_t address;
    uint32_t bytes;
    std::array<Region, isa::kRegions> regions;
  };
  uint64_t duration = 50;  // cycles; ~0: until aborted or reset
  uint32_t status = 0;
  uint64_t counts = 1;  // of commands; the other counters are multiples of it
  uint32_t traced = 0;  // commands of each stream that a trace has

  std::vector<Stream> streams;
  int clears = 0, resets = 0, aborts = 0;
  uint32_t progress = 0;

  std::array<Region, isa::kRegions> table = {};
  bool running = false;
  uint64_t left = 0;
  uint64_t busy = 0;
  // The trace: what waits to be taken, with its number; the commands of the
  // job.
  std::deque<std::pair<uint32_t, desc::TraceEntry>> entries;
  uint32_t trace_count = 0;
};

// Whether the module has ports for a core: hd_front, not hd_card.
template <typename Dut, typename = void>
struct HasCorePorts : std::false_type {};
template <typename Dut>
struct HasCorePorts<Dut, std::void_t<decltype(Dut::core_start_o)>>
    : std::true_type {};

template <typename Dut>
class FrontBench {
 public:
  static constexpr uint64_t kHost = 0x1200000000;
  static constexpr uint64_t kHostBytes = 4 << 20;
  static constexpr uint64_t kDeviceBytes = 2 << 20;
  static constexpr uint32_t kRingEntries = 16;
  static constexpr uint32_t kCompletions = 64;
  static constexpr bool kFakeCore = HasCorePorts<Dut>::value;
  static constexpr uint64_t kSerial = 0x1122334455667788;

  explicit FrontBench(const testbench::MemoryTiming& host_timing = {60, 20, 10},
                      const testbench::MemoryTiming& timing = {100, 0, 0},
                      uint64_t seed = 1)
      : host_(kHostBytes, host_timing, seed),
        device_(kDeviceBytes, timing, seed + 1),
        random_(seed) {
    if constexpr (kFakeCore) dut->config_i = 2;
    dut->core_kind_i = 1;
    dut->dram_bytes_i = kDeviceBytes;
    dut->unique_i = kSerial;
    Ports();
    dut.Reset();
  }
  ~FrontBench() {
    EXPECT_EQ(host_.violations(), std::vector<std::string>());
    EXPECT_EQ(device_.violations(), std::vector<std::string>());
  }

  void Cycle() {
    dut->clk_i = 0;
    host_.Drive(&host_port_);
    device_.Drive(&device_port_);
    Fail(&host_fail_, *host_port_.r_valid, host_port_.r_error,
         *host_port_.b_valid, host_port_.b_error);
    Fail(&device_fail_, *device_port_.r_valid, device_port_.r_error,
         *device_port_.b_valid, device_port_.b_error);
    dut->irq_ready_i = random_() % 4 != 0;
    if constexpr (kFakeCore) DriveCore();
    dut->eval();
    const uint64_t at = dut->host_req_addr_o - kHost;
    host_addr_ =
        at < kHostBytes ? at : kHostBytes + dut->host_req_addr_o % 4096;
    Note(&host_fail_, host_port_);
    Note(&device_fail_, device_port_);
    host_.Sample(host_port_);
    device_.Sample(device_port_);
    if constexpr (kFakeCore) SampleCore();
    if (dut->irq_valid_o && dut->irq_ready_i) ++irqs_[dut->irq_vector_o];
    // Without work its clock stands still: nobody may notice.
    if (dut->active_o) {
      dut->clk_i = 1;
      dut->eval();
    } else {
      ++stood_still_;
    }
    dut->function_reset_i = 0;
    ++cycles_;
  }
  void Cycles(uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) Cycle();
  }
  uint64_t cycles() const { return cycles_; }
  uint64_t stood_still() const { return stood_still_; }

  // -- Registers
  uint32_t Access(bool write, uint32_t offset, uint32_t value,
                  uint32_t strobes = 15) {
    dut->req_i = 1;
    dut->write_i = write;
    dut->addr_i = static_cast<uint16_t>(offset);
    dut->wdata_i = value;
    dut->strb_i = static_cast<uint8_t>(strobes);
    int waited = 0;
    do {
      Cycle();
    } while (!dut->ack_o && ++waited < 10);
    EXPECT_LT(waited, 10) << "no answer from the register block";
    const uint32_t got = dut->rdata_o;
    dut->req_i = 0;
    Cycle();
    return got;
  }
  uint32_t Read(uint32_t offset) { return Access(false, offset, 0); }
  void Write(uint32_t offset, uint32_t value) { Access(true, offset, value); }
  bool WaitRegister(uint32_t offset, uint32_t mask, uint32_t value,
                    uint64_t cycles = 200000) {
    const uint64_t end = cycles_ + cycles;
    while ((Read(offset) & mask) != value) {
      if (cycles_ > end) return false;
    }
    return true;
  }
  // After those that are on their way: the last write of a job's record is
  // answered first.
  uint64_t TakeInterrupts(uint32_t vector) {
    Cycles(300);
    return std::exchange(irqs_[vector], 0);
  }

  // -- Host memory
  uint64_t Alloc(size_t bytes, uint64_t align = 4096) {
    free_ = (free_ + align - 1) / align * align;
    const uint64_t at = free_;
    free_ += bytes;
    EXPECT_LE(free_, kHost + kHostBytes) << "the test's host memory is full";
    return at;
  }
  void FreeAll() { free_ = first_free_; }
  uint8_t* At(uint64_t iova) { return host_.data() + (iova - kHost); }
  uint8_t* Device(uint64_t address) { return device_.data() + address; }
  template <typename T>
  uint64_t Put(const std::vector<T>& values, uint64_t shift = 0) {
    const uint64_t iova = Alloc(values.size() * sizeof(T) + shift) + shift;
    std::memcpy(At(iova), values.data(), values.size() * sizeof(T));
    return iova;
  }

  // -- Rings
  void SetUpRings() {
    free_ = kHost;
    completion_ = Alloc(kCompletions * sizeof(desc::Completion));
    std::memset(At(completion_), 0, kCompletions * sizeof(desc::Completion));
    completions_ = 0;
    Write(reg::kCompletionBaseLoOffset, static_cast<uint32_t>(completion_));
    Write(reg::kCompletionBaseHiOffset, completion_ >> 32);
    Write(reg::kCompletionSizeOffset, kCompletions);
    for (uint32_t i = 0; i < isa::kRings; ++i) {
      rings_[i] = Alloc(kRingEntries * sizeof(desc::JobDescriptor));
      heads_[i] = 0;
      Write(reg::RingBaseLoOffset(i), static_cast<uint32_t>(rings_[i]));
      Write(reg::RingBaseHiOffset(i), rings_[i] >> 32);
      Write(reg::RingSizeOffset(i), kRingEntries);
    }
    Write(reg::kIntEnableOffset, 15);
    first_free_ = free_;
  }
  void QueueRaw(uint32_t ring, const desc::JobDescriptor& job) {
    std::memcpy(At(rings_[ring] + heads_[ring] % kRingEntries * sizeof(job)),
                &job, sizeof(job));
    ++heads_[ring];
  }
  uint64_t Queue(uint32_t ring, const std::vector<desc::Step>& steps,
                 uint32_t flags = 0) {
    desc::JobDescriptor job;
    ++fence_;
    job.fence = fence_ | (fence_ << 36);
    job.steps_iova = Put(steps);
    job.step_count = static_cast<uint32_t>(steps.size());
    job.flags = flags;
    job.context_id = 7;
    QueueRaw(ring, job);
    return job.fence;
  }
  void Doorbell(uint32_t ring) {
    Write(reg::RingHeadOffset(ring), heads_[ring]);
  }
  // Waits for the next record, as a driver that looks at memory.
  bool Next(desc::Completion* record, uint64_t cycles = 1000000) {
    const uint64_t at =
        completion_ + completions_ % kCompletions * sizeof(*record);
    const uint64_t end = cycles_ + cycles;
    do {
      Cycle();
      std::memcpy(record, At(at), sizeof(*record));
      if (record->sequence == completions_ + 1) {
        ++completions_;
        return true;
      }
    } while (cycles_ < end);
    return false;
  }
  desc::Completion RunJob(const std::vector<desc::Step>& steps,
                          uint32_t ring = 0, uint32_t flags = 0) {
    const uint64_t fence = Queue(ring, steps, flags);
    Doorbell(ring);
    desc::Completion record;
    if (!Next(&record)) record.status = ~0u;
    EXPECT_EQ(record.fence, fence);
    return record;
  }

  // -- Steps
  desc::Step HostCopy(isa::StepType type, uint64_t device,
                      const std::vector<desc::SgEntry>& list) {
    desc::Step step;
    step.type = static_cast<uint32_t>(type);
    step.device_address = device;
    for (const desc::SgEntry& e : list) step.length += e.length;
    step.table_iova = Put(list, random_() % 256 * 16);
    step.sg_count = static_cast<uint32_t>(list.size());
    return step;
  }
  desc::Step CopyIn(uint64_t device, const std::vector<uint8_t>& bytes) {
    return HostCopy(isa::StepType::kCopyIn, device,
                    {{Put(bytes), bytes.size()}});
  }
  desc::Step CopyOut(uint64_t device, uint64_t length, uint64_t iova) {
    return HostCopy(isa::StepType::kCopyOut, device, {{iova, length}});
  }
  desc::Step Copy(uint64_t from, uint64_t to, uint64_t length) {
    desc::Step step;
    step.type = static_cast<uint32_t>(isa::StepType::kCopy);
    step.device_address = from;
    step.destination = to;
    step.length = length;
    return step;
  }
  desc::Step Fill(uint64_t device, uint64_t length, uint32_t value) {
    desc::Step step;
    step.type = static_cast<uint32_t>(isa::StepType::kFill);
    step.device_address = device;
    step.length = length;
    step.fill_value = value;
    return step;
  }
  // To be executed with the run before it.
  static desc::Step Beside(desc::Step step) {
    step.flags = desc::kStepFlagsOverlapMask;
    return step;
  }
  desc::Step Run(uint64_t device, uint64_t length,
                 std::vector<desc::Region> regions, uint64_t shift = 0) {
    regions.resize(isa::kRegions);
    desc::Step step;
    step.type = static_cast<uint32_t>(isa::StepType::kRun);
    step.device_address = device;
    step.length = length;
    step.table_iova = Put(regions, shift);
    return step;
  }

  // -- Faults: the request number `n` from now on (0 = the next) fails.
  void FailHostAccess(uint64_t n) { host_fail_.Arm(n); }
  void FailDeviceAccess(uint64_t n) { device_fail_.Arm(n); }
  uint64_t host_accesses() const { return host_fail_.accepted; }
  uint64_t device_accesses() const { return device_fail_.accepted; }
  bool quiet() const { return host_.quiet() && device_.quiet(); }
  testbench::MemoryModel* host() { return &host_; }
  testbench::MemoryModel* device() { return &device_; }

  Clocked<Dut> dut;
  FakeCore core;

 private:
  // Finds the beats and the answer of one request.
  struct Failing {
    struct Burst {
      uint64_t number;
      uint32_t beats;
    };
    void Arm(uint64_t n) { number = accepted + n; }
    uint64_t accepted = 0;
    uint64_t number = ~uint64_t{0};
    std::deque<Burst> reads, writes;
  };
  static void Fail(Failing* f, bool r, uint8_t* r_error, bool b,
                   uint8_t* b_error) {
    if (r && !f->reads.empty()) {
      if (f->reads.front().number == f->number) *r_error = 1;
      if (--f->reads.front().beats == 0) f->reads.pop_front();
    }
    if (b && !f->writes.empty()) {
      if (f->writes.front().number == f->number) *b_error = 1;
      f->writes.pop_front();
    }
  }
  static void Note(Failing* f, const testbench::MemoryPort& p) {
    if (!*p.req_valid || !*p.req_ready) return;
    (*p.req_write ? f->writes : f->reads)
        .push_back({f->accepted++, *p.req_beats});
  }

  void Ports() {
    host_port_ = {&dut->host_req_valid_o, &dut->host_req_ready_i,
                  &dut->host_req_write_o, &host_addr_,
                  &dut->host_req_beats_o, &dut->host_w_valid_o,
                  &dut->host_w_ready_i,   &dut->host_w_data_o[0],
                  &dut->host_w_strb_o,    &dut->host_r_valid_i,
                  &dut->host_r_ready_o,   &dut->host_r_data_i[0],
                  &dut->host_r_error_i,   &dut->host_b_valid_i,
                  &dut->host_b_error_i};
    device_port_ = {
        &dut->mem_req_valid_o, &dut->mem_req_ready_i, &dut->mem_req_write_o,
        &dut->mem_req_addr_o,  &dut->mem_req_beats_o, &dut->mem_w_valid_o,
        &dut->mem_w_ready_i,   &dut->mem_w_data_o[0], &dut->mem_w_strb_o,
        &dut->mem_r_valid_i,   &dut->mem_r_ready_o,   &dut->mem_r_data_i[0],
        &dut->mem_r_error_i,   &dut->mem_b_valid_i,   &dut->mem_b_error_i};
  }

  void DriveCore() {
    FakeCore& c = core;
    dut->core_busy_i = c.running || c.busy != 0;
    const bool done = c.running && c.left == 0;
    dut->core_done_i = done;
    if (done) {
      c.running = false;
      dut->core_status_i = static_cast<uint8_t>(c.status);
      rtl::StreamFault{3, 4, 0x111, 0x222, 0x5555555566666666}.Write(
          &dut->core_fault_i);
      dut->core_commands_i = c.counts;
      dut->core_macs_i = c.counts * 2;
      dut->core_bytes_loaded_i = c.counts * 3;
      dut->core_bytes_stored_i = c.counts * 5;
      dut->core_matrix_busy_i = c.counts * 7;
      dut->core_vector_busy_i = c.counts * 11;
      dut->core_dma_busy_i = c.counts * 13;
    }
    dut->core_progress_i = c.progress;
    dut->trace_count_i = c.trace_count;
    dut->trace_valid_i = !c.entries.empty();
    if (!c.entries.empty()) {
      dut->trace_index_i = c.entries.front().first;
      std::memcpy(&dut->trace_entry_i[0], &c.entries.front().second,
                  sizeof(desc::TraceEntry));
    }
  }
  void SampleCore() {
    FakeCore& c = core;
    if (dut->trace_valid_i && dut->trace_ready_o) c.entries.pop_front();
    if (c.busy != 0) --c.busy;
    if (c.running && c.left != ~uint64_t{0} && c.left != 0) --c.left;
    if (c.running && cycles_ % 8 == 0 && !dut->core_hang_o) ++c.progress;
    if (dut->region_we_o) {
      EXPECT_FALSE(c.running);
      c.table[dut->region_index_o] = {dut->region_base_o, dut->region_size_o,
                                      dut->region_writable_o != 0};
    }
    if (dut->core_clear_o) {
      EXPECT_FALSE(c.running) << "cleared while a stream runs";
      ++c.clears;
      c.busy = 20;
    }
    if (dut->core_start_o) {
      EXPECT_FALSE(c.running || c.busy != 0) << "started while busy";
      c.streams.push_back(
          {dut->core_stream_addr_o, dut->core_stream_bytes_o, c.table});
      c.running = true;
      c.left = dut->core_hang_o ? ~uint64_t{0} : c.duration;
      for (uint32_t i = 0; dut->trace_on_o && i < c.traced; ++i) {
        desc::TraceEntry entry;
        entry.begin = dut->trace_cycle_o + i;
        entry.end = ~entry.begin;
        entry.offset = c.trace_count * 16;
        entry.tag = 0x12345678 + c.trace_count;
        entry.flags = desc::kTraceEntryFlagsValidMask | (1 + i % 4);
        for (uint32_t& stall : entry.stall) stall = ++entry.tag;
        c.entries.push_back({c.trace_count++, entry});
      }
    }
    if (dut->trace_new_o) c.trace_count = 0;
    if (dut->core_abort_o && c.running && !dut->core_hang_o && c.left > 5) {
      ++c.aborts;
      c.status = Code(isa::Error::kAborted);
      c.left = 5;
    }
    if (dut->core_reset_o) {
      // What the front end asks of device memory goes through the core.
      EXPECT_TRUE(device_.quiet()) << "reset with copies under way";
      ++c.resets;
      c.entries.clear();
      c.running = false;
      c.busy = 30;
    }
  }

  testbench::MemoryModel host_, device_;
  std::mt19937_64 random_;
  testbench::MemoryPort host_port_, device_port_;
  uint64_t host_addr_ = 0;
  Failing host_fail_, device_fail_;
  uint64_t cycles_ = 0, stood_still_ = 0;
  uint64_t irqs_[reg::kPciMsixVectors] = {};
  uint64_t free_ = kHost, first_free_ = kHost;
  uint64_t completion_ = 0;
  uint64_t rings_[isa::kRings] = {};
  uint32_t heads_[isa::kRings] = {};
  uint32_t completions_ = 0;
  uint64_t fence_ = 0x80000100;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_FRONT_BENCH_H_
