// SPDX-License-Identifier: Apache-2.0
// Host memory for one or several tensors of a run. Not zeroed: readers wait for
// the writer.
#ifndef HEDDLE_RUNTIME_SESSION_VALUE_H_
#define HEDDLE_RUNTIME_SESSION_VALUE_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "compiler/package/segments.h"

namespace heddle::session {

class Value {
 public:
  Value() = default;
  ~Value() { Free(); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  void Allocate(uint64_t bytes) {
    const uint64_t size = (bytes + package::kValueAlign - 1) /
                          package::kValueAlign * package::kValueAlign;
    data_ = static_cast<uint8_t*>(std::aligned_alloc(
        package::kValueAlign, std::max(size, package::kValueAlign)));
    if (data_ == nullptr) throw std::bad_alloc();
  }
  // Memory of somebody else's, who keeps it until this is freed.
  void Borrow(void* data) {
    data_ = static_cast<uint8_t*>(data);
    borrowed_ = true;
  }
  void Free() noexcept {
    if (!borrowed_) std::free(data_);
    data_ = nullptr;
    borrowed_ = false;
  }
  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_ = nullptr;
  bool borrowed_ = false;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_VALUE_H_
