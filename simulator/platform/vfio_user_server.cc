// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/vfio_user_server.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "simulator/platform/unix_socket.h"

namespace heddle::platform {
namespace {

// Messages handled before the simulation gets its turn.
constexpr int kMessagesPerTurn = 64;

// Copies a payload's fixed part. False: it is too short.
template <typename T>
bool Parse(const std::vector<uint8_t>& payload, T* to) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(to, payload.data(), sizeof(T));
  return true;
}

}  // namespace

VfioUserServer::VfioUserServer(Card* card, Reactor* reactor, std::string path)
    : card_(card), reactor_(reactor), path_(std::move(path)) {
  std::fill(std::begin(msix_), std::end(msix_), -1);
  std::fill(std::begin(msi_), std::end(msi_), -1);
  card_->SetInterruptSink(this);
}

VfioUserServer::~VfioUserServer() {
  Close();
  card_->SetInterruptSink(nullptr);
}

absl::Status VfioUserServer::Listen() {
  if (listener_ >= 0) return absl::OkStatus();
  absl::StatusOr<int> fd = ListenUnix(path_);
  if (!fd.ok()) return fd.status();
  listener_ = *fd;
  reactor_->Watch(listener_, [this] { OnConnect(); });
  return absl::OkStatus();
}

void VfioUserServer::Close() {
  if (listener_ >= 0) {
    reactor_->Forget(listener_);
    close(std::exchange(listener_, -1));
    unlink(path_.c_str());
  }
  Disconnect();
}

void VfioUserServer::OnConnect() {
  const int fd =
      accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  // A host that has just closed its end must not block its successor.
  if (peer_) OnMessages();
  if (peer_) {
    close(fd);
    return;
  }
  card_->PowerCycle();
  peer_ = std::make_unique<MessageSocket>(fd);
  negotiated_ = false;
  reactor_->Watch(fd, [this] { OnMessages(); });
}

void VfioUserServer::Disconnect() {
  if (!peer_) return;
  reactor_->Forget(peer_->fd());
  peer_.reset();
  ClearIrqs(msix_, reg::kPciMsixVectors);
  ClearIrqs(msi_, reg::kPciMsiVectors);
  card_->PowerCycle();
}

void VfioUserServer::OnMessages() {
  bool alive = peer_->Flush();
  for (int i = 0; alive && i < kMessagesPerTurn; ++i) {
    const MessageSocket::Result result = peer_->Receive();
    if (result == MessageSocket::Result::kNothing) break;
    alive = result == MessageSocket::Result::kMessage && Handle();
  }
  if (alive) {
    reactor_->WatchWritable(peer_->fd(), peer_->sending());
  } else {
    Disconnect();
  }
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
  const vfio::Header& request = peer_->header();
  if (request.flags & vfio::kFlagNoReply) return true;
  if (error != 0) bytes = 0;
  const vfio::Header header = {
      request.id, request.command,
      static_cast<uint32_t>(sizeof(vfio::Header) + bytes),
      vfio::kFlagReply | (error ? vfio::kFlagError : 0), error};
  return peer_->Send(header, payload, bytes);
}

bool VfioUserServer::Handle() {
  const vfio::Header& header = peer_->header();
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
          peer_->payload().data(),
          std::min(peer_->payload().size(), sizeof(vfio::DmaUnmapPayload)),
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
      card_->Reset();
      return Reply(nullptr, 0);
    default:
      return Reply(nullptr, 0, ENOTSUP);
  }
}

uint32_t VfioUserServer::Version() {
  vfio::VersionPayload version;
  if (!Parse(peer_->payload(), &version) || version.major != vfio::kMajor)
    return EINVAL;
  negotiated_ = true;
  return 0;
}

uint32_t VfioUserServer::DmaMap() {
  vfio::DmaMapPayload map;
  if (!Parse(peer_->payload(), &map)) return EINVAL;
  if (peer_->fds().empty()) return 0;
  const absl::Status status =
      card_->DmaMap(map.address, map.size, peer_->fds()[0], map.offset,
                    map.flags & vfio::kDmaRead, map.flags & vfio::kDmaWrite);
  if (status.ok()) return 0;
  return absl::IsResourceExhausted(status) ? ENOSPC : EINVAL;
}

uint32_t VfioUserServer::DmaUnmap() {
  vfio::DmaUnmapPayload unmap;
  if (!Parse(peer_->payload(), &unmap)) return EINVAL;
  if (unmap.flags & vfio::kDmaUnmapAll) {
    card_->DmaUnmapAll();
    return 0;
  }
  return card_->DmaUnmap(unmap.address, unmap.size).ok() ? 0 : ENOENT;
}

bool VfioUserServer::DeviceInfo() {
  const vfio::DeviceInfoPayload info = {
      sizeof(info), vfio::kDeviceResettable | vfio::kDevicePci, vfio::kRegions,
      vfio::kIrqs};
  // Newer clients ask with a longer structure (cap_offset): zeros mean "none".
  std::vector<uint8_t> payload(
      std::clamp(peer_->payload().size(), sizeof(info), vfio::kMaxDeviceInfo));
  std::memcpy(payload.data(), &info, sizeof(info));
  return Reply(payload.data(), payload.size());
}

bool VfioUserServer::RegionInfo() {
  vfio::RegionInfoPayload info;
  if (!Parse(peer_->payload(), &info) || info.index >= vfio::kRegions) {
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
  if (!Parse(peer_->payload(), &info) || info.index >= vfio::kIrqs) {
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
  if (!Parse(peer_->payload(), &set)) return EINVAL;
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
    if (!peer_->fds().empty() && peer_->fds().size() != set.count)
      return EINVAL;
    for (uint32_t i = 0; i < set.count; ++i) {
      ClearIrqs(&fds[set.start + i], 1);
      fds[set.start + i] = peer_->TakeFd(i);
    }
    return 0;
  }
  const bool chosen = set.flags & vfio::kIrqDataBool;
  if (!chosen && !(set.flags & vfio::kIrqDataNone)) return EINVAL;
  if (chosen && peer_->payload().size() < sizeof(set) + set.count)
    return EINVAL;
  for (uint32_t i = 0; i < set.count; ++i) {
    const int fd = fds[set.start + i];
    if (fd < 0 || (chosen && peer_->payload()[sizeof(set) + i] == 0)) continue;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(fd, &one, sizeof(one));
  }
  return 0;
}

bool VfioUserServer::RegionRead() {
  vfio::RegionAccess access;
  if (!Parse(peer_->payload(), &access) || access.count > vfio::kMaxTransfer ||
      access.region >= vfio::kRegions) {
    return Reply(nullptr, 0, EINVAL);
  }
  std::vector<uint8_t> payload(sizeof(access) + access.count, 0xff);
  std::memcpy(payload.data(), &access, sizeof(access));
  uint8_t* data = payload.data() + sizeof(access);
  if (access.offset <= UINT32_MAX) {
    const auto offset = static_cast<uint32_t>(access.offset);
    if (access.region == vfio::kRegionConfig)
      card_->ConfigRead(offset, data, access.count);
    if (access.region == vfio::kRegionBar0)
      card_->BarRead(offset, data, access.count);
  }
  return Reply(payload.data(), payload.size());
}

bool VfioUserServer::RegionWrite() {
  vfio::RegionAccess access;
  if (!Parse(peer_->payload(), &access) || access.count > vfio::kMaxTransfer ||
      access.region >= vfio::kRegions ||
      peer_->payload().size() - sizeof(access) < access.count) {
    return Reply(nullptr, 0, EINVAL);
  }
  const uint8_t* data = peer_->payload().data() + sizeof(access);
  if (access.offset <= UINT32_MAX) {
    const auto offset = static_cast<uint32_t>(access.offset);
    if (access.region == vfio::kRegionConfig)
      card_->ConfigWrite(offset, data, access.count);
    if (access.region == vfio::kRegionBar0)
      card_->BarWrite(offset, data, access.count);
  }
  return Reply(&access, sizeof(access));
}

}  // namespace heddle::platform
