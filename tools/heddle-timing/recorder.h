// SPDX-License-Identifier: Apache-2.0
// Runs a package on a core with cycles and notes when each command begins and
// ends.
#ifndef HEDDLE_TOOLS_HEDDLE_TIMING_RECORDER_H_
#define HEDDLE_TOOLS_HEDDLE_TIMING_RECORDER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"
#include "simulator/rtl/core_model.h"
#include "tools/heddle-timing/timing_record.h"

namespace heddle::timing {

struct CoreRun {
  std::vector<RecordedStream> streams;
  // Sums over the streams, as the completion record of a job has them.
  uint64_t cycles = 0, commands = 0;
  uint64_t matrix_busy = 0, vector_busy = 0, dma_busy = 0;
};

// Called now and then: stream under way, cycles of all so far.
using RecordProgress = std::function<void(size_t stream, uint64_t cycles)>;

// `inputs` in the package's order; `core` is of its configuration and idle.
// Regions begin at pages, as the driver places them. Internal: a stream faults,
// or the core cannot be looked into.
absl::StatusOr<CoreRun> RunAndRecord(
    const package::Package& package,
    const std::vector<compiler::TensorData>& inputs, rtl::CoreModel* core,
    const RecordProgress& progress = nullptr);

}  // namespace heddle::timing

#endif  // HEDDLE_TOOLS_HEDDLE_TIMING_RECORDER_H_
