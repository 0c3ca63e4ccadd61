// SPDX-License-Identifier: Apache-2.0
//
// A split virtqueue as the device sees it: takes chains of buffers that the
// driver made available, and hands them back used. Layout (little-endian):
//
//   descriptors  16 bytes each: u64 address, u32 length, u16 flags, u16 next
//   available    u16 flags, u16 index, u16 head[size]
//   used         u16 flags, u16 index, {u32 head, u32 written}[size]
//
// All of it lies in the host's memory and nothing there is trusted: what makes
// no sense is kBad or false, with the reason in error(), and costs at most as
// much time as a full ring. Indirect descriptors and event indices do not
// exist. The memory must outlive the queue.
#ifndef HEDDLE_SIMULATOR_PLATFORM_VIRTQUEUE_H_
#define HEDDLE_SIMULATOR_PLATFORM_VIRTQUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/platform/host_memory.h"

namespace heddle::platform {

class Virtqueue {
 public:
  static constexpr uint32_t kMaxSize = 32768;
  // Flags of a descriptor.
  static constexpr uint16_t kNext = 1;
  static constexpr uint16_t kWritable = 2;
  // Flag of the available ring: the driver wants no notification.
  static constexpr uint16_t kNoCall = 1;

  struct Buffer {
    uint64_t address;
    uint32_t length;
  };
  struct Chain {
    uint16_t head = 0;
    std::vector<Buffer> out;  // what the device may read
    std::vector<Buffer> in;   // what it may write
  };
  enum class Result { kChain, kEmpty, kBad };

  explicit Virtqueue(const HostMemory* memory) : memory_(memory) {}

  // False: not a number that the ring can have.
  bool SetSize(uint32_t size);   // a power of two
  bool SetBase(uint32_t index);  // of the next chain, available and used
  bool SetAddresses(uint64_t descriptors, uint64_t used, uint64_t available);
  void Enable(bool on) { enabled_ = on; }
  // As after construction.
  void Reset() { *this = Virtqueue(memory_); }

  // It may be used: enabled, with size and addresses.
  bool ready() const { return enabled_ && size_ > 0 && descriptors_ != 0; }
  uint32_t size() const { return size_; }
  const char* error() const { return error_; }

  Result Pop(Chain* chain);
  bool Push(const Chain& chain, uint32_t written);
  // The driver wants to be told of used chains.
  bool WantsCall() const;

  // Copies from and to a chain, `offset` bytes into the readable or writable
  // part. False: the chain is shorter, or is not in memory.
  bool Read(const Chain& chain, uint64_t offset, void* to, size_t bytes) const;
  bool Write(const Chain& chain, uint64_t offset, const void* from,
             size_t bytes) const;
  static uint64_t Bytes(const std::vector<Buffer>& buffers);

 private:
  Result Bad(const char* why);
  bool Walk(Chain* chain);

  const HostMemory* memory_;
  uint32_t size_ = 0;
  uint64_t descriptors_ = 0, used_ = 0, available_ = 0;
  uint16_t next_available_ = 0, next_used_ = 0;
  bool enabled_ = false;
  const char* error_ = "";
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_VIRTQUEUE_H_
