// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The part of the vfio-user wire format that a card with trapped registers
// needs. Little-endian; every message starts with Header, `size` counts it too.
#ifndef HEDDLE_KMD_HOSTED_VFIO_USER_H_
#define HEDDLE_KMD_HOSTED_VFIO_USER_H_

#include <cstdint>

namespace heddle::hosted::vfio {

enum Command : uint16_t {
  kVersion = 1,
  kDmaMap = 2,
  kDmaUnmap = 3,
  kGetInfo = 4,
  kRegionInfo = 5,
  kIrqInfo = 7,
  kSetIrqs = 8,
  kRegionRead = 9,
  kRegionWrite = 10,
  kReset = 13,
};

enum Flags : uint32_t { kReply = 0x1, kNoReply = 0x10, kError = 0x20 };

struct Header {
  uint16_t id;
  uint16_t command;
  uint32_t size;
  uint32_t flags;
  uint32_t error;
};
static_assert(sizeof(Header) == 16, "wire format");

struct VersionBody {  // followed by JSON and a zero byte
  uint16_t major;
  uint16_t minor;
};

struct DmaMapBody {
  uint32_t argsz;
  uint32_t flags;  // 1 readable, 2 writable
  uint64_t offset;
  uint64_t address;
  uint64_t size;
};
static_assert(sizeof(DmaMapBody) == 32, "wire format");

struct DmaUnmapBody {
  uint32_t argsz;
  uint32_t flags;
  uint64_t address;
  uint64_t size;
};
static_assert(sizeof(DmaUnmapBody) == 24, "wire format");

struct InfoBody {
  uint32_t argsz;
  uint32_t flags;
  uint32_t regions;
  uint32_t irqs;
};

struct RegionInfoBody {
  uint32_t argsz;
  uint32_t flags;
  uint32_t index;
  uint32_t cap_offset;
  uint64_t size;
  uint64_t offset;
};
static_assert(sizeof(RegionInfoBody) == 32, "wire format");

struct IrqInfoBody {
  uint32_t argsz;
  uint32_t flags;
  uint32_t index;
  uint32_t count;
};

struct SetIrqsBody {
  uint32_t argsz;
  uint32_t flags;
  uint32_t index;
  uint32_t start;
  uint32_t count;
};
static_assert(sizeof(SetIrqsBody) == 20, "wire format");

struct RegionAccessBody {  // followed by the data
  uint64_t offset;
  uint32_t region;
  uint32_t count;
};
static_assert(sizeof(RegionAccessBody) == 16, "wire format");

inline constexpr uint32_t kBar0Region = 0;
inline constexpr uint32_t kConfigRegion = 7;
inline constexpr uint32_t kRegions = 9;
inline constexpr uint32_t kMsiIrq = 1;
inline constexpr uint32_t kMsixIrq = 2;
inline constexpr uint32_t kIrqDataNone = 0x1;
inline constexpr uint32_t kIrqDataEventfd = 0x4;
inline constexpr uint32_t kIrqActionTrigger = 0x20;
inline constexpr uint32_t kMaxFds = 8;

}  // namespace heddle::hosted::vfio

#endif  // HEDDLE_KMD_HOSTED_VFIO_USER_H_
