// SPDX-License-Identifier: Apache-2.0
// What an open file is believed to own. Several threads use one file, so that
// all of it can be wrong by the time it is used; that is intended.
#ifndef TESTS_FUZZ_IOCTL_OBJECTS_H_
#define TESTS_FUZZ_IOCTL_OBJECTS_H_

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/fuzz_ioctl/values.h"

namespace heddle::fuzz {

enum class Object { kHost, kDevice, kStream, kContext, kSyncobj, kCount };

class Objects {
 public:
  void Add(Object kind, uint32_t id, uint64_t size = 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    Kind(kind).emplace_back(id, size);
  }
  size_t Count(Object kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    return Kind(kind).size();
  }
  // An id, and its size if it is a buffer. Mostly one of this kind, else of
  // another kind, or one that was destroyed, or nonsense.
  uint32_t Pick(Object kind, Values* values, uint64_t* size = nullptr) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t ignored;
    if (size == nullptr) size = &ignored;
    *size = 4096;
    if (values->Once(25)) {
      kind = static_cast<Object>(
          values->Below(static_cast<uint64_t>(Object::kCount)));
    }
    auto& list = !gone_.empty() && values->Once(30) ? gone_ : Kind(kind);
    if (list.empty() || values->Once(40)) return values->Edge32();
    const auto& [id, bytes] = list[values->Below(list.size())];
    *size = bytes;
    return id;
  }
  // After the object was destroyed.
  void Remove(Object kind, uint32_t id) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& list = Kind(kind);
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].first != id) continue;
      if (gone_.size() < 64) gone_.push_back(list[i]);
      list[i] = list.back();
      list.pop_back();
      return;
    }
  }
  void AddJob(uint32_t context, uint64_t seqno) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (jobs_.size() >= 256) jobs_.erase(jobs_.begin(), jobs_.begin() + 128);
    jobs_.emplace_back(context, seqno);
  }
  // A job that was submitted; {1, 1} if there is none yet.
  std::pair<uint32_t, uint64_t> PickJob(Values* values) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (jobs_.empty()) return {1, 1};
    return jobs_[values->Below(jobs_.size())];
  }

 private:
  using List = std::vector<std::pair<uint32_t, uint64_t>>;
  List& Kind(Object kind) { return lists_[static_cast<size_t>(kind)]; }

  std::mutex mutex_;
  std::array<List, static_cast<size_t>(Object::kCount)> lists_;
  List gone_;
  std::vector<std::pair<uint32_t, uint64_t>> jobs_;
};

}  // namespace heddle::fuzz

#endif  // TESTS_FUZZ_IOCTL_OBJECTS_H_
