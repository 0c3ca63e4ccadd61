// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A client of heddle-hosted without the library, for tests that send what the
// library would not, or in a different order.
#ifndef HEDDLE_KMD_HOSTED_RAW_CLIENT_H_
#define HEDDLE_KMD_HOSTED_RAW_CLIENT_H_

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "kmd/hosted/protocol.h"
#include "kmd/hosted/test_client.h"

namespace heddle::hosted {

class Raw {
 public:
  explicit Raw(const std::string& path) {
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address),
                         sizeof(address)) == 0;
    timeval limit = {30, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~Raw() { close(socket_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  int socket() const { return socket_; }
  bool connected() const { return connected_; }
  bool Send(uint32_t type, const void* payload, uint32_t bytes,
            uint32_t request = 0) {
    MessageHeader header;
    header.type = type;
    header.id = ++id_;
    header.bytes = bytes;
    header.request = request;
    return SendMessage(socket_, header, payload, -1) == 0;
  }
  bool Open() {
    Hello hello;
    Message reply;
    return Send(kHello, &hello, sizeof(hello)) && Receive(&reply) &&
           reply.header.result == 0;
  }
  bool Receive(Message* message) {
    return ReceiveMessage(socket_, message) == 0;
  }
  // Sends without waiting until nothing more is taken for half a second, or
  // `most` messages have been.
  size_t Flood(const std::vector<uint8_t>& bytes, size_t most) {
    size_t sent = 0, at = 0;
    while (sent < most) {
      const ssize_t n = send(socket_, bytes.data() + at, bytes.size() - at,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) {
        at += n;
        if (at < bytes.size()) continue;
        at = 0;
        sent++;
        continue;
      }
      if (n < 0 && errno != EAGAIN) break;
      pollfd p = {socket_, POLLOUT, 0};
      if (poll(&p, 1, 500) <= 0) break;
    }
    return sent;
  }
  // Whether the other end closes within `ms`, after what it has sent.
  bool Closed(int ms) {
    char buffer[65536];
    const uint64_t limit = InMs(ms);
    while (Now() < limit) {
      pollfd p = {socket_, POLLIN, 0};
      if (poll(&p, 1, 10) <= 0) continue;
      const ssize_t n = recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EAGAIN)) return true;
    }
    return false;
  }

 private:
  int socket_ = -1;
  bool connected_ = false;
  uint64_t id_ = 0;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_RAW_CLIENT_H_
