// SPDX-License-Identifier: Apache-2.0
// Memory plan: which tensors stay in SRAM from producer to last consumer, how
// large the tiles of each operation are, where every buffer lies in SRAM, and
// the device memory of what is spilled.
//
// At first everything is resident, and every operation one tile, but for what
// the choice of the schedule (choose.h) asks for. While some operation does not
// fit, in this order: its operands are not loaded ahead, nor those of the one
// behind it; its constants are loaded less far ahead, and those of others;
// those of its groups are no longer kept; its tiles get smaller (fewer rows,
// then what groups make one by one, columns, channels) or the largest resident
// tensor alive there is spilled to region 1, whichever frees more; its buffers
// are no longer doubled. Then every load of constants gets the place and the
// time at which it can be done earliest (constant_stream.h). Deterministic.
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
  TileShape tile;  // of the result
  // The place of the constants is reserved from where the operation that many
  // before this one begins.
  int ahead = 1;
  // Constants of all groups are in SRAM at once and loaded once for all tiles;
  // one after another from constants[0] on is room for them.
  bool keep = false;
  bool group_outer =
      false;  // the loop over groups is outside that of the tiles
  // One buffer of each kind: a tile is loaded when the one before it is done.
  bool single = false;
  // The place of operands that are not resident is reserved from where the
  // operation before this one begins, so that the first are loaded beside it.
  bool early = false;
  // What the groups make (DeviceOp::group_columns, group_channels) are tiles of
  // their own, stored one by one. Else a tile is stored when all groups are
  // done.
  bool cut_groups = false;
  // Addresses; two where work overlaps, else the same twice. Where constants
  // are at last MemoryPlan::constants says.
  uint32_t constants[2] = {0, 0};
  std::vector<std::array<uint32_t, 2>>
      inputs;                            // of inputs that are not resident
  std::array<uint32_t, 2> output{0, 0};  // if the result is not resident
  uint32_t temporary = 0;
  // Of the operation's own microprograms, where they do not stay throughout.
  uint32_t programs = 0;
  // Inputs that are resident but lack the halo this operation needs are copied.
  std::vector<bool> copy;
  // By step of the operation the use of constants that it reads; empty: none.
  std::vector<uint32_t> uses;
};

// One load of a group of constants (constant_stream.h), and what reads it.
struct ConstantUse {
  size_t op = 0;
  int group = 0;
  size_t first = 0, last = 0;  // steps that read it
  size_t when = 0;             // the step in front of which it is loaded
  bool loaded = true;          // false: what another use has left there
  uint64_t bytes = 0;
  uint32_t address = 0;
};

struct MemoryPlan {
  std::vector<OpPlan> ops;
  // The number of each operation's first step, and of the step behind all. A
  // step is one operation's work on one tile with one group of constants.
  std::vector<size_t> first_step;
  std::vector<ConstantUse> constants;
  // Whether the microprograms of all operations stay in SRAM, at `programs`.
  // Else each operation's are loaded for it.
  bool keep_programs = true;
  uint32_t programs = 0;
  uint64_t scratch_bytes = 0;  // region 1
  uint64_t sram_peak = 0;
};

// Whether an output of the network may be in SRAM, too, while others read it:
// its bytes there are those of the output.
bool MayStayAsOutput(const Storage& s);

// The image of a result as one tile.
TileShape WholeTile(const DeviceGraph& graph, const DeviceOp& op);
// `tile`, made smaller as far as the operation demands it.
TileShape AllowedTile(const DeviceGraph& graph, const DeviceOp& op,
                      TileShape tile);
// Geometry of a tile's buffer for input `i` of `op`, or of its result.
Geometry InputTile(const DeviceGraph& graph, const DeviceOp& op, size_t i,
                   const TileShape& tile);
Geometry OutputTile(const DeviceGraph& graph, const DeviceOp& op,
                    const TileShape& tile);

// What a tile needs of an input, not clipped to the image.
struct InputBox {
  Slice rows, columns, channels;
  bool operator==(const InputBox& o) const {
    return rows == o.rows && columns == o.columns && channels == o.channels;
  }
};
// For the tile at `tile`; its extents depend on those of the tile and on the
// group only. Group -1 is the one that needs most.
InputBox NeedOf(const DeviceGraph& graph, const DeviceOp& op, size_t i,
                const Tile& tile);

// Whether the tile needs a part of the columns of input `i`, because it is a
// part of the result's, or its group takes some columns of a window. A window
// then brings its padding along; else an operand's row has that of the whole
// image at its ends.
bool CutsColumns(const DeviceOp& op, size_t i, const Extent& result,
                 const Tile& tile);

// The parts of the result that groups make: first and last group of each.
struct GroupRun {
  int first = 0, count = 0;
  Slice columns, channels;  // count 0: all of the tile's
};
std::vector<GroupRun> GroupRuns(const DeviceOp& op);

// The largest part of the result that is stored at a time.
TileShape StoredTile(const DeviceOp& op, const OpPlan& plan);

// Bytes of microprograms: of all operations together, and of each alone.
struct ProgramBytes {
  uint64_t all = 0;
  std::vector<uint64_t> own;
};
// Whether microprograms of so many bytes may stay in SRAM.
bool MayKeepPrograms(uint64_t bytes, const isa::Config& config);

// Places everything; sets the storages' resident, sram, region, dram_offset.
// Microprograms stay in SRAM throughout where they leave room enough.
// `stream_constants`: constants leave the places that are reserved for them.
absl::StatusOr<MemoryPlan> PlanMemory(DeviceGraph* graph,
                                      const isa::Config& config,
                                      const ProgramBytes& programs,
                                      const Features& features = {},
                                      bool stream_constants = true);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_PLAN_H_
