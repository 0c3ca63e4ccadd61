// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/register_block.h"

#include <cstring>
#include <utility>

namespace heddle::platform {
namespace {
uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t High(uint64_t v) { return static_cast<uint32_t>(v >> 32); }
}  // namespace

RegisterBlock::RegisterBlock(sc_core::sc_module_name name,
                             const isa::Config& config, isa::CoreKind kind,
                             uint64_t serial, const DramStore* store,
                             JobEngine* jobs, InterruptController* interrupts,
                             Faults* faults)
    : sc_module(name),
      port("port"),
      store_(store),
      jobs_(jobs),
      interrupts_(interrupts),
      faults_(faults) {
  port.register_b_transport(this, &RegisterBlock::Transport);
  ConnectIdentity(config, kind, serial);
  ConnectJobs();
  ConnectInterrupts();
  jobs_->OnCardReset([this] { Reset(); });
}

void RegisterBlock::ShowVersion(uint32_t version) {
  file_.OnRead(reg::kVersionOffset, [version] { return version; });
}

void RegisterBlock::Reset() {
  file_.Reset();
  interrupts_->Reset();
}

void RegisterBlock::Transport(tlm::tlm_generic_payload& payload,
                              sc_core::sc_time&) {
  const auto offset = static_cast<uint32_t>(payload.get_address());
  uint32_t word = 0;
  if (payload.get_data_length() != sizeof(word) || offset % sizeof(word) != 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (payload.is_write()) {
    std::memcpy(&word, payload.get_data_ptr(), sizeof(word));
    if (!interrupts_->TableWrite(offset, word)) file_.Write(offset, word);
  } else {
    if (!interrupts_->TableRead(offset, &word)) word = file_.Read(offset);
    std::memcpy(payload.get_data_ptr(), &word, sizeof(word));
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

void RegisterBlock::ConnectIdentity(const isa::Config& config,
                                    isa::CoreKind kind, uint64_t serial) {
  file_.OnRead(reg::kConfigOffset, [id = config.id] { return id; });
  file_.OnRead(reg::kCoreKindOffset,
               [kind] { return static_cast<uint32_t>(kind); });
  file_.OnRead(reg::kDramLoOffset, [this] { return Low(store_->size()); });
  file_.OnRead(reg::kDramHiOffset, [this] { return High(store_->size()); });
  file_.OnRead(reg::kUniqueLoOffset, [serial] { return Low(serial); });
  file_.OnRead(reg::kUniqueHiOffset, [serial] { return High(serial); });
}

void RegisterBlock::ConnectJobs() {
  file_.OnRead(reg::kStatusOffset, [this] { return jobs_->status(); });
  file_.OnWrite(reg::kResetOffset, [this](uint32_t bits) {
    if (bits & reg::kResetCardMask) {
      faults_->lost_engine_resets = false;
      jobs_->Reset(JobEngine::Stop::kCardReset);
    } else if ((bits & reg::kResetEngineMask) && !faults_->lost_engine_resets) {
      jobs_->Reset(JobEngine::Stop::kEngineReset);
    }
  });
  file_.OnWrite(reg::kAbortOffset,
                [this](uint32_t fence) { jobs_->AbortJob(fence); });
  file_.OnRead(reg::kProgressOffset, [this] { return jobs_->progress(); });
  file_.OnRead(reg::kRunningLoOffset,
               [this] { return Low(jobs_->running_fence()); });
  file_.OnRead(reg::kRunningHiOffset,
               [this] { return High(jobs_->running_fence()); });
  file_.OnRead(reg::kDeviceErrorOffset,
               [this] { return jobs_->device_error(); });
  file_.OnWrite(reg::kDeviceErrorOffset,
                [this](uint32_t bits) { jobs_->ClearDeviceError(bits); });

  file_.OnWrite(reg::kCompletionSizeOffset, [this](uint32_t entries) {
    jobs_->SetCompletionRing(
        entries, file_.Get(reg::kCompletionBaseLoOffset) |
                     uint64_t{file_.Get(reg::kCompletionBaseHiOffset)} << 32);
  });
  file_.OnRead(reg::kCompletionTailOffset,
               [this] { return jobs_->completion_tail(); });

  for (uint32_t i = 0; i < reg::kRingSizeCount; ++i) {
    file_.OnWrite(reg::RingSizeOffset(i), [this, i](uint32_t entries) {
      jobs_->SetRing(i, entries,
                     file_.Get(reg::RingBaseLoOffset(i)) |
                         uint64_t{file_.Get(reg::RingBaseHiOffset(i))} << 32);
    });
    file_.OnWrite(reg::RingHeadOffset(i),
                  [this, i](uint32_t head) { jobs_->Doorbell(i, head); });
    file_.OnRead(reg::RingHeadOffset(i), [this, i] { return jobs_->head(i); });
    file_.OnRead(reg::RingTailOffset(i), [this, i] { return jobs_->tail(i); });
  }

  Counter(reg::kCounterCyclesLoOffset, reg::kCounterCyclesHiOffset,
          [this] { return jobs_->cycles(); });
  Counter(reg::kCounterMacsLoOffset, reg::kCounterMacsHiOffset,
          [this] { return jobs_->macs(); });
  file_.OnRead(reg::kCounterJobsOffset, [this] { return jobs_->jobs(); });
  file_.OnRead(reg::kCounterFaultsOffset, [this] { return jobs_->faults(); });
  file_.OnRead(reg::kCounterResetsOffset, [this] { return jobs_->resets(); });
  file_.OnRead(reg::kCounterSramCorrectedOffset,
               [this] { return jobs_->sram_corrected(); });
}

void RegisterBlock::ConnectInterrupts() {
  file_.OnRead(reg::kIntStatusOffset, [this] { return interrupts_->status(); });
  file_.OnWrite(reg::kIntStatusOffset,
                [this](uint32_t bits) { interrupts_->Acknowledge(bits); });
  file_.OnWrite(reg::kIntEnableOffset,
                [this](uint32_t bits) { interrupts_->Enable(bits); });
  file_.OnWrite(reg::kIntRaiseOffset,
                [this](uint32_t bits) { interrupts_->Raise(bits); });
}

void RegisterBlock::Counter(uint32_t low, uint32_t high,
                            std::function<uint64_t()> value) {
  file_.OnRead(low, [this, high, value = std::move(value)] {
    const uint64_t now = value();
    file_.Set(high, High(now));
    return Low(now);
  });
}

}  // namespace heddle::platform
