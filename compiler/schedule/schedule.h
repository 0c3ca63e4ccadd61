// SPDX-License-Identifier: Apache-2.0
// Emits a placed device graph: for every operation its tiles, in an order in
// which loads run ahead of the computation (the next tile's operands and the
// next operation's constants are loaded first) and stores behind it.
#ifndef HEDDLE_COMPILER_SCHEDULE_SCHEDULE_H_
#define HEDDLE_COMPILER_SCHEDULE_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "compiler/schedule/device_graph.h"
#include "compiler/schedule/plan.h"

namespace heddle::compiler {

// Microprograms of all operations, laid out one after another.
struct ProgramTable {
  std::vector<uint8_t> bytes;
  std::map<std::vector<uint8_t>, uint32_t> offset;  // of each program's bytes
};
ProgramTable CollectPrograms(const DeviceGraph& graph);
ProgramBytes BytesOf(const DeviceGraph& graph, const ProgramTable& programs);

// Appends the whole network to `stream`; the tag of each command is `first_tag`
// plus the index of its operation. `programs` lie at `program_constant` of
// region 0.
void EmitNetwork(const DeviceGraph& graph, const MemoryPlan& plan,
                 const isa::Config& config, const ProgramTable& programs,
                 const ConstantGroup& program_constant, uint32_t first_tag,
                 StreamBuilder* stream);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_SCHEDULE_H_
