// SPDX-License-Identifier: Apache-2.0
//
// User-mode Linux by hand, for tests: the requests it sends to a virtio_pcidev
// over vhost-user, its two queues, and its accesses, each one chain and one
// kick that is waited for. Shares the wire format with the card and nothing
// else. The pieces are public, so that a test can send wrong ones.
#ifndef HEDDLE_SIMULATOR_PLATFORM_UML_GUEST_H_
#define HEDDLE_SIMULATOR_PLATFORM_UML_GUEST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/platform/vhost_user.h"

namespace heddle::platform {

class Connection;

class UmlGuest {
 public:
  // Memory that the guest shares; `data` is where the test has it.
  struct Memory {
    int fd;
    uint8_t* data;
    uint64_t address;  // in the guest
    uint64_t bytes;
  };
  struct Descriptor {
    uint64_t address;
    uint32_t length;
    uint16_t flags;
    uint16_t next;
  };
  struct Interrupt {
    uint64_t address;
    uint32_t data;
  };
  // The end of the memory, for queues and buffers:
  static constexpr uint64_t kArea = 0x40000;
  static constexpr uint32_t kQueueBytes = 0x4000;
  static constexpr uint32_t kBuffers = 0x9000;   // of the interrupt queue
  static constexpr uint32_t kMessage = 0x10000;  // of the command queue
  static constexpr uint32_t kAnswer = 0x28000;
  static constexpr uint32_t kBufferBytes = 20;
  static constexpr uint32_t kBufferCount = 10;
  static constexpr uint32_t kEntries = 256;

  explicit UmlGuest(Connection* connection) : connection_(connection) {}
  ~UmlGuest() { Detach(); }

  // The whole sequence over the open connection, until both queues are
  // enabled and the interrupt queue has buffers.
  bool Attach(const Memory& memory);
  // In parts.
  bool Negotiate();
  bool SetBackendSocket();
  bool SetMemory(const std::vector<vhost::MemRegion>& regions,
                 const std::vector<int>& fds);
  bool SetQueue(uint32_t queue);
  void Detach();

  // A request that is answered with success.
  bool Request(uint32_t request, const void* payload, size_t bytes,
               const std::vector<int>& fds = {});
  bool Vring(uint32_t request, uint32_t queue, uint32_t value);
  bool Kick(uint32_t queue) { return Vring(vhost::kVringKick, queue, 0); }

  // The queues' memory. Guest addresses are at(offset in the area).
  uint64_t at(uint64_t offset) const {
    return memory_.address + memory_.bytes - kArea + offset;
  }
  uint8_t* data(uint64_t offset) const {
    return memory_.data + memory_.bytes - kArea + offset;
  }
  Descriptor* descriptors(uint32_t queue) const;
  uint16_t* available(uint32_t queue) const;  // flags, index, heads
  uint16_t* used(uint32_t queue) const;       // flags, index, pairs of u32
  // Makes a chain available, without a kick.
  void Offer(uint32_t queue, uint16_t head);

  // An access: `out` behind the header in a descriptor of its own, if it is
  // `apart`; `in` for the answer. False: the card did not do it.
  bool Command(const vhost::PcidevMessage& message, const void* out,
               size_t out_bytes, void* in, size_t in_bytes, bool apart = false);
  // A chain of two or three descriptors for that, available but not announced.
  void Prepare(const vhost::PcidevMessage& message, const void* out,
               size_t out_bytes, size_t in_bytes, bool apart);
  // Ones when the card is gone.
  uint64_t Read(vhost::PcidevOp op, uint64_t address, uint32_t bytes,
                uint8_t bar = 0);
  bool Write(vhost::PcidevOp op, uint64_t address, uint64_t value,
             uint32_t bytes, uint8_t bar = 0);

  // Takes the interrupts that are there, after waiting up to `ms` for a call,
  // and gives their buffers back, unless kept.
  std::vector<Interrupt> TakeInterrupts(int ms, bool keep = false);
  void GiveBuffers(uint32_t count);
  // Calls read so far.
  uint32_t calls(uint32_t queue) const { return calls_[queue]; }
  // Reads calls; false once the card has closed its end.
  bool ReadCalls(int ms);
  int calls_fd() const { return calls_fd_; }

 private:
  Connection* connection_;
  Memory memory_ = {};
  int calls_fd_ = -1;
  uint32_t calls_[vhost::kQueues] = {};
  uint16_t taken_ = 0;  // index in the used ring of interrupts
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_UML_GUEST_H_
