// SPDX-License-Identifier: Apache-2.0
#include "simulator/rtl/card_host.h"

#include <utility>

#include "rtl/spec/generated/registers.h"

namespace heddle::rtl {
namespace {

constexpr uint32_t kEntries = 16;
constexpr uint64_t kAlign = 4096;

uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t High(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

}  // namespace

absl::StatusOr<std::unique_ptr<CardHost>> CardHost::Make(
    const isa::Config& config, uint64_t device_bytes,
    const CardOptions& options) {
  auto host = std::unique_ptr<CardHost>(new CardHost(device_bytes));
  auto model = MakeCard(config, options, host.get());
  if (!model.ok()) return model.status();
  host->model_ = std::move(*model);
  host->model_->SetDeviceMemory(host->device_.data(), device_bytes);
  host->SetUpRings();
  return host;
}

bool CardHost::Host(bool write, uint64_t iova, void* data, size_t bytes) {
  if (iova < kHost || iova - kHost > kHostBytes ||
      kHostBytes - (iova - kHost) < bytes) {
    return false;
  }
  if (write) {
    std::memcpy(At(iova), data, bytes);
  } else {
    std::memcpy(data, At(iova), bytes);
  }
  return true;
}

uint64_t CardHost::Alloc(size_t bytes) {
  const uint64_t at = free_;
  free_ += (bytes + kAlign - 1) / kAlign * kAlign;
  return at;
}

void CardHost::SetUpRings() {
  free_ = kHost;
  completion_ = Alloc(kEntries * sizeof(desc::Completion));
  ring_ = Alloc(kEntries * sizeof(desc::JobDescriptor));
  first_free_ = free_;
  std::memset(At(completion_), 0, kEntries * sizeof(desc::Completion));
  head_ = completions_ = 0;
  model_->Write(reg::kCompletionBaseLoOffset, Low(completion_));
  model_->Write(reg::kCompletionBaseHiOffset, High(completion_));
  model_->Write(reg::kCompletionSizeOffset, kEntries);
  model_->Write(reg::RingBaseLoOffset(0), Low(ring_));
  model_->Write(reg::RingBaseHiOffset(0), High(ring_));
  model_->Write(reg::RingSizeOffset(0), kEntries);
  model_->Write(reg::kIntEnableOffset, 15);
}

desc::Step CardHost::CopyIn(uint64_t device,
                            const std::vector<uint8_t>& bytes) {
  desc::Step step;
  step.type = static_cast<uint32_t>(isa::StepType::kCopyIn);
  step.device_address = device;
  step.length = bytes.size();
  const uint64_t data = Put(bytes);
  step.table_iova = Put(std::vector<desc::SgEntry>{{data, bytes.size()}});
  step.sg_count = 1;
  return step;
}

desc::Step CardHost::CopyOut(uint64_t device, uint64_t length, uint64_t iova) {
  desc::Step step;
  step.type = static_cast<uint32_t>(isa::StepType::kCopyOut);
  step.device_address = device;
  step.length = length;
  step.table_iova = Put(std::vector<desc::SgEntry>{{iova, length}});
  step.sg_count = 1;
  return step;
}

desc::Step CardHost::Run(uint64_t device, uint64_t length,
                         std::vector<desc::Region> regions) {
  regions.resize(isa::kRegions);
  desc::Step step;
  step.type = static_cast<uint32_t>(isa::StepType::kRun);
  step.device_address = device;
  step.length = length;
  step.table_iova = Put(regions);
  return step;
}

uint64_t CardHost::Queue(const std::vector<desc::Step>& steps, uint32_t flags) {
  desc::JobDescriptor job;
  job.fence = ++fence_;
  job.steps_iova = Put(steps);
  job.step_count = static_cast<uint32_t>(steps.size());
  job.flags = flags;
  std::memcpy(At(ring_ + head_ % kEntries * sizeof(job)), &job, sizeof(job));
  model_->Write(reg::RingHeadOffset(0), ++head_);
  return fence_;
}

bool CardHost::Wait(desc::Completion* record, uint64_t limit,
                    uint64_t quantum) {
  const uint64_t at =
      completion_ + completions_ % kEntries * sizeof(desc::Completion);
  for (uint64_t done = 0; done < limit;) {
    const uint64_t cycles = model_->Advance(quantum);
    done += cycles;
    std::memcpy(record, At(at), sizeof(*record));
    if (record->sequence == completions_ + 1 && !model_->active()) {
      ++completions_;
      return true;
    }
    if (cycles == 0) return false;
  }
  return false;
}

}  // namespace heddle::rtl
