// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/schedule/loops.h"
#include "compiler/schedule/transfer.h"

namespace heddle::compiler {
namespace {

// What the buffers of a streamed input hold.
struct Held {
  int64_t image = -1, first = 0, count = 0;
  Slice channels, columns;
  bool operator==(const Held& o) const {
    return image == o.image && first == o.first && count == o.count &&
           channels == o.channels && columns == o.columns;
  }
};

class OpScheduler {
 public:
  OpScheduler(const DeviceGraph& graph, const MemoryPlan& plan, size_t index,
              Emitter* emitter)
      : graph_(graph),
        op_(*graph.ops[index]),
        plan_(plan.ops[index]),
        emitter_(emitter),
        held_(op_.inputs.size()),
        used_(op_.inputs.size(), 1),
        loaded_(op_.groups.size(), false) {
    const Extent& e = graph_.values[op_.output].extent;
    for (int64_t n = 0; n < e.n; ++n) {
      for (int64_t row = 0; row < e.h; row += plan_.tile_rows) {
        // All groups of a tile one after another, so that its result is stored
        // once, complete.
        for (int g = 0; g < static_cast<int>(op_.groups.size()); ++g) {
          Tile tile;
          tile.group = g;
          tile.image = n;
          tile.row0 = row;
          tile.rows = std::min(plan_.tile_rows, e.h - row);
          tiles_.push_back(tile);
        }
      }
    }
    if (plan_.group_outer) {
      std::stable_sort(
          tiles_.begin(), tiles_.end(),
          [](const Tile& a, const Tile& b) { return a.group < b.group; });
    }
  }

  // Constants of the first group, and where they are loaded ahead those of the
  // second into the other side.
  void LoadFirstConstants() {
    LoadConstants(0);
    if (plan_.ahead == 0) return;
    for (const Tile& tile : tiles_) {
      if (tile.group == 0) continue;
      LoadConstants(tile.group);
      constant_side_ = 1 - constant_side_;
      break;
    }
  }

  // Operands of the first tile.
  void Begin() {
    PrepareResult();
    Prepare(0);
  }

  void Finish() {
    for (size_t i = 0; i < tiles_.size(); ++i) {
      if (i + 1 < tiles_.size()) Prepare(i + 1);
      op_.Emit(emitter_, tiles_[i]);
      Store(tiles_[i]);
    }
  }

 private:
  void LoadConstants(int group) {
    const ConstantGroup& g = op_.groups[group];
    if (plan_.keep) {
      if (loaded_[group]) return;
      loaded_[group] = true;
      EmitLoadBytes(emitter_, 0, g.offset, KeptConstants(group), g.bytes);
      return;
    }
    constant_side_ = 1 - constant_side_;
    if (std::exchange(sides_[constant_side_], group) == group) return;
    EmitLoadBytes(emitter_, 0, g.offset, plan_.constants[constant_side_],
                  g.bytes);
  }

  // Where the constants of a group are when all are kept.
  uint32_t KeptConstants(int group) const {
    uint32_t at = plan_.constants[0];
    for (int g = 0; g < group; ++g) at += op_.groups[g].bytes;
    return at;
  }

  // Halo of a resident result, or lanes beyond the last channel that a vector
  // operation leaves unwritten.
  void PrepareResult() {
    const Storage& s = graph_.StorageOf(op_.output);
    const Value& value = graph_.values[op_.output];
    const bool lanes = s.layout == Layout::kBlocked &&
                       value.extent.c % 16 != 0 && op_.engine != "matrix";
    if (s.resident) {
      if (!s.halo.empty()) {
        EmitFill(emitter_, s.sram, (s.SramBytes() + 3) / 4 * 4, s.halo_value);
      } else if (lanes) {
        // Only this operation's part: others may have written theirs.
        const Geometry g =
            GeometryOf(value.extent, s.layout, 1, value.extent.h, Halo());
        EmitFill(emitter_, s.sram + value.offset, value.extent.n * g.bytes, 0);
      }
    } else if (lanes) {
      const uint64_t bytes = OutputTile(graph_, op_, plan_.tile_rows).bytes;
      EmitFill(emitter_, plan_.output[0], bytes, 0);
      if (plan_.output[1] != plan_.output[0]) {
        EmitFill(emitter_, plan_.output[1], bytes, 0);
      }
    }
  }

  // Sets the tile's addresses and loads what is not in SRAM yet.
  void Prepare(size_t index) {
    Tile& tile = tiles_[index];
    if (index > 0 && tile.group != tiles_[index - 1].group) {
      LoadConstants(tile.group);
    }
    tile.constants = plan_.keep ? KeptConstants(tile.group)
                                : plan_.constants[constant_side_];
    tile.temporary = plan_.temporary;
    for (size_t k = 0; k < op_.inputs.size(); ++k) {
      tile.inputs.push_back(PrepareInput(k, tile));
    }
    const Storage& s = graph_.StorageOf(op_.output);
    const Value& value = graph_.values[op_.output];
    if (s.resident) {
      tile.output = ResidentView(s, value, tile.image);
    } else {
      const Geometry g = OutputTile(graph_, op_, plan_.tile_rows);
      const size_t side = index / op_.groups.size() % 2;
      tile.output = {plan_.output[side], tile.row0, g.pitch, g.plane, g.xstep};
    }
  }

  static TileView ResidentView(const Storage& s, const Value& value,
                               int64_t image) {
    const Geometry g = GeometryOf(value.extent, s.layout, ElementBytes(s.type),
                                  value.extent.h, s.halo);
    TileView view;
    view.base = s.sram + value.offset + image * g.bytes + g.origin;
    view.pitch = g.pitch;
    view.plane = g.plane;
    view.xstep = g.xstep;
    view.image = g.bytes;
    return view;
  }

  // The whole operand in device memory.
  static TileView DeviceView(const Storage& s, const Value& value) {
    const Extent& e = value.extent;
    const size_t es = ElementBytes(s.type);
    const Geometry g = GeometryOf(e, s.layout, es, e.h, Halo());
    TileView view;
    view.region = s.region;
    view.dram = s.dram_offset + value.offset;
    view.pitch = g.pitch;
    view.plane = g.plane;
    view.xstep = g.xstep;
    view.image = g.bytes;
    if (s.dram_dense() && s.layout == Layout::kBlocked) {
      view.xstep = e.dense_w;
      view.pitch = e.dense_h;
      view.lane = e.dense_c;
      view.plane = 16 * e.dense_c;
      view.image = e.dense_n;
    }
    return view;
  }

  TileView PrepareInput(size_t k, const Tile& tile) {
    const OpInput& in = op_.inputs[k];
    const Storage& s = graph_.StorageOf(in.value);
    const Value& value = graph_.values[in.value];
    // An operand of one image serves all images of the result.
    const bool direct = in.rows.kind == RowMap::kDirect;
    const int64_t image = value.extent.n == 1 || direct ? 0 : tile.image;
    if (s.resident && !plan_.copy[k]) return ResidentView(s, value, image);
    if (direct) return DeviceView(s, value);
    int64_t first, count;
    InputRows(graph_, op_, k, tile.row0, tile.rows, tile.group, &first, &count);
    const Slice channels = InputChannels(graph_, op_, k, tile.group);
    const Slice columns = InputColumns(graph_, op_, k, tile.group);
    const Geometry g = InputTile(graph_, op_, k, plan_.tile_rows);
    int64_t from = std::max<int64_t>(first, 0);
    const int64_t until = std::min(first + count, value.extent.h);
    // The buffer's first row: of the image only, or of the padded window.
    const bool dense = s.layout == Layout::kDense;
    const bool whole = in.rows.kind == RowMap::kWhole;
    const int64_t row0 = !dense ? from : whole ? first - in.halo.top : first;
    const Held wanted{image, first, count, channels, columns};
    int side = -1;
    for (int i = 0; i < 2; ++i) {
      if (held_[k][i] == wanted) side = i;
    }
    const bool load = side < 0;
    if (load) side = 1 - used_[k];
    if (plan_.inputs[k][0] == plan_.inputs[k][1]) held_[k][1 - side] = Held();
    used_[k] = side;
    TileView view{plan_.inputs[k][side], row0, g.pitch, g.plane, g.xstep};
    if (dense) view.base += in.halo.left * g.xstep;
    // The buffer holds a slice; the operation counts all channels.
    TileView result = view;
    result.base -= channels.first * g.plane + columns.first * g.xstep;
    if (!load) return result;
    held_[k][side] = wanted;
    if (dense &&
        (!in.halo.empty() || first < 0 || first + count > value.extent.h)) {
      EmitFill(emitter_, plan_.inputs[k][side], (g.bytes + 3) / 4 * 4,
               in.halo_value);
    }
    if (in.all_lanes && s.dram_dense() && value.extent.c % 16 != 0) {
      EmitFill(emitter_, plan_.inputs[k][side], g.bytes, 0);
    }
    if (from >= until) return result;
    Extent extent = value.extent;
    if (dense) {
      extent.c = channels.count;
      extent.w = columns.count;
    }
    if (s.resident) {
      TileView source = ResidentView(s, value, image);
      source.base +=
          channels.first * source.plane + columns.first * source.xstep;
      EmitCopy(emitter_, extent, s.type, source, view, from, until - from);
    } else {
      const uint64_t skipped =
          (channels.first * extent.dense_c + columns.first * extent.dense_w) *
          ElementBytes(s.type);
      EmitTransfer(
          emitter_, Direction::kLoad, extent, s.layout, ElementBytes(s.type),
          {s.region, s.dram_offset + value.offset + skipped, s.dram_dense()},
          image, from, until - from, view);
    }
    return result;
  }

  void Store(const Tile& tile) {
    const Storage& s = graph_.StorageOf(op_.output);
    const Value& value = graph_.values[op_.output];
    if (tile.group + 1 < static_cast<int>(op_.groups.size())) return;
    if (!s.resident) {
      EmitTransfer(emitter_, Direction::kStore, value.extent, s.layout,
                   ElementBytes(s.type),
                   {s.region, s.dram_offset + value.offset, s.dram_dense()},
                   tile.image, tile.row0, tile.rows, tile.output);
    }
    if (s.tap_offset >= 0) {
      EmitTransfer(emitter_, Direction::kStore, value.extent, s.layout,
                   ElementBytes(s.type),
                   {kIoRegion, s.tap_offset + value.offset, true}, tile.image,
                   tile.row0, tile.rows, tile.output);
    }
  }

  const DeviceGraph& graph_;
  const DeviceOp& op_;
  const OpPlan& plan_;
  Emitter* emitter_;
  std::vector<Tile> tiles_;
  std::vector<std::array<Held, 2>> held_;
  std::vector<int> used_;             // side that the tile prepared last uses
  std::vector<bool> loaded_;          // groups whose constants are kept
  int constant_side_ = 1;             // side of the constants in use
  std::array<int, 2> sides_{-1, -1};  // groups in the sides
};

}  // namespace

ProgramTable CollectPrograms(const DeviceGraph& graph) {
  ProgramTable table;
  auto add = [&](const Microprogram& program) {
    const std::vector<uint8_t> bytes = program.Bytes();
    if (!table.offset.try_emplace(bytes, table.bytes.size()).second) return;
    table.bytes.insert(table.bytes.end(), bytes.begin(), bytes.end());
    table.bytes.resize((table.bytes.size() + 15) / 16 * 16);
  };
  for (const auto& op : graph.ops) {
    for (const Microprogram& program : op->Programs()) add(program);
    for (const OpInput& in : op->inputs) {
      if (!in.halo.empty()) add(CopyProgram());  // the plan may need a copy
    }
  }
  return table;
}

void EmitNetwork(const DeviceGraph& graph, const MemoryPlan& plan,
                 const isa::Config& config, const ProgramTable& programs,
                 const ConstantGroup& program_constant, uint32_t first_tag,
                 StreamBuilder* stream) {
  std::map<std::vector<uint8_t>, uint32_t> address;
  for (const auto& [bytes, offset] : programs.offset) {
    address[bytes] = plan.programs + offset;
  }
  Emitter emitter;
  emitter.config = &config;
  emitter.stream = stream;
  emitter.program_address = &address;
  emitter.tag = first_tag;
  EmitLoadBytes(&emitter, 0, program_constant.offset, plan.programs,
                (programs.bytes.size() + 15) / 16 * 16);
  const size_t count = graph.ops.size();
  std::vector<std::vector<size_t>> loads(count);  // ahead, by when
  for (size_t i = 0; i < count; ++i) {
    if (plan.ops[i].ahead > 0) loads[i - plan.ops[i].ahead].push_back(i);
  }
  std::vector<std::unique_ptr<OpScheduler>> schedulers(count);
  const auto begin = [&](size_t i) {
    emitter.tag = first_tag + i;
    schedulers[i] = std::make_unique<OpScheduler>(graph, plan, i, &emitter);
    schedulers[i]->LoadFirstConstants();
  };
  for (size_t i = 0; i < count; ++i) {
    if (!schedulers[i]) begin(i);
    emitter.tag = first_tag + i;
    schedulers[i]->Begin();
    for (size_t later : loads[i]) begin(later);
    emitter.tag = first_tag + i;
    schedulers[i]->Finish();
    schedulers[i].reset();
  }
}

}  // namespace heddle::compiler
