// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/copy_engine.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "simulator/platform/transfer.h"

namespace heddle::platform {
namespace {

constexpr uint64_t kPiece = isa::kPageBytes;
// Pieces between two looks at the rest of the world: some tens of microseconds.
constexpr uint32_t kPiecesPerTurn = 32;
constexpr uint32_t kEntriesPerRead = kPiece / sizeof(desc::SgEntry);

StepOutcome Failed(Status status, uint64_t address) {
  StepOutcome outcome;
  outcome.status = status;
  outcome.fault_address = address;
  return outcome;
}

// First address of [address, address + length) that memory of `size` bytes
// lacks.
uint64_t FirstMissing(uint64_t address, uint64_t size) {
  return std::max(address, size);
}

}  // namespace

CopyEngine::CopyEngine(sc_core::sc_module_name name, const DramStore* store,
                       Faults* faults, RunawayDma::Later later)
    : sc_module(name),
      host("host"),
      dram("dram"),
      store_(store),
      faults_(faults),
      runaway_(
          [this](uint64_t iova, void* data, size_t bytes) {
            sc_core::sc_time delay;
            Transfer(host, true, iova, data, bytes, &delay);
          },
          std::move(later)) {}

void CopyEngine::PowerCycle() {
  runaway_.Stop();
  power_cycled_.notify(sc_core::SC_ZERO_TIME);
}

StepOutcome CopyEngine::RunAway(const desc::Step& step) {
  StepOutcome outcome;
  std::vector<desc::SgEntry> list(step.sg_count);
  if (Host(false, step.table_iova, list.data(),
           list.size() * sizeof(desc::SgEntry), &outcome)) {
    runaway_.Start(std::move(list));
    wait(power_cycled_);
    outcome.status = Status::kAborted;
  }
  return outcome;
}

bool CopyEngine::Host(bool write, uint64_t iova, void* data, size_t bytes,
                      StepOutcome* outcome) {
  if (Transfer(host, write, iova, data, bytes, &delay_) == tlm::TLM_OK_RESPONSE)
    return true;
  outcome->status = Status::kHostDma;
  outcome->fault_address = iova;
  return false;
}

bool CopyEngine::Device(bool write, uint64_t address, void* data, size_t bytes,
                        StepOutcome* outcome) {
  switch (Transfer(dram, write, address, data, bytes, &delay_)) {
    case tlm::TLM_OK_RESPONSE:
      return true;
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:  // the memory shrank meanwhile
      outcome->status = Status::kCopyBounds;
      break;
    default:
      outcome->status = Status::kBusError;
  }
  outcome->fault_address = address;
  return false;
}

bool CopyEngine::Breathe(const std::function<bool()>& stopped) {
  ++pieces_;
  if (pieces_ % kPiecesPerTurn == 0) {
    // The reactor gets its turn even if no time passed.
    if (delay_ == sc_core::SC_ZERO_TIME)
      delay_ = sc_core::sc_time(1, sc_core::SC_NS);
    wait(delay_);
    delay_ = sc_core::SC_ZERO_TIME;
  }
  return !stopped();
}

StepOutcome CopyEngine::Run(const desc::Step& step,
                            const std::function<bool()>& stopped) {
  if (step.length == 0 || step.length > isa::kFillBytesMax) {
    return Failed(Status::kIllegalDescriptor, step.length);
  }
  if (!store_->Contains(step.device_address, step.length)) {
    return Failed(Status::kCopyBounds,
                  FirstMissing(step.device_address, store_->size()));
  }
  switch (static_cast<isa::StepType>(step.type)) {
    case isa::StepType::kCopyIn:
      return HostCopy(step, true, stopped);
    case isa::StepType::kCopyOut:
      return HostCopy(step, false, stopped);
    case isa::StepType::kCopy:
      return DeviceCopy(step, stopped);
    case isa::StepType::kFill:
      return Fill(step, stopped);
    default:
      return Failed(Status::kIllegalDescriptor, step.type);
  }
}

StepOutcome CopyEngine::CheckList(const desc::Step& step,
                                  const std::function<bool()>& stopped) {
  StepOutcome outcome;
  if (step.sg_count == 0 || step.sg_count > isa::kSgEntriesMax ||
      step.table_iova % sizeof(desc::SgEntry) != 0) {
    return Failed(Status::kIllegalDescriptor, step.table_iova);
  }
  desc::SgEntry entries[kEntriesPerRead];
  uint64_t left = step.length;
  for (uint32_t i = 0; i < step.sg_count; i += kEntriesPerRead) {
    const uint32_t n = std::min(kEntriesPerRead, step.sg_count - i);
    const uint64_t at = step.table_iova + uint64_t{i} * sizeof(desc::SgEntry);
    if (!Host(false, at, entries, n * sizeof(desc::SgEntry), &outcome))
      return outcome;
    for (uint32_t k = 0; k < n; ++k) {
      if (entries[k].length == 0 || entries[k].length > left) {
        return Failed(Status::kIllegalDescriptor,
                      at + k * sizeof(desc::SgEntry));
      }
      left -= entries[k].length;
    }
    if (stopped()) return Failed(Status::kAborted, 0);
  }
  if (left != 0) return Failed(Status::kIllegalDescriptor, step.table_iova);
  return outcome;
}

StepOutcome CopyEngine::HostCopy(const desc::Step& step, bool to_device,
                                 const std::function<bool()>& stopped) {
  StepOutcome outcome = CheckList(step, stopped);
  if (outcome.status != Status::kOk) return outcome;
  if (!to_device && std::exchange(faults_->runaway_dma, false)) {
    return RunAway(step);
  }
  desc::SgEntry entries[kEntriesPerRead];
  uint8_t piece[kPiece];
  uint64_t device = step.device_address;
  uint64_t left = step.length;
  for (uint32_t i = 0; i < step.sg_count; i += kEntriesPerRead) {
    const uint32_t n = std::min(kEntriesPerRead, step.sg_count - i);
    const uint64_t at = step.table_iova + uint64_t{i} * sizeof(desc::SgEntry);
    if (!Host(false, at, entries, n * sizeof(desc::SgEntry), &outcome))
      return outcome;
    for (uint32_t k = 0; k < n; ++k) {
      uint64_t iova = entries[k].iova;
      // The list may have changed since it was checked.
      uint64_t rest = std::min(entries[k].length, left);
      while (rest > 0) {
        // Pieces end at page boundaries of the host, as bursts of a bus do.
        const auto bytes =
            static_cast<size_t>(std::min(rest, kPiece - iova % kPiece));
        const bool ok = to_device
                            ? Host(false, iova, piece, bytes, &outcome) &&
                                  Device(true, device, piece, bytes, &outcome)
                            : Device(false, device, piece, bytes, &outcome) &&
                                  Host(true, iova, piece, bytes, &outcome);
        if (!ok) return outcome;
        iova += bytes;
        device += bytes;
        rest -= bytes;
        left -= bytes;
        outcome.bytes_copied += bytes;
        if (!Breathe(stopped)) {
          outcome.status = Status::kAborted;
          return outcome;
        }
      }
    }
  }
  return outcome;
}

StepOutcome CopyEngine::DeviceCopy(const desc::Step& step,
                                   const std::function<bool()>& stopped) {
  if (!store_->Contains(step.destination, step.length)) {
    return Failed(Status::kCopyBounds,
                  FirstMissing(step.destination, store_->size()));
  }
  StepOutcome outcome;
  uint8_t piece[kPiece];
  // As memmove: upwards unless the destination lies above the source.
  const bool down = step.destination > step.device_address;
  for (uint64_t moved = 0; moved < step.length;) {
    const uint64_t bytes = std::min(kPiece, step.length - moved);
    const uint64_t offset = down ? step.length - moved - bytes : moved;
    if (!Device(false, step.device_address + offset, piece, bytes, &outcome) ||
        !Device(true, step.destination + offset, piece, bytes, &outcome)) {
      return outcome;
    }
    moved += bytes;
    if (!Breathe(stopped)) return Failed(Status::kAborted, 0);
  }
  return outcome;
}

StepOutcome CopyEngine::Fill(const desc::Step& step,
                             const std::function<bool()>& stopped) {
  if (step.length % sizeof(step.fill_value) != 0) {
    return Failed(Status::kIllegalDescriptor, step.length);
  }
  StepOutcome outcome;
  uint32_t piece[kPiece / sizeof(uint32_t)];
  std::fill(std::begin(piece), std::end(piece), step.fill_value);
  for (uint64_t done = 0; done < step.length;) {
    const uint64_t bytes = std::min(kPiece, step.length - done);
    if (!Device(true, step.device_address + done, piece, bytes, &outcome))
      return outcome;
    done += bytes;
    if (!Breathe(stopped)) return Failed(Status::kAborted, 0);
  }
  return outcome;
}

}  // namespace heddle::platform
