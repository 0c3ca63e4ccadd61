// SPDX-License-Identifier: Apache-2.0
//
// Random legal encodings for tests: every field holds a legal value by itself;
// the rules between fields ("Legal if" in ISA.md) are not looked at.
#ifndef TOOLS_SPECGEN_RANDOM_COMMAND_H_
#define TOOLS_SPECGEN_RANDOM_COMMAND_H_

#include <cstdint>
#include <random>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::specgen {

// Bits of a legal value: the extremes and the default are as likely as all the
// others together.
uint32_t RandomBits(const isa::FieldInfo& field, std::mt19937* rng);

std::vector<uint32_t> RandomCommand(const isa::CommandInfo& info,
                                    std::mt19937* rng);

}  // namespace heddle::specgen

#endif  // TOOLS_SPECGEN_RANDOM_COMMAND_H_
