// SPDX-License-Identifier: Apache-2.0
//
// Requests to a core and its replies, independent of what executes it and of
// SystemC.
#ifndef HEDDLE_SIMULATOR_PLATFORM_CORE_REQUEST_H_
#define HEDDLE_SIMULATOR_PLATFORM_CORE_REQUEST_H_

#include <cstdint>
#include <vector>

#include "rtl/spec/generated/descriptors.h"
#include "simulator/model/model.h"

namespace heddle::platform {

// Error codes of isa.h.
using Status = decltype(model::RunResult::status);

// A run step. The job front end has checked it: the stream is aligned and lies
// in device memory, and so do the regions.
struct CoreRequest {
  uint64_t stream_address = 0;
  uint64_t stream_bytes = 0;
  model::RegionTable regions;
  bool trace = false;  // CoreResult::trace is wanted
};

struct CoreResult {
  model::RunResult run;
  // Of the stream. Zero on a core without timing.
  uint64_t cycles = 0;
  uint64_t matrix_busy = 0;
  uint64_t vector_busy = 0;
  uint64_t dma_busy = 0;
  // If it was wanted: of all commands, in the order in which they retired, in
  // cycles since the start of the stream; and how long the stream was in them.
  std::vector<desc::TraceEntry> trace;
  uint64_t trace_cycles = 0;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_CORE_REQUEST_H_
