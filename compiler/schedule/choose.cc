// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "compiler/schedule/boxes.h"
#include "compiler/schedule/cascade.h"
#include "compiler/schedule/plan.h"

namespace heddle::compiler {
namespace {

constexpr size_t kMaxLength = 12;  // operations of a cascade
constexpr size_t kMaxStates = 12;  // kept per cut
constexpr int64_t kStrip = 8;      // groups that the vector engine interleaves
// Of SRAM: the rest is for alignment and for holes between buffers.
constexpr double kUsable = 0.94;
struct Operand {
  int storage = -1;
  double tile = 0;   // bytes of one tile's buffer
  double total = 0;  // bytes moved by all tiles
};

// A segment with its tiles, before it is known what is resident.
struct Segment {
  size_t first = 0, count = 0;
  Box box;
  double tiles = 1;
  double commands = 0;
  double compute = 0;  // cycles of the matrix engine, or of what is no cascade
  double vector = 0;   // of a cascade's head on the vector engine
  double weights = 0;  // bytes in SRAM
  double weight_bytes = 0;  // loaded
  double inner = 0;         // rolling buffers and temporaries
  std::vector<Operand> inputs;
  Operand output;
};

struct State {
  double cost = 0;
  std::set<int> resident;  // storages, alive at the cut
  // How it came here.
  int from = -1;  // index of the state at the segment's begin
  int segment = -1;
  bool kept = false;  // result resident
};

class Chooser {
 public:
  Chooser(DeviceGraph* graph, const isa::Config& config,
          const Features& features, uint64_t program_bytes,
          const SchedulePrices& prices)
      : graph_(*graph),
        features_(features),
        config_(config),
        capacity_(config.sram_bytes * kUsable - program_bytes),
        bandwidth_(config.dram_bytes_per_cycle),
        prices_(prices) {}

  std::vector<uint32_t> Run() {
    FindLifetimes();
    const size_t count = graph_.ops.size();
    std::vector<std::vector<State>> states(count + 1);
    states[0].emplace_back();
    for (size_t i = 0; i < count; ++i) {
      Prune(&states[i]);
      if (states[i].empty()) continue;
      const size_t longest = features_.cascade ? kMaxLength : 1;
      for (size_t n = 1; n <= longest && i + n <= count; ++n) {
        if (n > 1 && !CanCascade(graph_, *graph_.ops[i + n - 1], false)) break;
        if (n > 1 && n == 2 && !CanCascade(graph_, *graph_.ops[i], true)) break;
        if (n > 1 && !IsChain(i, n)) continue;
        std::vector<Segment> found = n == 1 ? Single(i) : Cascades(i, n);
        for (Segment& segment : found) {
          segments_.push_back(std::move(segment));
          for (size_t s = 0; s < states[i].size(); ++s) {
            for (bool keep : {true, false}) {
              Extend(states[i][s], s, segments_.size() - 1, keep,
                     &states[i + n]);
            }
          }
        }
      }
    }
    return Apply(states);
  }

 private:
  struct Life {
    int first = -1, last = -1;
    int writers = 0;
  };

  void FindLifetimes() {
    lives_.resize(graph_.storages.size());
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      auto touch = [&](int value) {
        Life& life = lives_[graph_.values[value].storage];
        if (life.first < 0) life.first = static_cast<int>(i);
        life.last = static_cast<int>(i);
      };
      for (const OpInput& in : graph_.ops[i]->inputs) touch(in.value);
      touch(graph_.ops[i]->output);
      ++lives_[graph_.values[graph_.ops[i]->output].storage].writers;
    }
  }

  // Whether all results but the last are read inside only, and in a form that a
  // rolling buffer can have.
  bool IsChain(size_t i, size_t n) const {
    const int64_t images =
        graph_.values[graph_.ops[i + n - 1]->output].extent.n;
    for (size_t q = i; q < i + n; ++q) {
      const int output = graph_.ops[q]->output;
      if (graph_.values[output].extent.n != images) return false;
      if (q == i + n - 1) break;
      const int storage = graph_.values[output].storage;
      const Storage& s = graph_.storages[storage];
      const Life& life = lives_[storage];
      if (s.dram_dense() || s.shared || life.writers != 1 ||
          life.first != static_cast<int>(q) ||
          life.last >= static_cast<int>(i + n) ||
          life.last == static_cast<int>(q)) {
        return false;
      }
      // Read as the value that is written, not as another view of it.
      for (size_t r = q + 1; r < i + n; ++r) {
        for (const OpInput& in : graph_.ops[r]->inputs) {
          if (graph_.values[in.value].storage == storage &&
              in.value != output) {
            return false;
          }
        }
      }
    }
    return true;
  }

  // One operation.
  std::vector<Segment> Single(size_t i) const {
    const DeviceOp& op = *graph_.ops[i];
    std::vector<Segment> all;
    for (const BoxCost& cost :
         CandidateBoxes(graph_, op, config_, features_, capacity_,
                        prices_.command_cycles)) {
      Segment s;
      s.first = i;
      s.count = 1;
      s.box = cost.box;
      s.tiles = cost.tiles;
      s.commands = cost.commands;
      s.compute = cost.compute;
      s.weights = cost.weights;
      s.weight_bytes = cost.weight_bytes;
      s.inner = static_cast<double>(op.temporary_bytes);
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        s.inputs.push_back({graph_.values[op.inputs[k].value].storage,
                            cost.input_tile[k], cost.input_total[k]});
      }
      s.output = {graph_.values[op.output].storage, cost.output_tile,
                  cost.output_total};
      if (s.inner + s.weights < capacity_) all.push_back(std::move(s));
    }
    return all;
  }

  // Several as a cascade.
  std::vector<Segment> Cascades(size_t i, size_t n) const {
    const DeviceOp& last = *graph_.ops[i + n - 1];
    const int64_t height = graph_.values[last.output].extent.h;
    std::vector<Segment> all;
    for (int64_t rows :
         last.tileable ? RowCandidates(height) : std::vector<int64_t>{height}) {
      Segment s;
      if (Describe(i, n, rows, &s)) all.push_back(std::move(s));
    }
    return all;
  }

  // A tile of whole rows.
  TileShape Rows(const DeviceOp& op, int64_t rows) const {
    TileShape tile = WholeTile(graph_, op);
    tile.rows = rows;
    return tile;
  }

  bool Describe(size_t i, size_t n, int64_t rows, Segment* out) const {
    Segment& s = *out;
    s.first = i;
    s.count = n;
    const DeviceOp& last = *graph_.ops[i + n - 1];
    const int64_t height = graph_.values[last.output].extent.h;
    s.box.tile = Rows(last, rows);
    s.tiles = static_cast<double>((height + rows - 1) / rows);
    std::vector<const DeviceOp*> parts;
    for (size_t q = i; q < i + n; ++q) {
      parts.push_back(graph_.ops[q].get());
      s.commands += s.tiles * static_cast<double>(parts.back()->groups.size());
    }
    const StripeChain chain(graph_, parts);
    const std::vector<int64_t> kept =
        chain.BufferRows(rows, 0, std::min<int64_t>(4, s.tiles));
    for (size_t q = 0; q + 1 < n; ++q) {
      const Storage& t = graph_.StorageOf(parts[q]->output);
      const Extent& e = graph_.values[parts[q]->output].extent;
      s.inner += static_cast<double>(
          GeometryOf(e, t.layout, 1, kept[q] ? kept[q] : e.h, Halo()).bytes);
    }
    const std::vector<int64_t> first_rows = chain.Need(rows);
    const std::vector<int64_t> second_rows = chain.Need(2 * rows);
    for (size_t q = 0; q < n; ++q) {
      const DeviceOp& op = *parts[q];
      const bool head = op.AsMatrix() == nullptr;
      (head ? s.vector : s.compute) += ComputeCycles(graph_, op, s.tiles);
      uint64_t all = 0;
      for (const ConstantGroup& g : op.groups) all += g.bytes;
      s.inner += static_cast<double>(op.temporary_bytes);
      s.weights += static_cast<double>(all);
      s.weight_bytes += static_cast<double>(all);
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        if (chain.Producer(q, k) >= 0) continue;
        const int value = op.inputs[k].value;
        Operand o;
        o.storage = graph_.values[value].storage;
        if (op.inputs[k].rows.kind == AxisNeed::kDirect) {
          s.inputs.push_back(o);
          continue;
        }
        const int64_t most = std::max(
            {int64_t{1}, first_rows[q], second_rows[q] - first_rows[q]});
        o.tile =
            static_cast<double>(InputTile(graph_, op, k, Rows(op, most)).bytes);
        const Extent& e = graph_.values[value].extent;
        const double whole = static_cast<double>(
            InputTile(graph_, op, k, Rows(op, chain.height(q))).bytes);
        // Windows of tiles overlap.
        const double again = o.tile - whole * static_cast<double>(most) /
                                          static_cast<double>(chain.height(q));
        o.total = static_cast<double>(e.n) *
                  (whole + std::max(0.0, again) * (s.tiles - 1));
        if (op.inputs[k].rows.kind == AxisNeed::kWhole) {
          o.total = static_cast<double>(e.n) * whole;
        }
        s.inputs.push_back(o);
      }
    }
    s.output.storage = graph_.values[last.output].storage;
    s.output.tile =
        static_cast<double>(OutputTile(graph_, last, Rows(last, rows)).bytes);
    s.output.total =
        static_cast<double>(graph_.values[last.output].extent.n *
                            OutputTile(graph_, last, Rows(last, height)).bytes);
    return s.inner + s.weights < capacity_;
  }

  void Extend(const State& state, size_t index, size_t segment_index, bool keep,
              std::vector<State>* to) const {
    const Segment& s = segments_[segment_index];
    const size_t end = s.first + s.count;
    const Storage& result = graph_.storages[s.output.storage];
    const Life& life = lives_[s.output.storage];
    const bool later = life.last >= static_cast<int>(end);
    const bool written = state.resident.count(s.output.storage) > 0;
    // A part of a storage lies where its other parts are.
    const bool known = life.first < static_cast<int>(s.first);
    if (result.dram_dense() && keep) return;
    if (known && keep != written) return;
    if (!later && !result.dram_dense() && !keep && !known) return;
    // Without by_group the result is complete only when the last group is done.
    if (s.box.by_group ? keep : s.box.group_outer && !keep) return;
    const double buffers = s.tiles > 1 && !s.box.single ? 2 : 1;
    double bytes = s.inner + s.weights, traffic = s.weight_bytes, ends = 0;
    double transfers = 0;
    for (int storage : state.resident) {
      bytes += static_cast<double>(graph_.storages[storage].SramBytes());
    }
    for (const Operand& o : s.inputs) {
      if (state.resident.count(o.storage)) continue;
      bytes += o.tile * buffers;
      traffic += o.total;
      ends += o.tile;
      transfers += o.total > 0 ? s.tiles : 0;
    }
    if (keep) {
      if (!known) bytes += static_cast<double>(result.SramBytes());
    } else {
      bytes += s.output.tile * buffers;
      traffic += s.output.total;
      ends += s.output.tile;
      transfers += s.tiles;
    }
    if (bytes > capacity_) return;
    const double bus = BusCycles(traffic, transfers, bandwidth_);
    State next;
    // A cascade begins when all of its constants are there.
    if (s.count > 1) ends += s.weights;
    next.cost =
        state.cost + ends / bandwidth_ + prices_.traffic * bus +
        prices_.command_cycles * s.commands +
        (s.box.single ? s.compute + bus : std::max({s.compute, s.vector, bus}));
    next.from = static_cast<int>(index);
    next.segment = static_cast<int>(segment_index);
    next.kept = keep;
    for (int storage : state.resident) {
      if (lives_[storage].last >= static_cast<int>(end)) {
        next.resident.insert(storage);
      }
    }
    if (keep && later) next.resident.insert(s.output.storage);
    for (State& other : *to) {
      if (other.resident != next.resident) continue;
      if (next.cost < other.cost) other = std::move(next);
      return;
    }
    to->push_back(std::move(next));
  }

  static void Prune(std::vector<State>* states) {
    std::stable_sort(
        states->begin(), states->end(),
        [](const State& a, const State& b) { return a.cost < b.cost; });
    if (states->size() > kMaxStates) states->resize(kMaxStates);
  }

  std::vector<uint32_t> Apply(std::vector<std::vector<State>>& states) {
    std::vector<uint32_t> index(graph_.ops.size());
    for (size_t i = 0; i < index.size(); ++i) index[i] = i;
    if (states.back().empty()) return index;  // the memory plan will see
    Prune(&states.back());
    std::vector<const State*> path;
    const State* at = &states.back()[0];
    while (at->segment >= 0) {
      path.push_back(at);
      at = &states[segments_[at->segment].first][at->from];
    }
    std::reverse(path.begin(), path.end());
    std::vector<std::unique_ptr<DeviceOp>> ops;
    for (const State* state : path) {
      const Segment& s = segments_[state->segment];
      Storage& result = graph_.storages[s.output.storage];
      if (features_.cost_tiles && !state->kept && !result.dram_dense()) {
        result.spill = true;
      }
      for (size_t q = s.first; q < s.first + s.count; ++q)
        index[q] = ops.size();
      TileShape tile = s.box.tile;
      tile.lead = Lead(s, states[s.first][state->from].resident);
      if (s.count == 1) {
        ops.push_back(std::move(graph_.ops[s.first]));
        if (features_.cost_tiles) {
          ops.back()->box = s.box;
          ops.back()->box->tile = tile;
        }
        continue;
      }
      std::vector<std::unique_ptr<DeviceOp>> parts;
      for (size_t q = s.first; q < s.first + s.count; ++q) {
        parts.push_back(std::move(graph_.ops[q]));
      }
      ops.push_back(
          MakeCascade(graph_, std::move(parts), tile.rows, tile.lead));
    }
    graph_.ops = std::move(ops);
    return index;
  }

  // By how many rows the first tile is shorter. Nothing runs beside its loads:
  // of a cascade, which begins when all of its constants are there, nor of the
  // first operation. The second's should take no longer than the work on it.
  int64_t Lead(const Segment& s, const std::set<int>& resident) const {
    if (!features_.short_first || s.tiles < 2) return 0;
    if (s.count == 1 && s.first > 0) return 0;
    double bytes = 0;
    for (const Operand& o : s.inputs) {
      if (!resident.count(o.storage)) bytes += o.total;
    }
    const double work = std::max(s.compute, s.vector);
    const int64_t rows = s.box.tile.rows;
    if (bytes == 0 || bytes / bandwidth_ >= work) return 0;
    double first = std::ceil(rows * bytes / bandwidth_ / work);
    // Rows are what the vector engine interleaves.
    const bool strips = graph_.ops[s.first]->AsMatrix() == nullptr;
    if (strips && s.count == 1 && rows % kStrip == 0) {
      first = kStrip * std::max(1.0, std::round(first / kStrip));
    }
    return rows - static_cast<int64_t>(first);
  }

  DeviceGraph& graph_;
  const Features features_;
  const isa::Config& config_;
  const double capacity_;
  const double bandwidth_;
  const SchedulePrices prices_;
  std::vector<Life> lives_;
  std::vector<Segment> segments_;
};

}  // namespace

std::vector<uint32_t> ChooseSchedule(DeviceGraph* graph,
                                     const isa::Config& config,
                                     const Features& features,
                                     uint64_t program_bytes,
                                     const SchedulePrices& prices) {
  return Chooser(graph, config, features, program_bytes, prices).Run();
}

}  // namespace heddle::compiler
