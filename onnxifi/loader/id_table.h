// SPDX-License-Identifier: Apache-2.0
// The IDs that programs hold: one per vendor ID, the same in every listing,
// valid until its listings are released. Thread-safe.
#ifndef HEDDLE_ONNXIFI_LOADER_ID_TABLE_H_
#define HEDDLE_ONNXIFI_LOADER_ID_TABLE_H_

#include <map>
#include <mutex>
#include <utility>

#include "onnxifi/loader/handle_map.h"

namespace heddle::onnxifi_loader {

class IdTable {
 public:
  // Of IDs without listings so many are remembered: a vendor that gives others
  // each time does not fill the table.
  static constexpr size_t kMaxIdle = 1024;

  explicit IdTable(uint16_t tag) : map_(tag) {}

  Target Find(const void* id) const { return map_.Find(id); }

  // One listing more of a vendor's ID. Null: no room. May throw std::bad_alloc.
  void* List(Target target);
  // One less; the target of the listing, or none.
  Target Release(void* id);

  // Around fork, as those of the map.
  void Lock() {
    mutex_.lock();
    map_.Lock();
  }
  void Unlock() {
    map_.Unlock();
    mutex_.unlock();
  }

 private:
  struct State {
    void* handle = nullptr;
    uint64_t listings = 0;
  };

  HandleMap map_;
  std::mutex mutex_;
  std::map<std::pair<Vendor*, void*>, State> states_;
  size_t idle_ = 0;
};

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_ID_TABLE_H_
