// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/matrix_op.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/window_need.h"
#include "compiler/stream/access.h"
#include "simulator/timing/command_cost.h"
#include "simulator/timing/matrix_cost.h"

namespace heddle::compiler {
namespace {

constexpr uint32_t kWord = isa::kWordBytes;
constexpr int64_t kBlock = 16;
constexpr uint64_t kTableBytes = 256;

int64_t Blocks(int64_t channels) { return (channels + kBlock - 1) / kBlock; }
int64_t RoundUp(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}

int64_t LowestCode(bool is_signed) { return is_signed ? -128 : 0; }

}  // namespace

MatrixOp::MatrixOp(const isa::Config& config,
                   std::shared_ptr<const MatrixSpec> spec, int from, int to)
    : config_(config), spec_(std::move(spec)), first_output_(to) {
  engine = "matrix";
  output = to;
  macs = spec_->macs;
  inputs.resize(1);
  inputs[0].value = from;
  tileable = true;
  for (uint8_t z : spec_->weight_zero) {
    zw_channel_ |= z != spec_->weight_zero[0];
  }
  Regroup(config_.sram_bytes / 4);
  MapRows();
}

const OutputStage* MatrixOp::Find(OutputStage::Kind kind) const {
  for (const OutputStage& s : stages_) {
    if (s.kind == kind) return &s;
  }
  return nullptr;
}

bool MatrixOp::Accepts(OutputStage::Kind kind) const {
  if (spec_->out_type != isa::OutType::kU8 &&
      spec_->out_type != isa::OutType::kS8) {
    return false;
  }
  // Poolings look at more pixels than accumulators hold, and at whole images.
  if ((parts_.cut() || !CountsRows(spec_->window)) &&
      kind != OutputStage::kTable && kind != OutputStage::kResidual) {
    return false;
  }
  auto rank = [](OutputStage::Kind k) {
    return k == OutputStage::kAverage ? static_cast<int>(OutputStage::kMaxPool)
                                      : static_cast<int>(k);
  };
  return stages_.empty() || rank(stages_.back().kind) < rank(kind);
}

void MatrixOp::AddStage(const OutputStage& stage) {
  const uint64_t bytes = groups[0].bytes;
  stages_.push_back(stage);
  output = stage.output;
  if (stage.kind == OutputStage::kResidual) {
    inputs.emplace_back();
    inputs.back().value = stage.residual;
    inputs.back().all_lanes = true;
  }
  if (stage.kind == OutputStage::kTable) {
    Regroup(std::max(bytes, kTableBytes) + kTableBytes);
  }
  MapRows();
}

std::unique_ptr<MatrixOp> MatrixOp::Prefix(size_t count) const {
  auto op = std::make_unique<MatrixOp>(config_, spec_, inputs[0].value,
                                       first_output_);
  op->name = name;
  op->op = this->op;
  for (size_t i = 0; i < count; ++i) op->AddStage(stages_[i]);
  return op;
}

void MatrixOp::ConvRows(int64_t row0, int64_t rows, int64_t* first,
                        int64_t* count) const {
  const int64_t height = spec_->window.out[0];
  *first = row0;
  *count = rows;
  if (Find(OutputStage::kAverage)) {
    *first = 0;
    *count = height;
  } else if (const OutputStage* pool = Find(OutputStage::kMaxPool)) {
    const int64_t end =
        (row0 + rows - 1) * pool->stride - pool->pad + pool->kernel;
    *first = std::max<int64_t>(0, row0 * pool->stride - pool->pad);
    *count = std::min(end, height) - *first;
  }
}

void MatrixOp::MapRows() {
  const Window& w = spec_->window;
  AxisNeed conv = WindowNeed(w, 0);
  AxisNeed residual{AxisNeed::kSame, 1, 0, 1};
  const OutputStage* pool = Find(OutputStage::kMaxPool);
  // Windows of a pooling that overlap are taken in one command: a row of the
  // convolution that belongs to two tiles would be computed twice and mixed
  // into rows that the tile does not have.
  if (Find(OutputStage::kAverage) || (pool && pool->kernel > pool->stride)) {
    conv.kind = residual.kind = AxisNeed::kWhole;
    tileable = false;
  } else if (pool) {
    residual = {AxisNeed::kWindow, pool->stride, pool->pad, pool->kernel};
    conv.extent += (pool->kernel - 1) * conv.stride;
    conv.pad += pool->pad * conv.stride;
    conv.stride *= pool->stride;
  }
  inputs[0].rows = conv;
  const bool fold = spec_->mode == isa::MatrixMode::kFold;
  column_step = fold ? kBlock : 1;
  inputs[0].columns = WindowNeed(w, 1, column_step);
  if (spec_->mode == isa::MatrixMode::kDepthwise) {
    inputs[0].channels.kind = AxisNeed::kSame;
  }
  columns_tileable = !pool && !Find(OutputStage::kAverage);
  if (inputs.size() > 1) {
    inputs[1].rows = residual;
    inputs[1].columns.kind = inputs[1].channels.kind = AxisNeed::kSame;
  }
}

uint64_t MatrixOp::WeightBytes(int64_t count, const Contraction& part) const {
  const CodeWeights& w = spec_->weights;
  const int64_t taps = w.kh * w.kw;
  const uint64_t fixed = Blocks(count) * (zw_channel_ ? 9 : 8) * kWord +
                         (Find(OutputStage::kTable) ? kTableBytes : 0);
  switch (spec_->mode) {
    case isa::MatrixMode::kDepthwise:
      return fixed + Blocks(count) * kBlock * taps;
    case isa::MatrixMode::kFold:
      return fixed +
             RoundUp(count, config_.lanes_out) * config_.lanes_in *
                 timing::FoldVectors(w.kh, w.kw * w.ci, config_.lanes_in);
    default:
      return fixed + PackedBytes(w, count, part, config_);
  }
}

int64_t MatrixOp::PieceOf(int64_t count) const {
  return std::min(count, spec_->weights.co / spec_->conv_groups);
}

uint64_t MatrixOp::GroupBytes(int64_t count, const Contraction& part) const {
  const int64_t piece = PieceOf(count);
  return count / piece * WeightBytes(piece, part);
}

void MatrixOp::AddGroup(int64_t first, int64_t count, const Contraction& part) {
  const CodeWeights& w = spec_->weights;
  ConstantGroup group;
  group.bytes = RoundUp(GroupBytes(count, part), isa::kRegionAlign);
  groups.push_back(group);
  group_channels.push_back({first, count});
  // Of the first convolution group, and of those that follow in the same group
  // of constants.
  const int64_t of_group = w.co / spec_->conv_groups;
  const int64_t more = (count - 1) / of_group * w.ci;
  inputs[0].channel_slices.push_back(
      {first / of_group * w.ci + part.ci0, more + part.ci});
  if (KernelRows() < w.kh) {
    inputs[0].row_slices.push_back(RowsUnder(spec_->window, part.ky0, part.ky));
  }
}

int64_t MatrixOp::KernelRows() const {
  return KernelRowsAtOnce(spec_->window, config_.sram_bytes);
}

void MatrixOp::Regroup(uint64_t max_bytes) {
  const CodeWeights& w = spec_->weights;
  const int64_t of_group = w.co / spec_->conv_groups;
  const int64_t unit = std::min<int64_t>(
      std::max<int64_t>(kBlock, config_.lanes_out), RoundUp(of_group, kBlock));
  const Contraction whole{0, w.ci, 0, w.kh};
  const uint64_t unit_bytes = WeightBytes(unit, whole);
  const uint64_t most = std::max<uint64_t>(max_bytes, config_.sram_bytes / 4);
  parts_ = ContractionParts(w);
  // A pooling stage needs every sum of its window at once.
  const bool pools = Find(OutputStage::kMaxPool) || Find(OutputStage::kAverage);
  const bool cut = unit_bytes > most || !IsOneContraction(w, KernelRows());
  if (cut && spec_->mode == isa::MatrixMode::kConv && !pools) {
    const uint64_t fixed = WeightBytes(unit, {});
    parts_ = ContractionParts(w, most - std::min(most, fixed), unit, config_,
                              KernelRows());
  }
  max_pixels = parts_.max_pixels();
  // Groups of equal size, so that none is much shorter than the others.
  const auto equal = [](int64_t all, int64_t fit) {
    const int64_t count = (all + fit - 1) / fit;
    return (all + count - 1) / count;
  };
  groups.clear();
  group_channels.clear();
  inputs[0].channel_slices.clear();
  inputs[0].row_slices.clear();
  const uint64_t group_bytes = WeightBytes(of_group, whole);
  if (spec_->conv_groups > 1 && group_bytes <= max_bytes && !parts_.cut()) {
    // Several convolution groups to a group of constants.
    const int64_t step =
        of_group * equal(spec_->conv_groups,
                         static_cast<int64_t>(max_bytes / group_bytes));
    for (int64_t first = 0; first < w.co; first += step) {
      AddGroup(first, std::min(step, w.co - first), whole);
    }
  } else {
    const int64_t fit = std::max<int64_t>(1, max_bytes / unit_bytes);
    const int64_t step =
        std::min(of_group, equal((of_group + unit - 1) / unit, fit) * unit);
    for (int64_t start = 0; start < w.co; start += of_group) {
      for (int64_t first = 0; first < of_group; first += step) {
        for (const Contraction& part : parts_) {
          AddGroup(start + first, std::min(step, of_group - first), part);
        }
      }
    }
  }
  if (groups.size() == 1 || (!parts_.cut() && spec_->conv_groups == 1)) {
    inputs[0].channel_slices.clear();  // all of them
  }
}

void MatrixOp::Pack(size_t group, uint8_t* to) const {
  const CodeWeights& w = spec_->weights;
  const std::vector<uint8_t>& zero = spec_->weight_zero;
  const OutputStage* table = Find(OutputStage::kTable);
  const auto [begin, all] = group_channels[group];
  const int64_t count = PieceOf(all);
  const auto append = [&to](const auto& bytes) {
    to = std::copy(bytes.begin(), bytes.end(), to);
  };
  const Contraction& part = parts_.Of(group);
  for (int64_t first = begin; first < begin + all; first += count) {
    append(PackParameters(spec_->bias, spec_->scale, zero, zw_channel_, first,
                          count));
    if (table) append(table->table);
    switch (spec_->mode) {
      case isa::MatrixMode::kFold:
        append(PackFold(w, first, count, zero, config_));
        break;
      case isa::MatrixMode::kDepthwise:
        append(PackDepthwise(w, first, count, zero));
        break;
      default:
        PackConv(w, first, count, part, zero, config_, to);
        to += PackedBytes(w, count, part, config_);
    }
  }
}

uint64_t MatrixOp::Cycles(int64_t rows) const {
  const Window& w = spec_->window;
  int64_t first, count;
  ConvRows(0, rows, &first, &count);
  isa::Conv c;
  c.mode = spec_->mode;
  c.out_rows = count;
  c.ow = w.out[1];
  c.kh = w.kernel[0];
  c.kw = w.kernel[1];
  c.ci = spec_->weights.ci;
  c.co = spec_->weights.co / spec_->conv_groups;
  if (spec_->mode == isa::MatrixMode::kFold) c.fold_channels = c.ci;
  return spec_->conv_groups * timing::EstimateCycles(c, config_);
}

uint64_t MatrixOp::ConstantBytes() const {
  uint64_t bytes = 0;
  for (const ConstantGroup& g : groups) bytes += g.bytes;
  return bytes;
}

void MatrixOp::Emit(Emitter* emitter, const Tile& tile) const {
  const auto [begin, all] = group_channels[tile.group];
  const int64_t count = PieceOf(all);
  uint32_t constants = tile.constants;
  for (int64_t first = begin; first < begin + all; first += count) {
    EmitPiece(emitter, tile, first, count, constants);
    constants += WeightBytes(count, parts_.Of(tile.group));
  }
}

void MatrixOp::EmitPiece(Emitter* emitter, const Tile& tile, int64_t first,
                         int64_t count, uint32_t constants) const {
  const Window& w = spec_->window;
  const TileView& in = tile.inputs[0];
  isa::Conv c;
  c.mode = spec_->mode;
  c.in_signed = spec_->in_signed;
  c.w_signed = spec_->w_signed;
  c.out_type = spec_->out_type;
  c.zw_channel = zw_channel_;
  const int64_t conv_group = first / (spec_->weights.co / spec_->conv_groups);
  int64_t block =
      (conv_group * spec_->weights.ci + parts_.Of(tile.group).ci0) / kBlock;
  if (spec_->mode == isa::MatrixMode::kDepthwise) block = first / kBlock;
  int64_t conv_row, conv_rows;
  ConvRows(tile.row0, tile.rows, &conv_row, &conv_rows);
  SetWindow(w, inputs[0].columns, tile, in, block, !columns_tileable, conv_row,
            &c);
  if (spec_->mode == isa::MatrixMode::kFold) {
    c.fold_channels = spec_->weights.ci;
    c.in_plane = 0;
  }
  parts_.SetPart(tile.group, w, &c);
  c.out_rows = conv_rows;
  c.co = count;
  if (spec_->mode == isa::MatrixMode::kDepthwise) c.ci = count;
  c.param_addr = constants / kWord;
  c.w_addr = c.param_addr + Blocks(count) * (zw_channel_ ? 9 : 8);
  c.za = spec_->za;
  if (!zw_channel_) {
    const uint8_t zero = spec_->weight_zero[0];
    c.zw = spec_->w_signed ? static_cast<int8_t>(zero) : zero;
  }
  const TileView& out = tile.output;
  c.zo = spec_->zo;
  const bool s8 = spec_->out_type == isa::OutType::kS8;
  c.act_min = LowestCode(s8) - spec_->zo;
  c.act_max = LowestCode(s8) + 255 - spec_->zo;
  c.out_plane = out.plane / kWord;
  c.out_addr = AddressOf(out, first / kBlock, out.wrap ? out.row0 : tile.row0,
                         tile.column0) /
               kWord;
  c.out_wrap = out.wrap;
  c.out_pitch = out.pitch / kWord;
  if (Find(OutputStage::kTable)) {
    c.lut_addr = c.w_addr;
    c.w_addr += kTableBytes / kWord;
  }
  if (parts_.Completes(tile.group)) SetStages(&c, tile, first, conv_row);
  emitter->Append(c);
}

void MatrixOp::SetStages(isa::Conv* c, const Tile& tile, int64_t first,
                         int64_t conv_row) const {
  const bool s8 = spec_->out_type == isa::OutType::kS8;
  for (const OutputStage& s : stages_) {
    switch (s.kind) {
      case OutputStage::kTable:
        c->lut = true;
        break;
      case OutputStage::kResidual: {
        const TileView& r = tile.inputs[1];
        c->res_op = s.op;
        c->res_signed = s.residual_signed;
        c->res_first = s.residual_first;
        c->res_pitch = r.pitch / kWord;
        c->res_plane = r.plane / kWord;
        c->res_wrap = r.wrap;
        c->res_addr = AddressOf(r, first / kBlock, r.wrap ? r.row0 : conv_row,
                                tile.column0) /
                      kWord;
        c->res_a = s.a;
        c->res_b = s.b;
        c->res_k = s.k;
        c->res_zero = s.residual_zero;
        c->mid_zero = s.mid_zero;
        c->res_min = LowestCode(s8);
        c->res_max = LowestCode(s8) + 255;
        break;
      }
      case OutputStage::kMaxPool: {
        c->pool = isa::PoolKind::kMax;
        c->pool_k = s.kernel;
        c->pool_s = s.stride;
        c->pool_pad = s.pad;
        c->pool_row0 = tile.output.wrap ? 0 : tile.row0;
        c->pool_oh = s.out[0];
        c->pool_ow = s.out[1];
        break;
      }
      case OutputStage::kAverage:
        c->pool = isa::PoolKind::kAverage;
        c->pool_scale = s.scale;
        c->pool_zero_in = s.zero_in;
        c->pool_zero_out = s.zero_out;
        break;
    }
  }
}

}  // namespace heddle::compiler
