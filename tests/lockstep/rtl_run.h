// SPDX-License-Identifier: Apache-2.0
// A compiled network on the core with cycles, measured: as a whole, by layer
// and by command. For benches; results are compared on request.
//
// A cycle of the whole belongs to the set of engines that have a command under
// way in it. A layer owns the cycles by which the whole gets longer for it:
// from the latest end of the layers before it to the end of its last command,
// so that layers add up to the whole and what runs in another layer's shadow is
// free.
#ifndef HEDDLE_TESTS_LOCKSTEP_RTL_RUN_H_
#define HEDDLE_TESTS_LOCKSTEP_RTL_RUN_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::lockstep {

// Sets of engines: load 1, store 2, matrix 4, vector 8.
constexpr uint32_t kEngineSets = 16;
using CyclesBySet = std::array<uint64_t, kEngineSets>;

// "load+matrix"; "nobody".
std::string EngineSetName(uint32_t set);

// Why the matrix engine stood still with a command under way.
struct MatrixWaits {
  uint64_t weights = 0, operands = 0, output = 0;
};

struct CommandTime {
  int engine = 0;  // 0 load, 1 store, 2 matrix, 3 vector
  uint32_t layer = 0;
  uint64_t offset = 0;              // in its stream
  uint64_t accepted = 0, done = 0;  // cycles of the whole
};

struct LayerRun {
  uint64_t first = 0, last = 0;  // first command taken, last one done
  uint64_t cycles = 0;           // that it owns
  CyclesBySet sets{};            // of those
  MatrixWaits waits;             // for its commands, whoever owns the cycle
  uint64_t commands = 0;
};

struct NetworkRun {
  uint64_t cycles = 0, macs = 0, bytes_loaded = 0, bytes_stored = 0;
  uint64_t matrix_busy = 0, vector_busy = 0, dma_busy = 0, commands = 0;
  uint64_t beats = 0;  // of device memory
  double cpu_seconds = 0;
  // The rest only if the core could be looked into.
  bool observed = false;
  CyclesBySet sets{};
  MatrixWaits waits;
  std::vector<LayerRun> layers;  // as package.layers
  std::vector<CommandTime> commands_in_time;
};

struct RunOptions {
  bool look = true;    // into the core; makes it slower
  bool check = false;  // outputs, with the functional model
};

absl::StatusOr<NetworkRun> RunOnCore(
    const package::Package& package,
    const std::vector<compiler::TensorData>& inputs,
    const RunOptions& options = {});

// Random inputs, always the same.
std::vector<compiler::TensorData> InputsFor(const package::Package& package);

// Cycles that nothing can go below, by different assumptions.
//   ideal   max(MACs / P, (weights + inputs + outputs) / B): nothing but the
//           arithmetic, or nothing but the bytes that must move
//   layers  sum over layers of max(MACs / P, its bytes of device memory / B)
//   array   closed-form cycles of the commands of the engine that computes, one
//           after another
// P = MACs per cycle of the layer's engine, B = dram_bytes_per_cycle. Of a
// layer, ideal is its MACs / P.
struct Bounds {
  double ideal = 0, layers = 0, array = 0;
};
struct NetworkBounds {
  Bounds whole;
  std::vector<Bounds> layers;  // as package.layers
};
NetworkBounds BoundsOf(const package::Package& package,
                       const isa::Config& config);

}  // namespace heddle::lockstep

#endif  // HEDDLE_TESTS_LOCKSTEP_RTL_RUN_H_
