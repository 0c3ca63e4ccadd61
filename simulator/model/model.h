// SPDX-License-Identifier: Apache-2.0
// The functional model of the accelerator core: architectural state and the
// meaning of every command, as rtl/spec/ISA.md defines them. Plain C++ without
// threads, logging or SystemC.
//
// Commands of a stream are executed one after another in stream order, which
// for a race-free stream has the effect of every legal interleaving (ISA.md,
// "Ordering rule"). Two implementations of the data path, `kReference` (the
// reference) and `kFast` (SIMD kernels chosen at run time), give equal bytes.
#ifndef HEDDLE_SIMULATOR_MODEL_MODEL_H_
#define HEDDLE_SIMULATOR_MODEL_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::model {

// One entry of a run step's region table.
struct Region {
  uint64_t base = 0;  // device address
  uint64_t size = 0;  // bytes; 0 = not bound
  bool writable = false;
};
using RegionTable = Region[isa::kRegions];

// Device memory as the core sees it. Ranges given to it have passed the region
// check (unless Options::check_regions is off); false = bus error.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual bool Read(uint64_t address, void* to, size_t bytes) = 0;
  virtual bool Write(uint64_t address, const void* from, size_t bytes) = 0;
};

// A flat array as device memory.
class FlatMemory : public Memory {
 public:
  FlatMemory(uint8_t* data, uint64_t size) : data_(data), size_(size) {}
  bool Read(uint64_t address, void* to, size_t bytes) override;
  bool Write(uint64_t address, const void* from, size_t bytes) override;

 private:
  uint8_t* data_;
  uint64_t size_;
};

enum class Implementation { kReference, kFast };

struct Options {
  Implementation implementation = Implementation::kFast;
  // Off only for the validator's oracle: bursts go to Memory unchecked.
  bool check_regions = true;
  // Detect races and reads of SRAM bytes that nobody wrote (slow).
  bool detect_races = false;
};

// Why a stream ended. Fields as in the completion record.
struct RunResult {
  isa::Error status = isa::Error::kOk;
  uint32_t fault_offset = 0;
  uint32_t fault_tag = 0;
  uint32_t fault_region = 0;
  isa::Engine fault_engine = isa::Engine::kControl;
  uint64_t fault_address = 0;
  uint64_t commands = 0;
  uint64_t macs = 0;
  uint64_t bytes_loaded = 0;
  uint64_t bytes_stored = 0;
  // Words of SRAM with a wrong bit that were repaired (FlipSram).
  uint64_t sram_corrected = 0;
};

// A race, an uninitialised read or a broken ordering rule.
struct Finding {
  uint32_t offset = 0;        // stream offset of the command
  uint32_t other_offset = 0;  // the command it conflicts with (races)
  std::string what;
};

class Model {
 public:
  // `memory` must outlive the model.
  Model(const isa::Config& config, Memory* memory, const Options& options = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // SRAM and accumulators to zero (job flag clear_sram, engine reset).
  void ClearSram();

  // Runs a stream of `bytes` bytes (a multiple of 16). `progress`, if given, is
  // called after each retired command with its number; returning false aborts
  // the stream with status aborted.
  RunResult Run(const uint32_t* stream, size_t bytes,
                const RegionTable& regions,
                const std::function<bool(uint64_t)>& progress = nullptr);

  // Findings of the last Run (Options::detect_races), at most 100.
  const std::vector<Finding>& findings() const;

  // Injected errors, as sram_errors.h says: a bit of SRAM changes (`byte` is
  // taken modulo its size), and the first word that is read has so many wrong
  // bits. How many of these still wait for a command.
  void FlipSram(uint64_t byte, uint32_t bit);
  void CorruptNextRead(uint32_t bits);
  uint32_t corruption_waiting() const;

  // The SRAM, for tests and lockstep comparison.
  uint8_t* sram();
  size_t sram_bytes() const;
  // Accumulator entries: acc_pixels x lanes_out int32.
  int32_t* accumulators();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_MODEL_H_
