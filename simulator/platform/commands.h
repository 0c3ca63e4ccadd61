// SPDX-License-Identifier: Apache-2.0
//
// The control socket's commands: one per line, answered by one line of JSON,
// {"ok":true, ...} or {"ok":false,"error":"..."}.
//
//   status              state of the card and its counters
//   unplug              surprise removal: the host's connection is dropped, new
//                       ones are refused; running jobs vanish without a record
//   plug                the card is back as after power-up, same serial number
//   memory SIZE         changes the size of device memory and raises the memory
//                       interrupt; what lies beyond is lost
//   fault KIND [ARGS]   arms a fault (faults.h), each for one event:
//     lost_interrupt [N=1]           the next N interrupt messages are not sent
//     late_interrupt [MS=100]        the next one comes MS milliseconds late
//     spurious_interrupt [VECTOR=0]  sends one without a cause, now
//     bus_error host|device          the next such access fails
//     stuck_engine [card]            the next stream hangs until RESET.engine,
//                                    or until RESET.card
//     runaway_dma                    the next copy to the host never ends
//     bit_flip command|weights|sram [BYTE=0 [BIT=0]]
//                                    flips a bit before the next stream runs
//     sram_error single|double       one or two wrong bits in the first SRAM
//                                    word that a stream reads
//     power_loss                     registers and memory are lost in D3
//     link_down [OFFSET], link_up    reads are ones, no DMA, no interrupts; with
//                                    OFFSET, once that register has been read
//     none                           disarms everything, link up
//   quit                ends the process
#ifndef HEDDLE_SIMULATOR_PLATFORM_COMMANDS_H_
#define HEDDLE_SIMULATOR_PLATFORM_COMMANDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "simulator/platform/host_server.h"
#include "simulator/platform/platform.h"

namespace heddle::platform {

// One line per command, for --help.
extern const char kCommandHelp[];

class Commands {
 public:
  // Both must outlive it.
  Commands(Platform* platform, HostServer* server)
      : platform_(platform), server_(server) {}

  // Carries out one line; returns the answer without a newline.
  std::string Run(absl::string_view line);

 private:
  Platform* platform_;
  HostServer* server_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_COMMANDS_H_
