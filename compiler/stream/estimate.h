// SPDX-License-Identifier: Apache-2.0
// Closed-form cycle estimates of single commands. Uncalibrated: derived from
// the port plan of ISA.md, not measured on the RTL.
#ifndef HEDDLE_COMPILER_STREAM_ESTIMATE_H_
#define HEDDLE_COMPILER_STREAM_ESTIMATE_H_

#include <cstdint>

#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// Cycles that the command occupies its engine.
uint64_t EstimateCycles(const isa::Command& command, const isa::Config& config);

// Bytes of device memory that the command reads or writes.
uint64_t DramBytesOf(const isa::Command& command);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_ESTIMATE_H_
