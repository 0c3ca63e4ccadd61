// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: a host that speaks to the vhost-user front end, with queues
// in its memory.
#include <cstring>

#include "simulator/platform/host_fuzz.h"
#include "simulator/platform/vhost_user.h"
#include "simulator/platform/vhost_user_server.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle::platform;
  static HostFuzz fuzz(
      [](Card* card, Reactor* reactor, const std::string& path) {
        return std::make_unique<VhostUserServer>(card, reactor, path);
      },
      [](std::vector<uint8_t>* message) {
        if (message->size() < sizeof(vhost::Header)) return;
        vhost::Header header;
        std::memcpy(&header, message->data(), sizeof(header));
        header.flags =
            (header.flags & ~(vhost::kVersionMask | vhost::kFlagReply)) |
            vhost::kVersion;
        header.size = static_cast<uint32_t>(message->size() - sizeof(header));
        std::memcpy(message->data(), &header, sizeof(header));
      });
  fuzz.Run(data, size);
  return 0;
}
