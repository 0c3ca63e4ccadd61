// SPDX-License-Identifier: Apache-2.0
//
// Interrupts of the card: INT_STATUS and INT_ENABLE, and the MSI-X table and
// pending bits in BAR0.
//
// Every event sets its bit of INT_STATUS and, if that is enabled, sends one
// interrupt message, also when the bit was set before: a driver that clears the
// bit first and looks for work then misses nothing. Enabling a bit that is
// pending sends a message as well. Vector = number of the bit.
#ifndef HEDDLE_SIMULATOR_PLATFORM_INTERRUPT_CONTROLLER_H_
#define HEDDLE_SIMULATOR_PLATFORM_INTERRUPT_CONTROLLER_H_

#include <cstdint>
#include <functional>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/card.h"
#include "simulator/platform/config_space.h"
#include "simulator/platform/faults.h"

namespace heddle::platform {

class InterruptController {
 public:
  // Runs `what` that many milliseconds later, in the kernel's thread.
  using Later = std::function<void(uint32_t ms, std::function<void()> what)>;

  InterruptController(const ConfigSpace* config, Faults* faults, Later later);

  void SetSink(InterruptSink* sink) { sink_ = sink; }

  // Sets bits of INT_STATUS (reg::kIntStatus...Mask).
  void Raise(uint32_t bits);
  void Acknowledge(uint32_t bits) { status_ &= ~bits; }
  void Enable(uint32_t bits);
  uint32_t status() const { return status_; }
  // Sends a message that no status bit explains (a fault).
  void Spurious(uint32_t vector) { Send(vector); }
  uint64_t sent() const { return sent_; }

  // MSI-X table and pending bits: offset in BAR0. False: not in either.
  bool TableRead(uint32_t offset, uint32_t* value) const;
  bool TableWrite(uint32_t offset, uint32_t value);
  // After a write to config space: vectors may have been unmasked.
  void ConfigChanged() { Flush(); }
  // As Card::Message.
  bool Message(uint32_t vector, MsiMessage* message);

  void Reset();

 private:
  struct Entry {
    uint32_t words[4];
  };
  void Send(uint32_t vector);
  void Deliver(uint32_t vector);
  void Flush();
  bool Masked(uint32_t vector) const;

  const ConfigSpace* config_;
  Faults* faults_;
  Later later_;
  InterruptSink* sink_ = nullptr;
  uint32_t status_ = 0;
  uint32_t enabled_ = 0;
  uint32_t pending_ = 0;  // vectors that wait for unmasking
  uint64_t sent_ = 0;
  uint64_t epoch_ = 0;  // a late message does not survive a reset
  Entry table_[reg::kPciMsixVectors];
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_INTERRUPT_CONTROLLER_H_
