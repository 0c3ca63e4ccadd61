// SPDX-License-Identifier: Apache-2.0
// Which fields of a command have any effect: not those of a feature that is
// switched off (ISA.md).
#ifndef HEDDLE_TESTS_LOCKSTEP_USED_H_
#define HEDDLE_TESTS_LOCKSTEP_USED_H_

#include "absl/strings/string_view.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::lockstep {

bool IsUsed(const isa::Command& command, absl::string_view field);

// False: every command of the instruction uses it.
bool CanBeUnused(isa::Opcode opcode, absl::string_view field);

}  // namespace heddle::lockstep

#endif  // HEDDLE_TESTS_LOCKSTEP_USED_H_
