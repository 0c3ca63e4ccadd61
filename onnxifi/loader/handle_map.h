// SPDX-License-Identifier: Apache-2.0
// From the handles that programs hold to a vendor's own. A lookup takes no lock
// and reads nothing that a handle points to, so stale, foreign and wild handles
// are recognised.
//
//   bits 63..48  tag of the map, never 0
//   bits 47..20  generation of the slot, from 1
//   bits 19..0   slot
//
// A slot whose generations are used up is retired. Everything is thread-safe.
#ifndef HEDDLE_ONNXIFI_LOADER_HANDLE_MAP_H_
#define HEDDLE_ONNXIFI_LOADER_HANDLE_MAP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle::onnxifi_loader {

struct Vendor;

// A vendor's object; vendor null: there is none.
struct Target {
  Vendor* vendor = nullptr;
  void* handle = nullptr;
};

class HandleMap {
 public:
  static constexpr int kSlotBits = 20, kTagShift = 48;
  static constexpr uint64_t kMaxSlots = uint64_t{1} << kSlotBits;
  static constexpr uint64_t kMaxGeneration =
      (uint64_t{1} << (kTagShift - kSlotBits)) - 1;

  // Maps of one process need different tags. `first_generation` is for tests.
  explicit HandleMap(uint16_t tag, uint32_t first_generation = 1)
      : tag_(tag), first_generation_(first_generation) {}
  ~HandleMap();

  Target Find(const void* handle) const {
    const Slot* slot = SlotOf(handle);
    const uint64_t bits = reinterpret_cast<uint64_t>(handle);
    if (slot == nullptr ||
        slot->current.load(std::memory_order_acquire) != bits) {
      return {};
    }
    // Who reuses the slot first takes `current` away; so what was read belongs
    // to the handle if `current` has stayed.
    Target target;
    target.vendor = slot->vendor.load(std::memory_order_acquire);
    target.handle = slot->handle.load(std::memory_order_acquire);
    if (slot->current.load(std::memory_order_relaxed) != bits) return {};
    return target;
  }

  // A handle that leads nowhere until Fill; null if the map is full. May throw
  // std::bad_alloc.
  void* Reserve();
  void Fill(void* handle, Target target);
  // Gives a handle back; of several threads one gets its target. `Reserve`d
  // ones too.
  Target Remove(void* handle);
  void Cancel(void* reserved);

  // A handle that is not valid for a while, and its slot's no one else's.
  void Suspend(void* handle);
  void Resume(void* handle);

  // Around fork: a child must not find the lock held.
  void Lock() { mutex_.lock(); }
  void Unlock() { mutex_.unlock(); }

 private:
  static constexpr uint64_t kChunk = 4096;
  struct Slot {
    std::atomic<uint64_t> current{0};
    std::atomic<Vendor*> vendor{nullptr};
    std::atomic<void*> handle{nullptr};
    uint32_t generation = 0;  // under mutex_
  };

  Slot* SlotOf(const void* handle) const {
    const uint64_t bits = reinterpret_cast<uint64_t>(handle);
    if (bits >> kTagShift != tag_) return nullptr;
    const uint64_t index = bits & (kMaxSlots - 1);
    Slot* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &chunk[index % kChunk];
  }
  void Free(Slot* slot, uint64_t bits);

  const uint64_t tag_;
  const uint32_t first_generation_;
  std::atomic<Slot*> chunks_[kMaxSlots / kChunk] = {};
  std::mutex mutex_;
  std::vector<uint32_t> free_;
  uint64_t used_ = 0;
};

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_HANDLE_MAP_H_
