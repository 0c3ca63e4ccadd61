// SPDX-License-Identifier: Apache-2.0
// The reads of a command, for tests of what the hardware reads: words of SRAM
// or beats of device memory (16 bytes each) of which the command needs at least
// one byte, and words that may be read along with them and are ignored.
#ifndef HEDDLE_SIMULATOR_MODEL_READ_SET_H_
#define HEDDLE_SIMULATOR_MODEL_READ_SET_H_

#include <cstdint>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::model {

class ReadSet {
 public:
  // The words of bytes [first, first + n) are needed, or may be read.
  void Add(uint64_t first, uint64_t n) { AddRun(first, n, &needed_); }
  void Allow(uint64_t first, uint64_t n) { AddRun(first, n, &allowed_); }
  // After the last of them. Nothing counts as read.
  void Take();

  // Notes that the word is read; false if it is not part of the set.
  bool MarkRead(uint64_t word) {
    const uint64_t i = word - first_;
    if (i >= 64 * all_.size()) return false;
    const uint64_t bit = uint64_t{1} << (i % 64);
    missing_ -= (left_[i / 64] & bit) != 0;
    left_[i / 64] &= ~bit;
    return (all_[i / 64] & bit) != 0;
  }
  // Needed words.
  uint64_t size() const { return size_; }
  // Those not read yet: how many, and the first of them.
  uint64_t missing() const { return missing_; }
  uint64_t FirstMissing() const;

 private:
  struct Run {
    uint64_t first, last;
  };
  static void AddRun(uint64_t first, uint64_t n, std::vector<Run>* runs);

  std::vector<Run> needed_, allowed_;
  uint64_t first_ = 0;                // the word of bit 0
  std::vector<uint64_t> all_, left_;  // bits
  uint64_t size_ = 0, missing_ = 0;
};

// Whether all that a command may touch of SRAM is there; otherwise it faults.
bool StaysInSram(const isa::Config& config, const isa::Command& command);

// Of SRAM, for a command that stays in it; `sram` as for ForEachAccess. What
// may be read besides:
// - the vector engine reads lines of 64 bytes;
// - in mode fold, words of a row of the input between its first and its last
//   tap.
// (Max pooling also reads what the command itself has written.)
ReadSet SramReads(const isa::Config& config, const isa::Command& command,
                  const uint8_t* sram);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_READ_SET_H_
