// SPDX-License-Identifier: Apache-2.0
// Messages to heddle-hosted that its own client never sends: wrong lengths,
// counts and magic numbers, half messages, descriptors nobody asked for.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "kmd/hosted/protocol.h"
#include "tests/fuzz_ioctl/target.h"

namespace heddle::fuzz {
namespace {

using hosted::MessageHeader;

int Connect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -1;
  // A server that does not answer is found by the sequence's own calls.
  const timeval limit = {0, 20000};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (connect(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    close(s);
    return -1;
  }
  return s;
}

void Send(int s, const MessageHeader& header, const std::vector<uint8_t>& body,
          int fd) {
  std::vector<uint8_t> bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  bytes.insert(bytes.end(), body.begin(), body.end());
  iovec piece = {bytes.data(), bytes.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &fd, sizeof(fd));
  }
  (void)!sendmsg(s, &message, MSG_NOSIGNAL);
}

}  // namespace

void SendMalformed(const std::string& socket, Values* values) {
  const int s = Connect(socket);
  if (s < 0) return;
  if (!values->Once(4)) {  // a proper beginning
    hosted::Hello hello;
    hello.card = values->Once(8) ? values->Edge32() : 0;
    if (values->Once(10)) hello.version = values->Edge32();
    MessageHeader header;
    header.type = hosted::kHello;
    header.bytes = sizeof(hello);
    std::vector<uint8_t> body(sizeof(hello));
    std::memcpy(body.data(), &hello, sizeof(hello));
    Send(s, header, body, -1);
    uint8_t answer[256];
    (void)!recv(s, answer, sizeof(answer), 0);
  }
  for (uint64_t n = 1 + values->Below(4); n > 0; --n) {
    const auto& calls = hosted::Calls();
    const auto& call = calls[values->Below(calls.size())];
    MessageHeader header;
    header.type = values->Once(6)
                      ? values->Edge32()
                      : values->Of<uint32_t>(
                            {hosted::kIoctl, hosted::kIoctl, hosted::kMmap});
    header.request = values->Once(8) ? values->Edge32() : call.request;
    header.id = values->Any();
    std::vector<uint8_t> body(call.size() +
                              values->Below(4) * 8 * values->Below(20));
    for (size_t i = 0; i + 8 <= body.size(); i += 4) {
      const uint32_t word = values->Once(3)
                                ? values->Edge32()
                                : static_cast<uint32_t>(values->Below(4));
      std::memcpy(body.data() + i, &word, sizeof(word));
    }
    // Waits would otherwise keep a place for a long time; some may.
    if (values->Once(5)) body.resize(values->Below(body.size() + 1));
    header.bytes = static_cast<uint32_t>(body.size());
    if (values->Once(6)) header.bytes = values->Edge32();
    if (values->Once(12)) header.magic = values->Edge32();
    header.fds = values->Once(5) ? values->Edge32() : 0;
    const int fd = header.fds != 0 || values->Once(6)
                       ? open("/dev/null", O_RDWR | O_CLOEXEC)
                       : -1;
    Send(s, header, body, fd);
    if (fd >= 0) close(fd);
    uint8_t answer[4096];
    if (values->Once(2)) (void)!recv(s, answer, sizeof(answer), MSG_DONTWAIT);
  }
  close(s);
}

}  // namespace heddle::fuzz
