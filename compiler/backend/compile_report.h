// SPDX-License-Identifier: Apache-2.0
// What GeneratePackage tells of its work: the layers in the order in which the
// card executes them, their times from the simulated timeline, the bounds, and
// with CompileOptions::details every command and every piece of SRAM.
#ifndef HEDDLE_COMPILER_BACKEND_COMPILE_REPORT_H_
#define HEDDLE_COMPILER_BACKEND_COMPILE_REPORT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/backend/backend.h"
#include "compiler/base/report.h"
#include "compiler/schedule/device_graph.h"
#include "compiler/schedule/plan.h"
#include "simulator/timing/timeline.h"

namespace heddle::compiler {

// Sets the layers, engines and cycles of the report, and the same of
// result->package, whose weights and tensors are set already. The tags in
// `words` are indices of graph.ops. `program_bytes`: see PlanMemory;
// `constants`: see SimulateTimeline. Internal error if the stream cannot run.
absl::Status FillReport(const DeviceGraph& graph, const MemoryPlan& plan,
                        uint64_t program_bytes,
                        const std::vector<uint32_t>& words,
                        const std::vector<timing::KnownBytes>& constants,
                        const isa::Config& config, bool details,
                        BackendResult* result);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_COMPILE_REPORT_H_
