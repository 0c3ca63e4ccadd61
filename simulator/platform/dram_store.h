// SPDX-License-Identifier: Apache-2.0
//
// The bytes of the card's device memory: a sparse shared mapping of the largest
// size a card can have, of which the first size() bytes exist. Memory that was
// never written costs nothing and reads zero. The mapping is shared with the
// process that runs the functional core, so its address never changes.
#ifndef HEDDLE_SIMULATOR_PLATFORM_DRAM_STORE_H_
#define HEDDLE_SIMULATOR_PLATFORM_DRAM_STORE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::platform {

class DramStore {
 public:
  // `size` as in Resize. Fails also when the system refuses the mapping.
  static absl::StatusOr<std::unique_ptr<DramStore>> Create(uint64_t size);
  ~DramStore();
  DramStore(const DramStore&) = delete;
  DramStore& operator=(const DramStore&) = delete;

  // OK, or why no card has that much memory: outside isa::kDramBytesMin ..
  // isa::kDramBytesMax, or not a multiple of the page.
  static absl::Status CheckSize(uint64_t size);

  // What lies beyond the new size is lost, also for a later, larger size.
  absl::Status Resize(uint64_t size);
  // All bytes to zero.
  void Clear();

  // [address, address + bytes) exists.
  bool Contains(uint64_t address, uint64_t bytes) const {
    return address <= size_ && bytes <= size_ - address;
  }
  uint64_t size() const { return size_; }
  uint8_t* data() { return data_; }

 private:
  DramStore(int fd, uint8_t* data, uint64_t size)
      : fd_(fd), data_(data), size_(size) {}
  void Discard(uint64_t from, uint64_t to);

  int fd_;
  uint8_t* data_;
  uint64_t size_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_DRAM_STORE_H_
