// SPDX-License-Identifier: Apache-2.0
// One microprogram that does what several do one after another, operation for
// operation, with the results between them in registers. Every bit is the same:
// an fp32 result that is stored and loaded is the register it was, a float16 or
// bfloat16 result the register rounded.
#ifndef HEDDLE_COMPILER_PASSES_COMPOSE_PROGRAMS_H_
#define HEDDLE_COMPILER_PASSES_COMPOSE_PROGRAMS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/fused_program.h"
#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

// Where a stream of a part comes from.
struct PartSource {
  enum Kind {
    kPart,   // the result of the part of this index, an earlier one
    kInput,  // input `value` of the whole, a stream of its program
    kBits    // one value for all elements, as a lane holds it
  } kind = kInput;
  uint32_t value = 0;
  DataType type = DataType::kFloat;  // of an input's elements
};

struct ProgramPart {
  Microprogram program;  // a body only
  std::array<uint32_t, 4> arguments{};
  std::vector<PartSource> streams;
  // The type that the result is rounded to. Where the last part has one, the
  // whole is stored as that type.
  DataType type = DataType::kFloat;
};

// The last part's result is the whole's. Values become arguments of the
// command, and immediates where there are more than four; a division by a power
// of two becomes the product that it is, and so does one of float16 by a value
// whose reciprocal gives the same float16 for every dividend. A result is not
// rounded where that changes nothing. The rejection is INVALID_ARGUMENT for
// parts that cannot be joined (that read another lane or an index), INTERNAL
// where registers or instructions do not suffice.
absl::StatusOr<FusedProgram> ComposePrograms(
    const std::vector<ProgramPart>& parts);

// The streams that a program reads, a bit each: A is bit 0.
uint32_t StreamsOf(const Microprogram& program);

// Cycles of one step of the body on the vector engine.
int64_t BodyCycles(const Microprogram& program);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_COMPOSE_PROGRAMS_H_
