// SPDX-License-Identifier: Apache-2.0
//
// One end of a vfio-user connection without blocking: whole messages in, whole
// messages out. A peer that sends what is no message, more descriptors than
// allowed, or that does not take its replies is cut off.
#ifndef HEDDLE_SIMULATOR_PLATFORM_MESSAGE_SOCKET_H_
#define HEDDLE_SIMULATOR_PLATFORM_MESSAGE_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/platform/vfio_user.h"

namespace heddle::platform {

class MessageSocket {
 public:
  enum class Result {
    kMessage,  // header(), payload() and fds() hold one
    kNothing,  // none is complete yet
    kClosed,   // the peer is gone, or misbehaved
  };

  // Takes `fd`, a connected stream socket.
  explicit MessageSocket(int fd);
  ~MessageSocket();
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;

  int fd() const { return fd_; }

  Result Receive();
  const vfio::Header& header() const { return header_; }
  const std::vector<uint8_t>& payload() const { return payload_; }
  const std::vector<int>& fds() const { return fds_; }
  // Takes descriptor `i` out of fds(); it will not be closed here. -1: none.
  int TakeFd(size_t i);

  // Queues a message. False: the peer does not read, give it up.
  bool Send(const vfio::Header& header, const void* payload, size_t bytes);
  // Sends what is queued. False: the peer is gone.
  bool Flush();
  bool sending() const { return !out_.empty(); }

 private:
  // Reads up to `bytes` more; -1 closed, 0 nothing now.
  long Read(void* to, size_t bytes);
  void CloseFds();

  int fd_;
  vfio::Header header_ = {};
  std::vector<uint8_t> payload_;
  std::vector<int> fds_;
  size_t have_ = 0;  // bytes of header and payload received
  bool delivered_ = false;
  std::vector<uint8_t> out_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_MESSAGE_SOCKET_H_
