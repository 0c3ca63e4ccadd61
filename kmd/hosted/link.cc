// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/link.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "kmd/hosted/clock.h"
#include "kmd/hosted/core.h"
#include "kmd/hosted/vfio_user.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::hosted {
namespace {

constexpr uint32_t kPageMask = HEDDLE_PAGE_BYTES - 1;

// Standard config space.
constexpr uint32_t kPciVendor = 0x00;
constexpr uint32_t kPciDevice = 0x02;
constexpr uint32_t kPciCommand = 0x04;
constexpr uint16_t kPciCommandMemory = 0x2;
constexpr uint16_t kPciCommandMaster = 0x4;
constexpr uint16_t kPciGone = 0xffff;
constexpr uint32_t kPciCapabilities = 0x34;
constexpr uint8_t kPciCapMsix = 0x11;
constexpr uint16_t kMsixEnable = 0x8000;
constexpr uint16_t kMsixFunctionMask = 0x4000;
constexpr uint32_t kMsixEntryBytes = 16;
constexpr uint32_t kMsixEntryControl = 12;

}  // namespace

absl::StatusOr<std::unique_ptr<Link>> Link::Connect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "card socket '", path, "': path of ", path.size(), " bytes; at most ",
        sizeof(address.sun_path) - 1, " are possible"));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0)
    return absl::InternalError(absl::StrCat("socket: ", strerror(errno)));
  std::unique_ptr<Link> link(new Link(s));
  if (connect(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::UnavailableError(
        absl::StrCat("card socket '", path, "': ", strerror(errno)));
  }
  timeval limit = {kAnswerSeconds, 0};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  absl::Status status = link->SetUp();
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("card socket '", path,
                                     "': ", std::string(status.message())));
  }
  return link;
}

Link::~Link() {
  Drop();
  for (int fd : vectors_) close(fd);
}

void Link::Drop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

void Link::GiveBus() {
  uint16_t command = kPciCommandMemory | kPciCommandMaster;
  Access(vfio::kConfigRegion, kPciCommand, 2, &command, true);
}

bool Link::TakeBus() {
  uint16_t command = kPciCommandMemory;
  Access(vfio::kConfigRegion, kPciCommand, 2, &command, true);
  if (!Access(vfio::kConfigRegion, kPciCommand, 2, &command, false))
    return !up();
  return command == kPciGone || !(command & kPciCommandMaster);
}

bool Link::SendAll(const void* data, size_t bytes, const int* fds,
                   int num_fds) {
  size_t done = 0;
  while (done < bytes) {
    iovec iov = {const_cast<uint8_t*>(static_cast<const uint8_t*>(data)) + done,
                 bytes - done};
    alignas(cmsghdr) char control[CMSG_SPACE(vfio::kMaxFds * sizeof(int))] = {};
    msghdr m = {};
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    if (done == 0 && num_fds > 0) {
      m.msg_control = control;
      m.msg_controllen = CMSG_SPACE(num_fds * sizeof(int));
      cmsghdr* c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(num_fds * sizeof(int));
      std::memcpy(CMSG_DATA(c), fds, num_fds * sizeof(int));
    }
    const ssize_t n = sendmsg(socket_, &m, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += n;
  }
  return true;
}

bool Link::ReceiveAll(void* data, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    if (NowNs() >= answer_limit_ns_) return false;
    const ssize_t n =
        recv(socket_, static_cast<uint8_t*>(data) + done, bytes - done, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += n;
  }
  return true;
}

vfio::Header Link::Prepare(uint16_t command, const void* body, uint32_t bytes,
                           uint32_t flags) {
  const vfio::Header header = {next_id_++, command,
                               static_cast<uint32_t>(sizeof(header) + bytes),
                               flags, 0};
  std::memcpy(request_.data(), &header, sizeof(header));
  if (bytes > 0) std::memcpy(request_.data() + sizeof(header), body, bytes);
  return header;
}

void Link::Post(uint16_t command, const void* body, uint32_t bytes) {
  if (!up() || bytes > kBodyBytesMax) return;
  const vfio::Header header = Prepare(command, body, bytes, vfio::kNoReply);
  if (!SendAll(request_.data(), header.size, nullptr, 0)) Drop();
}

bool Link::Exchange(uint16_t command, const void* body, uint32_t bytes,
                    const int* fds, int num_fds, uint32_t* error) {
  *error = 0;
  reply_bytes_ = 0;
  if (!up() || bytes > kBodyBytesMax) return false;
  const vfio::Header header = Prepare(command, body, bytes, 0);
  vfio::Header answer;
  answer_limit_ns_ = NowNs() + uint64_t{kAnswerSeconds} * 1000000000;
  if (!SendAll(request_.data(), header.size, fds, num_fds) ||
      !ReceiveAll(&answer, sizeof(answer)) || answer.id != header.id ||
      !(answer.flags & vfio::kReply) || answer.size < sizeof(answer) ||
      answer.size - sizeof(answer) > kReplyBytesMax ||
      !ReceiveAll(reply_.data(), answer.size - sizeof(answer))) {
    Drop();
    return false;
  }
  reply_bytes_ = answer.size - sizeof(answer);
  if (answer.flags & vfio::kError) {
    *error = answer.error != 0 ? answer.error : EIO;
    return false;
  }
  return true;
}

uint32_t Link::AccessBody(uint32_t region, uint64_t offset, uint32_t bytes,
                          const void* data, uint8_t* message) {
  const vfio::RegionAccessBody body = {offset, region, bytes};
  std::memcpy(message, &body, sizeof(body));
  if (data == nullptr) return sizeof(body);
  std::memcpy(message + sizeof(body), data, bytes);
  return sizeof(body) + bytes;
}

bool Link::Access(uint32_t region, uint64_t offset, uint32_t bytes, void* data,
                  bool write) {
  uint8_t message[kAccessBytesMax];
  const uint32_t length =
      AccessBody(region, offset, bytes, write ? data : nullptr, message);
  uint32_t error;
  if (!Exchange(write ? vfio::kRegionWrite : vfio::kRegionRead, message, length,
                nullptr, 0, &error)) {
    if (!write) std::memset(data, 0xff, bytes);
    return false;
  }
  if (write) return true;
  if (reply_bytes_ < length + bytes) {
    Drop();
    std::memset(data, 0xff, bytes);
    return false;
  }
  std::memcpy(data, reply_.data() + length, bytes);
  return true;
}

uint32_t Link::Read(uint32_t offset) {
  uint32_t value = ~0u;
  Access(vfio::kBar0Region, offset, sizeof(value), &value, false);
  return value;
}

uint64_t Link::Read64(uint32_t low, uint32_t high) {
  const uint64_t l = Read(low);
  return l | uint64_t{Read(high)} << 32;
}

void Link::Write(uint32_t offset, uint32_t value) {
  uint8_t message[kAccessBytesMax];
  Post(vfio::kRegionWrite, message,
       AccessBody(vfio::kBar0Region, offset, sizeof(value), &value, message));
}

uint64_t Link::Map(int fd, uint64_t size) {
  const uint64_t bytes = (size + kPageMask) & ~uint64_t{kPageMask};
  vfio::DmaMapBody body = {sizeof(body), 3, 0, next_address_, bytes};
  uint32_t error;
  if (!Exchange(vfio::kDmaMap, &body, sizeof(body), &fd, 1, &error)) return 0;
  next_address_ += bytes;
  return body.address;
}

void Link::Unmap(uint64_t address, uint64_t size) {
  const uint64_t bytes = (size + kPageMask) & ~uint64_t{kPageMask};
  vfio::DmaUnmapBody body = {sizeof(body), 0, address, bytes};
  uint32_t error;
  Exchange(vfio::kDmaUnmap, &body, sizeof(body), nullptr, 0, &error);
}

absl::Status Link::SetUp() {
  auto lost = [] { return absl::UnavailableError("the card does not answer"); };
  uint32_t error;
  const char json[] =
      "{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":65536}}";
  std::vector<uint8_t> version(sizeof(vfio::VersionBody) + sizeof(json));
  std::memcpy(version.data() + sizeof(vfio::VersionBody), json, sizeof(json));
  vfio::VersionBody answer;
  if (!Exchange(vfio::kVersion, version.data(), version.size(), nullptr, 0,
                &error) ||
      !Reply(&answer)) {
    return lost();
  }
  if (answer.major != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("speaks vfio-user ", answer.major, ".", answer.minor,
                     ", 0.x is needed"));
  }
  vfio::InfoBody info = {sizeof(info), 0, 0, 0};
  if (!Exchange(vfio::kGetInfo, &info, sizeof(info), nullptr, 0, &error) ||
      !Reply(&info)) {
    return lost();
  }
  if (info.regions <= vfio::kConfigRegion || info.irqs <= vfio::kMsixIrq) {
    return absl::FailedPreconditionError("is not a PCI function");
  }
  vfio::RegionInfoBody region = {sizeof(region), 0, vfio::kBar0Region, 0, 0, 0};
  if (!Exchange(vfio::kRegionInfo, &region, sizeof(region), nullptr, 0,
                &error) ||
      !Reply(&region)) {
    return lost();
  }
  if (region.size < HEDDLE_BAR_BYTES) {
    return absl::FailedPreconditionError(absl::StrCat(
        "BAR0 has ", region.size, " bytes, ", HEDDLE_BAR_BYTES, " are needed"));
  }
  // A fresh function, whatever an earlier client left.
  if (!Exchange(vfio::kReset, nullptr, 0, nullptr, 0, &error)) return lost();

  uint16_t vendor = 0, device = 0;
  if (!Access(vfio::kConfigRegion, kPciVendor, 2, &vendor, false) ||
      !Access(vfio::kConfigRegion, kPciDevice, 2, &device, false)) {
    return lost();
  }
  if (vendor != HEDDLE_PCI_VENDOR_ID || device != HEDDLE_PCI_DEVICE_ID) {
    return absl::FailedPreconditionError(
        absl::StrCat("has PCI identity ", absl::Hex(vendor), ":",
                     absl::Hex(device), ", not a Heddle card's"));
  }
  uint16_t command = kPciCommandMemory;
  if (!Access(vfio::kConfigRegion, kPciCommand, 2, &command, true))
    return lost();
  return SetUpInterrupts();
}

absl::Status Link::SetUpInterrupts() {
  auto lost = [] { return absl::UnavailableError("the card does not answer"); };
  uint32_t error;
  vfio::IrqInfoBody irq = {sizeof(irq), 0, vfio::kMsixIrq, 0};
  if (!Exchange(vfio::kIrqInfo, &irq, sizeof(irq), nullptr, 0, &error) ||
      !Reply(&irq)) {
    return lost();
  }
  uint32_t index = vfio::kMsixIrq, count = HEDDLE_PCI_MSIX_VECTORS;
  if (irq.count < count) {  // the fallback: one message for everything
    index = vfio::kMsiIrq;
    count = HEDDLE_PCI_MSI_VECTORS;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
      return absl::ResourceExhaustedError(
          absl::StrCat("eventfd: ", strerror(errno)));
    vectors_.push_back(fd);
  }
  vfio::SetIrqsBody set = {sizeof(set),
                           vfio::kIrqDataEventfd | vfio::kIrqActionTrigger,
                           index, 0, count};
  if (!Exchange(vfio::kSetIrqs, &set, sizeof(set), vectors_.data(),
                vectors_.size(), &error)) {
    return lost();
  }
  // What firmware and the kernel's PCI code would do: unmask the vectors of the
  // table and enable the capability.
  if (index != vfio::kMsixIrq) return absl::OkStatus();
  uint8_t at = 0;
  if (!Access(vfio::kConfigRegion, kPciCapabilities, 1, &at, false))
    return lost();
  for (int hops = 0; at >= 0x40 && hops < 48; ++hops) {
    uint8_t header[2];
    if (!Access(vfio::kConfigRegion, at & ~3u, 2, header, false)) return lost();
    if (header[0] == kPciCapMsix) {
      for (uint32_t v = 0; v < count; ++v) {
        Write(HEDDLE_PCI_MSIX_TABLE_OFFSET + v * kMsixEntryBytes +
                  kMsixEntryControl,
              0);
      }
      uint16_t control = 0;
      if (!Access(vfio::kConfigRegion, (at & ~3u) + 2, 2, &control, false))
        return lost();
      control = (control | kMsixEnable) & ~kMsixFunctionMask;
      if (!Access(vfio::kConfigRegion, (at & ~3u) + 2, 2, &control, true))
        return lost();
      break;
    }
    at = header[1];
  }
  return absl::OkStatus();
}

}  // namespace heddle::hosted
