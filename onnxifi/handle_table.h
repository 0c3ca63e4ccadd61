// SPDX-License-Identifier: Apache-2.0
// Handles instead of pointers: the application holds a number that names a slot
// and its generation. Released handles, handles of another type or library, and
// wild pointers are recognised without dereferencing them.
//
//   bits 63..48  tag of the table, never 0: no address of a Linux process has
//                these bits, so no pointer of another library can be a handle
//   bits 47..20  generation of the slot, from 1
//   bits 19..0   slot
//
// A slot whose generations are exhausted is retired. Thread-safe.
#ifndef HEDDLE_ONNXIFI_HANDLE_TABLE_H_
#define HEDDLE_ONNXIFI_HANDLE_TABLE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace heddle::onnxifi {

template <typename T>
class HandleTable {
 public:
  static constexpr int kSlotBits = 20, kTagShift = 48;
  static constexpr uint64_t kMaxSlots = uint64_t{1} << kSlotBits;
  static constexpr uint64_t kMaxGeneration =
      (uint64_t{1} << (kTagShift - kSlotBits)) - 1;

  // Tables of one process need different tags. `first_generation` is for tests.
  explicit HandleTable(uint16_t tag, uint64_t first_generation = 1)
      : tag_(tag), first_generation_(first_generation) {}

  // Null when the table is full. May throw std::bad_alloc.
  void* Insert(std::shared_ptr<T> object) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    // Erase must not allocate, so its list has room for every slot.
    if (free_.empty()) {
      if (slots_.size() >= kMaxSlots) return nullptr;
      if (free_.capacity() <= slots_.size()) {
        free_.reserve(slots_.size() * 2 + 16);
      }
      slots_.push_back({nullptr, first_generation_});
      free_.push_back(static_cast<uint32_t>(slots_.size() - 1));
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].object = std::move(object);
    return reinterpret_cast<void*>((uint64_t{tag_} << kTagShift) |
                                   (slots_[index].generation << kSlotBits) |
                                   index);
  }

  // Null if `handle` is not a live handle of this table.
  std::shared_ptr<T> Find(const void* handle) const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    const Slot* slot = SlotOf(handle);
    return slot == nullptr ? nullptr : slot->object;
  }

  // The object, which no longer has a handle; null if it had none. Of several
  // threads exactly one gets it.
  std::shared_ptr<T> Erase(const void* handle) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    Slot* slot = const_cast<Slot*>(SlotOf(handle));
    if (slot == nullptr) return nullptr;
    std::shared_ptr<T> object = std::move(slot->object);
    slot->object = nullptr;
    if (++slot->generation <= kMaxGeneration) {
      free_.push_back(reinterpret_cast<uint64_t>(handle) & (kMaxSlots - 1));
    }
    return object;
  }

  // All live objects. May throw std::bad_alloc.
  std::vector<std::shared_ptr<T>> All() const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    std::vector<std::shared_ptr<T>> all;
    for (const Slot& slot : slots_) {
      if (slot.object != nullptr) all.push_back(slot.object);
    }
    return all;
  }

 private:
  struct Slot {
    std::shared_ptr<T> object;
    uint64_t generation;
  };

  const Slot* SlotOf(const void* handle) const {
    const uint64_t bits = reinterpret_cast<uint64_t>(handle);
    const uint64_t index = bits & (kMaxSlots - 1);
    if (bits >> kTagShift != tag_ || index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    const uint64_t generation = bits >> kSlotBits & kMaxGeneration;
    if (slot.object == nullptr || slot.generation != generation) return nullptr;
    return &slot;
  }

  const uint16_t tag_;
  const uint64_t first_generation_;
  mutable std::shared_mutex mutex_;
  std::deque<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_HANDLE_TABLE_H_
