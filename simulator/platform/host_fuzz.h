// SPDX-License-Identifier: Apache-2.0
//
// What the libFuzzer targets of the front ends share: a host that connects,
// sends what the input says, and goes; a card behind the front end that
// touches the host's memory and raises interrupts as it is told.
//
// The input is a sequence of pieces: a byte, a length (two bytes), and bytes.
//
//   0xff        bytes of the host's memory, behind two bytes of offset
//   otherwise   one message: bits 0-3 number of descriptors, bit 4: they are
//               sockets, not the host's memory, bit 5: the length in its header
//               stays as it is, where it is otherwise made right
#ifndef HEDDLE_SIMULATOR_PLATFORM_HOST_FUZZ_H_
#define HEDDLE_SIMULATOR_PLATFORM_HOST_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulator/platform/card.h"
#include "simulator/platform/host_server.h"
#include "simulator/platform/reactor.h"

namespace heddle::platform {

class HostFuzz {
 public:
  using MakeServer = std::function<std::unique_ptr<HostServer>(
      Card*, Reactor*, const std::string& path)>;
  // `set_length` makes the length in a message's header right.
  HostFuzz(const MakeServer& make,
           void (*set_length)(std::vector<uint8_t>* message));
  ~HostFuzz();

  void Run(const uint8_t* data, size_t size);

 private:
  class FuzzCard;
  void Send(const uint8_t* data, size_t size);
  void SendMessage(uint8_t what, std::vector<uint8_t> message);
  void OnTurn();

  std::string folder_;
  void (*set_length_)(std::vector<uint8_t>* message);
  std::unique_ptr<FuzzCard> card_;
  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<HostServer> server_;
  sc_core::sc_event turn_;
  int always_ready_ = -1;
  int memory_ = -1;
  int socket_ = -1;
  uint32_t turns_ = 0;
  uint64_t cycles_before_ = 0;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_HOST_FUZZ_H_
