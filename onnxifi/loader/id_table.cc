// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/id_table.h"

namespace heddle::onnxifi_loader {

void* IdTable::List(Target target) {
  std::lock_guard<std::mutex> lock(mutex_);
  State& state = states_[{target.vendor, target.handle}];
  if (state.handle == nullptr) {
    void* handle = nullptr;
    try {
      handle = map_.Reserve();
    } catch (...) {
      states_.erase({target.vendor, target.handle});
      throw;
    }
    if (handle == nullptr) {
      states_.erase({target.vendor, target.handle});
      return nullptr;
    }
    state.handle = handle;
    map_.Fill(handle, target);
  } else if (state.listings == 0) {
    --idle_;
    map_.Resume(state.handle);
  }
  ++state.listings;
  return state.handle;
}

Target IdTable::Release(void* id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Target target = map_.Find(id);
  const auto it = states_.find({target.vendor, target.handle});
  if (target.vendor == nullptr || it == states_.end()) return {};
  if (--it->second.listings > 0) return target;
  if (idle_ < kMaxIdle) {
    ++idle_;
    map_.Suspend(id);
  } else {
    map_.Remove(id);
    states_.erase(it);
  }
  return target;
}

}  // namespace heddle::onnxifi_loader
