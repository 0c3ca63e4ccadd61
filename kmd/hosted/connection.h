// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A client's socket, without blocking: whole messages in, whole messages out.
#ifndef HEDDLE_KMD_HOSTED_CONNECTION_H_
#define HEDDLE_KMD_HOSTED_CONNECTION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kmd/hosted/protocol.h"

namespace heddle::hosted {

class Connection {
 public:
  explicit Connection(int socket);  // takes it over
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int socket() const { return socket_; }
  // Reads what is there, up to the end of one message. True: `message` is whole
  // and its descriptor, if any, the caller's. Check broken() after.
  bool Receive(Message* message);
  // Queues a reply to `request` and sends what the socket takes. `fd` is taken
  // over.
  void Reply(const MessageHeader& request, int result,
             std::vector<uint8_t> payload, int fd);
  void Flush();

  bool wants_write() const { return !out_.empty(); }
  // The other end is gone, or does not speak the protocol.
  bool broken() const { return broken_; }

 private:
  struct Outgoing {
    std::vector<uint8_t> bytes;
    size_t sent = 0;
    int fd = -1;
  };
  bool Fill(void* to, size_t bytes);

  int socket_;
  bool broken_ = false;
  Message in_;
  size_t received_ = 0;  // of header and payload together
  std::deque<Outgoing> out_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_CONNECTION_H_
