// SPDX-License-Identifier: Apache-2.0
// A compiled package as a card runs it: device memory as the driver would lay
// it out, random inputs in it, the streams behind everything else.
#ifndef HEDDLE_TOOLS_RTL_SPEED_PROGRAM_H_
#define HEDDLE_TOOLS_RTL_SPEED_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "compiler/package/package.h"
#include "simulator/model/model.h"

namespace heddle::rtl {

struct Program {
  struct Range {
    uint64_t address = 0, bytes = 0;
  };
  std::vector<uint8_t> memory;  // from device address 0
  model::RegionTable regions = {};
  std::vector<Range> streams, inputs, outputs;
};

// Inputs are always the same: floating point from [-1, 1), boolean 0 or 1,
// other types any bytes.
Program ProgramOf(const package::Package& package);

}  // namespace heddle::rtl

#endif  // HEDDLE_TOOLS_RTL_SPEED_PROGRAM_H_
