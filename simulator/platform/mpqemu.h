// SPDX-License-Identifier: Apache-2.0
//
// The wire format of QEMU's x-pci-proxy-dev ("multi-process QEMU", as of 7.2),
// as far as the card speaks it: a stream socket, messages of a 16-byte header
// and a payload, native byte order of a 64-bit machine, file descriptors as
// ancillary data. QEMU asks; where a reply is due it is kRet with one number,
// and the processor that made the access waits for it.
#ifndef HEDDLE_SIMULATOR_PLATFORM_MPQEMU_H_
#define HEDDLE_SIMULATOR_PLATFORM_MPQEMU_H_

#include <cstddef>
#include <cstdint>

namespace heddle::platform::mpqemu {

enum Command : int32_t {
  kSyncSysmem = 0,   // SysmemPayload, a descriptor per range; no reply
  kRet = 1,          // uint64_t
  kConfigWrite = 2,  // ConfigPayload; reply 0
  kConfigRead = 3,   // ConfigPayload; reply the value
  kBarWrite = 4,     // BarPayload; reply 0
  kBarRead = 5,      // BarPayload; reply the value
  kSetIrqfd = 6,     // two descriptors for INTx; no reply
  kDeviceReset = 7,  // no payload; reply 0
};

struct Header {
  int32_t command;
  uint32_t padding;
  uint64_t size;  // of the payload
};

// All of guest memory, in place of what was there before. Ranges without a
// descriptor do not exist.
inline constexpr size_t kRanges = 8;
struct SysmemPayload {
  uint64_t address[kRanges];
  uint64_t size[kRanges];
  int64_t offset[kRanges];  // in the descriptor
};

struct ConfigPayload {
  uint32_t offset;
  uint32_t value;
  int32_t bytes;
};

struct BarPayload {
  uint64_t address;  // on the bus, not in the BAR
  uint64_t value;
  uint32_t bytes;
  uint8_t memory;  // or I/O space
  uint8_t padding[3];
};

// Longest payload that is accepted.
inline constexpr size_t kMaxPayload = sizeof(SysmemPayload);

static_assert(sizeof(Header) == 16 && sizeof(SysmemPayload) == 192 &&
                  sizeof(ConfigPayload) == 12 && sizeof(BarPayload) == 24,
              "wire format");

}  // namespace heddle::platform::mpqemu

#endif  // HEDDLE_SIMULATOR_PLATFORM_MPQEMU_H_
