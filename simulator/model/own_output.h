// SPDX-License-Identifier: Apache-2.0
// Whether a command reads SRAM that it also writes, so that its result depends
// on the order in which a core works inside it (ISA.md, "Races").
#ifndef HEDDLE_SIMULATOR_MODEL_OWN_OUTPUT_H_
#define HEDDLE_SIMULATOR_MODEL_OWN_OUTPUT_H_

#include "rtl/spec/generated/isa.h"

namespace heddle::model {

// Not so if a word is only read for the very word that is written over it: a
// pooled row that an earlier command began, a residual in place, vmac's C under
// its D. The command must be legal and stay inside the SRAM.
bool ReadsItsOutput(const isa::Config& config, const isa::Command& command);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_OWN_OUTPUT_H_
