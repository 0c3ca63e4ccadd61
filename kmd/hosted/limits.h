// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Limits of what clients may take of heddle-hosted itself; QUERY_LIMITS has
// those of a card. Options of the program; the defaults serve hundreds of
// ordinary clients.
#ifndef HEDDLE_KMD_HOSTED_LIMITS_H_
#define HEDDLE_KMD_HOSTED_LIMITS_H_

#include <cstdint>

namespace heddle::hosted {

struct ServiceLimits {
  // Open files of all users together. One user has three quarters of it.
  // Opening one more: -ENFILE, -EMFILE if it is the user's part.
  uint32_t clients = 1024;
  // Connections that have not said what they want. One more ends the oldest of
  // the user who has most of them.
  uint32_t newcomers = 256;
  // So long may a connection stay that does not say what it wants.
  uint64_t greeting_ns = 5000000000;
  // Calls of a client that wait at a time. One more: -EAGAIN.
  uint32_t calls = 256;
  // Bytes of a client's requests and replies that the daemon holds: requests
  // that wait, room for their replies, replies that are not fetched. A call
  // that would exceed it: -ENOBUFS.
  uint64_t queued_bytes = 64u << 20;
  // A client whose socket takes nothing of a reply for so long is disconnected.
  // Before that it is not read from.
  uint64_t unread_ns = 30000000000;
  // File descriptors for a client's HOST buffers and streams. One more:
  // -EDQUOT. All clients together have what RLIMIT_NOFILE leaves, one user
  // three quarters of it: -ENOMEM.
  uint32_t descriptors = 4096;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_LIMITS_H_
