// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "kmd/hosted/clock.h"
#include "kmd/hosted/object.h"

namespace heddle::hosted {
namespace {

// Read in one go, so that nobody else waits for a long message.
constexpr size_t kTurnBytes = 256u << 10;
// A payload's pages are touched as it arrives: who announces much has to send
// it. Room for all of it is reserved once this much has come, since a buffer
// that grows again and again takes the card's thread longer than receiving.
constexpr size_t kFirstBytes = 64u << 10;

constexpr uid_t kUnknownUser = 65534;

uid_t PeerOf(int socket, pid_t* process) {
  ucred who = {};
  socklen_t size = sizeof(who);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return kUnknownUser;
  *process = who.pid;
  return who.uid;
}

}  // namespace

Connection::Connection(int socket)
    : socket_(socket),
      user_(PeerOf(socket, &process_)),
      idle_since_ns_(NowNs()) {
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
}

Connection::~Connection() {
  if (in_.fd >= 0) close(in_.fd);
  close(socket_);
}

// Advances received_ by what can be read into `to`, at most `*left`. True: all
// `bytes` are there.
bool Connection::Fill(void* to, size_t bytes, size_t* left) {
  size_t done = 0;
  while (done < bytes) {
    if (*left == 0) return false;
    iovec iov = {static_cast<uint8_t*>(to) + done,
                 std::min(bytes - done, *left)};
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
    // The kernel had no number left for the descriptor.
    if (m.msg_flags & MSG_CTRUNC) fd_lost_ = true;
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
    done += n;
    received_ += n;
    *left -= n;
  }
  return true;
}

// True: the payload is there, or has been thrown away.
bool Connection::ReceivePayload(size_t* left) {
  const size_t bytes = in_.header.bytes;
  for (;;) {
    const size_t got = received_ - sizeof(MessageHeader);
    if (got == bytes) return true;
    if (refused_ != 0) {
      uint8_t scratch[4096];
      if (!Fill(scratch, std::min(bytes - got, sizeof(scratch)), left))
        return false;
      continue;
    }
    if (*left == 0) return false;
    if (in_.payload.size() == got) {
      try {
        if (got > 0) in_.payload.reserve(bytes);
        in_.payload.resize(
            std::min(bytes, got == 0 ? kFirstBytes : got + *left));
      } catch (const std::bad_alloc&) {
        refused_ = -ENOMEM;
        std::vector<uint8_t>().swap(in_.payload);
        continue;
      }
    }
    if (!Fill(in_.payload.data() + got, in_.payload.size() - got, left))
      return false;
  }
}

Connection::Received Connection::Receive(uint64_t room, Message* message,
                                         int* error) {
  if (broken_) return Received::kNothing;
  size_t left = kTurnBytes;
  if (received_ < sizeof(MessageHeader)) {
    if (!Fill(reinterpret_cast<uint8_t*>(&in_.header) + received_,
              sizeof(in_.header) - received_, &left) ||
        broken_)
      return Received::kNothing;
    if (in_.header.magic != kMessageMagic || in_.header.bytes > message_max_) {
      broken_ = true;
      return Received::kNothing;
    }
    if (in_.header.bytes > room) refused_ = -ENOBUFS;
  }
  if (!ReceivePayload(&left) || broken_) return Received::kNothing;
  if (fd_lost_ && refused_ == 0) refused_ = -EMFILE;
  *error = refused_;
  *message = std::move(in_);
  in_ = Message();
  received_ = 0;
  fd_lost_ = false;
  return std::exchange(refused_, 0) != 0 ? Received::kRefused
                                         : Received::kMessage;
}

void Connection::Reply(Slip* reply) noexcept {
  Outgoing& o = reply->front();
  o.header.magic = kMessageMagic;
  o.header.bytes = static_cast<uint32_t>(o.payload.size());
  o.header.fds = o.shows != nullptr ? 1 : 0;
  o.sent = 0;
  out_bytes_ += o.payload.capacity();
  if (out_.empty()) idle_since_ns_ = NowNs();
  out_.splice(out_.end(), *reply);
  Flush();
}

void Connection::Flush() noexcept {
  while (!out_.empty() && !broken_) {
    Outgoing& o = out_.front();
    iovec iov[2];
    int pieces = 0;
    if (o.sent < sizeof(o.header)) {
      iov[pieces++] = {reinterpret_cast<uint8_t*>(&o.header) + o.sent,
                       sizeof(o.header) - o.sent};
    }
    const size_t done = std::max(o.sent, sizeof(o.header)) - sizeof(o.header);
    if (done < o.payload.size())
      iov[pieces++] = {o.payload.data() + done, o.payload.size() - done};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr m = {};
    m.msg_iov = iov;
    m.msg_iovlen = pieces;
    if (o.shows != nullptr) {
      m.msg_control = control;
      m.msg_controllen = sizeof(control);
      cmsghdr* c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &o.shows->fd, sizeof(int));
    }
    const ssize_t n = sendmsg(socket_, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n < 0 && errno == ETOOMANYREFS && o.shows != nullptr) {
      // Too many descriptors are on their way: this call fails, not the client.
      o.shows = nullptr;
      o.header.fds = 0;
      o.header.result = -EMFILE;
      continue;
    }
    if (n < 0) {
      broken_ = true;
      return;
    }
    o.shows = nullptr;
    o.sent += n;
    idle_since_ns_ = NowNs();
    if (o.sent == sizeof(o.header) + o.payload.size()) {
      out_bytes_ -= o.payload.capacity();
      out_.pop_front();
    }
  }
}

}  // namespace heddle::hosted
