// SPDX-License-Identifier: Apache-2.0
// Computing again instead of keeping: a tensor that is cheap to make, and that
// waits for a later reader while SRAM holds too much for it, is made once more
// in front of that reader.
//
// Closed forms of both: a tensor that waits in device memory is stored and
// loaded again; one that is made again takes the cycles of its microprograms
// and those of loading operands that lie in device memory. Operands must be
// there still: inputs and constants of the network, tensors that live on until
// then anyway, or smaller ones that take the tensor's place in SRAM. Time is
// linear in the number of operations and readers.
#ifndef HEDDLE_COMPILER_SCHEDULE_RECOMPUTE_H_
#define HEDDLE_COMPILER_SCHEDULE_RECOMPUTE_H_

#include <cstdint>
#include <vector>

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Another computation of `value`, in front of operation `before`, for that one
// and those behind it that read the value.
struct Copy {
  int value = -1;
  int producer = -1;  // operation
  int before = -1;
  int64_t saved = 0;  // estimated cycles
};

// What is worth it, by operation in front of which it is done; independent of
// each other.
std::vector<Copy> FindCopies(const DeviceGraph& graph,
                             const isa::Config& config);
// Adds the operations, each with a storage of its own for its result.
void ApplyCopies(const std::vector<Copy>& copies, DeviceGraph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_RECOMPUTE_H_
