// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <tuple>
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

// Loads constants when the plan says, and in the order in which they are used.
class ConstantLoader {
 public:
  ConstantLoader(const DeviceGraph& graph, const MemoryPlan& plan,
                 uint32_t first_tag, Emitter* emitter)
      : graph_(graph),
        first_tag_(first_tag),
        emitter_(emitter),
        uses_(plan.constants) {
    uses_.erase(
        std::remove_if(uses_.begin(), uses_.end(),
                       [](const ConstantUse& use) { return !use.loaded; }),
        uses_.end());
    std::stable_sort(uses_.begin(), uses_.end(),
                     [](const ConstantUse& a, const ConstantUse& b) {
                       return std::tie(a.when, a.first) <
                              std::tie(b.when, b.first);
                     });
  }

  // In front of the operands of `step`: what it reads itself.
  void LoadNeeded(size_t step) {
    while (next_ < uses_.size() && uses_[next_].when <= step &&
           uses_[next_].first <= step) {
      Load();
    }
  }
  // Behind them.
  void LoadAhead(size_t step) {
    while (next_ < uses_.size() && uses_[next_].when <= step) Load();
  }

 private:
  void Load() {
    const ConstantUse& use = uses_[next_++];
    const uint32_t tag = std::exchange(
        emitter_->tag, first_tag_ + static_cast<uint32_t>(use.op));
    EmitLoadBytes(emitter_, 0, graph_.ops[use.op]->groups[use.group].offset,
                  use.address, use.bytes);
    emitter_->tag = tag;
  }

  const DeviceGraph& graph_;
  const uint32_t first_tag_;
  Emitter* emitter_;
  std::vector<ConstantUse> uses_;
  size_t next_ = 0;
};

class OpScheduler {
 public:
  OpScheduler(const DeviceGraph& graph, const MemoryPlan& plan, size_t index,
              ConstantLoader* loader, Emitter* emitter)
      : graph_(graph),
        op_(*graph.ops[index]),
        plan_(plan.ops[index]),
        constants_(plan.constants),
        first_step_(plan.first_step[index]),
        loader_(loader),
        emitter_(emitter),
        runs_(GroupRuns(op_)),
        held_(op_.inputs.size()),
        used_(op_.inputs.size(), 1) {
    const Extent& e = graph_.values[op_.output].extent;
    const TileShape& shape = plan_.tile;
    for (int64_t n = 0; n < e.n; ++n) {
      for (int64_t channel = 0; channel < e.c; channel += shape.channels) {
        for (int64_t column = 0; column < e.w; column += shape.columns) {
          for (int64_t row = -shape.lead; row < e.h; row += shape.rows) {
            Tile tile;
            tile.image = n;
            tile.row0 = std::max<int64_t>(row, 0);
            tile.rows = std::min(row + shape.rows, e.h) - tile.row0;
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
    if (!op_.late_constants) loader_->LoadNeeded(first_step_ + index);
    tile.constants = plan_.uses.empty() ? plan_.constants[0]
                                        : constants_[plan_.uses[index]].address;
    tile.temporary = plan_.temporary;
    for (size_t k = 0; k < op_.inputs.size(); ++k) {
      tile.inputs.push_back(PrepareInput(k, tile));
    }
    loader_->LoadAhead(first_step_ + index);
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
    if (!s.resident || s.is_output) {
      store({s.region, s.dram_offset + value.offset, s.dram_dense()});
    }
    if (s.tap_offset >= 0) {
      store({kIoRegion, s.tap_offset + value.offset, true});
    }
  }

  const DeviceGraph& graph_;
  const DeviceOp& op_;
  const OpPlan& plan_;
  const std::vector<ConstantUse>& constants_;
  const size_t first_step_;
  ConstantLoader* loader_;
  Emitter* emitter_;
  const std::vector<GroupRun> runs_;
  std::vector<Work> tiles_;
  size_t results_ = 0;
  std::vector<std::array<Held, 2>> held_;
  std::vector<int> used_;  // side that the tile prepared last uses
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
  // Those of operation `i`, which `emitter` is about to begin, unless all stay.
  void Load(size_t i, Emitter* emitter) {
    if (plan_.keep_programs) return;
    ProgramTable own;
    AddProgramsOf(*graph_.ops[i], &own);
    own_.clear();
    for (const auto& [bytes, offset] : own.offset) {
      own_[bytes] = plan_.ops[i].programs + offset;
      EmitLoadBytes(emitter, 0, constant_ + programs_.offset.at(bytes),
                    own_[bytes], (bytes.size() + 15) / 16 * 16);
    }
    emitter->program_address = &own_;
  }

 private:
  const DeviceGraph& graph_;
  const MemoryPlan& plan_;
  const ProgramTable& programs_;
  const uint64_t constant_;
  std::map<std::vector<uint8_t>, uint32_t> kept_, own_;
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
  ProgramLoader program_loader(graph, plan, programs, program_constant.offset);
  Emitter emitter;
  emitter.config = &config;
  emitter.stream = stream;
  emitter.tag = first_tag;
  program_loader.LoadKept(&emitter);
  ConstantLoader loader(graph, plan, first_tag, &emitter);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    emitter.tag = first_tag + i;
    program_loader.Load(i, &emitter);
    OpScheduler scheduler(graph, plan, i, &loader, &emitter);
    scheduler.Begin();
    scheduler.Finish();
  }
}

}  // namespace heddle::compiler
