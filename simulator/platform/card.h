// SPDX-License-Identifier: Apache-2.0
//
// The interface between front ends (vfio-user, QEMU's x-pci-proxy-dev,
// vhost-user's virtio_pcidev for user-mode Linux; test harnesses) and the
// platform. A front end translates one wire protocol into these calls and knows
// nothing about registers or jobs; the platform knows nothing about sockets.
//
// One PCI function: config space of 256 bytes, BAR0 of reg::kBlockBytes bytes.
// All values are little-endian. All calls come from the thread of the
// simulation kernel and return at once; none fails because of what the host
// sends, however wrong it is.
#ifndef HEDDLE_SIMULATOR_PLATFORM_CARD_H_
#define HEDDLE_SIMULATOR_PLATFORM_CARD_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

namespace heddle::platform {

// Where the card's interrupts go. Called in the kernel's thread.
class InterruptSink {
 public:
  virtual ~InterruptSink() = default;
  // Vector `vector` (MSI-X numbering, below reg::kPciMsixVectors) is signalled.
  // A front end that only has MSI, or whose host enabled MSI, signals its one
  // MSI vector instead.
  virtual void RaiseInterrupt(uint32_t vector) = 0;
};

// An interrupt as the memory write that it is on the bus.
struct MsiMessage {
  uint64_t address = 0;
  uint32_t data = 0;
};

class Card {
 public:
  virtual ~Card() = default;

  // Config space. Bytes beyond its end, and everything while the card is gone,
  // read as ones; writes there are ignored.
  virtual void ConfigRead(uint32_t offset, void* to, size_t bytes) = 0;
  virtual void ConfigWrite(uint32_t offset, const void* from, size_t bytes) = 0;

  // BAR0, offsets relative to its start. Accesses that are not 4 bytes at a
  // multiple of 4, or while memory space is disabled or the card is gone, read
  // as ones and are ignored as writes.
  virtual void BarRead(uint32_t offset, void* to, size_t bytes) = 0;
  virtual void BarWrite(uint32_t offset, const void* from, size_t bytes) = 0;

  // Makes `size` bytes of `fd` from `fd_offset` on (both multiples of the
  // host's page) reachable by the card at host address `iova`. The descriptor
  // stays the caller's. INVALID_ARGUMENT: empty, wrapping or overlapping range,
  // or `fd` cannot be mapped; RESOURCE_EXHAUSTED: too many ranges.
  virtual absl::Status DmaMap(uint64_t iova, uint64_t size, int fd,
                              uint64_t fd_offset, bool readable,
                              bool writable) = 0;
  // Takes back exactly one mapped range. NOT_FOUND when there is none like it.
  virtual absl::Status DmaUnmap(uint64_t iova, uint64_t size) = 0;
  virtual void DmaUnmapAll() = 0;

  // `sink` must outlive the card or be replaced by nullptr (interrupts are
  // lost).
  virtual void SetInterruptSink(InterruptSink* sink) = 0;
  // The message of a vector, for front ends whose protocol leaves the MSI-X
  // table and the MSI capability to the card. False: masked or not enabled; a
  // masked MSI-X vector becomes pending and is raised again when it is
  // unmasked.
  virtual bool Message(uint32_t vector, MsiMessage* message) = 0;

  // Function-level reset: config space and registers to their reset values, the
  // running job ends without a record; mapped ranges and device memory stay.
  virtual void Reset() = 0;
  // The host side went away or comes anew: Reset, no mapped ranges, device
  // memory zero. Serial number and size of the memory stay.
  virtual void PowerCycle() = 0;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_CARD_H_
