// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/output_stage.h"

#include <algorithm>

#include "simulator/model/geometry.h"
#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

// Step 5, pool = none.
void WriteRow(const isa::Conv& c, int64_t cb, uint32_t oy, const int32_t* codes,
              Core* core) {
  const int64_t row = Slot(oy, c.out_row0, c.out_wrap);
  for (uint32_t ox = 0; ox < c.ow; ++ox) {
    // A local word: SRAM might alias the codes for all the compiler knows.
    uint8_t word[kBlock];
    for (uint32_t l = 0; l < kBlock; ++l) {
      word[l] = static_cast<uint8_t>(codes[ox * kBlock + l]);
    }
    std::copy_n(word, kBlock, &core->sram[OutputAddress(c, cb, row, ox)]);
  }
}

// Step 5, pool = max.
void PoolRow(const isa::Conv& c, int64_t cb, uint32_t oy, const int32_t* codes,
             Core* core) {
  const bool out_signed = OutSigned(c);
  for (uint32_t py = 0; py < c.pool_oh; ++py) {
    const int64_t top = int64_t{py} * c.pool_s - c.pool_pad;
    if (oy < top || oy >= top + c.pool_k) continue;
    const bool first = oy <= std::max<int64_t>(0, top);
    const int64_t row = Slot(py, c.pool_row0, c.out_wrap);
    for (uint32_t px = 0; px < c.pool_ow; ++px) {
      const int64_t left = int64_t{px} * c.pool_s - c.pool_pad;
      const int64_t at = OutputAddress(c, cb, row, px);
      for (uint32_t l = 0; l < kBlock; ++l) {
        int32_t best = first ? (out_signed ? -128 : 0)
                             : Code(core->sram[at + l], out_signed);
        for (int64_t ox = std::max<int64_t>(0, left);
             ox < std::min<int64_t>(c.ow, left + c.pool_k); ++ox) {
          best = std::max(best, codes[ox * kBlock + l]);
        }
        core->sram[at + l] = static_cast<uint8_t>(best);
      }
    }
  }
}

// Step 5, pool = average.
void SumRow(const isa::Conv& c, int64_t cb, uint32_t oy, const int32_t* codes,
            int32_t* sums, Core* core) {
  for (uint32_t i = 0; i < c.ow * kBlock; ++i) {
    sums[i % kBlock] = WrapAdd(sums[i % kBlock], codes[i] - c.pool_zero_in);
  }
  if (oy != c.out_row0 + c.out_rows - 1) return;
  const int32_t lo = (OutSigned(c) ? -128 : 0) - c.pool_zero_out;
  const int64_t at = OutputAddress(c, cb, 0, 0);
  for (uint32_t l = 0; l < kBlock; ++l) {
    core->sram[at + l] = static_cast<uint8_t>(Cro(
        FMul(I32ToF32(sums[l]), c.pool_scale), lo, lo + 255, c.pool_zero_out));
  }
}

}  // namespace

BlockParams ReadParams(const isa::Conv& c, int64_t cb, const Core& core) {
  BlockParams p;
  for (uint32_t l = 0; l < kBlock; ++l) {
    p.bias[l] = core.Get<int32_t>(BiasAddress(c, cb) + 4 * l);
    p.scale[l] = core.Get<float>(ScaleAddress(c, cb) + 4 * l);
  }
  return p;
}

uint32_t WideOutput(const isa::Conv& c, int32_t acc, int32_t bias,
                    float scale) {
  if (c.out_type == isa::OutType::kI32) {
    return static_cast<uint32_t>(WrapAdd(acc, bias));
  }
  if (c.bias_f32) {
    return Bits(FAdd(FMul(I32ToF32(acc), scale),
                     FromBits(static_cast<uint32_t>(bias))));
  }
  return Bits(FMul(I32ToF32(WrapAdd(acc, bias)), scale));
}

int32_t Requantise(const isa::Conv& c, int32_t acc, int32_t bias, float scale) {
  const float v = FMul(I32ToF32(WrapAdd(acc, bias)), scale);
  return Sat8(Cro(v, c.act_min, c.act_max, c.zo), OutSigned(c));
}

int32_t LookUp(const isa::Conv& c, int32_t code, const Core& core) {
  const uint64_t at = uint64_t{c.lut_addr} * isa::kWordBytes;
  return Code(core.sram[at + static_cast<uint8_t>(code)], OutSigned(c));
}

int32_t Residual(const isa::Conv& c, int32_t x, uint8_t byte) {
  const int32_t r = Code(byte, c.res_signed);
  float v;
  if (c.res_op == isa::ResidualOp::kAdd) {
    const float first = I32ToF32(c.res_first ? r : x);
    const float second = I32ToF32(c.res_first ? x : r);
    v = Fma(first, c.res_a, Fma(second, c.res_b, c.res_k));
  } else {
    const int32_t product = (x - c.mid_zero) * (r - c.res_zero);
    v = FAdd(FMul(I32ToF32(product), c.res_a), c.res_k);
  }
  return Clamp(Rso(v, OutSigned(c)), c.res_min, c.res_max);
}

void FinishRow(const isa::Conv& c, int64_t cb, uint32_t oy, int32_t* codes,
               int32_t* sums, Core* core) {
  if (c.lut) {
    for (uint32_t i = 0; i < c.ow * kBlock; ++i) {
      codes[i] = LookUp(c, codes[i], *core);
    }
  }
  if (c.res_op != isa::ResidualOp::kNone) {
    for (uint32_t i = 0; i < c.ow * kBlock; ++i) {
      const int64_t at = ResidualAddress(c, cb, oy, i / kBlock) + i % kBlock;
      codes[i] = Residual(c, codes[i], core->sram[at]);
    }
  }
  PoolOrWriteRow(c, cb, oy, codes, sums, core);
}

void PoolOrWriteRow(const isa::Conv& c, int64_t cb, uint32_t oy,
                    const int32_t* codes, int32_t* sums, Core* core) {
  switch (c.pool) {
    case isa::PoolKind::kNone:
      return WriteRow(c, cb, oy, codes, core);
    case isa::PoolKind::kMax:
      return PoolRow(c, cb, oy, codes, core);
    case isa::PoolKind::kAverage:
      return SumRow(c, cb, oy, codes, sums, core);
  }
}

}  // namespace heddle::model
