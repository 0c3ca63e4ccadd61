// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/qemu_server.h"

#include <sys/stat.h>

#include <cstring>
#include <optional>
#include <utility>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/mpqemu.h"

namespace heddle::platform {
namespace {

constexpr uint32_t kBar0 = 0x10;
constexpr uint32_t kConfigAccessMax = 4;

std::optional<size_t> PayloadSize(const void* bytes) {
  mpqemu::Header header;
  std::memcpy(&header, bytes, sizeof(header));
  if (header.size > mpqemu::kMaxPayload) return {};
  return static_cast<size_t>(header.size);
}

// The payload, when it has the size that it must have.
template <typename T>
bool Parse(const std::vector<uint8_t>& payload, T* to) {
  if (payload.size() != sizeof(T)) return false;
  std::memcpy(to, payload.data(), sizeof(T));
  return true;
}

}  // namespace

bool QemuServer::Range::operator==(const Range& other) const {
  return address == other.address && size == other.size &&
         offset == other.offset && device == other.device &&
         inode == other.inode;
}

QemuServer::QemuServer(Card* card, Reactor* reactor, std::string path,
                       int qtest_fd)
    : HostServer(card, reactor, std::move(path),
                 {sizeof(mpqemu::Header), PayloadSize}),
      qtest_(qtest_fd, reactor) {}

QemuServer::~QemuServer() { Close(); }

void QemuServer::RaiseInterrupt(uint32_t vector) {
  MsiMessage message;
  if (card()->Message(vector, &message)) qtest_.Send(message);
}

bool QemuServer::Return(uint64_t value) {
  const mpqemu::Header header = {mpqemu::kRet, 0, sizeof(value)};
  return peer()->Send(header, &value, sizeof(value));
}

bool QemuServer::Handle() {
  switch (peer()->header<mpqemu::Header>().command) {
    case mpqemu::kSyncSysmem:
      return SyncSysmem();
    case mpqemu::kConfigWrite:
      return Config(true);
    case mpqemu::kConfigRead:
      return Config(false);
    case mpqemu::kBarWrite:
      return Bar(true);
    case mpqemu::kBarRead:
      return Bar(false);
    case mpqemu::kSetIrqfd:
      return true;
    case mpqemu::kDeviceReset:
      card()->Reset();
      return Return(0);
    default:
      return false;
  }
}

bool QemuServer::SyncSysmem() {
  mpqemu::SysmemPayload memory;
  if (!Parse(peer()->payload(), &memory)) return false;
  std::vector<Range> ranges;
  for (size_t i = 0; i < peer()->fds().size() && i < mpqemu::kRanges; ++i) {
    struct stat info = {};
    fstat(peer()->fds()[i], &info);
    ranges.push_back({memory.address[i], memory.size[i], memory.offset[i],
                      info.st_dev, info.st_ino});
  }
  // QEMU sends this at every change of its address spaces, hundreds of times
  // while a guest boots, mostly with the same content.
  if (ranges == ranges_) return true;
  card()->DmaUnmapAll();
  for (size_t i = 0; i < ranges.size(); ++i) {
    // What cannot be mapped cannot be reached, no more.
    card()
        ->DmaMap(ranges[i].address, ranges[i].size, peer()->fds()[i],
                 static_cast<uint64_t>(ranges[i].offset), true, true)
        .IgnoreError();
  }
  ranges_ = std::move(ranges);
  return true;
}

bool QemuServer::Config(bool write) {
  mpqemu::ConfigPayload access;
  if (!Parse(peer()->payload(), &access)) return false;
  const auto bytes = static_cast<uint32_t>(access.bytes);
  if (bytes > kConfigAccessMax) return false;
  if (write) {
    card()->ConfigWrite(access.offset, &access.value, bytes);
    return Return(0);
  }
  uint32_t value = 0;
  card()->ConfigRead(access.offset, &value, bytes);
  return Return(value);
}

bool QemuServer::Bar(bool write) {
  mpqemu::BarPayload access;
  if (!Parse(peer()->payload(), &access)) return false;
  if (access.bytes > sizeof(access.value)) return false;
  uint32_t bar = 0;
  card()->ConfigRead(kBar0, &bar, sizeof(bar));
  const uint64_t offset = access.address - (bar & ~(reg::kBlockBytes - 1));
  const bool answers = access.memory != 0 && offset < reg::kBlockBytes;
  if (write) {
    if (answers) {
      card()->BarWrite(static_cast<uint32_t>(offset), &access.value,
                       access.bytes);
    }
    return Return(0);
  }
  uint64_t value = 0;
  std::memset(&value, 0xff, access.bytes);
  if (answers) {
    card()->BarRead(static_cast<uint32_t>(offset), &value, access.bytes);
  }
  return Return(value);
}

}  // namespace heddle::platform
