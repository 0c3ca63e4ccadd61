// SPDX-License-Identifier: Apache-2.0
// What a command reads and writes, by the functional model: the places, and the
// bytes that those written hold after it.
#ifndef HEDDLE_TESTS_LOCKSTEP_EFFECT_H_
#define HEDDLE_TESTS_LOCKSTEP_EFFECT_H_

#include <cstdint>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "simulator/model/model.h"
#include "simulator/model/read_set.h"

namespace heddle::lockstep {

// Bytes of one address space.
class Effect {
 public:
  // Adds [first, first + n); overlapping and neighbouring runs are allowed.
  void Add(uint64_t first, uint64_t n);
  // After the last Add: takes the bytes from `memory`, whose address `at` is at
  // memory[0]. Nothing counts as written.
  void Take(const uint8_t* memory, uint64_t at = 0);

  bool Has(uint64_t address) const { return Find(address) >= 0; }
  // True if it is part of the effect.
  bool MarkWritten(uint64_t address);
  uint64_t bytes() const { return values_.size(); }

  // Where it is not as it must be; f(address, expected, got, written) for each.
  // `memory` is what the core has.
  template <typename F>
  void Compare(const uint8_t* memory, const F& f) const {
    for (const Run& run : runs_) {
      for (uint64_t i = 0; i < run.n; ++i) {
        const uint64_t v = run.at + i;
        const uint8_t got = memory[run.first + i];
        if (got != values_[v] || !written_[v]) {
          f(run.first + i, values_[v], got, written_[v] != 0);
        }
      }
    }
  }

 private:
  struct Run {
    uint64_t first;
    uint64_t n;
    uint64_t at;  // of its first byte in values_
  };
  // Index into values_, or -1.
  int64_t Find(uint64_t address) const;

  std::vector<Run> runs_;  // sorted, disjoint after Take
  std::vector<uint8_t> values_, written_;
};

// Device memory of the model, which notes what is read and written.
class NotingMemory : public model::Memory {
 public:
  // `bytes` from address `at` on; nothing is below.
  explicit NotingMemory(std::vector<uint8_t> bytes, uint64_t at = 0)
      : bytes_(std::move(bytes)), at_(at) {}
  bool Read(uint64_t address, void* to, size_t n) override;
  bool Write(uint64_t address, const void* from, size_t n) override;
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  // Everything since the last call.
  Effect TakeEffect();
  model::ReadSet TakeReads();

 private:
  bool Has(uint64_t address, size_t n) const {
    return address >= at_ && address - at_ <= bytes_.size() &&
           n <= bytes_.size() - (address - at_);
  }

  std::vector<uint8_t> bytes_;
  uint64_t at_;
  Effect effect_;
  model::ReadSet reads_;
};

// The places in SRAM that a command reads and writes, given SRAM as it finds
// it.
struct SramPlaces {
  model::ReadSet reads;
  Effect writes;
};
SramPlaces SramPlacesOf(const isa::Config& config, const isa::Command& command,
                        const uint8_t* sram);

}  // namespace heddle::lockstep

#endif  // HEDDLE_TESTS_LOCKSTEP_EFFECT_H_
