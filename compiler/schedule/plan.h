// SPDX-License-Identifier: Apache-2.0
// Memory plan: which tensors stay in SRAM from producer to last consumer, how
// many rows a tile of each operation has, where every buffer lies in SRAM, and
// the device memory of what is spilled.
//
// At first everything is resident, and every operation one tile, but for what
// the choice of the schedule (choose.h) asks for. While some operation does not
// fit, in this order: its constants are loaded less far ahead, and those of
// others; those of its groups are no longer kept, its tiles get fewer rows, the
// largest resident tensor alive there is spilled to region 1. Deterministic.
#ifndef HEDDLE_COMPILER_SCHEDULE_PLAN_H_
#define HEDDLE_COMPILER_SCHEDULE_PLAN_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/options.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// SRAM of one operation.
struct OpPlan {
  int64_t tile_rows = 0;  // rows of the result per tile
  // The constants (of the first group) are loaded when the operation that many
  // before this one begins.
  int ahead = 1;
  // Constants of all groups are in SRAM at once, one after another from
  // constants[0] on, and loaded once for all tiles.
  bool keep = false;
  bool group_outer =
      false;  // the loop over groups is outside that of the tiles
  // Addresses; two where work overlaps, else the same twice.
  uint32_t constants[2] = {0, 0};
  std::vector<std::array<uint32_t, 2>>
      inputs;                            // of inputs that are not resident
  std::array<uint32_t, 2> output{0, 0};  // if the result is not resident
  uint32_t temporary = 0;
  // Inputs that are resident but lack the halo this operation needs are copied.
  std::vector<bool> copy;
};

struct MemoryPlan {
  std::vector<OpPlan> ops;
  uint32_t programs = 0;       // SRAM address of the microprograms
  uint64_t scratch_bytes = 0;  // region 1
  uint64_t sram_peak = 0;
};

// Geometry of a tile's buffer for input `i` of `op`, or of its result.
Geometry InputTile(const DeviceGraph& graph, const DeviceOp& op, size_t i,
                   int64_t rows);
Geometry OutputTile(const DeviceGraph& graph, const DeviceOp& op, int64_t rows);
// First row and number of rows of input `i` that rows [row0, row0+rows) of the
// result need, not clipped to the image. `count` depends on `rows` and `group`
// only; group -1 is the one that needs most.
void InputRows(const DeviceGraph& graph, const DeviceOp& op, size_t i,
               int64_t row0, int64_t rows, int group, int64_t* first,
               int64_t* count);
// The channels and columns of input `i` that `group` needs; -1: as many as any
// needs.
Slice InputChannels(const DeviceGraph& graph, const DeviceOp& op, size_t i,
                    int group);
Slice InputColumns(const DeviceGraph& graph, const DeviceOp& op, size_t i,
                   int group);

// Places everything; sets the storages' resident, sram, region, dram_offset.
// `program_bytes`: size of the microprograms, kept in SRAM throughout.
absl::StatusOr<MemoryPlan> PlanMemory(DeviceGraph* graph,
                                      const isa::Config& config,
                                      uint64_t program_bytes,
                                      const Features& features = {});

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_PLAN_H_
