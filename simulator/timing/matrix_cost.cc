// SPDX-License-Identifier: Apache-2.0
#include "simulator/timing/matrix_cost.h"

#include <algorithm>
#include <vector>

namespace heddle::timing {
namespace {

constexpr uint64_t kWord = isa::kWordBytes;

uint64_t DivUp(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// How the engine cuts a command so that its pixels fit the accumulators: rows
// of stripes and columns of chunks.
struct Nest {
  std::vector<uint64_t> rows, columns;
  bool cut = false;
};

std::vector<uint64_t> Equal(uint64_t whole, uint64_t part) {
  std::vector<uint64_t> parts;
  for (uint64_t at = 0; at < whole; at += part) {
    parts.push_back(std::min(part, whole - at));
  }
  return parts;
}

Nest NestOf(const isa::Conv& c, bool one_pass, uint64_t entries) {
  Nest nest;
  nest.rows = {c.out_rows};
  nest.columns = {c.ow};
  const bool held = c.acc_hold || c.acc_continue;
  if (one_pass || held || uint64_t{c.out_rows} * c.ow <= entries) return nest;
  nest.cut = true;
  if (c.ow > entries) {
    nest.rows = Equal(c.out_rows, 1);
    nest.columns = Equal(c.ow, DivUp(c.ow, DivUp(c.ow, entries)));
  } else {
    const uint64_t stripes = DivUp(c.out_rows, entries / c.ow);
    nest.rows = Equal(c.out_rows, DivUp(c.out_rows, stripes));
  }
  return nest;
}

bool WideOutput(const isa::Conv& c) {
  return c.out_type == isa::OutType::kI32 || c.out_type == isa::OutType::kF32;
}

// Cycles of the output stage per vector of the array, where it has `halves`
// words of 16 channels.
double OutputCycles(const isa::Conv& c, double halves) {
  if (c.acc_hold) return 0;
  // Two words leave per cycle.
  double cycles = WideOutput(c) ? 2 * halves : 1;
  if (c.res_op != isa::ResidualOp::kNone) cycles = std::max(cycles, halves);
  if (c.pool == isa::PoolKind::kMax) {
    // Each row of a window reads, compares and writes the pooled word; the
    // first one only writes, two words in a cycle.
    const double rows = halves > 1 ? c.pool_k - 0.5 : c.pool_k;
    cycles = std::max(cycles, rows * halves / (c.pool_s * c.pool_s));
  }
  return cycles;
}

}  // namespace

uint64_t FoldVectors(uint32_t rows, uint32_t row_bytes, uint32_t lanes) {
  uint64_t vectors = 0;
  uint32_t row = 0, column = 0;
  while (row < rows) {
    ++vectors;
    uint32_t left = lanes;
    for (uint32_t touched = 0;
         touched < isa::kFoldRowsMax && left > 0 && row < rows; ++touched) {
      const uint32_t taken = std::min(left, row_bytes - column);
      left -= taken;
      column += taken;
      if (column == row_bytes) {
        column = 0;
        ++row;
      }
    }
  }
  return vectors;
}

MatrixCost CostOf(const isa::Conv& c, const isa::Config& config,
                  const Calibration& calibration) {
  const uint64_t lanes_in = config.lanes_in, lanes_out = config.lanes_out;
  const bool depthwise = c.mode == isa::MatrixMode::kDepthwise ||
                         c.mode == isa::MatrixMode::kMaxpool;
  const bool fold = c.mode == isa::MatrixMode::kFold;
  uint64_t passes, blocks, tile, row_extra = 0;
  if (depthwise) {
    // Up to three kernel rows of five columns or two of eight; one column at a
    // time where columns do not follow each other.
    const bool narrow = c.dx != 1 || c.sx > 4 || c.sx > c.kw;
    const bool wide = !narrow && c.kw > 5;
    const uint64_t rows = std::min<uint64_t>(c.kh, wide ? 2 : 3);
    const uint64_t columns = std::min<uint64_t>(c.kw, narrow ? 1
                                                      : wide ? 8
                                                             : 5);
    passes = DivUp(c.kh, rows) * DivUp(c.kw, columns);
    blocks = DivUp(c.co, 16);
    // A kernel row is a run of words, two at a time.
    tile = c.mode == isa::MatrixMode::kMaxpool ? 0
                                               : rows * (columns + columns % 2);
    // Four columns of a window enter per cycle.
    const uint64_t fill = columns - std::min<uint64_t>(columns, c.pad_left);
    if (!narrow && fill > 4) row_extra = DivUp(fill, 4) - 1;
    // A row port fetches two words per cycle.
    if (!narrow) {
      const int64_t right = int64_t{c.ow - 1} * c.sx + c.kw - c.pad_left;
      const int64_t words = std::min<int64_t>(right, c.iw) -
                            std::max<int64_t>(0, -int64_t{c.pad_left});
      if (words > 2 * int64_t{c.ow}) {
        row_extra = std::max(row_extra, DivUp(words, 2) - c.ow);
      }
    }
  } else {
    passes = fold ? FoldVectors(c.kh, c.kw * c.fold_channels, lanes_in)
                  : uint64_t{c.kh} * c.kw * DivUp(c.ci, lanes_in);
    blocks = DivUp(c.co, lanes_out);
    tile = lanes_in * lanes_out / kWord;
  }
  const double words_per_cycle =
      static_cast<double>(
          c.w_mode == isa::WeightMode::kRow      ? calibration.row_words
          : c.w_mode == isa::WeightMode::kColumn ? calibration.column_words
                                                 : calibration.packed_words) /
      64.0;
  const double load = static_cast<double>(tile) / words_per_cycle;
  // Parameters come before the first tile of a block, on its way.
  double lead = load;
  if (c.mode != isa::MatrixMode::kMaxpool) {
    const double pieces = depthwise ? 1 : static_cast<double>(lanes_out) / 16;
    if (!c.acc_hold) lead += pieces * 8 / words_per_cycle;
    if (c.zw_channel) lead += pieces;
    lead += static_cast<double>(calibration.block_gap) + (depthwise ? 2 : 0);
  }
  const Nest nest = NestOf(c, passes == 1, config.acc_pixels);
  // Vectors that wait for the output stage in its queue.
  const double rate = OutputCycles(
      c, static_cast<double>(DivUp(c.co, 16)) / static_cast<double>(blocks));
  const double queue = WideOutput(c) ? 8 : 22;
  double cycles = 0, outputs = 0, last = 0, weights = 0, reads = 0;
  double weights_wait = 0, output_wait = 0;
  const double operands = depthwise ? static_cast<double>(tile) / 3 * c.sx
                          : fold    ? 1
                                    : static_cast<double>(lanes_in) / 16;
  for (uint64_t rows : nest.rows) {
    for (uint64_t columns : nest.columns) {
      const double pixels = static_cast<double>(rows * (columns + row_extra));
      // Only the last pass of a block hides the next block's parameters.
      const double final = std::max(
          pixels, rate * (static_cast<double>(rows * columns) - queue));
      cycles += static_cast<double>(blocks) *
                (static_cast<double>(passes - 1) * std::max(pixels, load) +
                 std::max(final, lead));
      weights_wait +=
          static_cast<double>(blocks) *
          (static_cast<double>(passes - 1) * std::max(0.0, load - pixels) +
           std::max(0.0, lead - final));
      output_wait += static_cast<double>(blocks) * (final - pixels);
      last = pixels;
      weights += static_cast<double>(blocks * (passes * tile + 8));
      reads += operands * static_cast<double>(blocks * passes * rows * columns);
      outputs += static_cast<double>(blocks * rows * columns);
    }
  }
  // No block follows the last one.
  cycles -= std::max(0.0, lead - last);
  weights_wait -= std::max(0.0, lead - last);
  const double written = outputs * static_cast<double>(DivUp(c.co, 16)) /
                         static_cast<double>(blocks) * (WideOutput(c) ? 4 : 1);
  outputs = rate * (outputs - queue);
  MatrixCost cost;
  cost.cycles = static_cast<uint64_t>(std::max(cycles, outputs) + 0.5);
  cost.weights_wait = static_cast<uint64_t>(std::max(0.0, weights_wait));
  cost.output_wait =
      static_cast<uint64_t>(output_wait + std::max(0.0, outputs - cycles));
  cost.last = static_cast<uint64_t>(last);
  cost.weights = static_cast<uint64_t>(weights);
  if (c.sx > 1) cost.strided = static_cast<uint64_t>(reads);
  cost.words = static_cast<uint64_t>(weights + reads + written);
  cost.lead = static_cast<uint64_t>(lead + 0.5) + (c.lut ? 16 : 0);
  cost.start = calibration.conv_start + cost.lead +
               (nest.cut ? calibration.conv_divide : 0);
  cost.tail = calibration.conv_tail;
  if (c.pool != isa::PoolKind::kNone) cost.tail += calibration.pool_tail;
  if (WideOutput(c)) cost.tail += calibration.wide_tail;
  return cost;
}

}  // namespace heddle::timing
