// SPDX-License-Identifier: Apache-2.0
//
// The socket on which the card speaks first in vhost-user: tells the host that
// a queue has used buffers. Never blocks: notifications that the host does not
// take are kept, one per queue, since a host that looks finds all used buffers.
#ifndef HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_CALLS_H_
#define HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_CALLS_H_

#include <cstdint>

#include "simulator/platform/message_socket.h"
#include "simulator/platform/reactor.h"

namespace heddle::platform {

class VhostUserCalls {
 public:
  // Takes `fd`, a stream socket.
  VhostUserCalls(int fd, Reactor* reactor);
  ~VhostUserCalls();
  VhostUserCalls(const VhostUserCalls&) = delete;
  VhostUserCalls& operator=(const VhostUserCalls&) = delete;

  void Call(uint32_t queue);

 private:
  void OnReady();
  void SendDue();

  MessageSocket socket_;
  Reactor* reactor_;
  bool open_ = true;
  uint32_t due_ = 0;  // queues, a bit each
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_CALLS_H_
