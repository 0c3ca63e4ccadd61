// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/reduction_loop.h"

#include <algorithm>

#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMaxCount = 65535;
// Longest row of a block, in elements, that is seen as one row.
constexpr int64_t kMaxRow = 4096;

// One dimension of the loop over results.
struct Dim {
  int64_t n;
  int64_t ReductionStream::*stride;
};

void Emit(Emitter* emitter, isa::Vrun run, const ReductionLoop& lines, Dim lane,
          Dim outer, const std::vector<ReductionStream>& operands,
          const ReductionStream& result) {
  auto stream = [&](const ReductionStream& s, bool reduced) {
    isa::Stream out;
    out.base = s.base;
    out.type = s.type;
    if (lines.in_lanes) {
      if (reduced || s.state) out.lane_stride = s.step;
      if (reduced && !s.state) out.r1_stride = isa::kVectorLanes * s.step;
    } else {
      out.lane_stride = s.*lane.stride;
      if (reduced && !s.state) out.r1_stride = s.step;
    }
    out.o1_stride = s.*outer.stride;
    return out;
  };
  run.store = isa::StoreMode::kEpilogue;
  run.n_o1 = outer.n;
  if (lines.in_lanes) {
    constexpr int64_t kLanes = isa::kVectorLanes;
    run.store_one = !result.state;
    run.lanes = std::min(lines.count, kLanes);
    run.n_r1 = (lines.count + kLanes - 1) / kLanes;
    run.tail = lines.count > kLanes ? lines.count % kLanes : 0;
  } else {
    run.lanes = lane.n;
    run.n_r1 = lines.count;
  }
  run.enable_a = !operands.empty();
  run.enable_b = operands.size() > 1;
  run.enable_c = operands.size() > 2;
  if (run.enable_a) run.SetA(stream(operands[0], true));
  if (run.enable_b) run.SetB(stream(operands[1], true));
  if (run.enable_c) run.SetC(stream(operands[2], true));
  run.SetD(stream(result, false));
  emitter->Append(run);
}

}  // namespace

void EmitReductionLoop(Emitter* emitter, isa::Vrun run,
                       const ReductionLoop& lines,
                       const std::vector<ReductionStream>& operands,
                       const ReductionStream& result) {
  Dim lane{lines.inner, &ReductionStream::inner},
      outer{lines.rows, &ReductionStream::row};
  const auto useful = [](const Dim& d) {
    return std::min<int64_t>(d.n, isa::kVectorLanes);
  };
  if (!lines.in_lanes && useful(outer) > useful(lane)) std::swap(lane, outer);
  const int64_t lane_step = lines.in_lanes ? 1 : kMaxCount;
  for (int64_t l = 0; l < lane.n; l += lane_step) {
    for (int64_t o = 0; o < outer.n; o += kMaxCount) {
      auto moved = [&](ReductionStream s) {
        s.base += l * (s.*lane.stride) + o * (s.*outer.stride);
        return s;
      };
      std::vector<ReductionStream> parts;
      for (const ReductionStream& s : operands) parts.push_back(moved(s));
      Emit(emitter, run, lines, {std::min(kMaxCount, lane.n - l), lane.stride},
           {std::min(kMaxCount, outer.n - o), outer.stride}, parts,
           moved(result));
    }
  }
}

void EmitElementLoop(Emitter* emitter, isa::Vrun run,
                     const ReductionLoop& lines,
                     const std::vector<ReductionStream>& operands,
                     const ReductionStream& result) {
  auto loop = [](const ReductionStream& s) {
    LoopOperand o;
    o.base = s.base;
    o.type = s.type;
    o.strides = {s.inner, s.step, s.row};
    return o;
  };
  std::vector<LoopOperand> from;
  for (const ReductionStream& s : operands) from.push_back(loop(s));
  run.enable_a = !operands.empty();
  run.enable_b = operands.size() > 1;
  run.enable_c = operands.size() > 2;
  EmitLoop(emitter, run, {lines.inner, lines.count, lines.rows}, from,
           loop(result));
}

ReductionView::ReductionView(const ReduceStage& stage, uint64_t sram_bytes)
    : stage_(stage),
      by_image_(stage.inner > 1 &&
                stage.count * stage.inner >
                    std::min<int64_t>(kMaxRow, sram_bytes / 32)) {}

Shape ReductionView::OperandShape() const {
  if (by_image_) return {stage_.outer, stage_.count, stage_.inner, 1};
  return {stage_.outer, stage_.count * stage_.inner};
}

Shape ReductionView::ResultShape() const {
  if (by_image_) return {stage_.outer, 1, stage_.inner, 1};
  return {stage_.outer, stage_.inner};
}

ReductionLoop ReductionView::LoopOf(int64_t rows) const {
  ReductionLoop lines;
  lines.rows = by_image_ ? 1 : rows;
  lines.count = stage_.count;
  lines.inner = by_image_ ? rows : stage_.inner;
  return lines;
}

ReductionStream ReductionView::Operand(const TileView& v, isa::ElementType type,
                                       int64_t row) const {
  ReductionStream s;
  s.base = RowBase(v, row);
  s.type = type;
  s.row = by_image_ ? 0 : v.pitch;
  s.step = by_image_ ? v.plane : stage_.inner * v.xstep;
  s.inner = by_image_ ? v.pitch : v.xstep;
  return s;
}

ReductionStream ReductionView::Result(const TileView& v, isa::ElementType type,
                                      int64_t row) const {
  ReductionStream s = Operand(v, type, row);
  s.step = 0;
  return s;
}

int64_t ReductionView::OuterOf(const Tile& tile) const {
  return by_image_ ? tile.image : tile.row0;
}

std::vector<Slice> ReductionView::Parts(bool in_lanes, int64_t element_bytes,
                                        uint64_t sram_bytes) const {
  constexpr int64_t kLanes = isa::kVectorLanes;
  // Rows of one element are not taken one by one.
  constexpr int64_t kRows = 16;
  const auto sram = static_cast<int64_t>(sram_bytes);
  const int64_t most = in_lanes ? kMaxCount * kLanes - kLanes : kMaxCount;
  const int64_t unit = (by_image_ ? 1 : stage_.inner) * element_bytes;
  if (stage_.count * unit <= sram / 8 && stage_.count <= most) {
    return {{0, stage_.count}};
  }
  int64_t length = std::clamp<int64_t>(
      sram / 16 / (by_image_ ? kRows * unit : unit), 1, most);
  if (in_lanes) length = std::max(kLanes, length - length % kLanes);
  std::vector<Slice> parts;
  for (int64_t first = 0; first < stage_.count;) {
    Slice part{first, std::min(length, stage_.count - first)};
    const int64_t left = stage_.count - first - part.count;
    if (in_lanes && left < kLanes) part.count += left;
    parts.push_back(part);
    first += part.count;
  }
  return parts;
}

void ReductionView::Cut(const std::vector<Slice>& parts, int64_t state_bytes,
                        uint64_t sram_bytes, DeviceOp* op) const {
  if (parts.size() == 1) return;
  op->groups.assign(parts.size(), ConstantGroup());
  for (const Slice& part : parts) {
    OpInput& in = op->inputs[0];
    if (by_image_) {
      in.channel_slices.push_back(part);
    } else {
      in.column_slices.push_back(
          {part.first * stage_.inner, part.count * stage_.inner});
    }
  }
  const int64_t row = by_image_ ? 1 : stage_.inner;
  op->max_pixels = std::max<int64_t>(row, sram_bytes / 16 / state_bytes);
  op->temporary_bytes = op->max_pixels * state_bytes;
}

ReductionStream ReductionView::State(uint32_t base, isa::ElementType type,
                                     int64_t words) const {
  constexpr int64_t kWord = 4;
  ReductionStream s;
  s.base = base;
  s.type = type;
  s.step = kWord;
  s.inner = words * kWord;
  s.row = (by_image_ ? 1 : stage_.inner) * s.inner;
  s.state = true;
  return s;
}

}  // namespace heddle::compiler
