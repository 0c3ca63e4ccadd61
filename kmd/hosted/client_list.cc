// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/client_list.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace heddle::hosted {
namespace {

constexpr int kTimeoutSeconds = 5;

// 0 or a negative errno; -EOPNOTSUPP: the other end has closed.
int ReceiveAll(int socket, void* to, size_t bytes) {
  auto* at = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const ssize_t n = recv(socket, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return -ETIMEDOUT;
    if (n < 0 && errno != ECONNRESET) return -errno;
    if (n <= 0) return -EOPNOTSUPP;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return 0;
}

int Ask(int socket, uint32_t card, ClientList* list) {
  struct {
    MessageHeader header;
    Hello hello;
  } request;
  request.header.type = kClients;
  request.header.id = 1;
  request.header.bytes = sizeof(request.hello);
  request.hello.card = card;
  static_assert(sizeof(request) == sizeof(MessageHeader) + sizeof(Hello), "");
  if (send(socket, &request, sizeof(request), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof(request))) {
    return errno == EPIPE ? -EOPNOTSUPP : -errno;
  }
  MessageHeader reply;
  int error = ReceiveAll(socket, &reply, sizeof(reply));
  if (error != 0) return error;
  ClientsHeader header;
  if (reply.magic != kMessageMagic || reply.type != kClients) return -EPROTO;
  if (reply.result != 0) return reply.result < 0 ? reply.result : -EPROTO;
  if (reply.bytes < sizeof(header) || reply.bytes > kMessageBytesMax ||
      (reply.bytes - sizeof(header)) % sizeof(ClientEntry) != 0) {
    return -EPROTO;
  }
  error = ReceiveAll(socket, &header, sizeof(header));
  if (error != 0) return error;
  list->hidden = header.hidden;
  list->clients.resize((reply.bytes - sizeof(header)) / sizeof(ClientEntry));
  return ReceiveAll(socket, list->clients.data(),
                    list->clients.size() * sizeof(ClientEntry));
}

}  // namespace

int ListClients(const std::string& path, uint32_t card, ClientList* list) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return -ENAMETOOLONG;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -errno;
  const timeval limit = {kTimeoutSeconds, 0};
  int error = 0;
  if (setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
      setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0 ||
      connect(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    error = errno == EAGAIN ? -ETIMEDOUT : -errno;
  } else {
    error = Ask(s, card, list);
  }
  close(s);
  return error;
}

}  // namespace heddle::hosted
