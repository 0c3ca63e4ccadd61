// SPDX-License-Identifier: Apache-2.0
// The rules between fields ("Legal if" of ISA.md). The ranges of single fields
// are checked by the generated decoder.
#ifndef HEDDLE_SIMULATOR_MODEL_LEGAL_H_
#define HEDDLE_SIMULATOR_MODEL_LEGAL_H_

#include "rtl/spec/generated/isa.h"

namespace heddle::model {

// nullptr when the command is legal on this configuration, otherwise the rule
// it breaks. Fields of features that are switched off are not looked at.
const char* BrokenRule(const isa::Config& config, const isa::Command& command);

// The same for a micro-instruction of `command`: also streams that are not
// enabled. nullptr when legal.
const char* BrokenRule(const isa::Vrun& command, uint64_t micro);

// Bytes of an element.
uint32_t ElementBytes(isa::ElementType type);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_LEGAL_H_
