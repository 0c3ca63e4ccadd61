// SPDX-License-Identifier: Apache-2.0
// Wrong bits in SRAM, and the effect of its error-correcting code (ISA.md,
// sram_uncorrectable; rtl/src/hd_sram_bank.sv): a word with one wrong bit is
// corrected and repaired by the first command that reads it or writes part of
// it; one with two ends the stream; a full write makes it right. Nobody ever
// sees wrong bits, so the model's SRAM itself holds the correct bytes.
#ifndef HEDDLE_SIMULATOR_MODEL_SRAM_ERRORS_H_
#define HEDDLE_SIMULATOR_MODEL_SRAM_ERRORS_H_

#include <cstdint>
#include <map>
#include <set>

#include "simulator/model/core.h"

namespace heddle::model {

class SramErrors {
 public:
  // Nothing to look at.
  bool none() const { return words_.empty() && next_ == 0; }
  // A bit is another from now on; `byte` lies in SRAM.
  void Flip(uint64_t byte, uint32_t bit);
  // The lowest word that the next command reads which reads any has `bits`
  // wrong bits (at most two) then; 0: no longer.
  void CorruptNextRead(uint32_t bits) { next_ = bits; }
  // Those that still wait for a command.
  uint32_t waiting() const { return next_; }
  // All words are right.
  void Clear() { words_.clear(); }

  // Before a command that stays in SRAM is executed: adds the words that it
  // repairs to *corrected. sram_uncorrectable if it meets one that is lost.
  Fault Meet(const Core& core, const isa::Command& command,
             uint64_t* corrected);

 private:
  std::map<uint64_t, std::set<uint32_t>> words_;  // wrong bits, by word
  uint32_t next_ = 0;
};

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_SRAM_ERRORS_H_
