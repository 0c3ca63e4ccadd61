// SPDX-License-Identifier: Apache-2.0
// Commands and their times as text for people: the assembler's language, one
// command per line.
#ifndef HEDDLE_COMPILER_STREAM_STREAM_TEXT_H_
#define HEDDLE_COMPILER_STREAM_STREAM_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "simulator/timing/timeline.h"

namespace heddle::compiler {

// Commands before synchronisation.
std::string CommandsText(const std::vector<isa::Command>& commands);
// An encoded stream; where a command is not legal the text ends with the
// reason.
std::string StreamText(const std::vector<uint32_t>& words);
// One line per command of an encoded stream: start, end, engine, operation
// (tag), mnemonic, offset; then the cycles of each engine. `constants`: as for
// SimulateTimeline.
std::string TimelineText(const std::vector<uint32_t>& words,
                         const isa::Config& config,
                         const std::vector<timing::KnownBytes>& constants);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_STREAM_TEXT_H_
