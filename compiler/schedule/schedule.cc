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
  int64_t image = -1;
  InputBox box;
  bool operator==(const Held& o) const {
    return image == o.image && box == o.box;
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
        runs_(GroupRuns(op_)),
        held_(op_.inputs.size()),
        used_(op_.inputs.size(), 1),
        loaded_(op_.groups.size(), false) {
    const Extent& e = graph_.values[op_.output].extent;
    const TileShape& shape = plan_.tile;
    for (int64_t n = 0; n < e.n; ++n) {
      for (int64_t channel = 0; channel < e.c; channel += shape.channels) {
        for (int64_t column = 0; column < e.w; column += shape.columns) {
          for (int64_t row = 0; row < e.h; row += shape.rows) {
            Tile tile;
            tile.image = n;
            tile.row0 = row;
            tile.rows = std::min(shape.rows, e.h - row);
            tile.column0 = column;
            tile.columns = std::min(shape.columns, e.w - column);
            tile.channel0 = channel;
            tile.channels = std::min(shape.channels, e.c - channel);
            AddGroups(tile);
          }
        }
      }
    }
    if (plan_.group_outer) {
      std::stable_sort(
          tiles_.begin(), tiles_.end(),
          [](const Work& a, const Work& b) { return a.run < b.run; });
    }
  }

  // Constants of the first group, and where they are loaded ahead those of the
  // second into the other side.
  void LoadFirstConstants() {
    LoadConstants(0);
    if (plan_.ahead == 0 || plan_.single) return;
    for (const Work& work : tiles_) {
      if (work.tile.group == 0) continue;
      LoadConstants(work.tile.group);
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
      const bool more = i + 1 < tiles_.size();
      if (more && !plan_.single) Prepare(i + 1);
      op_.Emit(emitter_, tiles_[i].tile);
      if (tiles_[i].last) Store(tiles_[i].tile);
      if (more && plan_.single) Prepare(i + 1);
    }
  }

 private:
  // A tile for one group of constants.
  struct Work {
    Tile tile;
    size_t run = 0;     // of groups that make the same part
    size_t result = 0;  // number of the buffer's content, from 0 on
    bool last = false;  // the result is complete
  };

  // All groups of a tile one after another, so that its result is stored once,
  // complete; or the part of each run of groups.
  void AddGroups(const Tile& whole) {
    for (size_t r = 0; r < runs_.size(); ++r) {
      const GroupRun& run = runs_[r];
      Work work;
      work.tile = whole;
      work.run = r;
      if (plan_.cut_groups && run.columns.count > 0) {
        work.tile.column0 = run.columns.first;
        work.tile.columns = run.columns.count;
      }
      if (plan_.cut_groups && run.channels.count > 0) {
        work.tile.channel0 = run.channels.first;
        work.tile.channels = run.channels.count;
      }
      for (int g = run.first; g < run.first + run.count; ++g) {
        work.tile.group = g;
        work.result = results_;
        work.last = g + 1 == run.first + run.count &&
                    (plan_.cut_groups || r + 1 == runs_.size());
        tiles_.push_back(work);
      }
      if (plan_.cut_groups || r + 1 == runs_.size()) ++results_;
    }
  }

  void LoadConstants(int group) {
    const ConstantGroup& g = op_.groups[group];
    if (plan_.keep) {
      if (loaded_[group]) return;
      loaded_[group] = true;
      EmitLoadBytes(emitter_, 0, g.offset, KeptConstants(group), g.bytes);
      return;
    }
    constant_side_ = plan_.single ? 0 : 1 - constant_side_;
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
      const uint64_t bytes = OutputTile(graph_, op_, plan_.tile).bytes;
      EmitFill(emitter_, plan_.output[0], bytes, 0);
      if (plan_.output[1] != plan_.output[0]) {
        EmitFill(emitter_, plan_.output[1], bytes, 0);
      }
    }
  }

  // Sets the tile's addresses and loads what is not in SRAM yet.
  void Prepare(size_t index) {
    Tile& tile = tiles_[index].tile;
    if (index > 0 && tile.group != tiles_[index - 1].tile.group) {
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
      TileShape shape = plan_.tile;
      if (plan_.cut_groups) {
        shape.columns = tile.columns;
        shape.channels = tile.channels;
      }
      const Geometry g = OutputTile(graph_, op_, shape);
      const size_t side = tiles_[index].result % 2;
      tile.output = {plan_.output[side], tile.row0, g.pitch, g.plane, g.xstep};
      tile.output.base -= tile.column0 * int64_t{g.xstep} +
                          PlaneOf(s.layout, tile.channel0) * g.plane;
    }
  }

  // The index of a channel's plane.
  static int64_t PlaneOf(Layout layout, int64_t channel) {
    return layout == Layout::kBlocked ? channel / 16 : channel;
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
    const bool direct = in.rows.kind == AxisNeed::kDirect;
    const int64_t image = value.extent.n == 1 || direct ? 0 : tile.image;
    if (s.resident && !plan_.copy[k]) return ResidentView(s, value, image);
    if (direct) return DeviceView(s, value);
    const InputBox box = NeedOf(graph_, op_, k, tile);
    const Extent& e = value.extent;
    const Geometry g = InputTile(graph_, op_, k, StoredTile(op_, plan_));
    const auto inside = [](const Slice& wanted, int64_t count) {
      const int64_t from = std::max<int64_t>(wanted.first, 0);
      return Slice{from, std::min(wanted.first + wanted.count, count) - from};
    };
    TensorBox part{image, inside(box.rows, e.h), inside(box.columns, e.w),
                   box.channels};
    // (so that addresses of a tile that lies in the padding stay near it)
    part.columns.first = std::min(part.columns.first, e.w - 1);
    // The buffer's first row and column: of the image only, or of the padded
    // window.
    const bool dense = s.layout == Layout::kDense;
    int64_t row0 = part.rows.first, column0 = part.columns.first;
    if (dense) {
      row0 = box.rows.first;
      column0 = box.columns.first;
      if (in.rows.kind == AxisNeed::kWhole) row0 -= in.halo.top;
      if (!CutsColumns(op_, k, graph_.values[op_.output].extent, tile)) {
        column0 -= in.halo.left;
      }
    }
    const Held wanted{image, box};
    int side = -1;
    for (int i = 0; i < 2; ++i) {
      if (held_[k][i] == wanted) side = i;
    }
    const bool load = side < 0;
    if (load) side = 1 - used_[k];
    if (plan_.inputs[k][0] == plan_.inputs[k][1]) held_[k][1 - side] = Held();
    used_[k] = side;
    TileView view{plan_.inputs[k][side], row0, g.pitch, g.plane, g.xstep};
    view.base -= column0 * int64_t{g.xstep} +
                 PlaneOf(s.layout, box.channels.first) * g.plane;
    if (!load) return view;
    held_[k][side] = wanted;
    const auto beyond = [](const Slice& wanted, int64_t count) {
      return wanted.first < 0 || wanted.first + wanted.count > count;
    };
    if (dense && (!in.halo.empty() || beyond(box.rows, e.h) ||
                  beyond(box.columns, e.w))) {
      EmitFill(emitter_, plan_.inputs[k][side], (g.bytes + 3) / 4 * 4,
               in.halo_value);
    }
    if (in.all_lanes && s.dram_dense() && e.c % 16 != 0) {
      EmitFill(emitter_, plan_.inputs[k][side], g.bytes, 0);
    }
    if (part.rows.count <= 0 || part.columns.count <= 0) return view;
    if (s.resident) {
      EmitCopy(emitter_, s.type, part.rows, part.columns, part.channels,
               ResidentView(s, value, image), view);
    } else {
      EmitTransfer(
          emitter_, Direction::kLoad, e, s.layout, ElementBytes(s.type),
          {s.region, s.dram_offset + value.offset, s.dram_dense()}, part, view);
    }
    return view;
  }

  void Store(const Tile& tile) {
    const Storage& s = graph_.StorageOf(op_.output);
    const Value& value = graph_.values[op_.output];
    const TensorBox box{tile.image,
                        {tile.row0, tile.rows},
                        {tile.column0, tile.columns},
                        {tile.channel0, tile.channels}};
    const auto store = [&](const DramTensor& to) {
      EmitTransfer(emitter_, Direction::kStore, value.extent, s.layout,
                   ElementBytes(s.type), to, box, tile.output);
    };
    if (!s.resident) {
      store({s.region, s.dram_offset + value.offset, s.dram_dense()});
    }
    if (s.tap_offset >= 0) {
      store({kIoRegion, s.tap_offset + value.offset, true});
    }
  }

  const DeviceGraph& graph_;
  const DeviceOp& op_;
  const OpPlan& plan_;
  Emitter* emitter_;
  const std::vector<GroupRun> runs_;
  std::vector<Work> tiles_;
  size_t results_ = 0;
  std::vector<std::array<Held, 2>> held_;
  std::vector<int> used_;             // side that the tile prepared last uses
  std::vector<bool> loaded_;          // groups whose constants are kept
  int constant_side_ = 1;             // side of the constants in use
  std::array<int, 2> sides_{-1, -1};  // groups in the sides
};

}  // namespace

namespace {

void AddProgramsOf(const DeviceOp& op, ProgramTable* table) {
  auto add = [&](const Microprogram& program) {
    const std::vector<uint8_t> bytes = program.Bytes();
    if (!table->offset.try_emplace(bytes, table->bytes.size()).second) return;
    table->bytes.insert(table->bytes.end(), bytes.begin(), bytes.end());
    table->bytes.resize((table->bytes.size() + 15) / 16 * 16);
  };
  for (const Microprogram& program : op.Programs()) add(program);
  for (const OpInput& in : op.inputs) {
    if (!in.halo.empty()) add(CopyProgram());  // the plan may need a copy
  }
}

// Addresses of microprograms during an operation, and their loads.
class ProgramLoader {
 public:
  ProgramLoader(const DeviceGraph& graph, const MemoryPlan& plan,
                const ProgramTable& programs, uint64_t constant)
      : graph_(graph), plan_(plan), programs_(programs), constant_(constant) {
    for (const auto& [bytes, offset] : programs.offset) {
      kept_[bytes] = plan.programs + offset;
    }
  }

  // All that stay.
  void LoadKept(Emitter* emitter) {
    emitter->program_address = &kept_;
    if (!plan_.keep_programs) return;
    EmitLoadBytes(emitter, 0, constant_, plan_.programs,
                  (programs_.bytes.size() + 15) / 16 * 16);
  }
  // Those of operation `i`, which `emitter` is about to begin.
  void Load(size_t i, Emitter* emitter) {
    if (plan_.keep_programs) return;
    ProgramTable own;
    AddProgramsOf(*graph_.ops[i], &own);
    std::map<std::vector<uint8_t>, uint32_t>& address = own_[i];
    for (const auto& [bytes, offset] : own.offset) {
      address[bytes] = plan_.ops[i].programs + offset;
      EmitLoadBytes(emitter, 0, constant_ + programs_.offset.at(bytes),
                    address[bytes], (bytes.size() + 15) / 16 * 16);
    }
  }
  void Use(size_t i, Emitter* emitter) {
    if (!plan_.keep_programs) emitter->program_address = &own_.at(i);
  }
  void Done(size_t i) { own_.erase(i); }

 private:
  const DeviceGraph& graph_;
  const MemoryPlan& plan_;
  const ProgramTable& programs_;
  const uint64_t constant_;
  std::map<std::vector<uint8_t>, uint32_t> kept_;
  std::map<size_t, std::map<std::vector<uint8_t>, uint32_t>> own_;
};

}  // namespace

ProgramTable CollectPrograms(const DeviceGraph& graph) {
  ProgramTable table;
  for (const auto& op : graph.ops) AddProgramsOf(*op, &table);
  return table;
}

ProgramBytes BytesOf(const DeviceGraph& graph, const ProgramTable& programs) {
  ProgramBytes bytes;
  bytes.all = programs.bytes.size();
  for (const auto& op : graph.ops) {
    ProgramTable own;
    AddProgramsOf(*op, &own);
    bytes.own.push_back(own.bytes.size());
  }
  return bytes;
}

void EmitNetwork(const DeviceGraph& graph, const MemoryPlan& plan,
                 const isa::Config& config, const ProgramTable& programs,
                 const ConstantGroup& program_constant, uint32_t first_tag,
                 StreamBuilder* stream) {
  ProgramLoader loader(graph, plan, programs, program_constant.offset);
  Emitter emitter;
  emitter.config = &config;
  emitter.stream = stream;
  emitter.tag = first_tag;
  loader.LoadKept(&emitter);
  const size_t count = graph.ops.size();
  std::vector<std::vector<size_t>> loads(count);  // ahead, by when
  for (size_t i = 0; i < count; ++i) {
    if (plan.ops[i].ahead > 0) loads[i - plan.ops[i].ahead].push_back(i);
  }
  std::vector<std::unique_ptr<OpScheduler>> schedulers(count);
  const auto begin = [&](size_t i) {
    emitter.tag = first_tag + i;
    loader.Load(i, &emitter);
    schedulers[i] = std::make_unique<OpScheduler>(graph, plan, i, &emitter);
    schedulers[i]->LoadFirstConstants();
  };
  for (size_t i = 0; i < count; ++i) {
    if (!schedulers[i]) begin(i);
    emitter.tag = first_tag + i;
    loader.Use(i, &emitter);
    schedulers[i]->Begin();
    for (size_t later : loads[i]) begin(later);
    emitter.tag = first_tag + i;
    schedulers[i]->Finish();
    schedulers[i].reset();
    loader.Done(i);
  }
}

}  // namespace heddle::compiler
