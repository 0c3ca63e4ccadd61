// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/message_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::platform {
namespace {
// Replies a peer may leave unread.
constexpr size_t kMaxQueued = 4u << 20;
}  // namespace

MessageSocket::MessageSocket(int fd, Framing framing)
    : fd_(fd), framing_(framing) {
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
}

MessageSocket::~MessageSocket() {
  CloseFds();
  close(fd_);
}

void MessageSocket::CloseFds() {
  for (int fd : fds_) {
    if (fd >= 0) close(fd);
  }
  fds_.clear();
}

int MessageSocket::TakeFd(size_t i) {
  return i < fds_.size() ? std::exchange(fds_[i], -1) : -1;
}

long MessageSocket::Read(void* to, size_t bytes) {
  iovec piece = {to, bytes};
  // Room for more descriptors than allowed, to notice them.
  alignas(cmsghdr) char control[CMSG_SPACE((kMaxFds + 1) * sizeof(int))];
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t n = recvmsg(fd_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0)
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
       c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      fds_.push_back(fd);
    }
  }
  if (n == 0 || fds_.size() > kMaxFds || (message.msg_flags & MSG_CTRUNC))
    return -1;
  return n;
}

MessageSocket::Result MessageSocket::Receive() {
  if (delivered_) {
    CloseFds();
    have_ = 0;
    delivered_ = false;
  }
  const size_t header_bytes = framing_.header_bytes;
  // Header and payload are read apart: the descriptors that come with a read
  // then belong to this message.
  for (;;) {
    void* to;
    size_t want;
    if (have_ < header_bytes) {
      to = header_ + have_;
      want = header_bytes - have_;
    } else {
      if (have_ == header_bytes) {
        const std::optional<size_t> size = framing_.payload_bytes(header_);
        if (!size) return Result::kClosed;
        payload_.resize(*size);
      }
      const size_t got = have_ - header_bytes;
      want = payload_.size() - got;
      to = payload_.data() + got;
    }
    if (want == 0) {
      delivered_ = true;
      return Result::kMessage;
    }
    const long n = Read(to, want);
    if (n < 0) return Result::kClosed;
    if (n == 0) return Result::kNothing;
    have_ += static_cast<size_t>(n);
  }
}

bool MessageSocket::SendMessage(const void* header, size_t header_bytes,
                                const void* payload, size_t bytes) {
  if (out_.size() + header_bytes + bytes > kMaxQueued) return false;
  const auto* h = static_cast<const uint8_t*>(header);
  const auto* p = static_cast<const uint8_t*>(payload);
  out_.insert(out_.end(), h, h + header_bytes);
  if (bytes > 0) out_.insert(out_.end(), p, p + bytes);
  return Flush();
}

bool MessageSocket::Flush() {
  size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t n = send(fd_, out_.data() + sent, out_.size() - sent,
                           MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  out_.erase(out_.begin(), out_.begin() + static_cast<long>(sent));
  return true;
}

}  // namespace heddle::platform
