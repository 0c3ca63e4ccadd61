// SPDX-License-Identifier: Apache-2.0
// Runs the operations of a lowered graph one by one, in boxes of any size, with
// garbage wherever an operation has not said that it looks: before each command
// list of a tile all of SRAM is overwritten but for what the operation's
// statement of its needs (AxisNeed, windows, slices, NeedOf) covers, its
// constants, its temporary and its result's buffer. What is computed must not
// change.
//
// Every tensor is in device memory, so each box is loaded, by the scheduler's
// own code, for the tile that needs it. Operands that an operation reads by
// itself (AxisNeed::kDirect) are needed as a whole, and are not masked.
#ifndef HEDDLE_COMPILER_TESTING_MASKED_RUN_H_
#define HEDDLE_COMPILER_TESTING_MASKED_RUN_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"
#include "compiler/schedule/device_graph.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/schedule.h"
#include "simulator/model/model.h"

namespace heddle::compiler {

enum class Axis { kRows, kColumns, kChannels };

// Takes the first or last index that lies in the image out of the need of an
// input along an axis.
struct Shrink {
  size_t input = 0;
  Axis axis = Axis::kRows;
  bool last = true;
};

class MaskedRun {
 public:
  // A copy of the graph in boxes drawn from `random`.
  MaskedRun(const DeviceGraph& graph, const isa::Config& config,
            std::mt19937_64* random);

  // All operations without a mask. Error: a fault.
  absl::Status Compute(const std::vector<TensorData>& inputs);
  // What Compute left in an output of the graph.
  std::vector<uint8_t> Output(size_t index) const;

  size_t size() const { return graph_.ops.size(); }
  const DeviceOp& op(size_t i) const;
  // Operation `i` alone once more, masked with garbage from `seed`: whether its
  // result has the same bytes. With `shrink` the need is less by it; `removed`
  // tells whether it took anything of any tile.
  bool Same(size_t i, uint64_t seed, const Shrink* shrink = nullptr,
            bool* removed = nullptr) const;

 private:
  class Probe;

  void PlaceInDeviceMemory();
  void DrawTiles(size_t i, std::mt19937_64* random);
  uint64_t Tiles(size_t i) const;
  bool PlaceBuffers(size_t i);
  // Bytes of the result's elements, in `memory`.
  std::vector<uint8_t> Result(const std::vector<uint8_t>& memory,
                              int value) const;
  // Marks what lies in SRAM for the tile's input `k`; returns whether `shrink`
  // has left something out.
  bool MarkInput(const DeviceOp& op, size_t k, const Tile& tile,
                 const Shrink* shrink, std::vector<uint8_t>* keep) const;
  absl::Status Run(size_t i, std::vector<uint8_t>* memory, const uint64_t* seed,
                   const Shrink* shrink, bool* removed) const;

  DeviceGraph graph_;
  const isa::Config config_;
  MemoryPlan plan_;
  ProgramTable programs_;
  std::vector<Probe*> probes_;
  std::vector<std::vector<isa::Command>> commands_;  // by operation
  uint64_t io_ = 0, scratch_ = 0;                    // in memory_
  std::vector<uint8_t> memory_;  // regions 0, 1 and 2, after Compute
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_MASKED_RUN_H_
