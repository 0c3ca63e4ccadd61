// SPDX-License-Identifier: Apache-2.0
//
// A cycle-accurate core in plain C++: the verilated RTL with the timing of
// device memory in one loop (verilated_core.h), or a substitute for tests of
// its surroundings (fake_core.h). Used by lockstep and stream benchmarks; the
// card uses all of hd_card (card_model.h).
#ifndef HEDDLE_SIMULATOR_RTL_CORE_MODEL_H_
#define HEDDLE_SIMULATOR_RTL_CORE_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/platform/core_request.h"
#include "simulator/rtl/device_memory.h"

namespace heddle::rtl {

enum MatrixWait : uint32_t {
  kWaitWeights = 1,
  kWaitOperands = 2,
  kWaitOutput = 4,
};

// Looks inside a core, cycle by cycle. Within a cycle: accepts, reads and
// writes of SRAM, read points, then memory and done.
class CoreObserver {
 public:
  virtual ~CoreObserver() = default;
  // The engine takes its next command in stream order. It may take several
  // before the first is done.
  virtual void OnAccept(isa::Engine engine) = 0;
  // Its oldest command that is not done has reached output_visible.
  virtual void OnDone(isa::Engine engine) = 0;
  // The engine writes the bytes of SRAM word `word` whose strobe bit is set.
  virtual void OnSramWrite(isa::Engine engine, uint32_t word,
                           const uint8_t* data, uint32_t strobe) = 0;
  // The engine is granted a read of SRAM word `word`.
  virtual void OnSramRead(isa::Engine /*engine*/, uint32_t /*word*/) {}
  // Its oldest command that has not reached input_read reaches it.
  virtual void OnInputRead(isa::Engine /*engine*/) {}
  // The matrix engine works on its command in this cycle.
  virtual void OnMatrixStep() {}
  // The matrix engine has a command and does nothing for it in this cycle; bits
  // of MatrixWait.
  virtual void OnMatrixWait(uint32_t /*reasons*/) {}
  // The beat at `address` of device memory has just been read, by the load
  // engine or as part of the stream.
  virtual void OnMemoryRead(uint64_t /*address*/) {}
  // Device memory has just been written by the store engine.
  virtual void OnMemoryWrite(uint64_t address, uint32_t strobe) = 0;
  // Streams that start from now on are traced, as the card traces a job's.
  virtual bool WantsTrace() const { return false; }
  // An entry comes out of the core: command `index` of the stream. Its cycles
  // are those of CoreModel::cycles(), its step is 0.
  virtual void OnTraceEntry(uint32_t /*index*/,
                            const desc::TraceEntry& /*entry*/) {}
};

class CoreModel {
 public:
  virtual ~CoreModel() = default;

  const isa::Config& config() const { return config_; }
  DeviceMemory* memory() { return &memory_; }

  // Starts a stream; the core must not be busy. The cycles of a pending
  // ClearSram() come first and are not the stream's.
  virtual void Start(const platform::CoreRequest& request) = 0;
  // Advances by up to `cycles` cycles, fewer when the stream ends. Returns how
  // many; 0 when no stream runs: an idle core is not clocked.
  virtual uint64_t Step(uint64_t cycles) = 0;
  virtual bool busy() const = 0;
  // Of the last stream that ended.
  const platform::CoreResult& result() const { return result_; }

  // The stream ends with status aborted at the next command boundary.
  virtual void Abort() = 0;
  // Ends what runs, without a result, and clears.
  virtual void Reset() = 0;
  // SRAM and accumulators are zero when the next stream starts.
  virtual void ClearSram() = 0;
  // The next stream hangs until Reset(); Abort() has no effect on it.
  virtual void HangNext() = 0;
  // Commands retired since power-up, modulo 2^32.
  virtual uint32_t progress() const = 0;
  // Cycles since power-up in which the core was clocked.
  virtual uint64_t cycles() const = 0;

  // nullptr: nobody looks. False: this core cannot be looked into.
  virtual bool Observe(CoreObserver* observer) = 0;
  // All of the SRAM, between streams. False: it cannot be seen.
  virtual bool ReadSram(uint8_t* to) = 0;
  // Changes a bit of it, after a pending ClearSram(). False: it cannot be
  // reached.
  virtual bool FlipSram(uint64_t byte, uint32_t bit) = 0;

 protected:
  CoreModel(const isa::Config& config, const MemoryOptions& options)
      : config_(config), memory_(config, options) {}

  const isa::Config config_;
  DeviceMemory memory_;
  platform::CoreResult result_;
};

// The core of a configuration. Device memory is empty until it is attached.
// UNIMPLEMENTED: this program was built without it. The library that is linked
// decides what it is: //simulator/rtl:core or //simulator/rtl:fake_core_model.
absl::StatusOr<std::unique_ptr<CoreModel>> MakeCore(
    const isa::Config& config, const MemoryOptions& options = {});

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_CORE_MODEL_H_
