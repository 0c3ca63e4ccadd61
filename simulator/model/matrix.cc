// SPDX-License-Identifier: Apache-2.0
// Matrix engine: accumulation, then the output stage row by row.
#include <algorithm>
#include <vector>

#include "simulator/model/engines.h"
#include "simulator/model/geometry.h"
#include "simulator/model/numerics.h"
#include "simulator/model/output_stage.h"

namespace heddle::model {
namespace {

using isa::MatrixMode;
using isa::WeightMode;

class Conv {
 public:
  Conv(const isa::Conv& c, Core* core)
      : c_(c), core_(core), fold_(PlanFold(c, core->config)) {}

  void Run() {
    // Channels to compute: whole cell blocks when they are held, otherwise the
    // blocks of 16 that are written.
    const uint32_t lanes = c_.acc_hold ? CellBlocks(c_, core_->config) * Cells()
                                       : OutBlocks(c_) * kBlock;
    for (uint32_t cb = 0; cb < lanes / kBlock; ++cb) RunBlock(cb);
    const uint64_t outputs = uint64_t{c_.out_rows} * c_.ow * c_.kh * c_.kw;
    if (c_.mode == MatrixMode::kDepthwise) {
      core_->result.macs += outputs * c_.co;
    } else if (c_.mode != MatrixMode::kMaxpool) {
      core_->result.macs += outputs * c_.co * c_.ci;
    }
  }

 private:
  uint32_t Cells() const { return core_->config.lanes_out; }

  void RunBlock(uint32_t cb) {
    BlockParams params = {};
    if (c_.mode != MatrixMode::kMaxpool && !c_.acc_hold) {
      params = ReadParams(c_, cb, *core_);
    }
    std::vector<int32_t> codes(size_t{c_.ow} * kBlock);
    int32_t sums[kBlock] = {};
    for (uint32_t oy = c_.out_row0; oy < c_.out_row0 + c_.out_rows; ++oy) {
      for (uint32_t ox = 0; ox < c_.ow; ++ox) {
        for (uint32_t l = 0; l < kBlock; ++l) {
          const uint32_t o = cb * kBlock + l;
          int32_t* code = &codes[ox * kBlock + l];
          if (c_.mode == MatrixMode::kMaxpool) {
            *code = Maximum(o, oy, ox);
            continue;
          }
          const int32_t acc = Accumulate(o, oy, ox);
          if (c_.acc_hold) {
            core_->acc[Entry(o, oy, ox)] = acc;
          } else if (IsWide(c_)) {
            const int64_t row = Slot(oy, c_.out_row0, c_.out_wrap);
            core_->Set(OutputAddress(c_, cb, row, ox) + 4 * l,
                       WideOutput(c_, acc, params.bias[l], params.scale[l]));
          } else {
            *code = Requantise(c_, acc, params.bias[l], params.scale[l]);
          }
        }
      }
      if (!c_.acc_hold && !IsWide(c_)) {
        FinishRow(c_, cb, oy, codes.data(), sums, core_);
      }
    }
  }

  // Where accumulator (o, oy, ox) is held.
  size_t Entry(uint32_t o, uint32_t oy, uint32_t ox) const {
    const size_t pixel =
        (size_t{o / Cells()} * c_.out_rows + (oy - c_.out_row0)) * c_.ow + ox;
    return pixel * Cells() + o % Cells();
  }

  // The input row or column of a tap; false if it is outside.
  bool Row(uint32_t oy, uint32_t ky, int64_t* iy) const {
    *iy = int64_t{oy} * c_.sy - c_.pad_top + int64_t{ky} * c_.dy;
    return *iy >= 0 && *iy < c_.ih;
  }
  bool Column(uint32_t ox, uint32_t kx, int64_t* ix) const {
    *ix = int64_t{ox} * c_.sx - c_.pad_left + int64_t{kx} * c_.dx;
    return *ix >= 0 && *ix < c_.iw;
  }

  // Calls f(ky, kx, iy, ix) for every tap inside the input.
  template <typename F>
  void ForEachTap(uint32_t oy, uint32_t ox, const F& f) const {
    int64_t iy, ix;
    for (uint32_t ky = 0; ky < c_.kh; ++ky) {
      if (!Row(oy, ky, &iy)) continue;
      for (uint32_t kx = 0; kx < c_.kw; ++kx) {
        if (Column(ox, kx, &ix)) f(ky, kx, iy, ix);
      }
    }
  }

  int32_t In(int64_t address) const {
    return Code(core_->sram[address], c_.in_signed) - c_.za;
  }
  int32_t WeightByte(int64_t address, uint32_t o) const {
    int32_t zero = c_.zw;
    if (c_.zw_channel) {
      // Cells beyond the last parameter block have none.
      if (o / kBlock >= OutBlocks(c_)) return 0;
      zero = Code(core_->sram[ZeroAddress(c_, o / kBlock) + o % kBlock],
                  c_.w_signed);
    }
    return Code(core_->sram[address], c_.w_signed) - zero;
  }
  // Byte of row `cell`, column `lane` of packed tile `tile`.
  int64_t TileByte(uint64_t tile, uint32_t cell, uint32_t lane) const {
    const int64_t lanes_in = core_->config.lanes_in;
    return int64_t{c_.w_addr} * kBlock +
           (static_cast<int64_t>(tile) * Cells() + cell) * lanes_in + lane;
  }

  // w(o, ch) of mode conv.
  int32_t Weight(uint32_t o, uint32_t ch, uint32_t ky, uint32_t kx) const {
    if (c_.w_mode == WeightMode::kPacked) {
      const uint32_t lanes_in = core_->config.lanes_in;
      const uint64_t tile =
          ((uint64_t{o / Cells()} * c_.kh + ky) * c_.kw + kx) *
              CeilDiv(c_.ci, lanes_in) +
          ch / lanes_in;
      return WeightByte(TileByte(tile, o % Cells(), ch % lanes_in), o);
    }
    if (o >= c_.co) return 0;
    const bool row = c_.w_mode == WeightMode::kRow;
    const uint32_t channel = row ? ch : o;
    const uint32_t pixel = row ? o : ch;
    const int64_t word = c_.w_addr + int64_t{channel / kBlock} * c_.w_plane +
                         int64_t{pixel} * c_.w_step;
    return WeightByte(word * kBlock + channel % kBlock, o);
  }

  int32_t Accumulate(uint32_t o, uint32_t oy, uint32_t ox) const {
    int32_t acc = c_.acc_continue ? core_->acc[Entry(o, oy, ox)] : 0;
    auto add = [&](int32_t in, int32_t weight) {
      acc = WrapAdd(acc, in * weight);
    };
    if (c_.mode == MatrixMode::kFold) {
      for (const FoldPiece& p : fold_.pieces) {
        for (uint32_t i = 0; i < p.n; ++i) {
          int64_t iy, ix;
          const uint32_t q = p.q + i;
          if (!Row(oy, p.r, &iy) || !Column(ox, q / c_.fold_channels, &ix)) {
            continue;
          }
          const uint64_t tile =
              uint64_t{o / Cells()} * fold_.vectors + p.vector;
          add(In(FoldAddress(c_, iy, ix) + q % c_.fold_channels),
              WeightByte(TileByte(tile, o % Cells(), p.lane + i), o));
        }
      }
      return acc;
    }
    ForEachTap(oy, ox, [&](uint32_t ky, uint32_t kx, int64_t iy, int64_t ix) {
      if (c_.mode == MatrixMode::kDepthwise) {
        const uint64_t word = (uint64_t{o / kBlock} * c_.kh + ky) * c_.kw + kx;
        add(In(InputAddress(c_, o / kBlock, iy, ix) + o % kBlock),
            WeightByte((c_.w_addr + word) * kBlock + o % kBlock, o));
        return;
      }
      for (uint32_t ch = 0; ch < c_.ci; ++ch) {
        add(In(InputAddress(c_, ch / kBlock, iy, ix) + ch % kBlock),
            Weight(o, ch, ky, kx));
      }
    });
    return acc;
  }

  // Mode maxpool.
  int32_t Maximum(uint32_t o, uint32_t oy, uint32_t ox) const {
    int32_t best = c_.in_signed ? -128 : 0;
    ForEachTap(oy, ox, [&](uint32_t, uint32_t, int64_t iy, int64_t ix) {
      const int64_t at = InputAddress(c_, o / kBlock, iy, ix) + o % kBlock;
      best = std::max(best, Code(core_->sram[at], c_.in_signed));
    });
    return best;
  }

  const isa::Conv& c_;
  Core* core_;
  FoldPlan fold_;
};

}  // namespace

Fault RunConv(const isa::Conv& c, Core* core) {
  Conv(c, core).Run();
  return {};
}

}  // namespace heddle::model
