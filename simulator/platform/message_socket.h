// SPDX-License-Identifier: Apache-2.0
//
// One end of a connection without blocking: whole messages in, whole messages
// out. A message is a header of a fixed size, a payload whose size follows from
// the header, and descriptors as ancillary data. A peer that sends what is no
// message, more descriptors than allowed, or that does not take its replies is
// cut off.
#ifndef HEDDLE_SIMULATOR_PLATFORM_MESSAGE_SOCKET_H_
#define HEDDLE_SIMULATOR_PLATFORM_MESSAGE_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace heddle::platform {

class MessageSocket {
 public:
  enum class Result {
    kMessage,  // header(), payload() and fds() hold one
    kNothing,  // none is complete yet
    kClosed,   // the peer is gone, or misbehaved
  };

  static constexpr size_t kMaxHeaderBytes = 16;
  static constexpr size_t kMaxFds = 8;
  // What a protocol's messages look like.
  struct Framing {
    size_t header_bytes;  // at most kMaxHeaderBytes
    // Bytes of payload behind this header; nothing when it is no header.
    std::optional<size_t> (*payload_bytes)(const void* header);
  };

  // Takes `fd`, a connected stream socket.
  MessageSocket(int fd, Framing framing);
  ~MessageSocket();
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;

  int fd() const { return fd_; }

  Result Receive();
  template <typename Header>
  Header header() const {
    static_assert(sizeof(Header) <= kMaxHeaderBytes, "it is not held");
    Header header;
    std::memcpy(&header, header_, sizeof(header));
    return header;
  }
  const std::vector<uint8_t>& payload() const { return payload_; }
  const std::vector<int>& fds() const { return fds_; }
  // Takes descriptor `i` out of fds(); it will not be closed here. -1: none.
  int TakeFd(size_t i);

  // Queues a message. False: the peer does not read, give it up.
  template <typename Header>
  bool Send(const Header& header, const void* payload, size_t bytes) {
    return SendMessage(&header, sizeof(header), payload, bytes);
  }
  // Sends what is queued. False: the peer is gone.
  bool Flush();
  bool sending() const { return !out_.empty(); }

 private:
  bool SendMessage(const void* header, size_t header_bytes, const void* payload,
                   size_t bytes);
  // Reads up to `bytes` more; -1 closed, 0 nothing now.
  long Read(void* to, size_t bytes);
  void CloseFds();

  int fd_;
  Framing framing_;
  uint8_t header_[kMaxHeaderBytes] = {};
  std::vector<uint8_t> payload_;
  std::vector<int> fds_;
  size_t have_ = 0;  // bytes of header and payload received
  bool delivered_ = false;
  std::vector<uint8_t> out_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_MESSAGE_SOCKET_H_
