// SPDX-License-Identifier: Apache-2.0
//
// The process that runs the functional model. A legal command can keep the
// model busy for hours, and a function call cannot be interrupted; a separate
// process can be killed, which is what an engine reset does. It also isolates
// the card from faults of the model.
//
// Both sides share CoreShared and room for a trace. A byte over one pipe means
// "run", one over the other "done"; end of file means that the other side is
// gone. Pipes, because read() on a socket also wakes when the peer takes what
// was written.
#ifndef HEDDLE_SIMULATOR_PLATFORM_CORE_PROCESS_H_
#define HEDDLE_SIMULATOR_PLATFORM_CORE_PROCESS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/model/model.h"
#include "simulator/platform/core.h"
#include "simulator/platform/faults.h"

namespace heddle::platform {

struct CoreShared {
  // Written by the card, also while a stream runs.
  std::atomic<uint32_t> abort;
  std::atomic<uint64_t> dram_size;
  // Read while a stream runs. Counts on over streams.
  std::atomic<uint32_t> progress;
  // The next access to device memory fails; cleared by that.
  std::atomic<uint32_t> bus_error;

  // A request; stable while a stream runs.
  CoreRequest request;
  uint32_t clear_sram;
  uint32_t stuck;
  uint32_t flip_command_valid;
  BitFlip flip_command;
  uint32_t flip_sram_valid;
  BitFlip flip_sram;
  uint32_t sram_error;  // Faults; when the answer is there, what is left of it

  // The answer; stable while none runs.
  model::RunResult result;
  // Of the trace, whose entries are in the other mapping.
  uint32_t trace_entries;
  uint64_t trace_cycles;
};

// A stream has no more commands.
constexpr size_t kTraceEntriesMost = isa::kStreamBytesMax / isa::kWordBytes;
static_assert(std::atomic<uint64_t>::is_always_lock_free,
              "shared between processes");

// Serves requests until their end of file. `dram` is the
// whole mapping of device memory, `trace` has room for kTraceEntriesMost.
[[noreturn]] void ServeCore(const isa::Config& config,
                            const model::Options& options, uint8_t* dram,
                            CoreShared* shared, desc::TraceEntry* trace,
                            int requests, int answers);

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_CORE_PROCESS_H_
