// SPDX-License-Identifier: Apache-2.0
//
// Access to the inside of a verilated core or card, found by name at run time:
// whatever public.vlt or card.vlt makes public. Names of instances do not
// matter, except for the number of an SRAM bank, the last index in its path.
#ifndef HEDDLE_SIMULATOR_RTL_PROBE_H_
#define HEDDLE_SIMULATOR_RTL_PROBE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/rtl/card_model.h"
#include "simulator/rtl/core_model.h"

class VerilatedContext;

namespace heddle::rtl {

// The banks of the SRAM: every array `mem` of 16-byte words whose path names
// an SRAM bank. Word w is row w / banks of bank w % banks.
class SramBanks {
 public:
  SramBanks() = default;
  SramBanks(VerilatedContext* context, const isa::Config& config);

  // All banks are there, as large as the configuration says.
  bool found() const { return !banks_.empty(); }
  // As CoreModel.
  bool Read(uint8_t* to) const;
  bool Flip(uint64_t byte, uint32_t bit);

 private:
  std::vector<uint8_t*> banks_;
  uint64_t bytes_ = 0;
};

// The signals of hd_core that tell what its engines do in a cycle, and whether
// the matrix engine's sequencer makes a step. Vectors of bit or word i for SRAM
// client i (hd_pkg), bit i for engine i of load, store, matrix, vector.
class Probes {
 public:
  Probes() = default;
  explicit Probes(VerilatedContext* context);

  bool found() const { return accept_ != nullptr; }
  // Before the clock edge of a cycle.
  void Before(CoreObserver* observer) const;
  uint32_t Done() const { return *done_; }
  static void ReportDone(uint32_t engines, CoreObserver* observer);

 private:
  const uint8_t* accept_ = nullptr;
  const uint8_t* done_ = nullptr;
  const uint8_t* wait_ = nullptr;
  const uint32_t* we_ = nullptr;
  const uint8_t* address_ = nullptr;
  const uint8_t* data_ = nullptr;
  const uint8_t* strobe_ = nullptr;
  const uint32_t* grant_ = nullptr;  // reads and writes
  const uint8_t* read_[4] = {};      // by engine: input_read
  const uint8_t* step_ = nullptr;
};

// Reads of the SRAM as they are granted.
class ReadProbe {
 public:
  ReadProbe() = default;
  explicit ReadProbe(VerilatedContext* context);

  bool found() const { return grant_ != nullptr; }
  // Before the clock edge of a cycle: the word of the client of the lowest
  // number that reads.
  std::optional<uint64_t> First() const;

 private:
  const uint32_t* grant_ = nullptr;  // reads and writes
  const uint32_t* we_ = nullptr;
  const uint8_t* address_ = nullptr;
};

// Streams as hd_card hands them to its core.
class StreamProbe {
 public:
  StreamProbe() = default;
  explicit StreamProbe(VerilatedContext* context);

  bool found() const { return start_ != nullptr; }
  // Before the clock edge of a cycle.
  void Sample(StreamStart* stream) const {
    if (*region_we_ && *region_index_ == 0) {
      stream->weights = *region_base_;
      stream->weights_bytes = *region_size_;
    }
    if (*start_) {
      stream->address = *address_;
      stream->bytes = *bytes_;
    }
  }
  bool starts() const { return *start_; }
  bool ends() const { return *done_ || *reset_; }

 private:
  const uint8_t* start_ = nullptr;
  const uint8_t* done_ = nullptr;
  const uint8_t* reset_ = nullptr;
  const uint64_t* address_ = nullptr;
  const uint32_t* bytes_ = nullptr;
  const uint8_t* region_we_ = nullptr;
  const uint8_t* region_index_ = nullptr;
  const uint64_t* region_base_ = nullptr;
  const uint64_t* region_size_ = nullptr;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_PROBE_H_
