// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/boxes.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/matrix_op.h"
#include "compiler/schedule/plan.h"

namespace heddle::compiler {
namespace {

constexpr double kCommandStart = 44;
constexpr int64_t kHeights[] = {1,  2,  3,   4,   5,   6,   8,   10,
                                12, 16, 20,  24,  28,  32,  40,  48,
                                64, 96, 128, 192, 256, 384, 512, 1024};
// Boxes beside those of whole rows that are kept for each amount of SRAM.
constexpr size_t kBest = 3;
// Traffic within so much of the least leaves nothing to gain.
constexpr double kEnough = 1.03;
// Columns below which transfers lose more than they save, and below which
// commands do where it is them that must be few.
constexpr int64_t kShortRow = 32, kShortRowOfFew = 4;

int64_t Ceil(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// All, a half, a quarter and so on, in multiples of `step`, down to `least`.
std::vector<int64_t> Parts(int64_t all, int64_t step, int64_t least) {
  std::vector<int64_t> parts = {all};
  for (int64_t count = 2; parts.back() > least; count *= 2) {
    const int64_t part = Ceil(Ceil(all, count), step) * step;
    if (part >= parts.back() || part < least) break;
    parts.push_back(part);
  }
  return parts;
}

Tile FirstOf(const TileShape& shape) {
  Tile tile;
  tile.rows = shape.rows;
  tile.columns = shape.columns;
  tile.channels = shape.channels;
  tile.group = -1;
  return tile;
}

double Elements(const InputBox& box) {
  return static_cast<double>(box.rows.count * box.columns.count *
                             box.channels.count);
}

// Whether a group of constants reads only a part of the operand.
bool SlicesOf(const OpInput& in) {
  return !in.channel_slices.empty() || !in.row_slices.empty() ||
         !in.column_slices.empty();
}

// How often the largest slice of input `k` is loaded for one tile by all its
// groups, one after another.
double LoadsOfGroups(const DeviceGraph& graph, const DeviceOp& op, size_t k,
                     const TileShape& shape) {
  const OpInput& in = op.inputs[k];
  if (!SlicesOf(in)) return 1;
  Tile tile = FirstOf(shape);
  const double largest = Elements(NeedOf(graph, op, k, tile));
  double loaded = 0;
  InputBox before;
  for (size_t g = 0; g < op.groups.size(); ++g) {
    tile.group = static_cast<int>(g);
    const InputBox box = NeedOf(graph, op, k, tile);
    if (g == 0 || !(box == before)) loaded += Elements(box);
    before = box;
  }
  return loaded / std::max(1.0, largest);
}

double SramBytes(const BoxCost& cost) {
  double operands = cost.output_tile;
  for (double tile : cost.input_tile) operands += tile;
  return cost.weights + operands * (cost.box.single || cost.tiles == 1 ? 1 : 2);
}

double Traffic(const BoxCost& cost) {
  double bytes = cost.weight_bytes + cost.output_total;
  for (double total : cost.input_total) bytes += total;
  return bytes;
}

// While everything is in device memory.
double Time(const BoxCost& cost, double bandwidth, double command_cycles) {
  const double bus = BusCycles(
      Traffic(cost),
      cost.tiles * (1.0 + static_cast<double>(cost.input_tile.size())),
      bandwidth);
  const double both =
      cost.box.single ? cost.compute + bus : std::max(cost.compute, bus);
  return both + 0.05 * bus + cost.commands * command_cycles;
}

}  // namespace

std::vector<int64_t> RowCandidates(int64_t height) {
  std::vector<int64_t> all;
  for (int64_t h : kHeights) {
    if (h >= height) break;
    // Heights that make as many tiles as a smaller one are no better.
    all.push_back(Ceil(height, Ceil(height, h)));
  }
  all.push_back(height);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double ComputeCycles(const DeviceGraph& graph, const DeviceOp& op,
                     double tiles) {
  const Extent& e = graph.values[op.output].extent;
  if (const MatrixOp* matrix = op.AsMatrix()) {
    const auto rows = std::max<int64_t>(1, static_cast<int64_t>(e.h / tiles));
    const auto cycles = static_cast<double>(matrix->Cycles(rows));
    return e.n * (std::max(0.0, cycles - 40) * e.h / rows +
                  tiles * kCommandStart * op.groups.size());
  }
  if (op.vector_cycles > 0) {
    return op.vector_cycles + e.n * tiles * kCommandStart *
                                  static_cast<double>(op.Programs().size());
  }
  return static_cast<double>(e.n * e.c * e.h * e.w) / isa::kVectorLanes * 6 +
         e.n * tiles * kCommandStart;
}

BoxCost CostOfBox(const DeviceGraph& graph, const DeviceOp& op,
                  const Box& box) {
  const Extent& e = graph.values[op.output].extent;
  const TileShape& t = box.tile;
  const auto images = static_cast<double>(e.n);
  BoxCost cost;
  cost.box = box;
  const double down = Ceil(e.h, t.rows), across = Ceil(e.w, t.columns),
               deep = Ceil(e.c, t.channels);
  cost.tiles = down * across * deep;
  cost.compute = ComputeCycles(graph, op, down) +
                 images * (cost.tiles - down) * kCommandStart *
                     static_cast<double>(op.groups.size());
  double all = 0, largest = 0;
  for (const ConstantGroup& g : op.groups) {
    all += static_cast<double>(g.bytes);
    largest = std::max(largest, static_cast<double>(g.bytes));
  }
  const bool several = op.groups.size() > 1;
  cost.weights = several && !box.keep ? (box.single ? 1 : 2) * largest : all;
  const bool again = several && !box.keep && !box.group_outer;
  cost.weight_bytes = again ? all * cost.tiles * images : all;
  OpPlan plan;
  plan.tile = t;
  plan.cut_groups = box.by_group;
  const TileShape stored = StoredTile(op, plan);
  const double passes = box.group_outer && cost.tiles * images > 1
                            ? static_cast<double>(GroupRuns(op).size())
                            : 1;
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const OpInput& in = op.inputs[k];
    cost.input_tile.push_back(0);
    cost.input_total.push_back(0);
    if (in.rows.kind == AxisNeed::kDirect) continue;
    cost.input_tile.back() =
        static_cast<double>(InputTile(graph, op, k, stored).bytes);
    const auto bytes_of = [&](int64_t rows) {
      TileShape shape = t;
      shape.rows = rows;
      return static_cast<double>(InputTile(graph, op, k, shape).bytes);
    };
    // Whether what is needed changes from tile to tile along an axis.
    const Tile first = FirstOf(t);
    const InputBox need = NeedOf(graph, op, k, first);
    const auto changes = [&](int64_t Tile::*at, int64_t by) {
      Tile next = first;
      next.*at += by;
      return !(NeedOf(graph, op, k, next) == need);
    };
    const bool rows = down > 1 && changes(&Tile::row0, t.rows);
    const bool columns = across > 1 && changes(&Tile::column0, t.columns);
    const bool channels = deep > 1 && changes(&Tile::channel0, t.channels);
    const double strip = bytes_of(e.h);
    double total = strip;
    if (rows) {
      const double tile = bytes_of(t.rows);
      // Windows of tiles overlap.
      total += std::max(0.0, tile - strip * static_cast<double>(t.rows) /
                                        static_cast<double>(e.h)) *
               (down - 1);
    }
    // The loop over rows is the innermost: what it changes is loaded again in
    // each round of the others.
    if (rows || columns) total *= across;
    if (rows || columns || channels) total *= deep;
    cost.input_total.back() =
        static_cast<double>(graph.values[in.value].extent.n) * total * passes *
        LoadsOfGroups(graph, op, k, t);
  }
  const auto groups = static_cast<double>(op.groups.size());
  double of_tile =
      groups + (box.by_group ? static_cast<double>(GroupRuns(op).size()) : 1);
  if (again) of_tile += groups;
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (cost.input_total[k] == 0) continue;
    of_tile += SlicesOf(op.inputs[k]) ? groups : passes;
  }
  cost.commands = images * cost.tiles * of_tile + (again ? 0 : groups);
  cost.output_tile = static_cast<double>(OutputTile(graph, op, stored).bytes);
  cost.output_total =
      images *
      static_cast<double>(OutputTile(graph, op, WholeTile(graph, op)).bytes);
  return cost;
}

std::vector<BoxCost> CandidateBoxes(const DeviceGraph& graph,
                                    const DeviceOp& op,
                                    const isa::Config& config,
                                    const Features& features, double capacity,
                                    double command_cycles) {
  const TileShape whole = AllowedTile(graph, op, WholeTile(graph, op));
  std::vector<BoxCost> plain, others;
  const auto bandwidth = static_cast<double>(config.dram_bytes_per_cycle);
  const bool several = op.groups.size() > 1;
  const auto add = [&](const Box& box, std::vector<BoxCost>* to) {
    to->push_back(CostOfBox(graph, op, box));
  };
  std::vector<int64_t> rows = {whole.rows};
  if (op.tileable && features.cost_tiles) {
    rows = RowCandidates(whole.rows);
  } else if (op.tileable) {
    rows = {1, std::max<int64_t>(1, whole.rows / 8), whole.rows};
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  }
  for (int64_t r : rows) {
    Box box;
    box.tile = whole;
    box.tile.rows = r;
    box.keep = several && features.keep_weights && r < whole.rows;
    add(box, &plain);
    if (box.keep) {
      box.keep = false;
      add(box, &plain);
    }
  }
  if (!features.cost_tiles) return plain;
  // Bytes that must move, and those of the best so far.
  const double least = Traffic(plain.back());
  double found = 0;
  for (const BoxCost& cost : plain) {
    if (SramBytes(cost) > capacity) continue;
    if (found == 0 || Traffic(cost) < found) found = Traffic(cost);
  }
  if (command_cycles == 0 && found > 0 && found < least * kEnough) return plain;
  const bool runs = features.keep_weights && GroupRuns(op).size() > 1;
  const int64_t shortest = command_cycles > 0 ? kShortRowOfFew : kShortRow;
  const std::vector<int64_t> columns =
      op.columns_tileable ? Parts(whole.columns, op.column_step,
                                  std::max(shortest, op.column_step))
                          : std::vector<int64_t>{whole.columns};
  const std::vector<int64_t> channels =
      op.channels_tileable ? Parts(whole.channels, op.channel_step,
                                   std::max<int64_t>(16, op.channel_step))
                           : std::vector<int64_t>{whole.channels};
  for (int64_t r : rows) {
    for (int64_t w : columns) {
      for (int64_t c : channels) {
        Box box;
        box.tile = AllowedTile(graph, op, {r, w, c});
        const bool cut = w < whole.columns || c < whole.channels;
        const bool tiles = cut || r < whole.rows;
        for (int order = 0; order < 5; ++order) {
          box.keep = order == 1;
          box.group_outer = order == 2 || order == 3;
          box.by_group = order == 3 || order == 4;
          if (order > 0 &&
              !(order == 1 ? several && features.keep_weights : runs)) {
            continue;
          }
          if (!tiles && order < 3) continue;
          // Only the matrix engine leaves what other groups have made alone.
          if (order == 2 && op.AsMatrix() == nullptr) continue;
          for (bool single : {false, true}) {
            box.single = single;
            BoxCost cost = CostOfBox(graph, op, box);
            if (SramBytes(cost) > capacity) continue;
            // Whole rows in the usual orders are known.
            if (cut || order > 1 || single) others.push_back(std::move(cost));
            break;  // single buffers where double ones do not fit
          }
        }
      }
    }
  }
  std::stable_sort(others.begin(), others.end(),
                   [&](const BoxCost& a, const BoxCost& b) {
                     return Time(a, bandwidth, command_cycles) <
                            Time(b, bandwidth, command_cycles);
                   });
  for (double limit : {capacity, capacity / 2}) {
    size_t taken = 0;
    for (BoxCost& cost : others) {
      if (taken == kBest) break;
      if (cost.tiles == 0 || SramBytes(cost) > limit) continue;
      plain.push_back(cost);
      cost.tiles = 0;  // taken
      ++taken;
    }
  }
  return plain;
}

}  // namespace heddle::compiler
