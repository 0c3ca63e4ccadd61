// SPDX-License-Identifier: Apache-2.0
// What a command reads and writes, derived from its fields: byte intervals that
// enclose every access (strided boxes are given by their hull). The basis of
// synchronisation: nobody states dependencies by hand.
#ifndef HEDDLE_COMPILER_STREAM_ACCESS_H_
#define HEDDLE_COMPILER_STREAM_ACCESS_H_

#include <cstdint>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// Spaces 0..15 are the regions; byte addresses in each.
constexpr int kSramSpace = isa::kRegions;
constexpr int kAccumulatorSpace = kSramSpace + 1;  // one "byte" per entry
constexpr int kNumSpaces = kAccumulatorSpace + 1;

struct Access {
  int space = 0;
  uint64_t begin = 0;
  uint64_t end = 0;  // exclusive
  bool write = false;
  // Of a write: every byte is written. False where that is not certain.
  bool dense = false;
};

// All accesses of `command` on a core of `config`.
std::vector<Access> AccessesOf(const isa::Command& command,
                               const isa::Config& config);

// The engine that executes the command.
isa::Engine EngineOf(const isa::Command& command);

// Multiply-accumulates that the command counts (ISA.md).
uint64_t MacsOf(const isa::Command& command);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_ACCESS_H_
