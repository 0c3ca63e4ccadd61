// SPDX-License-Identifier: Apache-2.0
//
// The trace of a stream that a core without timing executes: which commands,
// and when the cycle model (simulator/timing) has them begin, end and stall.
#ifndef HEDDLE_SIMULATOR_PLATFORM_STREAM_TRACE_H_
#define HEDDLE_SIMULATOR_PLATFORM_STREAM_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/timing/timeline.h"

namespace heddle::platform {

struct EstimatedTrace {
  // Of all commands but those of engine control, in the order in which they
  // retire; cycles count from the start of the stream. flags.step is 0.
  std::vector<desc::TraceEntry> entries;
  uint64_t cycles = 0;  // of the stream
};

class StreamTracer {
 public:
  // Of a stream of `words` words; both must outlive the tracer.
  StreamTracer(const isa::Config& config, const uint32_t* stream, size_t words);

  // The next command of the stream has been executed, and `sram` is what it
  // left: how long a microprogram takes depends on its instructions.
  void Retired(const uint8_t* sram);
  // Of the commands that have been executed; once.
  EstimatedTrace Finish();

 private:
  const uint32_t* stream_;
  size_t words_;
  size_t at_ = 0;
  timing::TimelineBuilder builder_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_STREAM_TRACE_H_
