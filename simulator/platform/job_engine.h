// SPDX-License-Identifier: Apache-2.0
//
// The job front end: takes job descriptors from the rings, ring 0 first, runs
// their steps in order and writes completion records.
//
// Rules beyond registers.toml and descriptors.toml:
// - A doorbell is refused (DEVICE_ERROR = illegal_descriptor, HEAD unchanged)
// when
//   the ring or the completion ring is not enabled or the value is too far
//   ahead. A size or alignment that is not allowed does not enable a ring, with
//   the same error.
// - When a descriptor cannot be fetched or a record not be written, no job can
// be
//   told: DEVICE_ERROR = host_dma and STATUS.halted. After RESET.engine the
//   descriptor is fetched again; a record that could not be written is lost.
// - A job that ABORT ended leaves the card halted until RESET.engine. A job
// that
//   faults does not: the next job starts with clean queues and semaphores.
// - While halted, nothing is fetched; rings and doorbells work.
// - Steps with flag overlap are executed behind the run that they may be
//   executed with: one of the orders that the flag allows. A run that fails is
//   the last step.
// - A job's trace has estimated cycles (stream_trace.h); in them the job has
//   its runs one behind the other, and copies take no time.
#ifndef HEDDLE_SIMULATOR_PLATFORM_JOB_ENGINE_H_
#define HEDDLE_SIMULATOR_PLATFORM_JOB_ENGINE_H_

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <vector>

#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/platform/copy_engine.h"
#include "simulator/platform/core.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/interrupt_controller.h"

namespace heddle::platform {

class JobEngine : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<JobEngine> host;

  // Why a running job ends early; the larger overrules.
  enum class Stop {
    kNone,
    kAbort,        // ABORT: at the next command boundary, with a record
    kEngineReset,  // at once, with a record
    kCardReset,    // the same, then rings and counters are cleared
    kSilent,       // the host is gone or reset the function: no record
  };

  JobEngine(sc_core::sc_module_name name, DramStore* store, Core* core,
            CopyEngine* copy, InterruptController* interrupts);

  // Registers.
  void SetRing(uint32_t ring, uint32_t entries, uint64_t base);
  void SetCompletionRing(uint32_t entries, uint64_t base);
  void Doorbell(uint32_t ring, uint32_t head);
  void AbortJob(uint32_t fence_low);
  void Reset(Stop kind);  // kEngineReset or kCardReset; done when STATUS.ready
  uint32_t head(uint32_t ring) const { return rings_[ring].head; }
  uint32_t tail(uint32_t ring) const { return rings_[ring].tail; }
  uint32_t completion_tail() const { return completion_.written; }
  uint32_t status() const;
  uint32_t progress() const;
  uint64_t running_fence() const { return running_ ? job_.fence : 0; }
  uint32_t device_error() const { return device_error_; }
  void ClearDeviceError(uint32_t bits) { device_error_ &= ~bits; }
  uint64_t macs() const { return macs_; }
  uint64_t cycles() const { return core_->cycles() - cycles_base_; }
  uint32_t jobs() const { return jobs_; }
  uint32_t faults() const { return faults_; }
  uint32_t resets() const { return resets_; }
  uint32_t sram_corrected() const { return sram_corrected_; }

  // Function-level reset or power cycle: at once, and nothing more is written
  // to the host. Registers of the rings are as after power-up.
  void Silence(bool power_cycle);
  // Called when RESET.card is done, to clear what the engine does not own.
  void OnCardReset(std::function<void()> what) {
    on_card_reset_ = std::move(what);
  }

 private:
  struct Ring {
    uint32_t entries = 0;  // 0: disabled
    uint64_t base = 0;
    uint32_t head = 0;
    uint32_t tail = 0;
    uint64_t generation = 0;  // of enabling
  };
  struct Completion {
    uint32_t entries = 0;
    uint64_t base = 0;
    uint32_t written = 0;
  };

  void Run();
  int NextRing() const;
  void FinishReset();
  void RunJob(uint32_t ring);
  Status RunSteps(desc::Completion* record);
  StepOutcome RunStream(const desc::Step& step, desc::Completion* record);
  // `joins`: the step before is a run, or may be executed with one.
  Status CheckStep(const desc::Step& step, bool joins) const;
  // Adds a run to the job's trace. False: the host refused.
  bool WriteTrace(const CoreResult& result, uint32_t step,
                  desc::Completion* record);
  bool WriteRecord(desc::Completion* record);
  bool Host(bool write, uint64_t iova, void* data, size_t bytes);
  void DeviceError(Status status);
  void SramCorrected(uint64_t words);
  void Request(Stop stop);
  void ClearRings();
  void ClearCounters();

  DramStore* store_;
  Core* core_;
  CopyEngine* copy_;
  InterruptController* interrupts_;
  std::function<void()> on_card_reset_;
  sc_core::sc_event work_;
  sc_core::sc_time delay_;

  Ring rings_[isa::kRings];
  Completion completion_;
  bool running_ = false;
  bool halted_ = false;
  Stop stop_ = Stop::kNone;
  uint32_t running_ring_ = 0;
  desc::JobDescriptor job_;
  uint64_t trace_cycles_ = 0;  // of its runs so far
  uint32_t device_error_ = 0;
  uint32_t progress_base_ = 0;
  uint64_t cycles_base_ = 0;
  uint64_t macs_ = 0;
  uint32_t jobs_ = 0;
  uint32_t faults_ = 0;
  uint32_t resets_ = 0;
  uint32_t sram_corrected_ = 0;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_JOB_ENGINE_H_
