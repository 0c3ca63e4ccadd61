// SPDX-License-Identifier: Apache-2.0
// The device memory that a stream cannot do without.
#ifndef HEDDLE_COMPILER_BACKEND_TRAFFIC_H_
#define HEDDLE_COMPILER_BACKEND_TRAFFIC_H_

#include <cstdint>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// Bytes of weights, inputs and outputs that the commands touch, each byte once;
// of what they touch in part (rows of a table, every second column) no more
// than they move. Never more than all commands together move.
uint64_t LeastTraffic(const std::vector<uint32_t>& words,
                      const isa::Config& config);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_TRAFFIC_H_
