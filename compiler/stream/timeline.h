// SPDX-License-Identifier: Apache-2.0
// When every command of a stream starts and ends, by the costs of single
// commands (estimate.h). Deterministic, exact integers.
//
// The model. The front end fetches the stream ahead, takes a beat (four words)
// of a command per cycle and stops at a full queue (queue_depth commands
// besides those that the engine has accepted) and at a barrier. An engine
// accepts commands in order when their waits are satisfied, and gives a signal
// when the command reaches the point that the signal names. The vector engine
// works on one command at a time. The matrix engine prepares the next one
// meanwhile. Load and store prepare a command, then move its data one command
// after another; the latency of device memory comes behind that and overlaps
// what follows. While both want more of the bus than there is each has half.
#ifndef HEDDLE_COMPILER_STREAM_TIMELINE_H_
#define HEDDLE_COMPILER_STREAM_TIMELINE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/stream/calibration.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

constexpr int kTimedEngines = 4;  // load, store, matrix, vector

struct TimedCommand {
  uint32_t offset = 0;  // bytes in the stream
  uint32_t tag = 0;
  isa::Opcode opcode = isa::Opcode::kNop;
  int engine = -1;          // 0 .. 3, -1: the front end
  uint64_t dispatched = 0;  // put into its engine's queue
  // Taken by its engine, or the end of the one before if that is later; done.
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

// Bytes of region 0. How long a vrun takes depends on its microprogram; where
// that is not among these, every instruction counts as a cycle.
struct KnownBytes {
  uint64_t offset = 0;
  absl::Span<const uint8_t> bytes;
};

// An encoded stream. InvalidArgument: not legal commands, or one that can never
// start (the message says at which offset).
absl::StatusOr<Timeline> SimulateTimeline(
    const std::vector<uint32_t>& words, const isa::Config& config,
    const std::vector<KnownBytes>& constants);
// With other latencies, to fit them.
absl::StatusOr<Timeline> SimulateTimeline(
    const std::vector<uint32_t>& words, const isa::Config& config,
    const Calibration& calibration, const std::vector<KnownBytes>& constants);

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
