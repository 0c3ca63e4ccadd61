// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/job_engine.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/transfer.h"

namespace heddle::platform {
namespace {

constexpr uint64_t kRingAlign = sizeof(desc::JobDescriptor);
constexpr uint64_t kCompletionAlign = sizeof(desc::Completion);

bool LegalSize(uint32_t entries) {
  return entries <= isa::kRingEntriesMax && (entries & (entries - 1)) == 0;
}

template <typename T, size_t N>
bool AllZero(const T (&values)[N]) {
  for (const T& v : values) {
    if (v != 0) return false;
  }
  return true;
}

}  // namespace

JobEngine::JobEngine(sc_core::sc_module_name name, DramStore* store, Core* core,
                     CopyEngine* copy, InterruptController* interrupts)
    : sc_module(name),
      host("host"),
      store_(store),
      core_(core),
      copy_(copy),
      interrupts_(interrupts) {
  SC_HAS_PROCESS(JobEngine);
  SC_THREAD(Run);
  set_stack_size(1 << 20);
}

// -- Registers ----------------------------------------------------------------

void JobEngine::DeviceError(Status status) {
  device_error_ = static_cast<uint32_t>(status);
  interrupts_->Raise(reg::kIntStatusErrorMask);
}

void JobEngine::SramCorrected(uint64_t words) {
  sram_corrected_ = static_cast<uint32_t>(
      std::min<uint64_t>(sram_corrected_ + words, UINT32_MAX));
  // Nothing worse is forgotten for it.
  if (device_error_ == 0) {
    device_error_ = static_cast<uint32_t>(Status::kSramCorrected);
  }
  interrupts_->Raise(reg::kIntStatusErrorMask);
}

void JobEngine::SetRing(uint32_t ring, uint32_t entries, uint64_t base) {
  Ring& r = rings_[ring];
  r = Ring{0, 0, 0, 0, r.generation + 1};
  if (entries == 0) return;
  if (!LegalSize(entries) || base % kRingAlign != 0) {
    DeviceError(Status::kIllegalDescriptor);
    return;
  }
  r.entries = entries;
  r.base = base;
}

void JobEngine::SetCompletionRing(uint32_t entries, uint64_t base) {
  completion_ = Completion();
  if (entries == 0) return;
  if (!LegalSize(entries) || base % kCompletionAlign != 0) {
    DeviceError(Status::kIllegalDescriptor);
    return;
  }
  completion_.entries = entries;
  completion_.base = base;
}

void JobEngine::Doorbell(uint32_t ring, uint32_t head) {
  Ring& r = rings_[ring];
  if (r.entries == 0 || completion_.entries == 0 || head - r.tail > r.entries ||
      head - r.tail < r.head - r.tail) {
    DeviceError(Status::kIllegalDescriptor);
    return;
  }
  r.head = head;
  work_.notify(sc_core::SC_ZERO_TIME);
}

void JobEngine::Request(Stop stop) {
  if (stop > stop_) stop_ = stop;
  work_.notify(sc_core::SC_ZERO_TIME);
}

void JobEngine::AbortJob(uint32_t fence_low) {
  if (!running_ || static_cast<uint32_t>(job_.fence) != fence_low) return;
  if (core_->busy()) core_->Abort();
  Request(Stop::kAbort);
}

void JobEngine::Reset(Stop kind) {
  ++resets_;
  Request(kind);
}

void JobEngine::ClearRings() {
  for (Ring& r : rings_) r = Ring{0, 0, 0, 0, r.generation + 1};
  completion_ = Completion();
  device_error_ = 0;
}

void JobEngine::ClearCounters() {
  progress_base_ = core_->progress() + copy_->pieces();
  cycles_base_ = core_->cycles();
  macs_ = 0;
  jobs_ = 0;
  faults_ = 0;
  sram_corrected_ = 0;
}

void JobEngine::Silence(bool power_cycle) {
  core_->Reset();
  ClearRings();
  ClearCounters();
  halted_ = false;
  if (power_cycle) resets_ = 0;
  Request(Stop::kSilent);
}

uint32_t JobEngine::status() const {
  uint32_t value = 0;
  if (stop_ <= Stop::kAbort) value |= reg::kStatusReadyMask;
  if (running_) {
    value |= reg::kStatusBusyMask;
    value |= (running_ring_ << reg::kStatusRingShift) & reg::kStatusRingMask;
  }
  if (halted_) value |= reg::kStatusHaltedMask;
  return value;
}

uint32_t JobEngine::progress() const {
  return core_->progress() + copy_->pieces() - progress_base_;
}

// -- Jobs ---------------------------------------------------------------------

int JobEngine::NextRing() const {
  if (halted_) return -1;
  for (uint32_t i = 0; i < isa::kRings; ++i) {
    if (rings_[i].entries != 0 && rings_[i].head != rings_[i].tail)
      return static_cast<int>(i);
  }
  return -1;
}

void JobEngine::Run() {
  for (;;) {
    if (stop_ != Stop::kNone) FinishReset();
    const int ring = NextRing();
    if (ring < 0) {
      wait(work_);
    } else {
      RunJob(static_cast<uint32_t>(ring));
    }
  }
}

void JobEngine::FinishReset() {
  const Stop kind = std::exchange(stop_, Stop::kNone);
  if (kind == Stop::kAbort) return;  // came too late: the job had ended
  if (kind != Stop::kSilent) core_->Reset();
  halted_ = false;
  if (kind == Stop::kCardReset) {
    ClearRings();
    ClearCounters();
    if (on_card_reset_) on_card_reset_();
  }
}

bool JobEngine::Host(bool write, uint64_t iova, void* data, size_t bytes) {
  return stop_ != Stop::kSilent && Transfer(host, write, iova, data, bytes,
                                            &delay_) == tlm::TLM_OK_RESPONSE;
}

void JobEngine::RunJob(uint32_t ring) {
  const Ring started = rings_[ring];
  const uint64_t at = started.base + (started.tail % started.entries) *
                                         sizeof(desc::JobDescriptor);
  if (!Host(false, at, &job_, sizeof(job_))) {
    halted_ = true;
    DeviceError(Status::kHostDma);
    return;
  }
  const uint64_t first_cycle = core_->cycles();
  running_ring_ = ring;
  running_ = true;
  trace_cycles_ = 0;

  desc::Completion record;
  record.fence = job_.fence;
  record.ring = ring;
  record.context_id = job_.context_id;
  const Status status = RunSteps(&record);
  record.status = static_cast<uint32_t>(status);
  record.cycles = core_->cycles() - first_cycle;

  if (stop_ == Stop::kSilent) {
    running_ = false;
    return;
  }
  if (stop_ == Stop::kAbort) {
    stop_ = Stop::kNone;
    // An abort that came after the job's last boundary has nothing to end.
    halted_ = halted_ || status == Status::kAborted;
  }
  ++jobs_;
  if (status != Status::kOk) ++faults_;
  macs_ += record.macs;
  const bool written = WriteRecord(&record);
  running_ = false;
  // Unless the ring was enabled anew meanwhile.
  if (rings_[ring].generation == started.generation) ++rings_[ring].tail;

  uint32_t bits = 0;
  if (written && (job_.flags & desc::kJobDescriptorFlagsInterruptMask)) {
    bits |= reg::kIntStatusCompletionMask;
  }
  if (status != Status::kOk) bits |= reg::kIntStatusFaultMask;
  interrupts_->Raise(bits);
  if (!written) {
    halted_ = true;
    DeviceError(Status::kHostDma);
  }
  // The host sees the end of this job before the next one starts.
  if (delay_ == sc_core::SC_ZERO_TIME)
    delay_ = sc_core::sc_time(1, sc_core::SC_NS);
  wait(std::exchange(delay_, sc_core::SC_ZERO_TIME));
}

bool JobEngine::WriteRecord(desc::Completion* record) {
  if (completion_.entries == 0) return false;
  const uint64_t at =
      completion_.base +
      (completion_.written % completion_.entries) * sizeof(*record);
  record->sequence = ++completion_.written;
  constexpr size_t kBody = offsetof(desc::Completion, sequence);
  return Host(true, at, record, kBody) &&
         Host(true, at + kBody, &record->sequence, sizeof(record->sequence));
}

Status JobEngine::RunSteps(desc::Completion* record) {
  constexpr uint32_t kFlags = desc::kJobDescriptorFlagsClearSramMask |
                              desc::kJobDescriptorFlagsInterruptMask |
                              desc::kJobDescriptorFlagsTraceMask;
  const bool traced = job_.flags & desc::kJobDescriptorFlagsTraceMask;
  if (job_.step_count == 0 || job_.step_count > isa::kStepsMax ||
      (job_.flags & ~kFlags) || job_.reserved0 != 0 || job_.reserved1 != 0 ||
      !AllZero(job_.reserved2) ||
      (!traced && (job_.trace_iova != 0 || job_.trace_entries != 0)) ||
      job_.trace_iova % sizeof(desc::TraceEntry) != 0 ||
      job_.steps_iova % sizeof(desc::Step) != 0) {
    return Status::kIllegalDescriptor;
  }
  desc::Step steps[isa::kStepsMax];
  if (!Host(false, job_.steps_iova, steps,
            job_.step_count * sizeof(desc::Step))) {
    record->fault_address = job_.steps_iova;
    return Status::kHostDma;
  }
  // Nothing runs unless every step is well-formed.
  bool joins = false;  // the step before is a run, or may be executed with one
  for (uint32_t i = 0; i < job_.step_count; ++i) {
    const Status status = CheckStep(steps[i], joins);
    const bool overlaps = steps[i].flags & desc::kStepFlagsOverlapMask;
    joins = overlaps ||
            static_cast<isa::StepType>(steps[i].type) == isa::StepType::kRun;
    if (status != Status::kOk) {
      record->fault_step = i;
      return status;
    }
  }
  if (job_.flags & desc::kJobDescriptorFlagsClearSramMask) core_->ClearSram();
  for (uint32_t i = 0; i < job_.step_count; ++i) {
    record->fault_step = i;
    if (stop_ != Stop::kNone) return Status::kAborted;
    StepOutcome outcome;
    if (static_cast<isa::StepType>(steps[i].type) == isa::StepType::kRun) {
      outcome = RunStream(steps[i], record);
    } else {
      outcome = copy_->Run(steps[i], [this] { return stop_ != Stop::kNone; });
      record->bytes_copied += outcome.bytes_copied;
    }
    if (outcome.status != Status::kOk) {
      record->fault_address = outcome.fault_address;
      return outcome.status;
    }
  }
  record->fault_step = 0;
  return Status::kOk;
}

Status JobEngine::CheckStep(const desc::Step& step, bool joins) const {
  const bool overlaps = step.flags & desc::kStepFlagsOverlapMask;
  const bool run = static_cast<isa::StepType>(step.type) == isa::StepType::kRun;
  if ((step.flags & ~desc::kStepFlagsOverlapMask) != 0 ||
      (overlaps && (run || !joins)) || !AllZero(step.reserved1)) {
    return Status::kIllegalDescriptor;
  }
  switch (static_cast<isa::StepType>(step.type)) {
    case isa::StepType::kCopyIn:
    case isa::StepType::kCopyOut:
    case isa::StepType::kCopy:
    case isa::StepType::kFill:
      return Status::kOk;  // the copy engine checks the rest
    case isa::StepType::kRun:
      if (step.device_address % isa::kStreamAlign != 0 || step.length == 0 ||
          step.length % isa::kWordBytes != 0 ||
          step.length > isa::kStreamBytesMax) {
        return Status::kIllegalDescriptor;
      }
      return Status::kOk;
    default:
      return Status::kIllegalDescriptor;
  }
}

StepOutcome JobEngine::RunStream(const desc::Step& step,
                                 desc::Completion* record) {
  StepOutcome outcome;
  auto refuse = [&outcome](Status status, uint64_t address) {
    outcome.status = status;
    outcome.fault_address = address;
    return outcome;
  };
  if (!store_->Contains(step.device_address, step.length)) {
    return refuse(Status::kCopyBounds,
                  std::max(step.device_address, store_->size()));
  }
  desc::Region table[isa::kRegions];
  if (!Host(false, step.table_iova, table, sizeof(table))) {
    return refuse(Status::kHostDma, step.table_iova);
  }
  CoreRequest request;
  request.stream_address = step.device_address;
  request.stream_bytes = step.length;
  for (uint32_t i = 0; i < isa::kRegions; ++i) {
    const desc::Region& region = table[i];
    if ((region.flags & ~desc::kRegionFlagsWritableMask) ||
        region.reserved0 != 0 || region.reserved1 != 0 ||
        (region.size != 0 && (region.base % isa::kRegionAlign != 0 ||
                              !store_->Contains(region.base, region.size)))) {
      record->fault_region = i;
      return refuse(Status::kIllegalDescriptor,
                    step.table_iova + i * sizeof(desc::Region));
    }
    request.regions[i] = {region.base, region.size,
                          (region.flags & desc::kRegionFlagsWritableMask) != 0};
  }

  request.trace = job_.flags & desc::kJobDescriptorFlagsTraceMask;
  core_->Start(request);
  while (core_->busy()) {
    wait(core_->done() | work_);
    if (stop_ == Stop::kAbort && core_->busy()) core_->Abort();
    if (stop_ > Stop::kAbort && core_->busy()) {
      core_->Reset();
      return refuse(Status::kAborted, 0);
    }
  }
  if (stop_ == Stop::kSilent) return refuse(Status::kAborted, 0);
  const CoreResult& result = core_->result();
  record->commands += result.run.commands;
  record->macs += result.run.macs;
  record->bytes_loaded += result.run.bytes_loaded;
  record->bytes_stored += result.run.bytes_stored;
  record->matrix_busy += result.matrix_busy;
  record->vector_busy += result.vector_busy;
  record->dma_busy += result.dma_busy;
  if (result.run.sram_corrected != 0) SramCorrected(result.run.sram_corrected);
  if (result.run.status != Status::kOk) {
    record->fault_offset = result.run.fault_offset;
    record->fault_tag = result.run.fault_tag;
    record->fault_engine = static_cast<uint32_t>(result.run.fault_engine);
    record->fault_region = result.run.fault_region;
  }
  const bool told = WriteTrace(result, record->fault_step, record);
  if (result.run.status == Status::kOk && !told) {
    return refuse(Status::kHostDma, job_.trace_iova);
  }
  return refuse(result.run.status, result.run.fault_address);
}

bool JobEngine::WriteTrace(const CoreResult& result, uint32_t step,
                           desc::Completion* record) {
  std::vector<desc::TraceEntry> entries = result.trace;
  for (desc::TraceEntry& entry : entries) {
    entry.begin += static_cast<uint32_t>(trace_cycles_);
    entry.end += static_cast<uint32_t>(trace_cycles_);
    entry.flags |= step << desc::kTraceEntryFlagsStepShift;
  }
  trace_cycles_ += result.trace_cycles;
  const uint32_t first = record->trace_count;
  record->trace_count += static_cast<uint32_t>(entries.size());
  if (first >= job_.trace_entries) return true;
  entries.resize(std::min<size_t>(entries.size(), job_.trace_entries - first));
  return entries.empty() ||
         Host(true, job_.trace_iova + uint64_t{first} * sizeof(entries[0]),
              entries.data(), entries.size() * sizeof(entries[0]));
}

}  // namespace heddle::platform
