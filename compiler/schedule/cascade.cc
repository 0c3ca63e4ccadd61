// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/cascade.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/matrix_op.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/transfer.h"
#include "compiler/schedule/window_need.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kAlign = 64;

class CascadeOp : public ClonableOp<CascadeOp> {
 public:
  CascadeOp(const DeviceGraph& graph,
            std::vector<std::unique_ptr<DeviceOp>> parts, int64_t rows,
            int64_t lead)
      : chain_(graph, Pointers(parts)) {
    const int64_t height = chain_.height(parts.size() - 1);
    const std::vector<int64_t> wraps =
        chain_.BufferRows(rows, lead, (height + lead + rows - 1) / rows);
    engine = "matrix";
    tileable = true;
    output = parts.back()->output;
    box.emplace();
    box->tile = WholeTile(graph, *this);
    box->tile.rows = rows;
    box->tile.lead = lead;
    name = absl::StrCat(parts.front()->name, "..", parts.back()->name);
    for (size_t q = 0; q < parts.size(); ++q) {
      DeviceOp& op = *parts[q];
      absl::StrAppend(&this->op, q ? ">" : "", op.op);
      macs += op.macs;
      sources.insert(sources.end(), op.sources.begin(), op.sources.end());
      Part part;
      part.outer.resize(op.inputs.size(), -1);
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        if (chain_.Producer(q, k) >= 0) continue;
        part.outer[k] = inputs.size();
        outer_.push_back({q, k});
        OpInput in = op.inputs[k];
        in.rows = {AxisNeed::kWindow, 1, 0, 1};  // see RowsOf
        inputs.push_back(in);
      }
      const Storage& s = graph.StorageOf(op.output);
      part.extent = graph.values[op.output].extent;
      part.layout = s.layout;
      part.tap_offset = s.tap_offset;
      if (q + 1 < parts.size()) {
        part.wrap = wraps[q];
        const int64_t kept = part.wrap ? part.wrap : part.extent.h;
        const Geometry g =
            GeometryOf(part.extent, part.layout, 1, kept, Halo());
        part.view.base = temporary_bytes;
        part.view.pitch = g.pitch;
        part.view.plane = g.plane;
        part.view.xstep = g.xstep;
        part.view.wrap = part.wrap;
        temporary_bytes += (g.bytes + kAlign - 1) / kAlign * kAlign;
      }
      // One group each: all weights stay.
      if (MatrixOp* matrix = op.AsMatrix()) matrix->Regroup(UINT32_MAX);
      part.op = std::move(parts[q]);
      parts_.push_back(std::move(part));
    }
    uint64_t bytes = 0;
    for (Part& part : parts_) {
      part.constants = bytes;
      bytes += part.op->groups[0].bytes;
    }
    groups = {ConstantGroup{0, bytes}};
  }

  void Pack(size_t, uint8_t* to) const override {
    for (const Part& part : parts_) part.op->Pack(0, to + part.constants);
  }

  std::vector<Microprogram> Programs() const override {
    std::vector<Microprogram> all;
    for (const Part& part : parts_) {
      for (Microprogram& p : part.op->Programs()) all.push_back(std::move(p));
    }
    return all;
  }

  bool RowsOf(size_t input, int64_t row0, int64_t rows, int64_t* first,
              int64_t* count) const override {
    const auto [q, k] = outer_[input];
    const int64_t from = chain_.Need(row0)[q];
    const int64_t some = chain_.Need(row0 + rows)[q] - from;
    const AxisNeed& map = parts_[q].op->inputs[k].rows;
    *first = map.kind == AxisNeed::kSame ? from : from * map.stride - map.pad;
    *count = some == 0 ? 0
             : map.kind == AxisNeed::kSame
                 ? some
                 : (some - 1) * map.stride + map.extent;
    return true;
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const std::vector<int64_t> before = chain_.Need(tile.row0);
    const std::vector<int64_t> after = chain_.Need(tile.row0 + tile.rows);
    for (size_t q = 0; q < parts_.size(); ++q) {
      const Part& part = parts_[q];
      if (after[q] <= before[q]) continue;
      Tile own;
      own.image = tile.image;
      own.row0 = before[q];
      own.rows = after[q] - before[q];
      own.columns = part.extent.w;
      own.channels = part.extent.c;
      own.constants = tile.constants + part.constants;
      for (size_t k = 0; k < part.op->inputs.size(); ++k) {
        const int producer = chain_.Producer(q, k);
        own.inputs.push_back(producer < 0
                                 ? tile.inputs[part.outer[k]]
                                 : View(parts_[producer], tile.temporary));
      }
      if (q + 1 == parts_.size()) {
        own.output = tile.output;
        part.op->Emit(emitter, own);
        continue;
      }
      own.output = View(part, tile.temporary);
      if (part.op->AsMatrix() != nullptr) {
        part.op->Emit(emitter, own);
      } else {
        ForPieces(part, own,
                  [&](const Tile& piece) { part.op->Emit(emitter, piece); });
      }
      if (part.tap_offset < 0) continue;
      ForPieces(part, own, [&](const Tile& piece) {
        EmitTransfer(emitter, Direction::kStore, part.extent, part.layout, 1,
                     {kIoRegion, static_cast<uint64_t>(part.tap_offset), true},
                     {piece.image,
                      {piece.row0, piece.rows},
                      {0, part.extent.w},
                      {0, part.extent.c}},
                     piece.output);
      });
    }
  }

 private:
  struct Part {
    std::shared_ptr<const DeviceOp> op;
    std::vector<int> outer;  // input of the cascade, or -1 if a part makes it
    uint64_t constants = 0;  // offset in the group
    // Rolling buffer of the result; base is an offset in the temporary.
    int64_t wrap = 0;
    TileView view;
    Extent extent;
    Layout layout = Layout::kBlocked;
    int64_t tap_offset = -1;
  };

  static std::vector<const DeviceOp*> Pointers(
      const std::vector<std::unique_ptr<DeviceOp>>& parts) {
    std::vector<const DeviceOp*> all;
    for (const auto& p : parts) all.push_back(p.get());
    return all;
  }

  static TileView View(const Part& part, uint32_t temporary) {
    TileView view = part.view;
    view.base += temporary;
    return view;
  }

  // The rows of `tile` in pieces that are contiguous in the rolling buffer,
  // with a view of the piece as output.
  template <typename F>
  static void ForPieces(const Part& part, const Tile& tile, F body) {
    const int64_t end = tile.row0 + tile.rows;
    for (int64_t row = tile.row0; row < end;) {
      Tile piece = tile;
      piece.row0 = row;
      piece.rows = end - row;
      if (part.wrap > 0) {
        const int64_t slot = row % part.wrap;
        piece.rows = std::min(piece.rows, part.wrap - slot);
        piece.output.base += slot * piece.output.pitch;
        piece.output.row0 = row;
        piece.output.wrap = 0;
      }
      body(piece);
      row += piece.rows;
    }
  }

  StripeChain chain_;
  std::vector<Part> parts_;
  std::vector<std::pair<size_t, size_t>> outer_;  // part and input
};

}  // namespace

StripeChain::StripeChain(const DeviceGraph& graph,
                         const std::vector<const DeviceOp*>& parts)
    : parts_(parts) {
  for (size_t q = 0; q < parts.size(); ++q) {
    heights_.push_back(graph.values[parts[q]->output].extent.h);
    producers_.emplace_back();
    for (const OpInput& in : parts[q]->inputs) {
      int producer = -1;
      for (size_t p = 0; p < q; ++p) {
        if (parts[p]->output == in.value) producer = static_cast<int>(p);
      }
      producers_.back().push_back(producer);
    }
  }
}

std::vector<int64_t> StripeChain::Need(int64_t end) const {
  std::vector<int64_t> need(parts_.size(), 0);
  need.back() = std::min(end, heights_.back());
  // The last stripe completes everything, also rows that nobody needs (a stride
  // may leave some): taps show whole tensors.
  if (need.back() == heights_.back()) need = heights_;
  for (size_t q = parts_.size(); q-- > 0;) {
    for (size_t k = 0; k < producers_[q].size(); ++k) {
      const int p = producers_[q][k];
      if (p < 0 || need[q] == 0) continue;
      const AxisNeed& map = parts_[q]->inputs[k].rows;
      const int64_t rows =
          map.kind == AxisNeed::kSame
              ? need[q]
              : (need[q] - 1) * map.stride - map.pad + map.extent;
      need[p] = std::max(need[p], std::clamp<int64_t>(rows, 0, heights_[p]));
    }
  }
  return need;
}

std::vector<int64_t> StripeChain::BufferRows(int64_t rows, int64_t lead,
                                             int64_t stripes) const {
  const size_t count = parts_.size() - 1;
  std::vector<int64_t> kept(count, 1);
  std::vector<int64_t> before = Need(0);
  for (int64_t t = 0; t < stripes; ++t) {
    const std::vector<int64_t> after = Need((t + 1) * rows - lead);
    // The lowest row that somebody reads from here on.
    std::vector<int64_t> low(before.begin(), before.end() - 1);
    for (size_t q = 0; q < parts_.size(); ++q) {
      for (size_t k = 0; k < producers_[q].size(); ++k) {
        const int p = producers_[q][k];
        if (p < 0 || before[q] == heights_[q]) continue;
        const AxisNeed& map = parts_[q]->inputs[k].rows;
        const int64_t row = map.kind == AxisNeed::kSame
                                ? before[q]
                                : before[q] * map.stride - map.pad;
        low[p] = std::min(low[p], std::max<int64_t>(0, row));
      }
    }
    for (size_t p = 0; p < count; ++p) {
      kept[p] = std::max(kept[p], after[p] - low[p]);
    }
    before = after;
  }
  // A rolling input buffer holds at least one window.
  for (size_t q = 0; q < parts_.size(); ++q) {
    for (size_t k = 0; k < producers_[q].size(); ++k) {
      const int p = producers_[q][k];
      const AxisNeed& map = parts_[q]->inputs[k].rows;
      if (p >= 0 && map.kind == AxisNeed::kWindow) {
        kept[p] = std::max(kept[p], map.extent);
      }
    }
  }
  for (size_t p = 0; p < count; ++p) {
    if (kept[p] >= heights_[p]) kept[p] = 0;
  }
  return kept;
}

bool CanCascade(const DeviceGraph& graph, const DeviceOp& op, bool head) {
  const Storage& s = graph.StorageOf(op.output);
  const Value& value = graph.values[op.output];
  if (!op.tileable || op.temporary_bytes > 0 || value.offset != 0) return false;
  for (const OpInput& in : op.inputs) {
    if (!in.halo.empty() || in.rows.divide != 1 || !in.channel_slices.empty() ||
        !in.row_slices.empty() || !in.column_slices.empty()) {
      return false;
    }
    if (in.rows.kind != AxisNeed::kSame && in.rows.kind != AxisNeed::kWindow) {
      return false;
    }
  }
  if (op.AsMatrix() != nullptr) {
    return s.layout == Layout::kBlocked &&
           CountsRows(op.AsMatrix()->spec().window);
  }
  // Codes made row by row, every lane of them.
  return head && op.engine == "vector" && op.groups.size() == 1 &&
         op.inputs.size() == 1 && op.inputs[0].rows.kind == AxisNeed::kSame &&
         (s.layout == Layout::kPacked ||
          (s.layout == Layout::kBlocked && value.extent.c % 16 == 0));
}

std::unique_ptr<DeviceOp> MakeCascade(
    const DeviceGraph& graph, std::vector<std::unique_ptr<DeviceOp>> parts,
    int64_t rows, int64_t lead) {
  return std::make_unique<CascadeOp>(graph, std::move(parts), rows, lead);
}

}  // namespace heddle::compiler
