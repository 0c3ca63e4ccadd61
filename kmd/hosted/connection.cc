// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace heddle::hosted {

Connection::Connection(int socket) : socket_(socket) {
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
}

Connection::~Connection() {
  if (in_.fd >= 0) close(in_.fd);
  for (const Outgoing& o : out_) {
    if (o.fd >= 0) close(o.fd);
  }
  close(socket_);
}

// Advances received_ by what can be read into `to`, which is `bytes` long and
// of which the first part may be there. True: all is there.
bool Connection::Fill(void* to, size_t bytes) {
  const size_t start =
      received_ < sizeof(MessageHeader) ? 0 : sizeof(MessageHeader);
  while (received_ - start < bytes) {
    iovec iov = {static_cast<uint8_t*>(to) + (received_ - start),
                 bytes - (received_ - start)};
    // Room for more descriptors than are allowed: surplus ones must not leak.
    alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
    msghdr m = {};
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof(control);
    const ssize_t n = recvmsg(socket_, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (n <= 0) {
      broken_ = true;
      return false;
    }
    for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      const size_t fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < fds; ++i) {
        int fd;
        std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
        if (in_.fd < 0) {
          in_.fd = fd;
        } else {
          close(fd);
          broken_ = true;
        }
      }
    }
    received_ += n;
  }
  return true;
}

bool Connection::Receive(Message* message) {
  if (broken_) return false;
  if (received_ < sizeof(MessageHeader)) {
    if (!Fill(&in_.header, sizeof(in_.header)) || broken_) return false;
    if (in_.header.magic != kMessageMagic ||
        in_.header.bytes > kMessageBytesMax) {
      broken_ = true;
      return false;
    }
    in_.payload.resize(in_.header.bytes);
  }
  if (!Fill(in_.payload.data(), in_.payload.size()) || broken_) return false;
  *message = std::move(in_);
  in_ = Message();
  received_ = 0;
  return true;
}

void Connection::Reply(const MessageHeader& request, int result,
                       std::vector<uint8_t> payload, int fd) {
  MessageHeader header = request;
  header.magic = kMessageMagic;
  header.result = result;
  header.bytes = static_cast<uint32_t>(payload.size());
  header.fds = fd >= 0 ? 1 : 0;
  Outgoing o;
  o.bytes.resize(sizeof(header) + payload.size());
  std::memcpy(o.bytes.data(), &header, sizeof(header));
  if (!payload.empty()) {
    std::memcpy(o.bytes.data() + sizeof(header), payload.data(),
                payload.size());
  }
  o.fd = fd;
  out_.push_back(std::move(o));
  Flush();
}

void Connection::Flush() {
  while (!out_.empty() && !broken_) {
    Outgoing& o = out_.front();
    iovec iov = {o.bytes.data() + o.sent, o.bytes.size() - o.sent};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr m = {};
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    if (o.fd >= 0) {
      m.msg_control = control;
      m.msg_controllen = sizeof(control);
      cmsghdr* c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &o.fd, sizeof(int));
    }
    const ssize_t n = sendmsg(socket_, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n < 0) {
      broken_ = true;
      return;
    }
    if (o.fd >= 0) close(std::exchange(o.fd, -1));
    o.sent += n;
    if (o.sent == o.bytes.size()) out_.pop_front();
  }
}

}  // namespace heddle::hosted
