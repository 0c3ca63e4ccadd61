// SPDX-License-Identifier: Apache-2.0
// Matrix commands by blocks of 16 output channels.
//
// The input is converted once per command to 16-bit values minus the zero point
// with the padding columns filled in, so that the reduction over a kernel row
// is one run of consecutive values (with dilation, one run per tap). Kernel
// rows outside the input are left out. Weights are packed per block to pairs of
// reduction steps x 16 channels.
#include <algorithm>
#include <vector>

#include "simulator/model/engines.h"
#include "simulator/model/fast.h"
#include "simulator/model/geometry.h"
#include "simulator/model/numerics.h"
#include "simulator/model/output_stage.h"

namespace heddle::model {
namespace {

using isa::MatrixMode;
using isa::WeightMode;

// Converted inputs beyond this many values are not worth their memory.
constexpr uint64_t kMaxValues = uint64_t{1} << 25;
constexpr uint32_t kNoRow = ~0u;
// Kernels read whole vectors and pairs: room behind the last value.
constexpr size_t kSlack = 64;

class FastConvolution {
 public:
  FastConvolution(const isa::Conv& c, const Kernels& kernels, Core* core)
      : c_(c), kernels_(kernels), core_(core) {
    by_block_ = c.mode == MatrixMode::kDepthwise;
    channels_ = by_block_ ? kBlock : c.ci;
    first_column_ = -int64_t{c.pad_left};
    columns_ = int64_t{c.ow - 1} * c.sx + int64_t{c.kw - 1} * c.dx + 1;
    FindRows();
    FindColumns();
  }

  bool Fits() const {
    return rows_.size() * columns_ * channels_ <= kMaxValues;
  }

  void Run() {
    values_.assign(rows_.size() * columns_ * channels_ + kSlack, 0);
    const uint32_t cells = core_->config.lanes_out;
    const uint32_t blocks =
        c_.acc_hold ? CellBlocks(c_, core_->config) * (cells / kBlock)
                    : OutBlocks(c_);
    if (c_.mode == MatrixMode::kFold) {
      fold_ = PlanFold(c_, core_->config);
    }
    if (!by_block_) Convert(0);
    acc_.resize(size_t{c_.ow} * kBlock);
    codes_.resize(size_t{c_.ow} * kBlock);
    for (uint32_t cb = 0; cb < blocks; ++cb) {
      if (by_block_) {
        Convert(cb);
        PackDepthwise(cb);
      } else {
        Pack(cb);
      }
      Block(cb);
    }
    const uint64_t outputs = uint64_t{c_.out_rows} * c_.ow * c_.kh * c_.kw;
    core_->result.macs += outputs * c_.co * (by_block_ ? 1 : c_.ci);
  }

 private:
  int64_t InputRow(uint32_t oy, uint32_t ky) const {
    return int64_t{oy} * c_.sy - c_.pad_top + int64_t{ky} * c_.dy;
  }

  // Which input rows are touched, and where their values are.
  void FindRows() {
    place_.assign(c_.ih, kNoRow);
    for (uint32_t oy = c_.out_row0; oy < c_.out_row0 + c_.out_rows; ++oy) {
      for (uint32_t ky = 0; ky < c_.kh; ++ky) {
        const int64_t iy = InputRow(oy, ky);
        if (iy < 0 || iy >= c_.ih || place_[iy] != kNoRow) continue;
        place_[iy] = static_cast<uint32_t>(rows_.size());
        rows_.push_back(static_cast<uint32_t>(iy));
      }
    }
  }

  // The columns from the first to the last that a tap touches: others may lie
  // beyond the end of SRAM.
  void FindColumns() {
    begin_ = c_.iw;
    for (uint32_t kx = 0; kx < c_.kw; ++kx) {
      const int64_t first = first_column_ + int64_t{kx} * c_.dx;
      const int64_t low = first >= 0 ? 0 : (-first + c_.sx - 1) / c_.sx;
      if (first + low * c_.sx >= c_.iw) continue;
      const int64_t high =
          std::min<int64_t>(c_.ow - 1, (c_.iw - 1 - first) / c_.sx);
      if (low > high) continue;
      begin_ = std::min(begin_, first + low * c_.sx);
      end_ = std::max(end_, first + high * c_.sx + 1);
    }
  }

  int16_t* RowValues(uint32_t place) {
    return values_.data() + size_t{place} * columns_ * channels_;
  }

  void ToValues(const uint8_t* from, uint32_t n, int16_t* to) const {
    for (uint32_t i = 0; i < n; ++i) {
      to[i] = static_cast<int16_t>(Code(from[i], c_.in_signed) - c_.za);
    }
  }

  // All channels, or with by_block_ the 16 of block cb.
  void Convert(uint32_t cb) {
    const uint8_t* sram = core_->sram.data();
    for (uint32_t r = 0; r < rows_.size() && begin_ < end_; ++r) {
      const uint32_t iy = rows_[r];
      int16_t* to = RowValues(r) + (begin_ - first_column_) * channels_;
      if (c_.mode == MatrixMode::kFold) {
        ToValues(sram + FoldAddress(c_, iy, begin_),
                 static_cast<uint32_t>(end_ - begin_) * channels_, to);
        continue;
      }
      const int64_t step = int64_t{c_.in_xstep} * kBlock;
      const uint8_t* from =
          sram + InputAddress(c_, by_block_ ? cb : 0, iy, begin_);
      const size_t n = static_cast<size_t>(end_ - begin_);
      uint32_t ch = 0;
      for (; ch + kBlock <= channels_; ch += kBlock) {
        kernels_.convert(from, step, c_.in_signed, static_cast<int16_t>(c_.za),
                         to + ch, channels_, n);
        from += int64_t{c_.in_plane} * kBlock;
      }
      if (ch == channels_) continue;
      for (size_t i = 0; i < n; ++i, from += step, to += channels_) {
        ToValues(from, channels_ - ch, to + ch);
      }
    }
  }

  // ---- Weights ------------------------------------------------------------

  // Runs of the reduction: per kernel row one, or one per tap.
  uint32_t RunsPerRow() const { return c_.dx == 1 ? 1 : c_.kw; }
  uint32_t RunLength() const { return (c_.dx == 1 ? c_.kw : 1) * channels_; }
  uint32_t RunPairs() const { return (RunLength() + 1) / 2; }

  int32_t ZeroOf(uint32_t cb, uint32_t l) const {
    if (!c_.zw_channel) return c_.zw;
    return Code(core_->sram[ZeroAddress(c_, cb) + l], c_.w_signed);
  }

  // Weights of run position k .. k+n-1 (k counts from the start of the kernel
  // row: kx*channels + ch) of channel l, from consecutive bytes.
  void PutWeights(uint32_t ky, uint32_t k, uint32_t l, const uint8_t* from,
                  uint32_t n, int32_t zero) {
    const uint32_t length = RunLength();
    uint32_t run = ky * RunsPerRow() + k / length;
    uint32_t at = k % length;
    int16_t* to = weights_.data() + size_t{run} * RunPairs() * 2 * kBlock;
    // Usually whole pairs that stay in one run.
    if (at % 2 == 0 && n % 2 == 0 && at + n <= length) {
      int16_t* pair = to + size_t{at} * kBlock + 2 * l;
      for (uint32_t i = 0; i < n; i += 2, pair += 2 * kBlock) {
        pair[0] = static_cast<int16_t>(Code(from[i], c_.w_signed) - zero);
        pair[1] = static_cast<int16_t>(Code(from[i + 1], c_.w_signed) - zero);
      }
      return;
    }
    for (uint32_t i = 0; i < n; ++i) {
      to[(at / 2 * kBlock + l) * 2 + at % 2] =
          static_cast<int16_t>(Code(from[i], c_.w_signed) - zero);
      if (++at == length) {
        at = 0;
        to += size_t{RunPairs()} * 2 * kBlock;
      }
    }
  }

  void Pack(uint32_t cb) {
    weights_.assign(size_t{c_.kh} * RunsPerRow() * RunPairs() * 2 * kBlock, 0);
    // Cells behind the last block of parameters have no zero points.
    if (c_.zw_channel && cb >= OutBlocks(c_)) return;
    for (uint32_t l = 0; l < kBlock; ++l) {
      zeros_[l] = static_cast<int16_t>(ZeroOf(cb, l));
    }
    const bool rows = c_.w_mode == WeightMode::kRow;
    if (c_.mode == MatrixMode::kConv &&
        !(rows && cb * kBlock + kBlock > c_.co) &&
        c_.w_mode != WeightMode::kColumn) {
      rows ? PackRows(cb) : PackTiles(cb);
      return;
    }
    for (uint32_t l = 0; l < kBlock; ++l) PackChannel(cb, l, zeros_[l]);
  }

  // Weights of n consecutive input channels of 16 output channels.
  void PutBlock(uint32_t ky, uint32_t k, const uint8_t* from, int64_t row_step,
                uint32_t n) {
    const uint32_t length = RunLength();
    const uint32_t run = ky * RunsPerRow() + k / length;
    const uint32_t at = k % length;
    uint32_t i = 0;
    if (at % 2 == 0) {
      int16_t* to =
          weights_.data() + (size_t{run} * RunPairs() + at / 2) * 2 * kBlock;
      for (; i + kBlock <= n; i += kBlock, to += kBlock * kBlock) {
        kernels_.pack(from + i, row_step, c_.w_signed, zeros_, to);
      }
    }
    for (uint32_t l = 0; l < kBlock && i < n; ++l) {
      PutWeights(ky, k + i, l, from + l * row_step + i, n - i, zeros_[l]);
    }
  }

  void PackRows(uint32_t cb) {
    const int64_t step = int64_t{c_.w_step} * kBlock;
    const uint8_t* from = core_->sram.data() + int64_t{c_.w_addr} * kBlock +
                          int64_t{cb} * kBlock * step;
    for (uint32_t ch = 0; ch < c_.ci; ch += kBlock) {
      PutBlock(0, ch, from + int64_t{ch / kBlock} * c_.w_plane * kBlock, step,
               std::min(kBlock, c_.ci - ch));
    }
  }

  void PackTiles(uint32_t cb) {
    const uint32_t lanes_in = core_->config.lanes_in;
    const uint32_t lanes_out = core_->config.lanes_out;
    const size_t tile = size_t{lanes_in} * lanes_out;
    const uint32_t o = cb * kBlock;
    const uint8_t* row =
        core_->sram.data() + int64_t{c_.w_addr} * kBlock +
        size_t{o % lanes_out} * lanes_in +
        size_t{o / lanes_out} * c_.kh * c_.kw * CeilDiv(c_.ci, lanes_in) * tile;
    for (uint32_t ky = 0; ky < c_.kh; ++ky) {
      for (uint32_t kx = 0; kx < c_.kw; ++kx) {
        for (uint32_t ch = 0; ch < c_.ci; ch += lanes_in, row += tile) {
          PutBlock(ky, kx * c_.ci + ch, row, lanes_in,
                   std::min(lanes_in, c_.ci - ch));
        }
      }
    }
  }

  void PackChannel(uint32_t cb, uint32_t l, int32_t zero) {
    const uint8_t* base = core_->sram.data() + int64_t{c_.w_addr} * kBlock;
    const uint32_t o = cb * kBlock + l;
    const int64_t step = int64_t{c_.w_step} * kBlock;
    const int64_t plane = int64_t{c_.w_plane} * kBlock;
    if (c_.w_mode == WeightMode::kRow) {
      if (o >= c_.co) return;
      for (uint32_t ch = 0; ch < c_.ci; ch += kBlock) {
        PutWeights(0, ch, l, base + ch / kBlock * plane + o * step,
                   std::min(kBlock, c_.ci - ch), zero);
      }
      return;
    }
    if (c_.w_mode == WeightMode::kColumn) {
      if (o >= c_.co) return;
      for (uint32_t ch = 0; ch < c_.ci; ++ch) {
        PutWeights(0, ch, l, base + cb * plane + ch * step + l, 1, zero);
      }
      return;
    }
    // Mode fold.
    const uint32_t lanes_in = core_->config.lanes_in;
    const uint32_t lanes_out = core_->config.lanes_out;
    const size_t tile = size_t{lanes_in} * lanes_out;
    const uint8_t* row = base + size_t{o % lanes_out} * lanes_in +
                         size_t{o / lanes_out} * fold_.vectors * tile;
    for (const FoldPiece& p : fold_.pieces) {
      PutWeights(p.r, p.q, l, row + p.vector * tile + p.lane, p.n, zero);
    }
  }

  // [tap][16 channels] first; pairs of taps are formed per output row, since
  // the kernel rows inside differ.
  void PackDepthwise(uint32_t cb) {
    const uint32_t taps = c_.kh * c_.kw;
    weights_.resize(size_t{taps} * kBlock);
    const uint8_t* from =
        core_->sram.data() + (c_.w_addr + int64_t{cb} * taps) * kBlock;
    for (uint32_t l = 0; l < kBlock; ++l) {
      const int32_t zero = ZeroOf(cb, l);
      for (uint32_t t = 0; t < taps; ++t) {
        weights_[t * kBlock + l] = static_cast<int16_t>(
            Code(from[t * kBlock + l], c_.w_signed) - zero);
      }
    }
  }

  // ---- Accumulation -------------------------------------------------------

  void ReduceRow(uint32_t oy) {
    runs_.clear();
    const size_t run_weights = size_t{RunPairs()} * 2 * kBlock;
    for (uint32_t ky = 0; ky < c_.kh; ++ky) {
      const int64_t iy = InputRow(oy, ky);
      if (iy < 0 || iy >= c_.ih) continue;
      const int16_t* values = RowValues(place_[iy]);
      for (uint32_t i = 0; i < RunsPerRow(); ++i) {
        runs_.push_back(
            {values + size_t{i} * c_.dx * channels_,
             weights_.data() + (ky * RunsPerRow() + i) * run_weights,
             RunPairs()});
      }
    }
    kernels_.reduce(runs_.data(), runs_.size(),
                    static_cast<ptrdiff_t>(c_.sx) * channels_, acc_.data(),
                    c_.ow);
  }

  void DepthwiseRow(uint32_t oy) {
    taps_.clear();
    pairs_.clear();
    for (uint32_t ky = 0; ky < c_.kh; ++ky) {
      const int64_t iy = InputRow(oy, ky);
      if (iy < 0 || iy >= c_.ih) continue;
      for (uint32_t kx = 0; kx < c_.kw; ++kx) {
        const int16_t* w = weights_.data() + (ky * c_.kw + kx) * kBlock;
        if (taps_.size() % 2 == 0) pairs_.resize(pairs_.size() + 2 * kBlock, 0);
        int16_t* pair = pairs_.data() + pairs_.size() - 2 * kBlock;
        for (uint32_t l = 0; l < kBlock; ++l) {
          pair[2 * l + taps_.size() % 2] = w[l];
        }
        taps_.push_back(RowValues(place_[iy]) + size_t{kx} * c_.dx * kBlock);
      }
    }
    // The partner of an odd last tap has weights 0.
    if (taps_.size() % 2 != 0) taps_.push_back(taps_.back());
    kernels_.depthwise(taps_.data(), pairs_.data(), taps_.size() / 2,
                       static_cast<ptrdiff_t>(c_.sx) * kBlock, acc_.data(),
                       c_.ow);
  }

  // Accumulator entries of a row of pixels, 16 lanes from the block's first.
  int32_t* Entries(uint32_t cb, uint32_t oy) {
    const uint32_t cells = core_->config.lanes_out;
    const uint32_t o = cb * kBlock;
    const size_t pixel =
        (size_t{o / cells} * c_.out_rows + (oy - c_.out_row0)) * c_.ow;
    return core_->acc.data() + pixel * cells + o % cells;
  }

  void Block(uint32_t cb) {
    BlockParams params = {};
    if (!c_.acc_hold) params = ReadParams(c_, cb, *core_);
    const uint32_t cells = core_->config.lanes_out;
    int32_t sums[kBlock] = {};
    for (uint32_t oy = c_.out_row0; oy < c_.out_row0 + c_.out_rows; ++oy) {
      if (c_.acc_continue) {
        const int32_t* held = Entries(cb, oy);
        for (uint32_t ox = 0; ox < c_.ow; ++ox) {
          std::copy_n(held + size_t{ox} * cells, kBlock, &acc_[ox * kBlock]);
        }
      } else {
        std::fill(acc_.begin(), acc_.end(), 0);
      }
      if (by_block_) {
        DepthwiseRow(oy);
      } else {
        ReduceRow(oy);
      }
      if (c_.acc_hold) {
        int32_t* held = Entries(cb, oy);
        for (uint32_t ox = 0; ox < c_.ow; ++ox) {
          std::copy_n(&acc_[ox * kBlock], kBlock, held + size_t{ox} * cells);
        }
      } else if (IsWide(c_)) {
        WriteWide(cb, oy, params);
      } else {
        WriteCodes(cb, oy, params, sums);
      }
    }
  }

  // ---- Output ---------------------------------------------------------------

  void WriteWide(uint32_t cb, uint32_t oy, const BlockParams& params) {
    const int64_t row = Slot(oy, c_.out_row0, c_.out_wrap);
    for (uint32_t ox = 0; ox < c_.ow; ++ox) {
      const int64_t at = OutputAddress(c_, cb, row, ox);
      for (uint32_t l = 0; l < kBlock; ++l) {
        core_->Set(at + 4 * l, WideOutput(c_, acc_[ox * kBlock + l],
                                          params.bias[l], params.scale[l]));
      }
    }
  }

  void WriteCodes(uint32_t cb, uint32_t oy, const BlockParams& params,
                  int32_t* sums) {
    const int32_t qmin = OutSigned(c_) ? -128 : 0;
    const RequantiseParams p = {params.bias,
                                params.scale,
                                I32ToF32(c_.act_min),
                                I32ToF32(c_.act_max),
                                c_.zo,
                                qmin,
                                qmin + 255};
    kernels_.requantise(p, acc_.data(), codes_.data(), c_.ow);
    if (c_.lut) {
      for (int32_t& code : codes_) code = LookUp(c_, code, *core_);
    }
    if (c_.res_op != isa::ResidualOp::kNone) {
      const ResidualParams r = {c_.res_op == isa::ResidualOp::kMul,
                                c_.res_first,
                                c_.res_signed,
                                c_.res_a,
                                c_.res_b,
                                c_.res_k,
                                c_.mid_zero,
                                c_.res_zero,
                                qmin,
                                qmin + 255,
                                c_.res_min,
                                c_.res_max};
      // The residual's pixels follow each other.
      kernels_.residual(r, core_->sram.data() + ResidualAddress(c_, cb, oy, 0),
                        codes_.data(), codes_.size());
    }
    PoolOrWriteRow(c_, cb, oy, codes_.data(), sums, core_);
  }

  const isa::Conv& c_;
  const Kernels& kernels_;
  Core* core_;
  bool by_block_;
  uint32_t channels_;  // values per converted pixel
  int64_t first_column_, columns_;
  int64_t begin_ = 0, end_ = 0;  // columns to convert
  std::vector<uint32_t> rows_;   // input rows, in order of conversion
  std::vector<uint32_t> place_;  // and where each is
  std::vector<int16_t> values_, weights_, pairs_;
  std::vector<const int16_t*> taps_;
  std::vector<ReduceRun> runs_;
  std::vector<int32_t> acc_, codes_;
  int16_t zeros_[kBlock] = {};  // weight zero points of the block
  FoldPlan fold_;
};

}  // namespace

Fault FastConv(const isa::Conv& c, const Kernels& kernels, Core* core) {
  if (c.mode == MatrixMode::kMaxpool) return RunConv(c, core);
  FastConvolution conv(c, kernels, core);
  if (!conv.Fits()) return RunConv(c, core);
  conv.Run();
  return {};
}

}  // namespace heddle::model
