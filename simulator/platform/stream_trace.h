// SPDX-License-Identifier: Apache-2.0
//
// The trace of a stream that a core without timing has executed in program
// order: which commands, and that nothing is known of their cycles.
#ifndef HEDDLE_SIMULATOR_PLATFORM_STREAM_TRACE_H_
#define HEDDLE_SIMULATOR_PLATFORM_STREAM_TRACE_H_

#include <cstdint>
#include <vector>

#include "rtl/spec/generated/descriptors.h"

namespace heddle::platform {

// An entry for each of the first `commands` commands of `stream` that are not
// of engine control; begin, end and stalls are 0 and marked as estimated. Stops
// where the stream has no further command.
std::vector<desc::TraceEntry> TraceOf(const std::vector<uint32_t>& stream,
                                      uint64_t commands, uint32_t step);

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_STREAM_TRACE_H_
