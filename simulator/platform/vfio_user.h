// SPDX-License-Identifier: Apache-2.0
//
// The vfio-user wire format, version 0.1, as far as the card speaks it: a
// stream socket, messages of a 16-byte header and a payload, native byte order,
// file descriptors as ancillary data of the message that needs them. Every
// command gets a reply with the same id and command unless it asks for none.
#ifndef HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_H_
#define HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_H_

#include <cstddef>
#include <cstdint>

namespace heddle::platform::vfio {

enum Command : uint16_t {
  kVersion = 1,     // VersionPayload, JSON text ending in NUL; reply the same
  kDmaMap = 2,      // DmaMapPayload and at most one descriptor
  kDmaUnmap = 3,    // DmaUnmapPayload; reply the same
  kDeviceInfo = 4,  // DeviceInfoPayload; reply the same
  kRegionInfo = 5,  // RegionInfoPayload; reply the same
  kIrqInfo = 7,     // IrqInfoPayload; reply the same
  kSetIrqs = 8,     // SetIrqsPayload, then a byte per vector with kIrqDataBool
  kRegionRead = 9,  // RegionAccess; reply with the data behind it
  kRegionWrite = 10,  // RegionAccess and data; reply without
  kDeviceReset = 13,
};

struct Header {
  uint16_t id;
  uint16_t command;
  uint32_t size;  // of the message, header included
  uint32_t flags;
  uint32_t error;  // errno, in replies with kFlagError
};
inline constexpr uint32_t kFlagTypeMask = 0xf;
inline constexpr uint32_t kFlagReply = 1;
inline constexpr uint32_t kFlagNoReply = 1u << 4;
inline constexpr uint32_t kFlagError = 1u << 5;

// What the card announces in its VERSION reply.
inline constexpr uint16_t kMajor = 0;
inline constexpr uint16_t kMinor = 1;
inline constexpr size_t kMaxFds = 8;
inline constexpr size_t kMaxTransfer = 65536;
// Longest message that is accepted.
inline constexpr size_t kMaxMessage = sizeof(Header) + kMaxTransfer + 4096;

struct VersionPayload {
  uint16_t major;
  uint16_t minor;
};

struct DmaMapPayload {
  uint32_t argsz;
  uint32_t flags;
  uint64_t offset;  // in the descriptor
  uint64_t address;
  uint64_t size;
};
inline constexpr uint32_t kDmaRead = 1;
inline constexpr uint32_t kDmaWrite = 2;

struct DmaUnmapPayload {
  uint32_t argsz;
  uint32_t flags;
  uint64_t address;
  uint64_t size;
};
inline constexpr uint32_t kDmaUnmapAll = 2;

struct DeviceInfoPayload {
  uint32_t argsz;
  uint32_t flags;
  uint32_t regions;
  uint32_t irqs;
};
// Longest form that is answered.
inline constexpr size_t kMaxDeviceInfo = 64;
inline constexpr uint32_t kDeviceResettable = 1;
inline constexpr uint32_t kDevicePci = 2;

struct RegionInfoPayload {
  uint32_t argsz;
  uint32_t flags;
  uint32_t index;
  uint32_t cap_offset;
  uint64_t size;
  uint64_t offset;
};
inline constexpr uint32_t kRegionReadable = 1;
inline constexpr uint32_t kRegionWritable = 2;
// Indices: BARs 0 to 5, ROM, config space, VGA.
inline constexpr uint32_t kRegions = 9;
inline constexpr uint32_t kRegionBar0 = 0;
inline constexpr uint32_t kRegionConfig = 7;

struct IrqInfoPayload {
  uint32_t argsz;
  uint32_t flags;
  uint32_t index;
  uint32_t count;
};
inline constexpr uint32_t kIrqEventfd = 1;
inline constexpr uint32_t kIrqNoResize = 8;
// Indices: INTx, MSI, MSI-X, error, request.
inline constexpr uint32_t kIrqs = 5;
inline constexpr uint32_t kIrqMsi = 1;
inline constexpr uint32_t kIrqMsix = 2;

struct SetIrqsPayload {
  uint32_t argsz;
  uint32_t flags;
  uint32_t index;
  uint32_t start;
  uint32_t count;
};
inline constexpr uint32_t kIrqDataNone = 1;
inline constexpr uint32_t kIrqDataBool = 2;
inline constexpr uint32_t kIrqDataEventfd = 4;
inline constexpr uint32_t kIrqActionMask = 8;
inline constexpr uint32_t kIrqActionUnmask = 16;
inline constexpr uint32_t kIrqActionTrigger = 32;

struct RegionAccess {
  uint64_t offset;
  uint32_t region;
  uint32_t count;
};

static_assert(sizeof(Header) == 16 && sizeof(DmaMapPayload) == 32 &&
                  sizeof(DmaUnmapPayload) == 24 &&
                  sizeof(RegionInfoPayload) == 32 &&
                  sizeof(SetIrqsPayload) == 20 && sizeof(RegionAccess) == 16,
              "wire format");

}  // namespace heddle::platform::vfio

#endif  // HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_H_
