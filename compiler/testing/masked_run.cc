// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/masked_run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/base/thread_pool.h"
#include "compiler/schedule/constant_stream.h"
#include "compiler/schedule/constants.h"
#include "compiler/schedule/matrix_op.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kAlign = 64;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxTiles = 24;
constexpr uint8_t kKept = 0xff;

uint64_t Align(uint64_t v, uint64_t to = kAlign) {
  return (v + to - 1) / to * to;
}
int64_t Ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

Slice Inside(const Slice& s, int64_t count) {
  const int64_t from = std::max<int64_t>(s.first, 0);
  const int64_t end = std::min(s.first + s.count, count);
  return {from, std::max<int64_t>(0, end - from)};
}

}  // namespace

// The operation, noting what it is asked to compute.
class MaskedRun::Probe : public DeviceOp {
 public:
  explicit Probe(std::unique_ptr<DeviceOp> op)
      : DeviceOp(*op), op_(std::move(op)) {}

  struct Call {
    size_t begin = 0;  // index of its first command
    Tile tile;
  };

  void Emit(Emitter* emitter, const Tile& tile) const override {
    calls_.push_back({emitter->stream->size(), tile});
    op_->Emit(emitter, tile);
  }
  std::unique_ptr<DeviceOp> Clone() const override { return op_->Clone(); }
  void Pack(size_t group, uint8_t* to) const override { op_->Pack(group, to); }
  MatrixOp* AsMatrix() override { return op_->AsMatrix(); }
  const MatrixOp* AsMatrix() const override { return op_->AsMatrix(); }
  bool RowsOf(size_t i, int64_t row0, int64_t rows, int64_t* first,
              int64_t* count) const override {
    return op_->RowsOf(i, row0, rows, first, count);
  }
  std::vector<Microprogram> Programs() const override {
    return op_->Programs();
  }

  const DeviceOp& real() const { return *op_; }
  const std::vector<Call>& calls() const { return calls_; }

 private:
  std::unique_ptr<DeviceOp> op_;
  mutable std::vector<Call> calls_;
};

MaskedRun::MaskedRun(const DeviceGraph& graph, const isa::Config& config,
                     std::mt19937_64* random)
    : graph_(graph.Clone()), config_(config) {
  ConstantPool constants(ConstantPool::kPack);
  ThreadPool threads(1);
  PlaceConstants(&graph_, &constants, &threads);
  programs_ = CollectPrograms(graph_);
  const ConstantGroup place{constants.Add(programs_.bytes),
                            AlignToRegion(programs_.bytes.size())};
  plan_.keep_programs = false;
  plan_.ops.resize(graph_.ops.size());
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    auto probe = std::make_unique<Probe>(std::move(graph_.ops[i]));
    probes_.push_back(probe.get());
    graph_.ops[i] = std::move(probe);
    DrawTiles(i, random);
  }
  std::vector<uint64_t> tiles;
  for (size_t i = 0; i < graph_.ops.size(); ++i) tiles.push_back(Tiles(i));
  PlanConstants(graph_, tiles, {}, 0, 0, config_.sram_bytes, &plan_);
  PlaceInDeviceMemory();
  const package::PackedWeights weights = constants.Take();
  std::memcpy(memory_.data(), weights.bytes.data() + weights.head,
              weights.size());
  StreamBuilder stream(config_);
  EmitNetwork(graph_, plan_, config_, programs_, place, 0, &stream);
  // An operation's commands begin with the loads for its first tile: what
  // EmitNetwork tags with its index. Here they follow each other.
  commands_.resize(graph_.ops.size());
  for (isa::Command command : stream.commands()) {
    const uint32_t tag = std::visit(
        [](auto& c) {
          const uint32_t t = c.header.tag;
          c.header.wait0_enable = c.header.wait1_enable = false;
          c.header.signal0_enable = c.header.signal1_enable = false;
          return t;
        },
        command);
    commands_[tag].push_back(command);
  }
}

const DeviceOp& MaskedRun::op(size_t i) const { return probes_[i]->real(); }

void MaskedRun::PlaceInDeviceMemory() {
  uint64_t scratch = 0, weights = Align(programs_.bytes.size());
  for (const auto& op : graph_.ops) {
    for (const ConstantGroup& g : op->groups) {
      weights = std::max(weights, g.offset + g.bytes);
    }
  }
  for (Storage& s : graph_.storages) {
    s.resident = false;
    if (s.constant) weights = std::max(weights, s.dram_offset + s.DramBytes());
    if (s.dram_dense()) continue;
    s.region = kScratchRegion;
    s.dram_offset = scratch;
    scratch += Align(s.DramBytes());
  }
  // (programs come last)
  scratch_ = Align(weights + programs_.bytes.size() + kPage, kPage);
  io_ = scratch_ + Align(scratch, kPage);
  memory_.assign(io_ + Align(graph_.io_bytes, kPage) + kPage, 0);
}

void MaskedRun::DrawTiles(size_t i, std::mt19937_64* random) {
  const DeviceOp& op = *graph_.ops[i];
  const Extent& e = graph_.values[op.output].extent;
  const auto part = [&](int64_t all, int64_t step) {
    const int64_t steps = Ceil(all, step);
    const uint64_t kind = (*random)() % 3;
    const int64_t some =
        kind == 0   ? steps
        : kind == 1 ? 1 + static_cast<int64_t>((*random)() % steps)
                    : 1 + static_cast<int64_t>((*random)() %
                                               std::min<int64_t>(steps, 4));
    return std::min(all, some * step);
  };
  OpPlan& p = plan_.ops[i];
  p.ahead = 0;
  p.single = true;
  p.copy.assign(op.inputs.size(), false);
  const bool rolling = op.box.has_value();  // buffers are for that many rows
  for (int attempt = 0; attempt < 200; ++attempt) {
    TileShape& t = p.tile;
    t = WholeTile(graph_, op);
    p.cut_groups = GroupRuns(op).size() > 1 && (*random)() % 2 == 0;
    if (op.tileable) t.rows = rolling ? op.box->tile.rows : part(e.h, 1);
    if (op.columns_tileable) t.columns = part(e.w, op.column_step);
    if (op.channels_tileable) t.channels = part(e.c, op.channel_step);
    if (op.max_pixels > 0) {
      if (op.columns_tileable) t.columns = std::min(t.columns, op.max_pixels);
      t.rows = std::clamp<int64_t>(op.max_pixels / t.columns, 1, t.rows);
    }
    if (op.max_rows > 0) t.rows = std::min(t.rows, op.max_rows);
    if (rolling) t.lead = std::min(op.box->tile.lead, t.rows - 1);
    const uint64_t work = Tiles(i) * op.groups.size();
    if (PlaceBuffers(i) && (work <= kMaxTiles || rolling || attempt > 100)) {
      return;
    }
  }
}

uint64_t MaskedRun::Tiles(size_t i) const {
  return plan_.ops[i].tile.Count(graph_.values[graph_.ops[i]->output].extent);
}

bool MaskedRun::PlaceBuffers(size_t i) {
  const DeviceOp& op = *graph_.ops[i];
  OpPlan& p = plan_.ops[i];
  uint64_t at = 0;
  const auto place = [&](uint64_t bytes) {
    const auto here = static_cast<uint32_t>(at);
    at = Align(at + bytes);
    return here;
  };
  ProgramTable own;
  uint64_t programs = 0, constants = 0;
  for (const Microprogram& program : op.Programs()) {
    programs += Align(program.Bytes().size(), 16);
  }
  programs += Align(CopyProgram().Bytes().size(), 16);
  for (const ConstantGroup& g : op.groups) {
    constants = std::max(constants, g.bytes);
  }
  p.programs = place(programs);
  p.constants[0] = p.constants[1] = place(constants);
  p.inputs.clear();
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const uint32_t here =
        place(InputTile(graph_, op, k, StoredTile(op, p)).bytes);
    p.inputs.push_back({here, here});
  }
  p.output[0] = p.output[1] =
      place(OutputTile(graph_, op, StoredTile(op, p)).bytes);
  p.temporary = place(op.temporary_bytes);
  return at <= config_.sram_bytes;
}

absl::Status MaskedRun::Compute(const std::vector<TensorData>& inputs) {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const int value = graph_.inputs[i].second;
    std::memcpy(&memory_[io_ + graph_.StorageOf(value).dram_offset],
                inputs[i].bytes.data(), inputs[i].bytes.size());
  }
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    RETURN_IF_ERROR(Run(i, &memory_, nullptr, nullptr, nullptr));
  }
  return absl::OkStatus();
}

std::vector<uint8_t> MaskedRun::Output(size_t index) const {
  return Result(memory_, graph_.outputs[index].second);
}

std::vector<uint8_t> MaskedRun::Result(const std::vector<uint8_t>& memory,
                                       int value) const {
  const Value& v = graph_.values[value];
  const Storage& s = graph_.StorageOf(value);
  const Extent& e = v.extent;
  const auto es = static_cast<int64_t>(ElementBytes(s.type));
  const uint64_t base =
      (s.region == kIoRegion ? io_ : scratch_) + s.dram_offset + v.offset;
  std::vector<uint8_t> bytes;
  const auto append = [&](uint64_t at, int64_t count) {
    bytes.insert(bytes.end(), memory.begin() + at, memory.begin() + at + count);
  };
  if (s.layout == Layout::kDense || s.dram_dense()) {
    append(base, e.n * e.c * e.h * e.w * es);
    return bytes;
  }
  const Geometry g = GeometryOf(e, s.layout, es, e.h, Halo());
  for (int64_t n = 0; n < e.n; ++n) {
    for (int64_t c = 0; c < e.c; c += 16) {
      for (int64_t y = 0; y < e.h; ++y) {
        for (int64_t x = 0; x < e.w; ++x) {
          append(
              base + n * g.bytes + c / 16 * g.plane + y * g.pitch + x * g.xstep,
              s.layout == Layout::kPacked ? e.c
                                          : std::min<int64_t>(16, e.c - c));
        }
      }
      if (s.layout == Layout::kPacked) break;
    }
  }
  return bytes;
}

bool MaskedRun::MarkInput(const DeviceOp& op, size_t k, const Tile& tile,
                          const Shrink* shrink,
                          std::vector<uint8_t>* keep) const {
  const OpInput& in = op.inputs[k];
  if (in.rows.kind == AxisNeed::kDirect) return false;
  const Storage& s = graph_.StorageOf(in.value);
  const Extent& e = graph_.values[in.value].extent;
  const auto es = static_cast<int64_t>(ElementBytes(s.type));
  const TileView& view = tile.inputs[k];
  InputBox box = NeedOf(graph_, op, k, tile);
  bool removed = false;
  // The index that is taken out, of those in the image.
  const auto without = [&](Axis axis, const Slice& need, int64_t count) {
    const Slice inside = Inside(need, count);
    if (shrink == nullptr || shrink->input != k || shrink->axis != axis ||
        inside.count == 0) {
      return INT64_MIN;
    }
    removed = true;
    return shrink->last ? inside.first + inside.count - 1 : inside.first;
  };
  if (s.layout == Layout::kDense) {
    if (in.rows.kind == AxisNeed::kWhole) {
      box.rows.first -= in.halo.top;
      box.rows.count += in.halo.top + in.halo.bottom;
    }
    if (!CutsColumns(op, k, graph_.values[op.output].extent, tile)) {
      box.columns.first -= in.halo.left;
      box.columns.count += in.halo.left + in.halo.right;
    }
  } else {
    box.rows = Inside(box.rows, e.h);
    box.columns = Inside(box.columns, e.w);
  }
  const int64_t no_row = without(Axis::kRows, box.rows, e.h);
  const int64_t no_column = without(Axis::kColumns, box.columns, e.w);
  const int64_t no_channel = without(Axis::kChannels, box.channels, e.c);
  const auto mark = [&](int64_t plane, int64_t y, int64_t x, int64_t lane,
                        int64_t bytes) {
    const uint32_t at = AddressOf(view, plane, y, x) + lane;
    for (uint32_t b = at; b < at + bytes && b < keep->size(); ++b) {
      (*keep)[b] = kKept;
    }
  };
  const Slice channels = Inside(box.channels, e.c);
  for (int64_t c = channels.first; c < channels.first + channels.count; ++c) {
    for (int64_t y = box.rows.first; y < box.rows.first + box.rows.count; ++y) {
      for (int64_t x = box.columns.first;
           x < box.columns.first + box.columns.count; ++x) {
        if (c == no_channel || y == no_row || x == no_column) continue;
        switch (s.layout) {
          case Layout::kDense:
            mark(c, y, x, 0, es);
            break;
          case Layout::kBlocked:
            mark(c / 16, y, x, c % 16, 1);
            break;
          case Layout::kPacked:
            mark(0, y, x, c, 1);
            break;
        }
      }
    }
  }
  return removed;
}

bool MaskedRun::Same(size_t i, uint64_t seed, const Shrink* shrink,
                     bool* removed) const {
  std::vector<uint8_t> memory = memory_;
  bool ignored = false;
  const absl::Status status =
      Run(i, &memory, &seed, shrink, removed != nullptr ? removed : &ignored);
  // Where garbage is an index, it may lie outside of everything.
  if (!status.ok()) return false;
  const int value = graph_.ops[i]->output;
  return Result(memory, value) == Result(memory_, value);
}

absl::Status MaskedRun::Run(size_t i, std::vector<uint8_t>* memory,
                            const uint64_t* seed, const Shrink* shrink,
                            bool* removed) const {
  const DeviceOp& op = *graph_.ops[i];
  const OpPlan& p = plan_.ops[i];
  std::vector<uint32_t> words;
  for (const isa::Command& command : commands_[i]) {
    isa::Append(command, &words);
  }
  isa::Append(isa::Command(isa::End()), &words);
  model::FlatMemory flat(memory->data(), memory->size());
  model::Model model(config_, &flat);
  model::RegionTable regions;
  regions[kWeightRegion] = {0, scratch_, false};
  regions[kScratchRegion] = {scratch_, io_ - scratch_, true};
  regions[kIoRegion] = {io_, memory->size() - io_, true};
  std::mt19937_64 random(seed == nullptr ? 1 : *seed);
  std::vector<uint8_t> garbage(2 * size_t{config_.sram_bytes});
  for (size_t b = 0; b < garbage.size(); b += sizeof(uint64_t)) {
    const uint64_t bits = random();
    std::memcpy(&garbage[b], &bits, sizeof(bits));
  }
  std::memcpy(model.sram(), garbage.data(), config_.sram_bytes);
  // (of a cascade the temporary holds rows for the next tiles)
  const bool rolling = op.box.has_value();
  const std::vector<Probe::Call>& calls = probes_[i]->calls();
  size_t next = 0;    // call
  size_t before = 0;  // commands of the operations before this one
  for (size_t k = 0; k < i; ++k) before += commands_[k].size();
  const auto mask = [&](const Tile& tile, const Tile* last) {
    std::vector<uint8_t> keep(config_.sram_bytes, 0);
    const auto range = [&](uint64_t at, uint64_t bytes) {
      std::fill_n(keep.begin() + at, bytes, kKept);
    };
    range(p.programs, p.constants[0] - p.programs);
    range(tile.constants, op.groups[tile.group].bytes);
    range(p.output[0], OutputTile(graph_, op, StoredTile(op, p)).bytes);
    const bool goes_on = last != nullptr && last->image == tile.image &&
                         last->row0 == tile.row0 &&
                         last->column0 == tile.column0 &&
                         last->channel0 == tile.channel0;
    if (goes_on || rolling) range(p.temporary, op.temporary_bytes);
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (MarkInput(op, k, tile, shrink, &keep)) *removed = true;
    }
    // From another place on each time.
    const uint8_t* fresh = &garbage[random() % config_.sram_bytes];
    uint8_t* sram = model.sram();
    for (size_t b = 0; b < keep.size(); ++b) {
      sram[b] = (sram[b] & keep[b]) | (fresh[b] & ~keep[b]);
    }
  };
  const auto at_command = [&](size_t index) {
    if (seed == nullptr || next >= calls.size() ||
        calls[next].begin != before + index) {
      return;
    }
    // An operation may emit nothing for a tile.
    while (next + 1 < calls.size() &&
           calls[next + 1].begin == calls[next].begin) {
      ++next;
    }
    mask(calls[next].tile, next > 0 ? &calls[next - 1].tile : nullptr);
    ++next;
  };
  size_t done = 0;
  at_command(0);
  const model::RunResult result = model.Run(
      words.data(), words.size() * sizeof(uint32_t), regions, [&](uint64_t) {
        at_command(++done);
        return true;
      });
  if (result.status != isa::Error::kOk) {
    return absl::InternalError(
        absl::StrCat(op.op, " '", op.name, "': fault ",
                     static_cast<int>(result.status), " at offset ",
                     result.fault_offset, ", address ", result.fault_address));
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
