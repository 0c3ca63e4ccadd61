// SPDX-License-Identifier: Apache-2.0
// Handles are numbers in a table: one that is stale, of another type or not
// ours is found out without being read.
#ifndef ONNXIFI_CONFORMANCE_REFERENCE_HANDLES_H_
#define ONNXIFI_CONFORMANCE_REFERENCE_HANDLES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace onnxifi_reference {

template <typename T>
class Handles {
 public:
  // `type` differs between tables, so that their handles do.
  explicit Handles(uintptr_t type) : next_(type << 40 | 1) {}

  void* Add(std::shared_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    objects_[next_] = std::move(object);
    return reinterpret_cast<void*>(next_++);
  }
  // Null if there is none.
  std::shared_ptr<T> Find(void* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> Take(void* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  std::mutex mutex_;
  uintptr_t next_;
  std::unordered_map<uintptr_t, std::shared_ptr<T>> objects_;
};

}  // namespace onnxifi_reference

#endif  // ONNXIFI_CONFORMANCE_REFERENCE_HANDLES_H_
