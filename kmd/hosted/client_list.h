// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Who uses a card of heddle-hosted: one more message of protocol.h, the first
// and only one of its connection.
//
//   kClients  Hello -> ClientsHeader, ClientEntry[]
//
// It lists the open files of the caller's user, or of everybody for root and
// the server's own user. A server of an earlier release closes the connection
// without a reply.
#ifndef HEDDLE_KMD_HOSTED_CLIENT_LIST_H_
#define HEDDLE_KMD_HOSTED_CLIENT_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kmd/hosted/protocol.h"

namespace heddle::hosted {

inline constexpr uint32_t kClients = 6;  // a MessageType

struct ClientsHeader {
  uint32_t hidden = 0;  // open files of other users
  uint32_t pad = 0;
};

// An open file. What it counts are the members of the kernel's drm-usage-stats.
struct ClientEntry {
  uint64_t client = 0;  // no other has this number while the server runs
  uint32_t pid = 0;     // of the process that opened it; 0: not of this system
  uint32_t user = 0;
  uint64_t engine_ns = 0;     // that its jobs held the card
  uint64_t jobs = 0;          // that have ended
  uint64_t device_bytes = 0;  // that it holds now
  uint64_t host_bytes = 0;
};
static_assert(sizeof(ClientEntry) == 48, "wire format");

struct ClientList {
  std::vector<ClientEntry> clients;
  uint32_t hidden = 0;
};

// Asks the server at `path`. 0 or a negative errno: -ENXIO, it has no such
// place for a card; -EOPNOTSUPP, it does not know the question; -ETIMEDOUT, no
// reply within five seconds.
int ListClients(const std::string& path, uint32_t card, ClientList* list);

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_CLIENT_LIST_H_
