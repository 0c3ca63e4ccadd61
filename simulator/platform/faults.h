// SPDX-License-Identifier: Apache-2.0
//
// Armed faults. The control socket arms them, the units consume them; each
// applies to one event (interrupt faults: to the stated number of events).
// PowerCycle disarms all but `link_down`.
#ifndef HEDDLE_SIMULATOR_PLATFORM_FAULTS_H_
#define HEDDLE_SIMULATOR_PLATFORM_FAULTS_H_

#include <cstdint>
#include <optional>

namespace heddle::platform {

// One bit of some memory.
struct BitFlip {
  uint64_t byte = 0;  // offset, taken modulo the size of what is hit
  uint32_t bit = 0;   // 0 .. 7
};

struct Faults {
  // That many interrupt messages are never sent; INT_STATUS is right.
  uint32_t lost_interrupts = 0;
  // The next interrupt message is sent that much later, in milliseconds.
  uint32_t late_interrupt_ms = 0;
  // The next access of the card to host memory fails.
  bool host_bus_error = false;
  // The next access of copy engine or core to device memory fails.
  bool device_bus_error = false;
  // The next stream hangs after its start: no progress, ABORT has no effect.
  bool stuck_engine = false;
  // RESET.engine has no effect until RESET.card, which has.
  bool lost_engine_resets = false;
  // The next copy to host memory runs away (runaway_dma.h).
  bool runaway_dma = false;
  // Before the next stream runs, a bit changes in: the commands as fetched
  // (device memory keeps the right ones), region 0, SRAM.
  std::optional<BitFlip> flip_command;
  std::optional<BitFlip> flip_weights;
  std::optional<BitFlip> flip_sram;
  // So many bits (one or two) are wrong in the first word of SRAM that a stream
  // reads; 0: none.
  uint32_t sram_error = 0;
  // The next time that the card leaves D3 it has lost its registers and its
  // memory, as in a slot without power while the system sleeps.
  bool power_loss = false;
  // The link is down: reads are ones, writes are lost, no DMA, no interrupts.
  bool link_down = false;
  // It goes down behind the next read of the register with this offset.
  std::optional<uint32_t> link_down_after;

  void Disarm() {
    const bool down = link_down;
    *this = Faults();
    link_down = down;
  }
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_FAULTS_H_
