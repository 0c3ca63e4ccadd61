// SPDX-License-Identifier: Apache-2.0
// Start and end of every command of a stream, from the costs of single commands
// (command_cost.h). Deterministic, exact integers.
//
// The model. The front end prefetches the stream, takes a beat (four words) of
// a command per cycle and stops at a full queue (queue_depth commands besides
// those accepted by the engine) and at a barrier. An engine accepts commands in
// order when their waits are satisfied, and gives a signal when the command
// reaches the signal's point. The vector engine works on one command at a time.
// The matrix engine prepares the next one meanwhile. Load and store prepare a
// command, then move its data one command after another; the latency of device
// memory follows and overlaps later commands. When load and store together want
// more of the bus than there is, each gets half.
#ifndef HEDDLE_SIMULATOR_TIMING_TIMELINE_H_
#define HEDDLE_SIMULATOR_TIMING_TIMELINE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/timing/calibration.h"
#include "simulator/timing/vector_cost.h"

namespace heddle::timing {

constexpr int kTimedEngines = 4;  // load, store, matrix, vector

struct TimedCommand {
  uint32_t offset = 0;  // bytes in the stream
  uint32_t tag = 0;
  isa::Opcode opcode = isa::Opcode::kNop;
  int engine = -1;          // 0 .. 3, -1: the front end
  uint64_t dispatched = 0;  // put into its engine's queue
  uint64_t taken = 0;       // by its engine, maybe behind another command
  // Taken, or the end of the one before if that is later; done.
  uint64_t start = 0, end = 0;
  uint64_t bytes = 0;  // of device memory
  // From start to end, as a trace_entry counts them (descriptors.toml), as far
  // as the model knows: activations are always there, and a vector waits at
  // SRAM only for other engines.
  std::array<uint64_t, 3> stalls{};
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
// The same for commands that come one by one.
struct TimedWork;
class TimelineBuilder {
 public:
  // Both must outlive it.
  TimelineBuilder(const isa::Config& config, const Calibration& calibration);
  ~TimelineBuilder();

  // The next command of the stream, which is legal. `program`: as for
  // VectorCosts::Of.
  void Add(uint32_t offset, const isa::Command& command,
           const uint64_t* program);
  // Times of those that were added; once.
  absl::StatusOr<Timeline> Finish();

 private:
  const isa::Config& config_;
  const Calibration& calibration_;
  VectorCosts vector_;
  Timeline timeline_;
  std::vector<TimedWork> work_;
};

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

}  // namespace heddle::timing

#endif  // HEDDLE_SIMULATOR_TIMING_TIMELINE_H_
