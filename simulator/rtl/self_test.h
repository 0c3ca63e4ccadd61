// SPDX-License-Identifier: Apache-2.0
//
// Does the core work, and does its memory have the right timing? Small streams,
// their bytes and cycles, on a core alone (core_target.h) or a whole card
// (card_target.h; `heddle-sim selftest`).
#ifndef HEDDLE_SIMULATOR_RTL_SELF_TEST_H_
#define HEDDLE_SIMULATOR_RTL_SELF_TEST_H_

#include <cstdint>
#include <string>

#include "rtl/spec/generated/isa.h"

namespace heddle::rtl {

// What is tested.
class SelfTestTarget {
 public:
  static constexpr uint64_t kMemory = 8 << 20;
  struct Outcome {
    bool ended = false;
    isa::Error status = isa::Error::kOk;
    uint32_t fault_offset = 0;
    uint64_t cycles = 0;
    std::string violation;  // of the memory port's rules; empty: none
  };

  virtual ~SelfTestTarget() = default;
  virtual const isa::Config& config() const = 0;
  // kMemory bytes of device memory.
  virtual uint8_t* memory() = 0;
  // Runs the stream of `bytes` bytes at 0; region 0 is [base, kMemory),
  // writable. Not ended: it took `limit` cycles.
  virtual Outcome Run(uint64_t bytes, uint64_t base, uint64_t limit) = 0;
};

// True if all is well. `report` gets a line per check.
bool SelfTest(SelfTestTarget* target, std::string* report);

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_SELF_TEST_H_
