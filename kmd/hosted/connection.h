// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A client's socket, non-blocking: whole messages in, whole messages out.
// Buffering is bounded by its user.
#ifndef HEDDLE_KMD_HOSTED_CONNECTION_H_
#define HEDDLE_KMD_HOSTED_CONNECTION_H_

#include <sys/types.h>

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "kmd/hosted/protocol.h"

namespace heddle::hosted {

struct HostMemory;

class Connection {
 public:
  // A reply. Made before its call is carried out, so that no call that was
  // carried out stays without one.
  struct Outgoing {
    MessageHeader header;
    std::vector<uint8_t> payload;
    std::shared_ptr<HostMemory> shows;  // its descriptor goes along
    size_t sent = 0;                    // of header and payload together
  };
  using Slip = std::list<Outgoing>;  // of one element

  enum class Received {
    kNothing,  // nothing whole yet, or broken()
    kMessage,
    kRefused,  // a message without its payload; `*error` says why
  };

  explicit Connection(int socket);  // takes it over
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int socket() const { return socket_; }
  // Of the peer's process; the overflow user when it is not known.
  uid_t user() const { return user_; }
  // Of the process that connected; 0 when it is not known here.
  pid_t process() const { return process_; }

  // Reads some of what is there, up to the end of one message, whose payload
  // may have `room` bytes. kMessage: the descriptor, if any, is the caller's.
  Received Receive(uint64_t room, Message* message, int* error);
  // Ends the connection when a message announces more than `bytes`.
  void set_message_max(uint32_t bytes) { message_max_ = bytes; }
  // Bytes of payload that it holds, received or not sent.
  uint64_t held() const { return in_.payload.capacity() + out_bytes_; }

  // Queues the reply and sends what the socket takes.
  void Reply(Slip* reply) noexcept;
  void Flush() noexcept;

  bool wants_write() const { return !out_.empty(); }
  // When the socket last took something, or had nothing to take.
  uint64_t idle_since_ns() const { return idle_since_ns_; }
  // The other end is gone, or does not speak the protocol.
  bool broken() const { return broken_; }

 private:
  bool Fill(void* to, size_t bytes, size_t* left);
  bool ReceivePayload(size_t* left);

  int socket_;
  pid_t process_ = 0;
  uid_t user_;
  bool broken_ = false;
  uint32_t message_max_ = kMessageBytesMax;
  Message in_;
  size_t received_ = 0;  // of header and payload together
  int refused_ = 0;      // why the payload is thrown away
  bool fd_lost_ = false;
  Slip out_;
  uint64_t out_bytes_ = 0;
  uint64_t idle_since_ns_ = 0;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_CONNECTION_H_
