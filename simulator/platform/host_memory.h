// SPDX-License-Identifier: Apache-2.0
//
// Host memory as the card reaches it: ranges of host addresses (IOVAs), each
// backed by a file descriptor that the host shares. It plays the part of the
// IOMMU: what is not mapped cannot be touched.
//
// The host may shorten a file after mapping it; touching what is gone raises
// SIGBUS, which an access survives (it fails).
#ifndef HEDDLE_SIMULATOR_PLATFORM_HOST_MEMORY_H_
#define HEDDLE_SIMULATOR_PLATFORM_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/status/status.h"

namespace heddle::platform {

class HostMemory {
 public:
  // Ranges that can be mapped at a time (the kernel's own limit is near).
  static constexpr size_t kMaxRanges = 60000;

  // Installs the process-wide SIGBUS handler.
  HostMemory();
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // As Card::DmaMap and so on.
  absl::Status Map(uint64_t iova, uint64_t size, int fd, uint64_t fd_offset,
                   bool readable, bool writable);
  absl::Status Unmap(uint64_t iova, uint64_t size);
  void UnmapAll();

  // Copies between the card and [iova, iova + bytes), which may span adjacent
  // ranges. False when a byte is not mapped, not accessible, or its backing is
  // gone; bytes before it may have been copied.
  bool Read(uint64_t iova, void* to, size_t bytes) const;
  bool Write(uint64_t iova, const void* from, size_t bytes) const;
  // The same for a word that orders what is around it (an index of a ring),
  // which must be aligned: a load with acquire, a store with release semantics.
  bool Load16(uint64_t iova, uint16_t* value) const;
  bool Store16(uint64_t iova, uint16_t value) const;

  size_t ranges() const { return ranges_.size(); }

 private:
  struct Range {
    uint64_t size;
    uint8_t* data;
    bool readable;
    bool writable;
  };
  bool Access(uint64_t iova, uint8_t* buffer, size_t bytes, bool write) const;
  uint16_t* Word(uint64_t iova, bool write) const;

  std::map<uint64_t, Range> ranges_;  // by IOVA, disjoint
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_HOST_MEMORY_H_
