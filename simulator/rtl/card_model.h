// SPDX-License-Identifier: Apache-2.0
//
// The whole card with cycles, in plain C++: the verilated hd_card (registers,
// jobs, copies, interrupts, core) with the timing of device memory
// (device_memory.h) and of the way to host memory (host_port.h) in one loop.
// Used by the platform (simulator/platform, RtlCard) and, without SystemC, by
// the self-test.
//
// What the card does depends on its own cycles alone: not on how they are cut
// into calls of Advance(), nor on register reads between them.
#ifndef HEDDLE_SIMULATOR_RTL_CARD_MODEL_H_
#define HEDDLE_SIMULATOR_RTL_CARD_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/rtl/device_memory.h"
#include "simulator/rtl/host_port.h"

namespace heddle::rtl {

struct CardOptions {
  uint64_t serial = 1;
  // Cycles from a host access to its answer: half a microsecond, as PCI Express
  // takes. The bus moves 16 bytes per cycle.
  uint32_t host_latency = 500;
  MemoryOptions memory;
};

// A run step as the core gets it.
struct StreamStart {
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool hangs = false;  // SetHang
  // Region 0: the weights.
  uint64_t weights = 0;
  uint64_t weights_bytes = 0;
};

// What the card reaches. Called from within CardModel::Advance and what else
// clocks it; must not call the model back but where it says so.
class CardEnvironment {
 public:
  virtual ~CardEnvironment() = default;
  // Host memory. False: the access failed.
  virtual bool Host(bool write, uint64_t iova, void* data, size_t bytes) = 0;
  // One request for an interrupt.
  virtual void Interrupt(uint32_t vector) = 0;
  // Registers and interrupts were put back to their reset state.
  virtual void Cleared() = 0;
  // A stream begins, nothing of it has been fetched. May change memory() and
  // call FlipSram().
  virtual void StreamStarts(const StreamStart& /*stream*/) {}
};

class CardModel {
 public:
  virtual ~CardModel() = default;

  const isa::Config& config() const { return config_; }
  // Empty until it is attached.
  DeviceMemory* memory() { return &memory_; }

  // Advances by up to `cycles` cycles, fewer when nothing is left to do.
  // Returns how many; an idle card is not clocked.
  virtual uint64_t Advance(uint64_t cycles) = 0;
  // Something is left to do.
  virtual bool active() const = 0;

  // An access to a register: takes some cycles, in which everything goes on.
  virtual uint32_t Read(uint32_t offset) = 0;
  virtual void Write(uint32_t offset, uint32_t value) = 0;

  // Reset of the function; over when it returns.
  virtual void FunctionReset() = 0;
  // Everything as after power-up, what is under way is lost.
  virtual void PowerCycle() = 0;
  // Attaches it, at first; then its size has changed, which the card tells.
  virtual void SetDeviceMemory(uint8_t* data, uint64_t bytes) = 0;
  // A stream that begins while it is on hangs until it is reset.
  virtual void SetHang(bool on) = 0;
  // Changes a bit of SRAM. False: it cannot be reached.
  virtual bool FlipSram(uint64_t byte, uint32_t bit) = 0;
  // The first word of SRAM that is read from now on has so many wrong bits, at
  // most two, when it is read; 0: no longer.
  virtual void CorruptNextRead(uint32_t bits) = 0;
  // Those that still wait for a reader.
  virtual uint32_t corruption_waiting() const = 0;

  // Cycles since it was made.
  virtual uint64_t cycles() const = 0;
  // The first breach of a memory port's protocol, empty if none.
  virtual std::string violation() const = 0;

  // Cycles [from, to) go to an FST file. UNIMPLEMENTED where the model was
  // built without.
  virtual absl::Status Trace(const std::string& /*file*/, uint64_t /*from*/,
                             uint64_t /*to*/) {
    return absl::UnimplementedError(
        "this build of the RTL card has no tracing");
  }

 protected:
  CardModel(const isa::Config& config, const CardOptions& options)
      : config_(config), memory_(config, options.memory) {}

  const isa::Config config_;
  DeviceMemory memory_;
};

// The card of a configuration; `environment` must outlive it. UNIMPLEMENTED:
// this program was built without it. Link //simulator/rtl:card.
absl::StatusOr<std::unique_ptr<CardModel>> MakeCard(
    const isa::Config& config, const CardOptions& options,
    CardEnvironment* environment);

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_CARD_MODEL_H_
