// SPDX-License-Identifier: Apache-2.0
// The boxes in which an operation may be done, with the closed forms of what
// each takes: bytes of SRAM, bytes moved, cycles.
//
// A box is a tile of the result (rows, columns, channels as far as the
// operation may be cut there) and a loop order over tiles and groups of
// constants:
//   - constants of all groups stay in SRAM, every byte is loaded once (keep);
//   - weight-stationary: groups outside, each is loaded once and all tiles pass
//     by (group_outer);
//   - input-stationary: tiles outside, a tile's operands are loaded once and
//     all groups pass by.
// Groups that continue each other's sums follow each other in all of them: what
// is accumulated stays (output-stationary). The result is stored when all
// groups are done, or group by group (by_group); buffers are double, so that
// transfers run beside the computing, or single.
//
// What a box reads follows from the operation's needs along each axis: an
// operand that does not depend on an axis is loaded once for all boxes along
// it, windows overlap, and slices of groups are loaded for each group.
#ifndef HEDDLE_COMPILER_SCHEDULE_BOXES_H_
#define HEDDLE_COMPILER_SCHEDULE_BOXES_H_

#include <cstdint>
#include <vector>

#include "compiler/base/options.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

struct BoxCost {
  Box box;
  double tiles = 1;  // of an image
  double commands = 0;
  double compute = 0;       // cycles
  double weights = 0;       // bytes of constants in SRAM
  double weight_bytes = 0;  // of them loaded
  // By operand: a tile's buffer, and what all tiles load of it if it is not in
  // SRAM as a whole. Zero for what the operation reads where it lies.
  std::vector<double> input_tile, input_total;
  double output_tile = 0, output_total = 0;
};

// What `op` costs in `box`.
BoxCost CostOfBox(const DeviceGraph& graph, const DeviceOp& op, const Box& box);

// Boxes of whole rows for every useful number of rows, and of the others the
// few that are best while operands and result are in device memory: with all of
// the `capacity` bytes of SRAM, and with half of them. `command_cycles` is what
// each command costs beside its time.
std::vector<BoxCost> CandidateBoxes(const DeviceGraph& graph,
                                    const DeviceOp& op,
                                    const isa::Config& config,
                                    const Features& features, double capacity,
                                    double command_cycles);

// Numbers of rows worth trying for a result of `height` rows.
std::vector<int64_t> RowCandidates(int64_t height);

// Cycles of `op` in so many tiles.
double ComputeCycles(const DeviceGraph& graph, const DeviceOp& op,
                     double tiles);

// Bytes in device memory per cycle and what a transfer costs beside its bytes.
inline double BusCycles(double bytes, double transfers, double bandwidth) {
  constexpr double kTransferStart = 100;
  return bytes / bandwidth + transfers * kTransferStart;
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_BOXES_H_
