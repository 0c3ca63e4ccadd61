// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/vfio_user_server.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "simulator/platform/vfio_user.h"

namespace heddle::platform {
namespace {

// Copies a payload's fixed part. False: it is too short.
template <typename T>
bool Parse(const std::vector<uint8_t>& payload, T* to) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(to, payload.data(), sizeof(T));
  return true;
}

std::optional<size_t> PayloadSize(const void* bytes) {
  vfio::Header header;
  std::memcpy(&header, bytes, sizeof(header));
  if (header.size < sizeof(header) || header.size > vfio::kMaxMessage)
    return {};
  return header.size - sizeof(header);
}

}  // namespace

VfioUserServer::VfioUserServer(Card* card, Reactor* reactor, std::string path)
    : HostServer(card, reactor, std::move(path),
                 {sizeof(vfio::Header), PayloadSize}) {
  std::fill(std::begin(msix_), std::end(msix_), -1);
  std::fill(std::begin(msi_), std::end(msi_), -1);
}

VfioUserServer::~VfioUserServer() { Close(); }

void VfioUserServer::Attached() { negotiated_ = false; }

void VfioUserServer::Detached() {
  ClearIrqs(msix_, reg::kPciMsixVectors);
  ClearIrqs(msi_, reg::kPciMsiVectors);
}

void VfioUserServer::RaiseInterrupt(uint32_t vector) {
  const bool msix = std::any_of(std::begin(msix_), std::end(msix_),
                                [](int fd) { return fd >= 0; });
  const int fd =
      msix ? (vector < reg::kPciMsixVectors ? msix_[vector] : -1) : msi_[0];
  if (fd < 0) return;
  const uint64_t one = 1;
  // A counter that is full has been signalled.
  [[maybe_unused]] const ssize_t n = write(fd, &one, sizeof(one));
}

bool VfioUserServer::Reply(const void* payload, size_t bytes, uint32_t error) {
  const auto request = peer()->header<vfio::Header>();
  if (request.flags & vfio::kFlagNoReply) return true;
  if (error != 0) bytes = 0;
  const vfio::Header header = {
      request.id, request.command,
      static_cast<uint32_t>(sizeof(vfio::Header) + bytes),
      vfio::kFlagReply | (error ? vfio::kFlagError : 0), error};
  return peer()->Send(header, payload, bytes);
}

bool VfioUserServer::Handle() {
  const auto header = peer()->header<vfio::Header>();
  if ((header.flags & vfio::kFlagTypeMask) != 0)
    return true;  // a reply to nothing we asked
  if (!negotiated_ && header.command != vfio::kVersion)
    return Reply(nullptr, 0, EPROTO);
  switch (header.command) {
    case vfio::kVersion: {
      const uint32_t error = Version();
      if (error) return Reply(nullptr, 0, error);
      const std::string json =
          absl::StrCat("{\"capabilities\":{\"max_msg_fds\":", vfio::kMaxFds,
                       ",\"max_data_xfer_size\":", vfio::kMaxTransfer, "}}");
      const vfio::VersionPayload version = {vfio::kMajor, vfio::kMinor};
      std::vector<uint8_t> payload(sizeof(version) + json.size() + 1);
      std::memcpy(payload.data(), &version, sizeof(version));
      std::memcpy(payload.data() + sizeof(version), json.c_str(),
                  json.size() + 1);
      return Reply(payload.data(), payload.size());
    }
    case vfio::kDmaMap:
      return Reply(nullptr, 0, DmaMap());
    case vfio::kDmaUnmap: {
      const uint32_t error = DmaUnmap();
      return Reply(
          peer()->payload().data(),
          std::min(peer()->payload().size(), sizeof(vfio::DmaUnmapPayload)),
          error);
    }
    case vfio::kDeviceInfo:
      return DeviceInfo();
    case vfio::kRegionInfo:
      return RegionInfo();
    case vfio::kIrqInfo:
      return IrqInfo();
    case vfio::kSetIrqs:
      return Reply(nullptr, 0, SetIrqs());
    case vfio::kRegionRead:
      return RegionRead();
    case vfio::kRegionWrite:
      return RegionWrite();
    case vfio::kDeviceReset:
      card()->Reset();
      return Reply(nullptr, 0);
    default:
      return Reply(nullptr, 0, ENOTSUP);
  }
}

uint32_t VfioUserServer::Version() {
  vfio::VersionPayload version;
  if (!Parse(peer()->payload(), &version) || version.major != vfio::kMajor)
    return EINVAL;
  negotiated_ = true;
  return 0;
}

uint32_t VfioUserServer::DmaMap() {
  vfio::DmaMapPayload map;
  if (!Parse(peer()->payload(), &map)) return EINVAL;
  if (peer()->fds().empty()) return 0;
  const absl::Status status =
      card()->DmaMap(map.address, map.size, peer()->fds()[0], map.offset,
                     map.flags & vfio::kDmaRead, map.flags & vfio::kDmaWrite);
  if (status.ok()) return 0;
  return absl::IsResourceExhausted(status) ? ENOSPC : EINVAL;
}

uint32_t VfioUserServer::DmaUnmap() {
  vfio::DmaUnmapPayload unmap;
  if (!Parse(peer()->payload(), &unmap)) return EINVAL;
  if (unmap.flags & vfio::kDmaUnmapAll) {
    card()->DmaUnmapAll();
    return 0;
  }
  return card()->DmaUnmap(unmap.address, unmap.size).ok() ? 0 : ENOENT;
}

bool VfioUserServer::DeviceInfo() {
  const vfio::DeviceInfoPayload info = {
      sizeof(info), vfio::kDeviceResettable | vfio::kDevicePci, vfio::kRegions,
      vfio::kIrqs};
  // Newer clients ask with a longer structure (cap_offset): zeros mean "none".
  std::vector<uint8_t> payload(
      std::clamp(peer()->payload().size(), sizeof(info), vfio::kMaxDeviceInfo));
  std::memcpy(payload.data(), &info, sizeof(info));
  return Reply(payload.data(), payload.size());
}

bool VfioUserServer::RegionInfo() {
  vfio::RegionInfoPayload info;
  if (!Parse(peer()->payload(), &info) || info.index >= vfio::kRegions) {
    return Reply(nullptr, 0, EINVAL);
  }
  info.argsz = sizeof(info);
  info.cap_offset = 0;
  info.offset = 0;
  info.size = info.index == vfio::kRegionBar0     ? reg::kBlockBytes
              : info.index == vfio::kRegionConfig ? reg::kPciConfigBytes
                                                  : 0;
  info.flags =
      info.size > 0 ? vfio::kRegionReadable | vfio::kRegionWritable : 0;
  return Reply(&info, sizeof(info));
}

bool VfioUserServer::IrqInfo() {
  vfio::IrqInfoPayload info;
  if (!Parse(peer()->payload(), &info) || info.index >= vfio::kIrqs) {
    return Reply(nullptr, 0, EINVAL);
  }
  info.argsz = sizeof(info);
  info.count = info.index == vfio::kIrqMsix  ? reg::kPciMsixVectors
               : info.index == vfio::kIrqMsi ? reg::kPciMsiVectors
                                             : 0;
  info.flags = info.count > 0 ? vfio::kIrqEventfd | vfio::kIrqNoResize : 0;
  return Reply(&info, sizeof(info));
}

void VfioUserServer::ClearIrqs(int* fds, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (fds[i] >= 0) close(std::exchange(fds[i], -1));
  }
}

uint32_t VfioUserServer::SetIrqs() {
  vfio::SetIrqsPayload set;
  if (!Parse(peer()->payload(), &set)) return EINVAL;
  int* fds;
  uint32_t vectors;
  if (set.index == vfio::kIrqMsix) {
    fds = msix_;
    vectors = reg::kPciMsixVectors;
  } else if (set.index == vfio::kIrqMsi) {
    fds = msi_;
    vectors = reg::kPciMsiVectors;
  } else {
    return set.index < vfio::kIrqs && set.count == 0 ? 0 : EINVAL;
  }
  if (!(set.flags & vfio::kIrqActionTrigger)) return EINVAL;  // no masking here
  if (set.count > vectors || set.start > vectors - set.count) return EINVAL;
  if (set.count == 0) {
    if (!(set.flags & vfio::kIrqDataNone)) return EINVAL;
    ClearIrqs(fds, vectors);
    return 0;
  }
  if (set.flags & vfio::kIrqDataEventfd) {
    // No descriptors at all: these vectors are switched off.
    if (!peer()->fds().empty() && peer()->fds().size() != set.count)
      return EINVAL;
    for (uint32_t i = 0; i < set.count; ++i) {
      ClearIrqs(&fds[set.start + i], 1);
      fds[set.start + i] = peer()->TakeFd(i);
    }
    return 0;
  }
  const bool chosen = set.flags & vfio::kIrqDataBool;
  if (!chosen && !(set.flags & vfio::kIrqDataNone)) return EINVAL;
  if (chosen && peer()->payload().size() < sizeof(set) + set.count)
    return EINVAL;
  for (uint32_t i = 0; i < set.count; ++i) {
    const int fd = fds[set.start + i];
    if (fd < 0 || (chosen && peer()->payload()[sizeof(set) + i] == 0)) continue;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(fd, &one, sizeof(one));
  }
  return 0;
}

bool VfioUserServer::RegionRead() {
  vfio::RegionAccess access;
  if (!Parse(peer()->payload(), &access) || access.count > vfio::kMaxTransfer ||
      access.region >= vfio::kRegions) {
    return Reply(nullptr, 0, EINVAL);
  }
  std::vector<uint8_t> payload(sizeof(access) + access.count, 0xff);
  std::memcpy(payload.data(), &access, sizeof(access));
  uint8_t* data = payload.data() + sizeof(access);
  if (access.offset <= UINT32_MAX) {
    const auto offset = static_cast<uint32_t>(access.offset);
    if (access.region == vfio::kRegionConfig)
      card()->ConfigRead(offset, data, access.count);
    if (access.region == vfio::kRegionBar0)
      card()->BarRead(offset, data, access.count);
  }
  return Reply(payload.data(), payload.size());
}

bool VfioUserServer::RegionWrite() {
  vfio::RegionAccess access;
  if (!Parse(peer()->payload(), &access) || access.count > vfio::kMaxTransfer ||
      access.region >= vfio::kRegions ||
      peer()->payload().size() - sizeof(access) < access.count) {
    return Reply(nullptr, 0, EINVAL);
  }
  const uint8_t* data = peer()->payload().data() + sizeof(access);
  if (access.offset <= UINT32_MAX) {
    const auto offset = static_cast<uint32_t>(access.offset);
    if (access.region == vfio::kRegionConfig)
      card()->ConfigWrite(offset, data, access.count);
    if (access.region == vfio::kRegionBar0)
      card()->BarWrite(offset, data, access.count);
  }
  return Reply(&access, sizeof(access));
}

}  // namespace heddle::platform
