// SPDX-License-Identifier: Apache-2.0
// When every command of a stream starts and ends, by the closed-form cycles of
// estimate.h. Deterministic, exact integers; //tests/lockstep:rtl_bench_test
// holds it to 5 % of the RTL for four networks on h256.
//
// The model. The front end takes a cycle for each four 32-bit words and stops
// at a full queue (queue_depth commands besides the one that executes) and at a
// barrier. An engine executes one command at a time, in order; a command starts
// when its waits are satisfied, ends after EstimateCycles() and gives all its
// signals then, whichever point they name. Transfers of the load and the store
// engine share dram_bytes_per_cycle: the latency of a command overlaps the
// other's transfer, and that of a load the load before it, as far as it did not
// have to wait; while both transfer each has half. Fetching commands
// costs no bandwidth.
#ifndef HEDDLE_COMPILER_STREAM_TIMELINE_H_
#define HEDDLE_COMPILER_STREAM_TIMELINE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

constexpr int kTimedEngines = 4;  // load, store, matrix, vector

struct TimedCommand {
  uint32_t offset = 0;  // bytes in the stream
  uint32_t tag = 0;
  isa::Opcode opcode = isa::Opcode::kNop;
  int engine = -1;          // 0 .. 3, -1: the front end
  uint64_t dispatched = 0;  // put into its engine's queue
  uint64_t start = 0, end = 0;
  uint64_t bytes = 0;  // of device memory
};

// Where the cycles of an engine go; the parts add up to the timeline's cycles.
struct EngineTime {
  uint64_t commands = 0;
  uint64_t bytes = 0;
  uint64_t busy = 0;
  // The next command waits for a signal of that engine.
  std::array<uint64_t, kTimedEngines> wait_for{};
  // Its queue is empty: the front end is behind or held up by another queue.
  uint64_t wait_for_commands = 0;
  uint64_t finished = 0;  // after its last command
};

struct Timeline {
  std::vector<TimedCommand> commands;  // in stream order
  std::array<EngineTime, kTimedEngines> engines;
  uint64_t cycles = 0;
  uint64_t bus_busy = 0;  // cycles in which a load or a store transfers
};

// An encoded stream. InvalidArgument: not legal commands, or one that can never
// start (the message says at which offset).
absl::StatusOr<Timeline> SimulateTimeline(const std::vector<uint32_t>& words,
                                          const isa::Config& config);

// "load", "store", "matrix", "vector".
const char* EngineName(int engine);

// How the cycles of the whole are attributed to layers (tags 0 .. layers - 1).
struct LayerTime {
  // From the start of the first command to the end of the last one; spans of
  // layers overlap.
  uint64_t first = 0, last = 0;
  // What the whole is longer for this layer: the end of its last command minus
  // the latest end of the layers before it, at least 0. What runs ahead in the
  // shadow of earlier layers counts there; the sum is the whole.
  uint64_t cycles = 0;
  std::array<uint64_t, kTimedEngines> busy{};
  uint64_t bytes = 0;
  uint64_t commands = 0;
};
std::vector<LayerTime> AttributeToLayers(const Timeline& timeline,
                                         size_t layers);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_TIMELINE_H_
