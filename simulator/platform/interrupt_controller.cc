// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/interrupt_controller.h"

#include <utility>

namespace heddle::platform {
namespace {
constexpr uint32_t kEntryMask = 1;  // bit of an MSI-X entry's control word
}  // namespace

InterruptController::InterruptController(const ConfigSpace* config,
                                         Faults* faults, Later later)
    : config_(config), faults_(faults), later_(std::move(later)) {
  Reset();
}

void InterruptController::Reset() {
  status_ = 0;
  enabled_ = 0;
  pending_ = 0;
  ++epoch_;
  for (Entry& entry : table_) entry = {{0, 0, 0, kEntryMask}};
}

void InterruptController::Raise(uint32_t bits) {
  status_ |= bits;
  for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
    if (bits & enabled_ & (1u << v)) Send(v);
  }
}

void InterruptController::Enable(uint32_t bits) {
  const uint32_t fresh = bits & ~enabled_ & status_;
  enabled_ = bits;
  for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
    if (fresh & (1u << v)) Send(v);
  }
}

void InterruptController::Send(uint32_t vector) {
  if (faults_->lost_interrupts > 0) {
    --faults_->lost_interrupts;
    return;
  }
  if (faults_->late_interrupt_ms > 0) {
    const uint32_t ms = std::exchange(faults_->late_interrupt_ms, 0);
    later_(ms, [this, vector, epoch = epoch_] {
      if (epoch == epoch_) Deliver(vector);
    });
    return;
  }
  Deliver(vector);
}

void InterruptController::Deliver(uint32_t vector) {
  // An interrupt message is a memory write: it needs the bus.
  if (sink_ == nullptr || faults_->link_down || !config_->BusMaster()) return;
  ++sent_;
  sink_->RaiseInterrupt(vector);
}

bool InterruptController::Masked(uint32_t vector) const {
  return config_->MsixFunctionMask() || (table_[vector].words[3] & kEntryMask);
}

void InterruptController::Flush() {
  if (pending_ == 0 || !config_->MsixEnabled()) return;
  for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
    if ((pending_ & (1u << v)) && !Masked(v)) {
      pending_ &= ~(1u << v);
      Deliver(v);
    }
  }
}

bool InterruptController::TableRead(uint32_t offset, uint32_t* value) const {
  if (offset >= reg::kPciMsixTableOffset &&
      offset < reg::kPciMsixTableOffset + sizeof(table_)) {
    const uint32_t word = (offset - reg::kPciMsixTableOffset) / 4;
    *value = table_[word / 4].words[word % 4];
    return true;
  }
  if (offset >= reg::kPciMsixPbaOffset && offset < reg::kPciMsixPbaOffset + 8) {
    *value = offset == reg::kPciMsixPbaOffset ? pending_ : 0;
    return true;
  }
  return false;
}

bool InterruptController::TableWrite(uint32_t offset, uint32_t value) {
  uint32_t ignored;
  if (!TableRead(offset, &ignored)) return false;
  if (offset >= reg::kPciMsixPbaOffset) return true;
  const uint32_t word = (offset - reg::kPciMsixTableOffset) / 4;
  if (word % 4 == 0) value &= ~3u;
  if (word % 4 == 3) value &= kEntryMask;
  table_[word / 4].words[word % 4] = value;
  Flush();
  return true;
}

bool InterruptController::Message(uint32_t vector, MsiMessage* message) {
  if (vector >= reg::kPciMsixVectors) return false;
  if (config_->MsixEnabled()) {
    if (Masked(vector)) {
      pending_ |= 1u << vector;
      return false;
    }
    const uint32_t* words = table_[vector].words;
    *message = {words[0] | uint64_t{words[1]} << 32, words[2]};
    return true;
  }
  if (!config_->MsiEnabled()) return false;
  *message = config_->Msi();
  return true;
}

}  // namespace heddle::platform
