// SPDX-License-Identifier: Apache-2.0
//
// VerilatedCore<V>: the verilated hd_core of one configuration, V its class,
// as a CoreModel. One file per configuration instantiates it, so that only that
// file sees the generated headers.
//
// A cycle: inputs are set from what device memory has decided before, eval with
// the clock low settles everything, outputs are sampled, eval with the clock
// high is the edge, and device memory is clocked with the samples.
//
// What is inside the core is seen through probe.h.
#ifndef HEDDLE_SIMULATOR_RTL_VERILATED_CORE_H_
#define HEDDLE_SIMULATOR_RTL_VERILATED_CORE_H_

#include <verilated.h>

#ifdef HEDDLE_RTL_COVERAGE
#include <verilated_cov.h>

#include <cstdlib>
#endif

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "rtl/src/hd_pkg.h"
#include "simulator/rtl/core_model.h"
#include "simulator/rtl/probe.h"

namespace heddle::rtl {

template <typename V>
class VerilatedCore : public CoreModel {
 public:
  VerilatedCore(const isa::Config& config, const MemoryOptions& options)
      : CoreModel(config, options), top_(MakeTop()) {
    // Nobody but the core uses device memory.
    top_->m0_req_valid_i = top_->m0_w_valid_i = top_->m0_r_ready_i = 0;
    top_->trace_on_i = top_->trace_new_i = 0;
    top_->trace_ready_i = 1;
    banks_ = SramBanks(context_.get(), config);
    probes_ = Probes(context_.get());
    PowerUp();
  }
  ~VerilatedCore() override {
    top_->final();
#ifdef HEDDLE_RTL_COVERAGE
    // Counts of all cores so far (tools/bazel/verilator.bzl).
    const char* file = std::getenv("HEDDLE_COVERAGE_FILE");
    if (file != nullptr) context_->coveragep()->write(file);
#endif
  }

  void Start(const platform::CoreRequest& request) override {
    request_ = request;
    busy_ = true;
    phase_ = clear_ ? Phase::kClear : Phase::kRegions;
    clear_ = false;
    region_ = 0;
    top_->trace_on_i = observer_ != nullptr && observer_->WantsTrace();
    top_->hang_i = hang_;
    hang_ = false;
  }

  uint64_t Step(uint64_t cycles) override {
    uint64_t n = 0;
    while (n < cycles && busy_) {
      if (phase_ != Phase::kRun) Drive();
      Cycle();
      ++n;
    }
    return n;
  }

  bool busy() const override { return busy_; }
  void Abort() override {
    if (busy_) top_->abort_i = 1;
  }

  void Reset() override {
    // progress_o counts from zero again; ours does not.
    progress_base_ = Progress();
    top_->rst_ni = 0;
    top_->start_i = top_->clear_i = top_->abort_i = top_->hang_i = 0;
    top_->region_we_i = 0;
    memory_.Reset();
    memory_.ForgetFlip();
    // Synchronous; a few cycles, as on a board.
    for (int i = 0; i < 4; ++i) Cycle();
    memory_.Reset();
    top_->rst_ni = 1;
    busy_ = false;
    hang_ = false;
    clear_ = true;
    phase_ = Phase::kIdle;
  }
  void ClearSram() override { clear_ = true; }
  void HangNext() override { hang_ = true; }

  uint32_t progress() const override { return Progress(); }
  uint64_t cycles() const override { return cycle_; }
  bool Observe(CoreObserver* observer) override {
    observer_ = probes_.found() ? observer : nullptr;
    return observer_ == observer;
  }
  bool ReadSram(uint8_t* to) override { return banks_.Read(to); }
  bool FlipSram(uint64_t byte, uint32_t bit) override {
    // Clearing would take it back.
    if (clear_) flip_ = Flip{byte, bit};
    return clear_ ? banks_.found() : banks_.Flip(byte, bit);
  }

 private:
  // What the cycles before a stream are for.
  enum class Phase {
    kIdle,
    kClear,
    kClearing,
    kRegions,
    kStart,
    kStarted,
    kRun
  };

  std::unique_ptr<V> MakeTop() {
    context_ = std::make_unique<VerilatedContext>();
    // As the default context says (//rtl:random_start): each core differently.
    static std::atomic<int> cores{0};
    VerilatedContext* const from = Verilated::defaultContextp();
    if (from->randReset() != 0) {
      context_->randReset(from->randReset());
      context_->randSeed(from->randSeed() + cores++);
    }
    return std::make_unique<V>(context_.get(), "hd_core");
  }

  struct Flip {
    uint64_t byte;
    uint32_t bit;
  };

  void PowerUp() {
    // The modules claim nothing of what registers hold before a reset.
    context_->assertOn(false);
    Reset();
    context_->assertOn(true);
    progress_base_ = 0;
    cycle_ = 0;
  }

  uint32_t Progress() const {
    return progress_base_ + static_cast<uint32_t>(top_->progress_o);
  }

  // Inputs of the cycles before the stream runs: clear, one region per cycle,
  // start.
  void Drive() {
    top_->region_we_i = top_->start_i = top_->clear_i = 0;
    top_->trace_new_i = phase_ == Phase::kRegions;
    switch (phase_) {
      case Phase::kClear:
        top_->clear_i = 1;
        phase_ = Phase::kClearing;
        return;
      case Phase::kClearing:
        // busy_o as the cycle before left it.
        if (top_->busy_o) return;
        phase_ = Phase::kRegions;
        [[fallthrough]];
      case Phase::kRegions: {
        if (flip_) banks_.Flip(flip_->byte, flip_->bit);
        flip_.reset();
        const model::Region& r = request_.regions[region_];
        top_->region_we_i = 1;
        top_->region_index_i = region_;
        top_->region_base_i = r.base;
        top_->region_size_i = r.size;
        top_->region_writable_i = r.writable;
        if (++region_ == isa::kRegions) phase_ = Phase::kStart;
        return;
      }
      case Phase::kStart:
        top_->start_i = 1;
        top_->stream_addr_i = request_.stream_address;
        top_->stream_bytes_i = static_cast<uint32_t>(request_.stream_bytes);
        phase_ = Phase::kStarted;
        return;
      default:
        phase_ = Phase::kRun;
    }
  }

  void Cycle() {
    const DeviceMemory::ToCore& to = memory_.outputs();
    top_->mem_req_ready_i = to.request_ready;
    top_->mem_w_ready_i = to.write_ready;
    top_->mem_r_valid_i = to.read_valid;
    if (to.read_valid) {
      top_->mem_r_error_i = to.read_error;
      std::memcpy(&top_->mem_r_data_i, to.read_data, kBeatBytes);
    }
    top_->mem_b_valid_i = to.answer_valid;
    top_->mem_b_error_i = to.answer_error;
    if (top_->trace_on_i) top_->trace_cycle_i = static_cast<uint32_t>(cycle_);
    top_->clk_i = 0;
    top_->eval();
    if (observer_ != nullptr) {
      probes_.Before(observer_);
      if (top_->trace_on_i && top_->trace_valid_o) {
        desc::TraceEntry entry;
        // (its members have defaults, which is all that is not trivial)
        std::memcpy(static_cast<void*>(&entry), &top_->trace_entry_o,
                    sizeof(entry));
        observer_->OnTraceEntry(top_->trace_index_o, entry);
      }
    }
    DeviceMemory::FromCore from;
    // A memory is in reset with the core, whose first registers are anything.
    from.request_valid = top_->rst_ni && top_->mem_req_valid_o;
    from.request_write = top_->mem_req_write_o;
    from.request_address = top_->mem_req_addr_o;
    from.request_beats = top_->mem_req_beats_o;
    from.write_valid = top_->rst_ni && top_->mem_w_valid_o;
    from.write_strobe = top_->mem_w_strb_o;
    uint8_t data[kBeatBytes];
    if (from.write_valid) {
      std::memcpy(data, &top_->mem_w_data_o, kBeatBytes);
      from.write_data = data;
    }
    from.read_ready = top_->mem_r_ready_o;
    const bool done = top_->rst_ni && top_->done_o;
    if (top_->rst_ni) corrected_ += top_->sram_corrected_o;
    const uint32_t done_engines = observer_ != nullptr ? probes_.Done() : 0;
    top_->clk_i = 1;
    top_->eval();
    memory_.Clock(from);
    if (observer_ != nullptr) {
      if (memory_.read()) observer_->OnMemoryRead(*memory_.read());
      if (memory_.written()) {
        observer_->OnMemoryWrite(memory_.written()->address,
                                 memory_.written()->strobe);
      }
      Probes::ReportDone(done_engines, observer_);
    }
    ++cycle_;
    if (done) Finish();
  }

  void Finish() {
    model::RunResult& run = result_.run;
    run = model::RunResult();
    run.status = static_cast<isa::Error>(top_->status_o);
    if (run.status != isa::Error::kOk) {
      const StreamFault fault = StreamFault::Read(top_->fault_o);
      run.fault_offset = fault.offset;
      run.fault_tag = fault.tag;
      run.fault_region = fault.region;
      run.fault_engine = static_cast<isa::Engine>(fault.engine);
      run.fault_address = fault.addr;
    }
    run.commands = top_->commands_o;
    run.macs = top_->macs_o;
    run.bytes_loaded = top_->bytes_loaded_o;
    run.bytes_stored = top_->bytes_stored_o;
    run.sram_corrected = corrected_;
    corrected_ = 0;
    result_.cycles = top_->cycles_o;
    result_.matrix_busy = top_->matrix_busy_o;
    result_.vector_busy = top_->vector_busy_o;
    result_.dma_busy = top_->dma_busy_o;
    top_->abort_i = 0;
    busy_ = false;
    phase_ = Phase::kIdle;
    memory_.ForgetFlip();
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<V> top_;
  SramBanks banks_;
  Probes probes_;
  CoreObserver* observer_ = nullptr;
  platform::CoreRequest request_;
  Phase phase_ = Phase::kIdle;
  uint32_t region_ = 0;
  bool busy_ = false;
  bool clear_ = true;
  bool hang_ = false;
  std::optional<Flip> flip_;
  uint32_t progress_base_ = 0;
  uint64_t corrected_ = 0;  // since the last stream ended
  uint64_t cycle_ = 0;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_VERILATED_CORE_H_
