// SPDX-License-Identifier: Apache-2.0
//
// The wire format of vhost-user with a virtio_pcidev device, as far as the card
// speaks it: how user-mode Linux (UML) attaches a PCI device that is a process
// of its own.
//
// A stream socket carries messages of a 12-byte header and a payload in the
// machine's byte order, file descriptors as ancillary data. The host is the
// front end: it connects and asks. It hands over its memory, two split
// virtqueues in it, and a second socket on which the card speaks first.
// Notifications of the queues are messages too ("in-band"), so an access of the
// guest is one message that is answered when the access is done.
//
// Sources: QEMU docs/interop/vhost-user (requests, flags, features);
// linux include/uapi/linux/virtio_pcidev.h (what is in the queues);
// virtio 1.1, 2.6 (split virtqueues, virtqueue.h).
#ifndef HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_H_
#define HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_H_

#include <cstddef>
#include <cstdint>

namespace heddle::platform::vhost {

enum Request : uint32_t {
  kGetFeatures = 1,  // reply uint64_t
  kSetFeatures = 2,  // uint64_t
  kSetOwner = 3,
  kSetMemTable = 5,           // MemTablePayload, a descriptor per region
  kSetVringNum = 8,           // VringState: entries
  kSetVringAddr = 9,          // VringAddress
  kSetVringBase = 10,         // VringState: index of the next available entry
  kGetProtocolFeatures = 15,  // reply uint64_t
  kSetProtocolFeatures = 16,  // uint64_t
  kSetVringEnable = 18,       // VringState: 0 or 1
  kSetBackendSocket = 21,     // one descriptor, for the card's requests
  kVringKick = 35,            // VringState: there are new buffers
};

// On the socket of kSetBackendSocket.
enum BackendRequest : uint32_t {
  kVringCall = 4,  // VringState: there are used buffers
};

// Header::flags.
inline constexpr uint32_t kVersionMask = 3;
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kFlagReply = 1u << 2;
inline constexpr uint32_t kFlagNeedReply = 1u << 3;

struct Header {
  uint32_t request;
  uint32_t flags;
  uint32_t size;  // of the payload
};

inline constexpr uint64_t kFeatureProtocol = uint64_t{1} << 30;
inline constexpr uint64_t kFeatureVersion1 = uint64_t{1} << 32;
// What the card offers: neither indirect descriptors nor event indices.
inline constexpr uint64_t kFeatures = kFeatureProtocol | kFeatureVersion1;

inline constexpr uint64_t kProtocolReplyAck = uint64_t{1} << 3;
inline constexpr uint64_t kProtocolBackendSocket = uint64_t{1} << 5;
inline constexpr uint64_t kProtocolInBand = uint64_t{1} << 14;
inline constexpr uint64_t kProtocolFeatures =
    kProtocolReplyAck | kProtocolBackendSocket | kProtocolInBand;

// The host's memory, in place of what was there before. The table may be
// longer than its count says.
struct MemRegion {
  uint64_t guest_address;
  uint64_t size;
  uint64_t user_address;  // in the host's process, of no use here
  uint64_t file_offset;
};
inline constexpr uint32_t kMaxRegions = 8;
struct MemTablePayload {
  uint32_t count;
  uint32_t padding;
  MemRegion regions[kMaxRegions];
};

struct VringState {
  uint32_t index;  // of the queue
  uint32_t value;
};

struct VringAddress {
  uint32_t index;
  uint32_t flags;
  // Guest addresses for UML, whose user addresses are the same.
  uint64_t descriptors;
  uint64_t used;
  uint64_t available;
  uint64_t log;
};

inline constexpr size_t kMaxPayload = sizeof(MemTablePayload);

// The queues.
inline constexpr uint32_t kCommandQueue = 0;    // the host's accesses
inline constexpr uint32_t kInterruptQueue = 1;  // buffers for interrupts
inline constexpr uint32_t kQueues = 2;

// What an element of either queue begins with; data follow. A command has them
// behind this, a read has a buffer for them. Interrupts are written whole.
enum PcidevOp : uint8_t {
  kConfigRead = 1,
  kConfigWrite = 2,
  kMmioRead = 3,
  kMmioWrite = 4,
  kMmioMemset = 5,  // one byte of data, `size` times
  kMsi = 7,         // the memory write that an MSI or MSI-X message is
};

struct PcidevMessage {
  uint8_t op;
  uint8_t bar;
  uint16_t reserved;
  uint32_t size;     // of the access
  uint64_t address;  // in config space or in the BAR; of the message
};

static_assert(sizeof(Header) == 12 && sizeof(MemRegion) == 32 &&
                  sizeof(MemTablePayload) == 264 && sizeof(VringState) == 8 &&
                  sizeof(VringAddress) == 40 && sizeof(PcidevMessage) == 16,
              "wire format");

}  // namespace heddle::platform::vhost

#endif  // HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_H_
