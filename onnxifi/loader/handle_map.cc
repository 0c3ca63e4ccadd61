// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/handle_map.h"

namespace heddle::onnxifi_loader {

HandleMap::~HandleMap() {
  for (std::atomic<Slot*>& chunk : chunks_) delete[] chunk.load();
}

void* HandleMap::Reserve() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) {
    if (used_ == kMaxSlots) return nullptr;
    if (used_ % kChunk == 0) {
      // Free must not allocate, so its list has room for every slot.
      free_.reserve(used_ + kChunk);
      // Freed with the map only: handles that are looked up may lie anywhere.
      chunks_[used_ / kChunk].store(new Slot[kChunk],
                                    std::memory_order_release);
    }
    free_.push_back(static_cast<uint32_t>(used_++));
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = chunks_[index / kChunk].load()[index % kChunk];
  if (slot.generation == 0) slot.generation = first_generation_;
  return reinterpret_cast<void*>(
      tag_ << kTagShift | uint64_t{slot.generation} << kSlotBits | index);
}

void HandleMap::Fill(void* handle, Target target) {
  Slot* slot = SlotOf(handle);
  slot->vendor.store(target.vendor, std::memory_order_release);
  slot->handle.store(target.handle, std::memory_order_release);
  slot->current.store(reinterpret_cast<uint64_t>(handle),
                      std::memory_order_release);
}

void HandleMap::Free(Slot* slot, uint64_t bits) {
  if (++slot->generation <= kMaxGeneration) {
    free_.push_back(static_cast<uint32_t>(bits & (kMaxSlots - 1)));
  }
}

Target HandleMap::Remove(void* handle) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Target target = Find(handle);
  if (target.vendor == nullptr) return {};
  Slot* slot = SlotOf(handle);
  slot->current.store(0, std::memory_order_release);
  Free(slot, reinterpret_cast<uint64_t>(handle));
  return target;
}

void HandleMap::Cancel(void* reserved) {
  std::lock_guard<std::mutex> lock(mutex_);
  Free(SlotOf(reserved), reinterpret_cast<uint64_t>(reserved));
}

void HandleMap::Suspend(void* handle) {
  SlotOf(handle)->current.store(0, std::memory_order_release);
}

void HandleMap::Resume(void* handle) {
  SlotOf(handle)->current.store(reinterpret_cast<uint64_t>(handle),
                                std::memory_order_release);
}

}  // namespace heddle::onnxifi_loader
