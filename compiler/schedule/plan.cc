// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/plan.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/schedule/constant_stream.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kAlign = 64;

uint64_t Align(uint64_t value) {
  return (value + kAlign - 1) / kAlign * kAlign;
}

// A buffer that lives from one operation to another.
struct Buffer {
  uint64_t bytes = 0;
  int first = 0, last = 0;
  uint64_t offset = 0;
  bool constants = false;
};

// Buffers by the operations during which they live.
class LifeIndex {
 public:
  explicit LifeIndex(const std::vector<Buffer>& buffers)
      : buffers_(buffers), seen_(buffers.size(), SIZE_MAX) {
    int last = 0;
    for (const Buffer& b : buffers) last = std::max(last, b.last);
    blocks_.resize(last / kBlock + 1);
  }
  void Add(size_t index) {
    const Buffer& b = buffers_[index];
    for (int k = Block(b.first); k <= Block(b.last); ++k) {
      blocks_[k].push_back(index);
    }
  }
  // Calls `visit` once with each buffer that lives with `index`.
  template <typename F>
  void ForOverlapping(size_t index, F visit) {
    const Buffer& b = buffers_[index];
    for (int k = Block(b.first); k <= Block(b.last); ++k) {
      for (size_t other : blocks_[k]) {
        if (std::exchange(seen_[other], index) == index) continue;
        const Buffer& o = buffers_[other];
        if (o.first <= b.last && b.first <= o.last) visit(o);
      }
    }
  }

 private:
  static constexpr int kBlock = 32;  // operations
  static int Block(int op) { return std::max(op, 0) / kBlock; }

  const std::vector<Buffer>& buffers_;
  std::vector<std::vector<size_t>> blocks_;
  std::vector<size_t> seen_;  // the last question that it answered
};

// First fit by decreasing size. Returns the index of a buffer that finds no
// place below `capacity`, or buffers->size().
size_t Place(std::vector<Buffer>* buffers, uint64_t capacity, uint64_t* peak) {
  std::vector<size_t> order(buffers->size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return (*buffers)[a].bytes > (*buffers)[b].bytes;
  });
  LifeIndex placed(*buffers);
  *peak = 0;
  for (size_t index : order) {
    Buffer& b = (*buffers)[index];
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    placed.ForOverlapping(index, [&](const Buffer& o) {
      taken.push_back({o.offset, o.offset + Align(o.bytes)});
    });
    std::sort(taken.begin(), taken.end());
    uint64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (begin >= at + Align(b.bytes)) break;
      at = std::max(at, end);
    }
    if (at + b.bytes > capacity) return index;
    b.offset = at;
    *peak = std::max(*peak, at + b.bytes);
    placed.Add(index);
  }
  return buffers->size();
}

bool HaloFits(const Storage& s, const OpInput& input) {
  if (input.halo.empty()) return true;
  return s.halo.top >= input.halo.top && s.halo.left >= input.halo.left &&
         s.halo.bottom >= input.halo.bottom &&
         s.halo.right >= input.halo.right && s.halo_value == input.halo_value;
}

int64_t Ceil(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Half of `value`, rounded up to a multiple of `step`.
int64_t Half(int64_t value, int64_t step) {
  return Ceil(value, 2 * step) * step;
}

// Channels of a tile below which columns are cut first.
constexpr int64_t kChannels = 16;
// Columns of a tile below which transfers lose more than they do with fewer
// channels.
constexpr int64_t kShortRow = 32;
// Rows of a tile below which constants that are loaded again for every tile
// cost more than a result that is stored in pieces.
constexpr int64_t kRowsBeforeGroups = 16;

class Planner {
 public:
  Planner(DeviceGraph* graph, const isa::Config& config,
          const ProgramBytes& programs, bool keep_programs,
          const Features& features, bool stream_constants)
      : graph_(*graph),
        capacity_(config.sram_bytes),
        programs_(programs),
        features_(features),
        window_(stream_constants ? features.prefetch : 0) {
    plan_.keep_programs = keep_programs;
  }

  absl::StatusOr<MemoryPlan> Run() {
    SetLifetimes();
    plan_.ops.resize(graph_.ops.size());
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const DeviceOp& op = *graph_.ops[i];
      OpPlan& p = plan_.ops[i];
      p.tile = FirstTile(op);
      p.ahead = std::min({window_ > 0 ? 1 : features_.prefetch,
                          features_.prefetch, static_cast<int>(i)});
      p.keep = features_.keep_weights && op.groups.size() > 1;
      p.early = features_.early_operands && i > 0;
      if (!op.box) continue;
      p.keep = op.box->keep;
      p.cut_groups = op.box->by_group && !graph_.StorageOf(op.output).resident;
      p.single = op.box->single;
    }
    while (true) {
      const size_t failed = TryPlace();
      if (failed == graph_.ops.size()) break;
      RETURN_IF_ERROR(Relax(failed));
    }
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      plan_.ops[i].keep &= Tiles(i) > 1;
      ChooseOrder(i);
    }
    RETURN_IF_ERROR(CheckTiles());
    StreamConstants();
    RETURN_IF_ERROR(PlaceScratch());
    return std::move(plan_);
  }

 private:
  // The image, as far as the operation allows it and the choice of the schedule
  // wants it.
  TileShape FirstTile(const DeviceOp& op) const {
    return AllowedTile(graph_, op,
                       op.box ? op.box->tile : WholeTile(graph_, op));
  }

  uint64_t Tiles(size_t op) const {
    return plan_.ops[op].tile.Count(
        graph_.values[graph_.ops[op]->output].extent);
  }

  // Every tile is a command at least: beyond what all streams hold there is no
  // use in making them.
  absl::Status CheckTiles() const {
    constexpr uint64_t kShortest = isa::Fill::kWords * sizeof(uint32_t);
    constexpr uint64_t kMost = kMostStreams * isa::kStreamBytesMax / kShortest;
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const DeviceOp& op = *graph_.ops[i];
      const uint64_t commands = Tiles(i) * op.groups.size();
      if (commands <= kMost) continue;
      return Reject(
          Rejection::kUnsupportedShape,
          absl::StrCat(op.op, " '", op.name, "': it needs ", commands,
                       " commands or more, a package has at most ", kMost,
                       "; make the batch smaller or split the operator"));
    }
    return absl::OkStatus();
  }

  // Groups outside, tiles inside, where constants would be loaded again for
  // every tile otherwise, and operands are not worth more. The result must be
  // in SRAM, because it is complete only at the end, or stored group by group.
  void ChooseOrder(size_t at) {
    OpPlan& p = plan_.ops[at];
    const DeviceOp& op = *graph_.ops[at];
    if (!features_.keep_weights || p.keep || op.groups.size() < 2 ||
        Tiles(at) < 2) {
      return;
    }
    if (!p.cut_groups &&
        (op.AsMatrix() == nullptr || !graph_.StorageOf(op.output).resident)) {
      return;
    }
    uint64_t constants = 0, operands = 0;
    for (const ConstantGroup& g : op.groups) constants += g.bytes;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (graph_.StorageOf(op.inputs[k].value).resident && !p.copy[k]) continue;
      operands += InputTile(graph_, op, k, StoredTile(op, p)).bytes * Tiles(at);
    }
    if (op.box && p.tile == op.box->tile) {
      p.group_outer = op.box->group_outer;
      return;
    }
    p.group_outer =
        constants * (Tiles(at) - 1) > operands * (GroupRuns(op).size() - 1);
  }

  void SetLifetimes() {
    std::vector<bool> read(graph_.storages.size(), false);
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const DeviceOp& op = *graph_.ops[i];
      auto touch = [&](int value) {
        Storage& s = graph_.StorageOf(value);
        if (s.first_op < 0) s.first_op = i;
        s.last_op = i;
      };
      for (const OpInput& in : op.inputs) {
        touch(in.value);
        read[graph_.values[in.value].storage] = true;
      }
      touch(op.output);
    }
    for (size_t i = 0; i < graph_.storages.size(); ++i) {
      Storage& s = graph_.storages[i];
      const bool kept = features_.keep_outputs && read[i] && MayStayAsOutput(s);
      s.resident = (!s.dram_dense() || kept) && s.first_op >= 0 && !s.spill;
    }
  }

  // Rebuilds all buffers and places them. Returns the operation that does not
  // fit, or ops.size().
  size_t TryPlace() {
    buffers_.clear();
    owner_.clear();
    std::vector<size_t> storage_buffer(graph_.storages.size(), SIZE_MAX);
    for (size_t i = 0; i < graph_.storages.size(); ++i) {
      const Storage& s = graph_.storages[i];
      if (!s.resident) continue;
      storage_buffer[i] = Add(s.SramBytes(), s.first_op, s.last_op, s.first_op);
    }
    struct Indices {
      std::array<size_t, 2> constants, output;
      std::vector<std::array<size_t, 2>> inputs;
      size_t temporary, programs;
    };
    std::vector<Indices> indices(graph_.ops.size());
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const DeviceOp& op = *graph_.ops[i];
      OpPlan& p = plan_.ops[i];
      const int at = static_cast<int>(i);
      const bool several = !p.single && (Tiles(i) > 1 || op.groups.size() > 1);
      auto pair = [&](uint64_t bytes, int from) {
        const size_t first = Add(bytes, from, at, at);
        return std::array<size_t, 2>{
            first, several ? Add(bytes, from, at, at) : first};
      };
      uint64_t constant_bytes = 0;
      for (const ConstantGroup& g : op.groups) {
        constant_bytes = std::max(constant_bytes, g.bytes);
      }
      const int from = at - p.ahead;
      indices[i].programs =
          Add(plan_.keep_programs ? 0 : programs_.own[i], at, at, at);
      const bool keep = p.keep && Tiles(i) > 1;
      if (keep) {
        constant_bytes = 0;
        for (const ConstantGroup& g : op.groups) constant_bytes += g.bytes;
      }
      if (op.groups.size() > 1 && !keep && !p.single) {
        indices[i].constants = pair(constant_bytes, from);
      } else {
        const size_t one = Add(constant_bytes, from, at, at);
        indices[i].constants = {one, one};
      }
      for (size_t side : indices[i].constants) buffers_[side].constants = true;
      p.copy.assign(op.inputs.size(), false);
      indices[i].inputs.resize(op.inputs.size());
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        const Storage& s = graph_.StorageOf(op.inputs[k].value);
        if (s.resident) {
          if (HaloFits(s, op.inputs[k])) continue;
          p.copy[k] = true;
        }
        indices[i].inputs[k] =
            pair(InputTile(graph_, op, k, StoredTile(op, p)).bytes,
                 at - (p.early ? 1 : 0));
      }
      if (!graph_.StorageOf(op.output).resident) {
        indices[i].output =
            pair(OutputTile(graph_, op, StoredTile(op, p)).bytes, at);
      }
      indices[i].temporary = Add(op.temporary_bytes, at, at, at);
    }
    const uint64_t base = Base();
    const size_t failed = Place(&buffers_, capacity_ - base, &plan_.sram_peak);
    if (failed < buffers_.size()) return owner_[failed];
    plan_.sram_peak += base;
    auto address = [&](size_t index) {
      return static_cast<uint32_t>(base + buffers_[index].offset);
    };
    plan_.programs = 0;
    for (size_t i = 0; i < graph_.storages.size(); ++i) {
      if (storage_buffer[i] != SIZE_MAX) {
        graph_.storages[i].sram = address(storage_buffer[i]);
      }
    }
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const DeviceOp& op = *graph_.ops[i];
      OpPlan& p = plan_.ops[i];
      p.inputs.assign(op.inputs.size(), {0, 0});
      for (int side = 0; side < 2; ++side) {
        p.constants[side] = address(indices[i].constants[side]);
        for (size_t k = 0; k < op.inputs.size(); ++k) {
          if (graph_.StorageOf(op.inputs[k].value).resident && !p.copy[k])
            continue;
          p.inputs[k][side] = address(indices[i].inputs[k][side]);
        }
        if (!graph_.StorageOf(op.output).resident) {
          p.output[side] = address(indices[i].output[side]);
        }
      }
      p.temporary = address(indices[i].temporary);
      p.programs = address(indices[i].programs);
    }
    return graph_.ops.size();
  }

  // Microprograms that stay throughout are at the beginning.
  uint64_t Base() const {
    return plan_.keep_programs ? Align(programs_.all) : 0;
  }

  // The loads of constants, in what the other buffers leave free.
  void StreamConstants() {
    const uint64_t base = Base();
    std::vector<PlacedBuffer> others;
    for (const Buffer& b : buffers_) {
      if (b.constants || b.bytes == 0) continue;
      others.push_back({base + b.offset, base + b.offset + b.bytes,
                        static_cast<size_t>(b.first),
                        static_cast<size_t>(b.last)});
    }
    std::vector<uint64_t> tiles(graph_.ops.size());
    for (size_t i = 0; i < tiles.size(); ++i) tiles[i] = Tiles(i);
    PlanConstants(graph_, tiles, others, window_, base, capacity_, &plan_);
    for (const ConstantUse& use : plan_.constants) {
      plan_.sram_peak = std::max(plan_.sram_peak, use.address + use.bytes);
    }
  }

  // Makes room at operation `at`.
  absl::Status Relax(size_t at) {
    OpPlan& p = plan_.ops[at];
    const DeviceOp& op = *graph_.ops[at];
    if (p.early) {
      p.early = false;
      return absl::OkStatus();
    }
    if (at + 1 < plan_.ops.size() && plan_.ops[at + 1].early) {
      plan_.ops[at + 1].early = false;
      return absl::OkStatus();
    }
    if (p.ahead > 0) {
      p.ahead /= 2;
      return absl::OkStatus();
    }
    // Of others, those that are needed last.
    for (size_t j = plan_.ops.size() - 1; j > at; --j) {
      const int distance = static_cast<int>(j - at);
      if (plan_.ops[j].ahead < distance) continue;
      plan_.ops[j].ahead = distance - 1;
      return absl::OkStatus();
    }
    if (p.keep && Tiles(at) > 1) {
      p.keep = false;
      return absl::OkStatus();
    }
    // A smaller tile helps only what is not resident; spilling the largest
    // tensor alive here helps everything. Take whichever frees more first.
    int largest = -1;
    for (size_t i = 0; i < graph_.storages.size(); ++i) {
      const Storage& s = graph_.storages[i];
      const int here = static_cast<int>(at);
      if (!s.resident || s.first_op > here || s.last_op < here) continue;
      if (largest < 0 || s.SramBytes() > graph_.storages[largest].SramBytes()) {
        largest = i;
      }
    }
    uint64_t tiled = 0;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (!graph_.StorageOf(op.inputs[k].value).resident) {
        tiled += InputTile(graph_, op, k, StoredTile(op, p)).bytes;
      }
    }
    if (!graph_.StorageOf(op.output).resident) {
      tiled += OutputTile(graph_, op, StoredTile(op, p)).bytes;
    }
    const bool first =
        largest < 0 || tiled >= graph_.storages[largest].SramBytes();
    if (tiled > 0 && first && Cut(at)) return absl::OkStatus();
    if (largest >= 0) {
      graph_.storages[largest].resident = false;
      return absl::OkStatus();
    }
    if (Cut(at)) return absl::OkStatus();
    if (!p.single) {
      p.single = true;
      return absl::OkStatus();
    }
    return Reject(
        Rejection::kUnsupportedShape,
        absl::StrCat(op.op, " '", op.name,
                     "': its smallest tile does not fit the ", capacity_,
                     " bytes of SRAM of this configuration; ", WayOut()));
  }

  // Makes the tiles of operation `at` smaller; false if they are the smallest.
  bool Cut(size_t at) {
    const DeviceOp& op = *graph_.ops[at];
    OpPlan& p = plan_.ops[at];
    TileShape& t = p.tile;
    const bool runs = !p.cut_groups && !graph_.StorageOf(op.output).resident &&
                      GroupRuns(op).size() > 1;
    const bool rows = op.tileable && t.rows > 1;
    if (rows && !(runs && t.rows <= kRowsBeforeGroups)) {
      t.rows = (t.rows + 1) / 2;
    } else if (runs) {
      // Rows were cut for a result that need not be there as a whole any more.
      p.cut_groups = true;
      t.rows = FirstTile(op).rows;
    } else if (op.columns_tileable &&
               t.columns > std::max(kShortRow, op.column_step)) {
      t.columns = Half(t.columns, op.column_step);
    } else if (op.channels_tileable && t.channels > kChannels) {
      t.channels = Half(t.channels, kChannels);
    } else if (op.columns_tileable && t.columns > op.column_step) {
      t.columns = Half(t.columns, op.column_step);
    } else if (op.channels_tileable && t.channels > op.channel_step) {
      t.channels = Half(t.channels, op.channel_step);
    } else {
      return false;
    }
    t.lead = std::min(t.lead, t.rows - 1);
    return true;
  }

  // What helps against too little SRAM.
  std::string WayOut() const {
    const isa::Config* larger = nullptr;
    for (const isa::Config& c : isa::kConfigs) {
      if (c.sram_bytes <= capacity_) continue;
      if (larger == nullptr || c.sram_bytes < larger->sram_bytes) larger = &c;
    }
    if (larger == nullptr) return "none has more, so split the operator";
    return absl::StrCat("use ", larger->name, ", which has ",
                        larger->sram_bytes, ", or split the operator");
  }

  absl::Status PlaceScratch() {
    std::vector<Buffer> buffers;
    std::vector<size_t> which;
    for (size_t i = 0; i < graph_.storages.size(); ++i) {
      Storage& s = graph_.storages[i];
      if (s.resident || s.dram_dense() || s.first_op < 0) continue;
      s.region = kScratchRegion;
      buffers.push_back({s.DramBytes(), s.first_op, s.last_op, 0});
      which.push_back(i);
    }
    const size_t failed = Place(&buffers, UINT32_MAX, &plan_.scratch_bytes);
    if (failed < buffers.size()) {
      return Reject(
          Rejection::kNoDeviceMemory,
          absl::StrCat("tensor '", graph_.storages[which[failed]].name, "' (",
                       buffers[failed].bytes,
                       " bytes) does not fit: tensors that live at the same "
                       "time share ",
                       UINT32_MAX,
                       " bytes of device memory; make the batch or the tensors "
                       "smaller"));
    }
    for (size_t i = 0; i < which.size(); ++i) {
      graph_.storages[which[i]].dram_offset = buffers[i].offset;
    }
    plan_.scratch_bytes = Align(plan_.scratch_bytes);
    return absl::OkStatus();
  }

  size_t Add(uint64_t bytes, int first, int last, size_t owner) {
    buffers_.push_back({bytes, first, last, 0});
    owner_.push_back(owner);
    return buffers_.size() - 1;
  }

  DeviceGraph& graph_;
  const uint64_t capacity_;
  const ProgramBytes& programs_;
  const Features features_;
  const int window_;  // see PlanConstants
  MemoryPlan plan_;
  std::vector<Buffer> buffers_;
  std::vector<size_t> owner_;  // operation to relax when a buffer does not fit
};

}  // namespace

namespace {

Slice SliceOf(const std::vector<Slice>& slices, int group, int64_t all) {
  if (slices.empty()) return {0, all};
  if (group >= 0) return slices[group];
  return {0, std::max_element(slices.begin(), slices.end(),
                              [](const Slice& a, const Slice& b) {
                                return a.count < b.count;
                              })
                 ->count};
}

// What [first, first + count) of an axis of the result need.
Slice Along(const AxisNeed& need, int64_t first, int64_t count) {
  if (need.kind == AxisNeed::kSame) return {first, count};
  Slice out{first * need.stride - need.pad,
            (count - 1) * need.stride + need.extent};
  if (need.divide > 1) {
    const int64_t d = need.divide;
    out.first = out.first >= 0 ? out.first / d : -((-out.first + d - 1) / d);
    // Wherever the tile begins between two elements of the input.
    out.count = (out.count - 1) / d + 2;
  }
  return out;
}

// The part of a window that a group needs.
AxisNeed PartOf(AxisNeed need, const std::vector<Slice>& slices, int group) {
  if (need.kind != AxisNeed::kWindow || slices.empty()) return need;
  const Slice part = SliceOf(slices, group, 0);
  need.pad -= part.first;
  need.extent = part.count;
  return need;
}

// The range of the result that the columns, or channels, of an input follow.
struct Followed {
  Slice range;
  bool cut = false;  // not all of it
};
Followed ForColumns(const OpInput& in, const Extent& result, const Tile& t) {
  if (in.turned) return {{t.row0, t.rows}, t.rows < result.h};
  if (in.swapped) return {{t.channel0, t.channels}, t.channels < result.c};
  return {{t.column0, t.columns}, t.columns < result.w};
}
Followed ForChannels(const OpInput& in, const Extent& result, const Tile& t) {
  if (in.swapped) return {{t.column0, t.columns}, t.columns < result.w};
  return {{t.channel0, t.channels}, t.channels < result.c};
}

}  // namespace

bool CutsColumns(const DeviceOp& op, size_t i, const Extent& result,
                 const Tile& tile) {
  const OpInput& in = op.inputs[i];
  if (in.columns.kind == AxisNeed::kWindow && !in.column_slices.empty()) {
    return true;
  }
  return in.columns.kind != AxisNeed::kWhole &&
         ForColumns(in, result, tile).cut;
}

bool MayStayAsOutput(const Storage& s) {
  return s.is_output && !s.is_input && !s.constant &&
         s.layout == Layout::kDense && s.halo.empty();
}

TileShape WholeTile(const DeviceGraph& graph, const DeviceOp& op) {
  const Extent& e = graph.values[op.output].extent;
  return {e.h, e.w, e.c};
}

TileShape AllowedTile(const DeviceGraph& graph, const DeviceOp& op,
                      TileShape tile) {
  const TileShape whole = WholeTile(graph, op);
  tile.rows = std::min(tile.rows, whole.rows);
  if (op.max_pixels > 0) {
    if (op.columns_tileable) {
      tile.columns = std::min(tile.columns, op.max_pixels);
    }
    tile.rows = std::clamp<int64_t>(op.max_pixels / tile.columns, 1, tile.rows);
  }
  if (op.max_rows > 0) tile.rows = std::min(tile.rows, op.max_rows);
  tile.lead = std::min(tile.lead, tile.rows - 1);
  return tile;
}

InputBox NeedOf(const DeviceGraph& graph, const DeviceOp& op, size_t i,
                const Tile& tile) {
  const OpInput& in = op.inputs[i];
  const Extent& e = graph.values[in.value].extent;
  const Extent& result = graph.values[op.output].extent;
  InputBox box;
  box.columns = SliceOf(in.column_slices, tile.group, e.w);
  if (CutsColumns(op, i, result, tile)) {
    const Slice range = ForColumns(in, result, tile).range;
    box.columns = Along(PartOf(in.columns, in.column_slices, tile.group),
                        range.first, range.count);
  }
  box.channels = SliceOf(in.channel_slices, tile.group, e.c);
  const Followed channels = ForChannels(in, result, tile);
  if (in.channels.kind == AxisNeed::kSame && channels.cut) {
    box.channels = channels.range;
  }
  if (op.RowsOf(i, tile.row0, tile.rows, &box.rows.first, &box.rows.count)) {
    return box;
  }
  switch (in.rows.kind) {
    case AxisNeed::kWhole:
      box.rows = SliceOf(in.row_slices, tile.group, e.h);
      break;
    case AxisNeed::kDirect:
      box.rows = {0, 0};
      break;
    default:
      box.rows = Along(PartOf(in.rows, in.row_slices, tile.group), tile.row0,
                       tile.rows);
  }
  return box;
}

Geometry InputTile(const DeviceGraph& graph, const DeviceOp& op, size_t i,
                   const TileShape& shape) {
  const OpInput& in = op.inputs[i];
  const Storage& s = graph.StorageOf(in.value);
  const Extent& result = graph.values[op.output].extent;
  Tile tile;
  tile.rows = shape.rows;
  tile.columns = shape.columns;
  tile.channels = shape.channels;
  tile.group = -1;
  const InputBox box = NeedOf(graph, op, i, tile);
  int64_t first, count = box.rows.count;
  if (op.RowsOf(i, 0, shape.rows, &first, &count)) {
    // Stripes may differ.
    for (int64_t row0 = shape.rows - shape.lead; row0 < result.h;
         row0 += shape.rows) {
      int64_t some;
      op.RowsOf(i, row0, std::min(shape.rows, result.h - row0), &first, &some);
      count = std::max(count, some);
    }
  }
  const bool cut = CutsColumns(op, i, result, tile);
  Halo sides;
  if (!cut) {
    sides.left = in.halo.left;
    sides.right = in.halo.right;
  }
  if (in.rows.kind == AxisNeed::kWhole) {
    sides.top = in.halo.top;
    sides.bottom = in.halo.bottom;
  }
  Extent extent = graph.values[in.value].extent;
  extent.c = box.channels.count;
  extent.w = s.layout == Layout::kDense ? box.columns.count
                                        : std::min(box.columns.count, extent.w);
  if (s.layout != Layout::kDense) {
    // The matrix engine pads by itself: only rows of the image are kept.
    count = std::min(count, extent.h);
  }
  return GeometryOf(extent, s.layout, ElementBytes(s.type), count, sides);
}

Geometry OutputTile(const DeviceGraph& graph, const DeviceOp& op,
                    const TileShape& tile) {
  const Storage& s = graph.StorageOf(op.output);
  Extent extent = graph.values[op.output].extent;
  extent.w = tile.columns;
  extent.c = tile.channels;
  return GeometryOf(extent, s.layout, ElementBytes(s.type), tile.rows, Halo());
}

std::vector<GroupRun> GroupRuns(const DeviceOp& op) {
  const auto columns = [&](int g) {
    return op.group_columns.empty() ? Slice() : op.group_columns[g];
  };
  const auto channels = [&](int g) {
    return op.group_channels.empty() ? Slice() : op.group_channels[g];
  };
  std::vector<GroupRun> runs;
  for (int g = 0; g < static_cast<int>(op.groups.size()); ++g) {
    if (runs.empty() || !(runs.back().columns == columns(g)) ||
        !(runs.back().channels == channels(g))) {
      runs.push_back({g, 0, columns(g), channels(g)});
    }
    ++runs.back().count;
  }
  return runs;
}

TileShape StoredTile(const DeviceOp& op, const OpPlan& plan) {
  TileShape tile = plan.tile;
  if (!plan.cut_groups) return tile;
  int64_t columns = 0, channels = 0;
  for (const GroupRun& run : GroupRuns(op)) {
    columns = std::max(columns, run.columns.count);
    channels = std::max(channels, run.channels.count);
  }
  if (columns > 0) tile.columns = columns;
  if (channels > 0) tile.channels = channels;
  return tile;
}

absl::StatusOr<MemoryPlan> PlanMemory(DeviceGraph* graph,
                                      const isa::Config& config,
                                      const ProgramBytes& programs,
                                      const Features& features,
                                      bool stream_constants) {
  if (MayKeepPrograms(programs.all, config)) {
    auto plan =
        Planner(graph, config, programs, true, features, stream_constants)
            .Run();
    if (RejectionOf(plan.status()) != Rejection::kUnsupportedShape) return plan;
    for (Storage& s : graph->storages) s.first_op = s.last_op = -1;
  }
  return Planner(graph, config, programs, false, features, stream_constants)
      .Run();
}

bool MayKeepPrograms(uint64_t bytes, const isa::Config& config) {
  return bytes <= config.sram_bytes / 2;
}

}  // namespace heddle::compiler
