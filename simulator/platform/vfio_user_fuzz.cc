// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: a host that speaks to the vfio-user front end.
#include <cstring>

#include "simulator/platform/host_fuzz.h"
#include "simulator/platform/vfio_user.h"
#include "simulator/platform/vfio_user_server.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle::platform;
  static HostFuzz fuzz(
      [](Card* card, Reactor* reactor, const std::string& path) {
        return std::make_unique<VfioUserServer>(card, reactor, path);
      },
      [](std::vector<uint8_t>* message) {
        if (message->size() < sizeof(vfio::Header)) return;
        const auto bytes = static_cast<uint32_t>(message->size());
        std::memcpy(message->data() + offsetof(vfio::Header, size), &bytes,
                    sizeof(bytes));
      });
  fuzz.Run(data, size);
  return 0;
}
