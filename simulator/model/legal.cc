// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/legal.h"

#include <algorithm>

#include "simulator/model/core.h"

namespace heddle::model {
namespace {

using isa::ElementType;
using isa::MatrixMode;
using isa::OutType;
using isa::PoolKind;
using isa::ResidualOp;
using isa::WeightMode;

bool InType(int32_t v, bool is_signed) {
  return is_signed ? v >= -128 && v <= 127 : v >= 0 && v <= 255;
}

bool Multiple(int64_t v, uint32_t of) { return v % of == 0; }

const char* HeaderRule(const isa::Header& h, bool control) {
  if (control && (h.wait0_enable || h.wait1_enable || h.signal0_enable ||
                  h.signal1_enable)) {
    return "control commands have no waits and signals";
  }
  if (h.wait0_enable && h.wait1_enable && h.wait0_sem == h.wait1_sem) {
    return "both waits name the same semaphore";
  }
  if (h.signal0_enable && h.signal1_enable && h.signal0_sem == h.signal1_sem) {
    return "both signals name the same semaphore";
  }
  return nullptr;
}

template <typename T>
const char* BoxRule(const T& c, uint32_t e) {
  if (!Multiple(c.sram_addr, e) || !Multiple(c.t0, e) || !Multiple(c.t1, e) ||
      !Multiple(c.t2, e) || !Multiple(c.t3, e)) {
    return "SRAM address or stride is not a multiple of the element size";
  }
  return nullptr;
}

template <typename T>
const char* TransferRule(const T& c) {
  const uint32_t e = 1u << c.elem_log2;
  if (!Multiple(c.dram_offset, e) || !Multiple(c.s0, e) || !Multiple(c.s1, e) ||
      !Multiple(c.s2, e) || !Multiple(c.s3, e)) {
    return "region offset or stride is not a multiple of the element size";
  }
  return BoxRule(c, e);
}

template <typename T>
const char* IndexedRule(const T& c) {
  const uint32_t e = 1u << c.elem_log2;
  if (!Multiple(c.dram_offset, e) || !Multiple(c.s1, e) ||
      !Multiple(c.sram_addr, e) || !Multiple(c.t1, e)) {
    return "offset, address or stride is not a multiple of the element size";
  }
  if (!Multiple(c.index_addr, 4)) return "index_addr is not a multiple of 4";
  return nullptr;
}

// Commands that have nothing but a header.
template <typename T>
const char* Rule(const isa::Config&, const T&) {
  static_assert(T::kWords == isa::Header::kWords, "a command without rules");
  return nullptr;
}
const char* Rule(const isa::Config&, const isa::Load& c) {
  return TransferRule(c);
}
const char* Rule(const isa::Config&, const isa::Store& c) {
  return TransferRule(c);
}
const char* Rule(const isa::Config&, const isa::Fill& c) {
  return BoxRule(c, 1u << c.elem_log2);
}
const char* Rule(const isa::Config&, const isa::LoadGather& c) {
  return IndexedRule(c);
}
const char* Rule(const isa::Config&, const isa::StoreScatter& c) {
  return IndexedRule(c);
}

// A slot of a buffer that does not roll must not lie before its first row.
const char* InputRowRule(const isa::Conv& c) {
  if (c.in_wrap != 0) return nullptr;
  // Input rows grow with oy and ky: the smallest one inside decides.
  for (uint32_t oy = c.out_row0; oy < c.out_row0 + c.out_rows; ++oy) {
    for (uint32_t ky = 0; ky < c.kh; ++ky) {
      const int64_t iy = int64_t{oy} * c.sy - c.pad_top + int64_t{ky} * c.dy;
      if (iy >= 0 && iy < c.ih && iy < c.in_row0) {
        return "an input row lies before in_row0";
      }
    }
  }
  return nullptr;
}

const char* PoolRowRule(const isa::Conv& c) {
  if (c.out_wrap != 0) return nullptr;
  for (uint32_t py = 0; py < std::min(c.pool_row0, c.pool_oh); ++py) {
    const int64_t first = int64_t{py} * c.pool_s - c.pool_pad;
    const int64_t last = first + c.pool_k - 1;
    if (last >= c.out_row0 && first < int64_t{c.out_row0} + c.out_rows) {
      return "a pooled row lies before pool_row0";
    }
  }
  return nullptr;
}

const char* OutputStageRule(const isa::Conv& c) {
  const bool out_signed = c.out_type == OutType::kS8;
  if (!InType(c.zo, out_signed)) return "zo is not in the output's range";
  if (c.act_min > c.act_max) return "act_min is above act_max";
  if (c.res_op != ResidualOp::kNone) {
    if (c.res_min > c.res_max) return "res_min is above res_max";
    if (!InType(c.res_min, out_signed) || !InType(c.res_max, out_signed)) {
      return "res_min or res_max is not in the output's range";
    }
  }
  if (c.pool == PoolKind::kAverage) {
    if (c.out_wrap != 0) return "average pooling into a rolling buffer";
    if (!InType(c.pool_zero_in, out_signed) ||
        !InType(c.pool_zero_out, out_signed)) {
      return "a pool zero point is not in the output's range";
    }
  }
  if (c.pool == PoolKind::kMax) {
    if (c.pool_k < 1 || c.pool_s < 1 || c.pool_pad >= c.pool_k) {
      return "pooling window, stride or padding";
    }
    return PoolRowRule(c);
  }
  return nullptr;
}

const char* Rule(const isa::Config& config, const isa::Conv& c) {
  if (uint64_t{c.out_row0} + c.out_rows - 1 >= 65536) {
    return "output rows beyond 65535";
  }
  const bool depthwise = c.mode == MatrixMode::kDepthwise;
  const bool maxpool = c.mode == MatrixMode::kMaxpool;
  if (c.w_mode != WeightMode::kPacked &&
      (c.mode != MatrixMode::kConv || c.kh != 1 || c.kw != 1)) {
    return "weight modes row and column need mode conv and a 1x1 kernel";
  }
  if ((depthwise || maxpool) &&
      (c.ci != c.co || c.acc_continue || c.acc_hold)) {
    return "modes depthwise and maxpool: ci = co, accumulators not held";
  }
  if (c.mode == MatrixMode::kFold
          ? c.fold_channels < 1 || c.ci != c.fold_channels
          : c.fold_channels != 0) {
    return "fold_channels must be ci in mode fold and 0 otherwise";
  }
  if (c.sx * c.fold_channels > 48) {
    return "a fold step must not pass more than 48 bytes";
  }
  if (c.in_wrap != 0 && c.in_wrap < (c.kh - 1) * c.dy + 1) {
    return "in_wrap must hold all rows of the kernel";
  }
  const bool wide = c.out_type == OutType::kI32 || c.out_type == OutType::kF32;
  if (maxpool) {
    if (wide || (c.out_type == OutType::kS8) != c.in_signed) {
      return "mode maxpool: the output type must be the input's";
    }
    if (c.lut || c.res_op != ResidualOp::kNone || c.pool != PoolKind::kNone ||
        c.bias_f32 || c.zw_channel) {
      return "mode maxpool has no output stage";
    }
    return InputRowRule(c);
  }
  if (!InType(c.za, c.in_signed)) return "za is not in the input's range";
  if (!InType(c.zw, c.w_signed)) return "zw is not in the weights' range";
  if (c.acc_continue || c.acc_hold) {
    const uint64_t entries =
        CeilDiv(uint64_t{c.co}, uint64_t{config.lanes_out}) * c.out_rows * c.ow;
    if (entries > config.acc_pixels) return "more pixels than accumulators";
  }
  const bool extra =
      c.lut || c.res_op != ResidualOp::kNone || c.pool != PoolKind::kNone;
  if (c.acc_hold && extra) return "acc_hold with lut, residual or pool";
  if (wide && extra) return "lut, residual and pool need an 8-bit output";
  if (c.bias_f32 && c.out_type != OutType::kF32) {
    return "bias_f32 needs an f32 output";
  }
  if (!wide && !c.acc_hold) {
    if (const char* rule = OutputStageRule(c)) return rule;
  }
  return InputRowRule(c);
}

const char* StreamRule(const isa::Stream& s) {
  const uint32_t e = ElementBytes(s.type);
  if (!Multiple(s.base, e) || !Multiple(s.lane_stride, e) ||
      !Multiple(s.r1_stride, e) || !Multiple(s.r2_stride, e) ||
      !Multiple(s.r3_stride, e) || !Multiple(s.o1_stride, e) ||
      !Multiple(s.o2_stride, e) || !Multiple(s.o3_stride, e)) {
    return "stream base or stride is not a multiple of the element size";
  }
  return nullptr;
}

const char* Rule(const isa::Config&, const isa::Vrun& c) {
  if (c.prologue + c.body + c.epilogue > isa::kVectorProgramMax) {
    return "the microprogram is too long";
  }
  const bool stores = c.store != isa::StoreMode::kNone;
  if (c.store_one && !stores) return "store_one without a store";
  if (c.gather_a && !(c.enable_a && c.enable_c)) {
    return "gather_a needs streams A and C";
  }
  if (c.pick_a && (!c.enable_a || c.gather_a)) {
    return "pick_a needs stream A without gather_a";
  }
  if (c.scatter_d && !(stores && c.enable_c)) {
    return "scatter_d needs stream C and a store";
  }
  if ((c.gather_a || c.scatter_d) && c.c_type != ElementType::kS32) {
    return "indices must be s32";
  }
  if ((c.gather_a || c.pick_a) &&
      !Multiple(c.index_stride, ElementBytes(c.a_type))) {
    return "index_stride is not a multiple of A's element size";
  }
  if (c.scatter_d && !Multiple(c.index_stride, ElementBytes(c.d_type))) {
    return "index_stride is not a multiple of D's element size";
  }
  const char* rule = nullptr;
  if (c.enable_a && rule == nullptr) rule = StreamRule(c.GetA());
  if (c.enable_b && rule == nullptr) rule = StreamRule(c.GetB());
  if (c.enable_c && rule == nullptr) rule = StreamRule(c.GetC());
  if (stores && rule == nullptr) rule = StreamRule(c.GetD());
  return rule;
}

const char* Rule(const isa::Config&, const isa::Vmac& c) {
  auto check = [](const isa::Stream& s) -> const char* {
    if (s.type != ElementType::kF16 && s.type != ElementType::kBf16 &&
        s.type != ElementType::kF32) {
      return "vmac streams are f16, bf16 or f32";
    }
    return StreamRule(s);
  };
  const char* rule = check(c.GetA());
  if (rule == nullptr) rule = check(c.GetB());
  if (rule == nullptr && c.initial) rule = check(c.GetC());
  if (rule == nullptr) rule = check(c.GetD());
  return rule;
}

}  // namespace

uint32_t ElementBytes(isa::ElementType type) {
  switch (type) {
    case ElementType::kU8:
    case ElementType::kS8:
      return 1;
    case ElementType::kU16:
    case ElementType::kS16:
    case ElementType::kF16:
    case ElementType::kBf16:
      return 2;
    case ElementType::kS32:
    case ElementType::kF32:
      return 4;
  }
  return 4;
}

const char* BrokenRule(const isa::Config& config, const isa::Command& command) {
  return std::visit(
      [&](const auto& c) -> const char* {
        const char* rule =
            HeaderRule(c.header, c.kEngine == isa::Engine::kControl);
        return rule != nullptr ? rule : Rule(config, c);
      },
      command);
}

const char* BrokenRule(const isa::Vrun& command, uint64_t micro) {
  const absl::StatusOr<isa::MicroInstruction> m =
      isa::MicroInstruction::Decode(micro);
  if (!m.ok()) return "not a micro-instruction";
  if (m->op == isa::MicroOp::kPick && !command.pick_a) {
    return "pick without pick_a";
  }
  for (isa::Operand o : {m->a, m->b, m->c}) {
    if (o == isa::Operand::kStreamA && command.pick_a) {
      return "with pick_a stream A is read by pick only";
    }
    if ((o == isa::Operand::kStreamA && !command.enable_a) ||
        (o == isa::Operand::kStreamB && !command.enable_b) ||
        (o == isa::Operand::kStreamC && !command.enable_c)) {
      return "the stream is not enabled";
    }
  }
  return nullptr;
}

}  // namespace heddle::model
