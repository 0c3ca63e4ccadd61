// SPDX-License-Identifier: Apache-2.0
// The commands of a stream that engines take, and which of them take a time
// that depends on values.
//
// Only commands that go where indices send them do. load.gather and
// store.scatter ask device memory for rows whose addresses are indices: a row
// that crosses a page, or does not begin at a beat, takes more bursts or beats
// than another. A vrun with gather_a, pick_a or scatter_d reads or writes words
// of SRAM that are indices' choice, and those of one bank wait for each other;
// how many steps a pick takes depends on how many lines they lie in. For all
// others addresses, sizes and the order of operations are in the command;
// arithmetic takes the same cycles for every operand.
// (independence_test.cc shows both on the RTL.)
#ifndef HEDDLE_TOOLS_HEDDLE_TIMING_STREAM_COMMANDS_H_
#define HEDDLE_TOOLS_HEDDLE_TIMING_STREAM_COMMANDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::timing {

struct StreamCommand {
  uint32_t offset = 0;  // bytes
  uint32_t tag = 0;
  isa::Engine engine = isa::Engine::kControl;  // never that one
  const char* mnemonic = "";
  bool by_index = false;  // its time depends on values
};

// In stream order. InvalidArgument: not legal commands.
absl::StatusOr<std::vector<StreamCommand>> EngineCommands(
    const std::vector<uint32_t>& words);

}  // namespace heddle::timing

#endif  // HEDDLE_TOOLS_HEDDLE_TIMING_STREAM_COMMANDS_H_
