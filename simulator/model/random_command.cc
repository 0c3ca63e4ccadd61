// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/random_command.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "simulator/model/access.h"
#include "simulator/model/geometry.h"
#include "simulator/model/legal.h"
#include "simulator/model/numerics.h"
#include "simulator/model/own_output.h"

namespace heddle::model {
namespace {

using isa::ElementType;
using isa::MatrixMode;
using isa::OutType;
using isa::PoolKind;
using isa::ResidualOp;
using isa::WeightMode;

constexpr uint32_t kPrograms = 24;
constexpr uint32_t kProgramBytes = 12 * 1024;
constexpr uint32_t kIndices = 1024;
constexpr uint32_t kIndexBound = 48;
constexpr uint32_t kParamBlocks = 24;
constexpr uint32_t kConstantBytes =
    kProgramBytes + kIndices * 4 + 3 * kParamBlocks * 9 * kBlock;
// Keeps the reference implementation quick.
constexpr uint64_t kMaxWork = 60000;

enum class Kind {
  kLoad,
  kStore,
  kFill,
  kGather,
  kScatter,
  kConv,
  kVrun,
  kVmac
};
struct KindInfo {
  Kind kind;
  MatrixMode mode;
  int variant;
  const char* name;
};

// Variants of conv: 0 plain 8 bit, 1 wide, 2 lut and residual, 3 max pool,
// 4 average pool, 5 hold, 6 continue, 7 weights row, 8 weights column, 9 fc.
constexpr KindInfo kKinds[] = {
    {Kind::kLoad, {}, 0, "load"},
    {Kind::kStore, {}, 0, "store"},
    {Kind::kFill, {}, 0, "fill"},
    {Kind::kGather, {}, 0, "load.gather"},
    {Kind::kScatter, {}, 0, "store.scatter"},
    {Kind::kConv, MatrixMode::kConv, 0, "conv"},
    {Kind::kConv, MatrixMode::kConv, 1, "conv wide"},
    {Kind::kConv, MatrixMode::kConv, 2, "conv residual"},
    {Kind::kConv, MatrixMode::kConv, 3, "conv max"},
    {Kind::kConv, MatrixMode::kConv, 4, "conv average"},
    {Kind::kConv, MatrixMode::kConv, 5, "conv hold"},
    {Kind::kConv, MatrixMode::kConv, 6, "conv continue"},
    {Kind::kConv, MatrixMode::kConv, 7, "conv row weights"},
    {Kind::kConv, MatrixMode::kConv, 8, "conv column weights"},
    {Kind::kConv, MatrixMode::kConv, 9, "conv fully connected"},
    {Kind::kConv, MatrixMode::kDepthwise, 0, "depthwise"},
    {Kind::kConv, MatrixMode::kDepthwise, 1, "depthwise wide"},
    {Kind::kConv, MatrixMode::kDepthwise, 2, "depthwise residual"},
    {Kind::kConv, MatrixMode::kDepthwise, 3, "depthwise max"},
    {Kind::kConv, MatrixMode::kDepthwise, 4, "depthwise average"},
    {Kind::kConv, MatrixMode::kFold, 0, "fold"},
    {Kind::kConv, MatrixMode::kFold, 1, "fold wide"},
    {Kind::kConv, MatrixMode::kFold, 2, "fold residual"},
    {Kind::kConv, MatrixMode::kFold, 3, "fold max"},
    {Kind::kConv, MatrixMode::kFold, 5, "fold hold"},
    {Kind::kConv, MatrixMode::kMaxpool, 0, "maxpool"},
    {Kind::kVrun, {}, 0, "vrun body"},
    {Kind::kVrun, {}, 1, "vrun epilogue"},
    {Kind::kVrun, {}, 2, "vrun gather"},
    {Kind::kVrun, {}, 3, "vrun scatter"},
    {Kind::kVrun, {}, 4, "vrun in place"},
    {Kind::kVrun, {}, 5, "vrun store one"},
    {Kind::kVrun, {}, 6, "vrun pick"},
    {Kind::kVrun, {}, 7, "vrun pick in place"},
    {Kind::kVrun, {}, 8, "vrun pick and scatter"},
    {Kind::kVmac, {}, 0, "vmac"},
    {Kind::kVmac, {}, 1, "vmac continue"},
    {Kind::kVmac, {}, 2, "vmac tile"},
};

// True if the command is legal, fits and (unless may_overlap) reads nothing
// that it writes.
bool Acceptable(const isa::Config& config, uint64_t data_bytes,
                const isa::Command& command, bool may_overlap) {
  if (BrokenRule(config, command) != nullptr) return false;
  if (!std::visit([](const auto& c) { return c.Check().ok(); }, command)) {
    return false;
  }
  bool inside = true;
  ForEachAccess(config, command, nullptr, [&](const Access& a) {
    if (a.space != Space::kSram || a.empty) return;
    const int64_t limit = a.write ? data_bytes : config.sram_bytes;
    if (a.Lowest() < 0 || a.Highest() >= limit) inside = false;
  });
  return inside && (may_overlap || !ReadsItsOutput(config, command));
}

// Streams that stay in the regions.
bool InRegions(uint64_t region_bytes, const isa::Config& config,
               const isa::Command& command) {
  bool good = true;
  ForEachAccess(config, command, nullptr, [&](const Access& a) {
    if (a.space == Space::kDram &&
        static_cast<uint64_t>(a.Highest()) >= region_bytes) {
      good = false;
    }
  });
  return good;
}

}  // namespace

CommandGenerator::CommandGenerator(const isa::Config& config,
                                   uint64_t region_bytes, uint64_t seed)
    : config_(config),
      region_bytes_(region_bytes),
      random_(seed),
      data_bytes_(config.sram_bytes - kTailBytes - kConstantBytes) {
  uint64_t at = data_bytes_ + kProgramBytes;
  index_address_ = at;
  at += kIndices * 4;
  for (uint64_t& p : params_) {
    p = at;
    at += kParamBlocks * 9 * kBlock;
  }
  MakePrograms();
}

size_t CommandGenerator::kinds() { return std::size(kKinds); }

float CommandGenerator::Scale() {
  const float mantissa = 1.0f + static_cast<float>(Below(1 << 23)) / (1 << 23);
  const float v = std::ldexp(mantissa, -static_cast<int>(Below(20)));
  return OneIn(8) ? -v : OneIn(8) ? std::ldexp(1.0f, -3) : v;
}

std::vector<uint8_t> CommandGenerator::Data(size_t bytes) {
  std::vector<uint8_t> data((bytes + 63) / 64 * 64);
  uint32_t style = 0;
  for (size_t at = 0; at < data.size(); at += 64) {
    if (at % 512 == 0) style = Below(5);
    for (size_t i = 0; i < 64; i += 4) {
      uint32_t v = static_cast<uint32_t>(random_() >> 16);
      if (style == 1) {  // f32 of moderate size
        v = (v & 0x807fffffu) | (118 + Below(16)) << 23;
      } else if (style == 2) {  // f16 or bf16 of moderate size
        v = (v & 0x83ff83ffu) | (8 + Below(14)) << 10 | (8 + Below(14)) << 26;
      } else if (style == 3 && OneIn(6)) {  // specials of f32
        v = Pick({0u, 0x80000000u, 1u, 0x807fffffu, 0x7f800000u, 0xff800000u,
                  0x7fc00001u, 0xff812345u, 0x7f7fffffu, 0x4f000000u});
      } else if (style == 3) {
        v = (v & 0x807fffffu) | (126 + Below(3)) << 23;
      } else if (style == 4) {  // small integers
        v = static_cast<uint32_t>(static_cast<int32_t>(v) >> Below(32));
      }
      std::memcpy(&data[at + i], &v, 4);
    }
  }
  data.resize(bytes);
  return data;
}

std::vector<uint8_t> CommandGenerator::InitialSram() {
  std::vector<uint8_t> sram = Data(config_.sram_bytes);
  for (const Program& p : programs_) {
    std::memcpy(&sram[uint64_t{p.first_word} * kBlock], p.code.data(),
                p.code.size() * 8);
  }
  // One at word 0 as well, where it does not stay.
  std::memcpy(&sram[0], programs_[1].code.data(), programs_[1].code.size() * 8);
  isa::MicroInstruction nothing;
  nothing.op = isa::MicroOp::kMov;
  const uint64_t last[2] = {nothing.Encode(), nothing.Encode()};
  std::memcpy(&sram[sram.size() - sizeof(last)], last, sizeof(last));
  for (uint32_t i = 0; i < kIndices; ++i) {
    const uint32_t any = Below(kIndexBound);
    const uint32_t v = i % 16 == 0 ? 0 : any;  // for small bounds
    std::memcpy(&sram[index_address_ + 4 * i], &v, 4);
  }
  for (int layout = 0; layout < 3; ++layout) {
    const uint32_t words = layout == 1 ? 9 : 8;
    for (uint32_t b = 0; b < kParamBlocks; ++b) {
      const uint64_t at = params_[layout] + b * words * kBlock;
      for (uint32_t l = 0; l < kBlock; ++l) {
        uint32_t bias = static_cast<uint32_t>(
            static_cast<int32_t>(random_() >> 16) >> Between(4, 31));
        if (layout == 2) bias = Bits(Scale() * 64);
        const float scale = OneIn(50) ? 1e30f : Scale();
        std::memcpy(&sram[at + 4 * l], &bias, 4);
        std::memcpy(&sram[at + 64 + 4 * l], &scale, 4);
      }
    }
  }
  return sram;
}

CommandGenerator::Program CommandGenerator::MakeProgram(uint32_t length, bool a,
                                                        bool b, bool c,
                                                        bool pick) {
  Program p = {0, length, a, b, c, pick, {}};
  // Indices go through this register, which nothing else writes: one that is
  // computed in the body before is small, too.
  constexpr auto kIndex = isa::Operand::kV15;
  bool masked = false;
  auto operand = [&]() -> isa::Operand {
    const uint32_t r = Below(10);
    if (r < 5) return static_cast<isa::Operand>(Below(6));
    if (r == 5) return static_cast<isa::Operand>(Below(16));
    if (r == 6 && a && !pick) return isa::Operand::kStreamA;
    if (r == 7 && b) return isa::Operand::kStreamB;
    if (r == 8 && c) return isa::Operand::kStreamC;
    return static_cast<isa::Operand>(
        Between(static_cast<uint32_t>(isa::Operand::kImm),
                static_cast<uint32_t>(isa::Operand::kValid)));
  };
  for (uint32_t i = 0; i < length; ++i) {
    const isa::MicroOpInfo* drawn = &isa::kMicroOps[Below(isa::kNumMicroOps)];
    while (drawn->op == isa::MicroOp::kPick) {
      drawn = &isa::kMicroOps[Below(isa::kNumMicroOps)];
    }
    const isa::MicroOpInfo& info = *drawn;
    isa::MicroInstruction m;
    m.op = info.op;
    m.d = static_cast<isa::Destination>(Below(i % 2 == 0 ? 6 : 17));
    if (pick && (masked || i + 1 == length || OneIn(3))) {
      m.op = isa::MicroOp::kPick;
      m.a = kIndex;
      if (!masked && i + 1 < length) {
        m.op = isa::MicroOp::kIand;
        m.a = operand();
        if (m.a == isa::Operand::kImm) m.a = isa::Operand::kLane;
        m.b = isa::Operand::kImm;
        m.imm = kPickBound - 1;
        m.d = static_cast<isa::Destination>(kIndex);
      } else if (m.d == static_cast<isa::Destination>(kIndex) ||
                 i + 1 == length) {
        m.d = isa::Destination::kOut;
      }
      masked = m.op == isa::MicroOp::kIand;
      p.code.push_back(m.Encode());
      continue;
    }
    if (pick && m.d == static_cast<isa::Destination>(kIndex)) {
      m.d = isa::Destination::kV14;
    }
    isa::Operand* operands[3] = {&m.a, &m.b, &m.c};
    bool immediate = false;
    for (int k = 0; k + 1 < info.num_operands; ++k) {
      *operands[k] = operand();
      immediate = immediate || *operands[k] == isa::Operand::kImm;
    }
    if (i == 0 && a && !pick) m.a = isa::Operand::kStreamA;
    if (i == 1 && b) m.a = isa::Operand::kStreamB;
    if (i == 2 && c) m.a = isa::Operand::kStreamC;
    immediate = m.a == isa::Operand::kImm || m.b == isa::Operand::kImm ||
                m.c == isa::Operand::kImm;
    if (i + 1 == length) m.d = isa::Destination::kOut;
    if (immediate) {
      m.imm = OneIn(2) ? Bits(Scale()) : static_cast<uint32_t>(random_() >> 20);
    }
    p.code.push_back(m.Encode());
  }
  return p;
}

void CommandGenerator::MakePrograms() {
  uint64_t at = data_bytes_;
  for (uint32_t i = 0; i < kPrograms; ++i) {
    const uint32_t length =
        i == 0 ? isa::kVectorProgramMax : Between(1, i % 4 == 0 ? 96 : 20);
    if (at + length * 8 > data_bytes_ + kProgramBytes) break;
    // Every combination of streams.
    const bool a = (i & 1) != 0;
    Program p =
        MakeProgram(length, a, (i & 2) != 0, (i & 4) != 0, a && (i & 8) != 0);
    p.first_word = static_cast<uint32_t>(at / kBlock);
    at += CeilDiv<uint64_t>(length * 8, kBlock) * kBlock;
    programs_.push_back(p);
  }
}

// A word of the data area that leaves room for `words`.
uint32_t CommandGenerator::Word(uint64_t words) {
  const uint64_t all = data_bytes_ / kBlock;
  return words >= all ? 0 : Below(static_cast<uint32_t>(all - words + 1));
}

RandomCommand CommandGenerator::Make(size_t kind) {
  const KindInfo& info = kKinds[kind % std::size(kKinds)];
  for (;;) {
    isa::Command command;
    bool overlap = false;
    switch (info.kind) {
      case Kind::kLoad:
      case Kind::kStore:
        command = MakeTransfer(info.kind == Kind::kLoad);
        break;
      case Kind::kFill:
        command = MakeFill();
        break;
      case Kind::kGather:
      case Kind::kScatter:
        command = MakeIndexed(info.kind == Kind::kGather);
        break;
      case Kind::kConv:
        command = MakeConv(info.mode, info.variant);
        break;
      case Kind::kVrun:
        command = MakeVrun(info.variant);
        overlap = info.variant == 4 || info.variant >= 7;
        break;
      case Kind::kVmac:
        command = MakeVmac(info.variant);
        break;
    }
    if (Acceptable(config_, data_bytes_, command, overlap) &&
        InRegions(region_bytes_, config_, command)) {
      return {command, info.name};
    }
  }
}

// A box of n[4] elements with strides such that no two overlap, inside `limit`
// bytes. set(d, n, stride). False if it does not fit.
template <typename T>
bool CommandGenerator::Box(uint32_t e, uint64_t limit, const T& set,
                           uint64_t* extent) {
  int order[4] = {0, 1, 2, 3};
  if (OneIn(2)) std::shuffle(order, order + 4, random_);
  uint64_t size = e;
  for (int d : order) {
    const uint32_t n = OneIn(3) ? 1 : Between(1, d == 0 ? 40 : 6);
    uint64_t stride = size;
    if (OneIn(3)) stride += e * Between(0, 20);
    set(d, n, static_cast<uint32_t>(stride));
    size = stride * (n - 1) + size;
    if (size > limit) return false;
  }
  *extent = size;
  return true;
}

isa::Command CommandGenerator::MakeTransfer(bool load) {
  for (;;) {
    isa::Load c;
    c.elem_log2 = Below(5);
    const uint32_t e = 1u << c.elem_log2;
    uint32_t* n[4] = {&c.n0, &c.n1, &c.n2, &c.n3};
    uint32_t* s[4] = {&c.s0, &c.s1, &c.s2, &c.s3};
    uint32_t* t[4] = {&c.t0, &c.t1, &c.t2, &c.t3};
    uint64_t extent;
    // The side that is written decides the counts.
    uint32_t** written = load ? t : s;
    uint32_t** read = load ? s : t;
    const uint64_t limit = load ? data_bytes_ / 4 : region_bytes_;
    if (!Box(
            e, limit,
            [&](int d, uint32_t count, uint32_t stride) {
              *n[d] = count;
              *written[d] = stride;
            },
            &extent)) {
      continue;
    }
    uint64_t reach = e;
    for (int d = 0; d < 4; ++d) {
      *read[d] = OneIn(3) ? *written[d] : e * Below(30);
      if (d == 0 && OneIn(4)) *read[d] = e;
      reach += uint64_t{*n[d] - 1} * *read[d];
    }
    if (OneIn(3)) c.s0 = c.t0 = e;
    if (!load) std::swap(extent, reach);
    if (reach + e > region_bytes_ || extent + e > data_bytes_) continue;
    c.sram_addr = Below(static_cast<uint32_t>((data_bytes_ - extent) / e)) * e;
    c.dram_offset =
        Below(static_cast<uint32_t>((region_bytes_ - reach) / e)) * e;
    if (load) {
      c.region = Below(2);
      return c;
    }
    isa::Store store;
    store.region = 1;
    store.elem_log2 = c.elem_log2;
    store.dram_offset = c.dram_offset;
    store.sram_addr = c.sram_addr;
    store.n0 = c.n0, store.n1 = c.n1, store.n2 = c.n2, store.n3 = c.n3;
    store.s0 = c.s0, store.s1 = c.s1, store.s2 = c.s2, store.s3 = c.s3;
    store.t0 = c.t0, store.t1 = c.t1, store.t2 = c.t2, store.t3 = c.t3;
    // s0 may have been changed above: destinations must stay distinct.
    uint64_t bytes = 0;
    std::vector<uint8_t> hit(region_bytes_, 0);
    bool distinct = true;
    ForEachAccess(config_, store, nullptr, [&](const Access& a) {
      if (a.space != Space::kDram) return;
      a.ForEachRun([&](int64_t at, uint64_t count) {
        for (uint64_t i = 0; i < count; ++i, ++bytes) {
          if (at + i >= region_bytes_ || hit[at + i]++ != 0) distinct = false;
        }
      });
    });
    if (distinct) return store;
  }
}

isa::Command CommandGenerator::MakeFill() {
  isa::Fill c;
  c.elem_log2 = Below(3);
  const uint32_t e = 1u << c.elem_log2;
  uint32_t* n[4] = {&c.n0, &c.n1, &c.n2, &c.n3};
  uint32_t* t[4] = {&c.t0, &c.t1, &c.t2, &c.t3};
  uint64_t extent;
  while (!Box(
      e, data_bytes_ / 8,
      [&](int d, uint32_t count, uint32_t stride) {
        *n[d] = count;
        *t[d] = stride;
      },
      &extent)) {
  }
  c.sram_addr = Below(static_cast<uint32_t>((data_bytes_ - extent) / e)) * e;
  c.value = static_cast<uint32_t>(random_());
  return c;
}

isa::Command CommandGenerator::MakeIndexed(bool load) {
  isa::LoadGather c;
  c.elem_log2 = Below(5);
  const uint32_t e = 1u << c.elem_log2;
  c.n0 = Between(1, 24);
  c.count = Between(1, 24);
  c.bound = kIndexBound;
  const uint32_t row = c.n0 * e;
  c.s1 = OneIn(2) ? row : row + e * Below(8);
  c.t1 = OneIn(2) ? row : row + e * Below(8);
  c.index_addr =
      static_cast<uint32_t>(index_address_) + 4 * Below(kIndices - c.count);
  c.sram_addr =
      Below(static_cast<uint32_t>((data_bytes_ - c.count * c.t1) / e)) * e;
  const uint64_t table = uint64_t{kIndexBound} * c.s1 + row;
  if (table < region_bytes_) {
    c.dram_offset =
        Below(static_cast<uint32_t>((region_bytes_ - table) / e)) * e;
  }
  if (load) {
    c.region = Below(2);
    return c;
  }
  isa::StoreScatter s;
  s.region = 1;
  s.elem_log2 = c.elem_log2;
  s.dram_offset = c.dram_offset;
  s.sram_addr = c.sram_addr;
  s.n0 = c.n0;
  s.count = c.count;
  s.index_addr = c.index_addr;
  s.bound = c.bound;
  s.s1 = c.s1;
  s.t1 = c.t1;
  return s;
}

void CommandGenerator::ConvInput(isa::Conv* c) {
  const bool fold = c->mode == MatrixMode::kFold;
  const uint64_t row = fold ? CeilDiv(c->iw * c->fold_channels, kBlock)
                            : uint64_t{c->iw} * c->in_xstep;
  c->in_pitch = static_cast<uint32_t>(row + (OneIn(3) ? Below(3) : 0));
  const uint32_t wrap = OneIn(3) ? Between(1, c->ih + 2) : 0;
  c->in_wrap = wrap;
  const uint32_t slots = wrap != 0 ? std::min(wrap, c->ih) : c->ih;
  c->in_plane = c->in_pitch * slots + (OneIn(3) ? Below(5) : 0);
  if (wrap == 0 && OneIn(2)) {
    const int64_t first = int64_t{c->out_row0} * c->sy - c->pad_top;
    int64_t low = c->ih;
    for (uint32_t ky = 0; ky < c->kh; ++ky) {
      for (uint32_t y = 0; y < c->out_rows; ++y) {
        const int64_t iy = first + int64_t{y} * c->sy + int64_t{ky} * c->dy;
        if (iy >= 0) low = std::min(low, iy);
      }
    }
    c->in_row0 = static_cast<uint32_t>(std::min<int64_t>(low, 65535));
  }
  c->in_addr =
      Word(uint64_t{c->in_plane} * (fold ? 1 : InBlocks(*c)) + c->in_pitch);
}

void CommandGenerator::ConvOutput(isa::Conv* c, int variant) {
  uint32_t columns = c->ow, rows = c->out_rows;
  const bool out_signed = OutSigned(*c);
  const int32_t qmin = out_signed ? -128 : 0;
  if (variant == 3) {
    c->pool = PoolKind::kMax;
    c->pool_k = Between(1, 4);
    c->pool_s = Between(1, 3);
    c->pool_pad = Below(c->pool_k);
    c->pool_ow = Between(1, c->ow / c->pool_s + 1);
    c->pool_oh = Between(1, (c->out_row0 + c->out_rows) / c->pool_s + 2);
    columns = c->pool_ow;
    rows = c->pool_oh;
    if (OneIn(2)) {
      const uint32_t last = c->out_row0 + c->pool_pad;
      c->pool_row0 =
          last >= c->pool_k - 1 ? (last - (c->pool_k - 1)) / c->pool_s : 0;
    }
  }
  if (variant == 4) {
    c->pool = PoolKind::kAverage;
    c->pool_scale = Scale();
    c->pool_zero_in = qmin + static_cast<int32_t>(Below(256));
    c->pool_zero_out = qmin + static_cast<int32_t>(Below(256));
  }
  c->out_xstep = IsWide(*c) ? Between(4, 6) : Between(1, OneIn(4) ? 3 : 1);
  c->out_pitch = columns * c->out_xstep + (OneIn(3) ? Below(4) : 0);
  if (variant != 4 && OneIn(3)) c->out_wrap = rows + Below(4);
  const uint32_t slots = c->out_wrap != 0 ? c->out_wrap : rows;
  c->out_plane = c->out_pitch * slots + (OneIn(3) ? Below(5) : 0);
  c->out_addr = Word(uint64_t{c->out_plane} * OutBlocks(*c) + c->out_pitch);
  c->zo = OneIn(4) ? qmin : OneIn(4) ? qmin + 255 : qmin + int(Below(256));
  c->act_min = qmin - c->zo;
  c->act_max = qmin + 255 - c->zo;
  if (OneIn(3)) {
    c->act_min += static_cast<int32_t>(Below(100));
    c->act_max -= static_cast<int32_t>(Below(100));
  }
  if (variant == 2) {
    const uint32_t what = Below(3);
    c->lut = what != 1;
    if (what != 0) c->res_op = OneIn(2) ? ResidualOp::kAdd : ResidualOp::kMul;
    c->lut_addr = Word(16);
    c->res_signed = OneIn(2);
    c->res_first = OneIn(2);
    c->res_pitch = c->ow + (OneIn(3) ? Below(3) : 0);
    if (OneIn(3)) c->res_wrap = Between(1, c->out_rows + 2);
    c->res_plane =
        c->res_pitch * (c->res_wrap != 0 ? c->res_wrap : c->out_rows);
    c->res_addr = Word(uint64_t{c->res_plane} * OutBlocks(*c));
    c->res_a = c->res_op == ResidualOp::kMul ? Scale() / 64 : Scale();
    c->res_b = Scale();
    c->res_k = Scale() * 32;
    if (OneIn(8)) c->res_k = FromBits(kNan);
    c->res_zero = OneIn(3) ? 255 : static_cast<int32_t>(Below(384)) - 128;
    c->mid_zero = OneIn(3) ? -128 : static_cast<int32_t>(Below(384)) - 128;
    c->res_min = OneIn(2) ? qmin : qmin + static_cast<int32_t>(Below(100));
    c->res_max = OneIn(2) ? qmin + 255 : qmin + 255 - int(Below(100));
  }
}

isa::Command CommandGenerator::MakeConv(MatrixMode mode, int variant) {
  for (;;) {
    isa::Conv c;
    c.mode = mode;
    c.in_signed = OneIn(2);
    c.w_signed = OneIn(2);
    const bool one = variant == 7 || variant == 8;
    c.kh = one ? 1 : Between(1, OneIn(6) ? 9 : 3);
    c.kw = one ? 1 : Between(1, OneIn(6) ? 9 : 3);
    if (OneIn(12) && !one) c.kh = isa::kKernelMax;
    c.sy = OneIn(8) ? 15 : Between(1, 3);
    c.sx = OneIn(8) ? 15 : Between(1, 3);
    c.dy = OneIn(10) ? 255 : Between(1, OneIn(3) ? 3 : 1);
    c.dx = OneIn(10) ? 255 : Between(1, OneIn(3) ? 3 : 1);
    c.ow = OneIn(8) ? Between(60, 120) : Between(1, 14);
    c.out_rows = OneIn(8) ? Between(20, 60) : Between(1, 6);
    if (variant == 9) {
      c.kh = c.kw = c.ow = c.out_rows = 1;
    }
    c.out_row0 = OneIn(2) ? 0 : Below(12);
    c.pad_top = static_cast<int32_t>(Below(c.kh + 1)) - (OneIn(6) ? 3 : 0);
    c.pad_left = static_cast<int32_t>(Below(c.kw + 1)) - (OneIn(6) ? 3 : 0);
    if (OneIn(16)) c.pad_top = 400, c.pad_left = 300;
    c.ih = Between(1, OneIn(4) ? 40 : 14);
    c.iw = Between(1, OneIn(4) ? 130 : 18);
    c.in_xstep = OneIn(4) ? Between(0, 3) : 1;
    const uint32_t k = config_.lanes_out, i = config_.lanes_in;
    c.co = Pick({1, 15, 16, 17, k - 1, k, k + 1, 2 * k, Between(1, 70)});
    c.ci = Pick({1, 15, 16, 17, i - 1, i, i + 1, 2 * i, Between(1, 70)});
    if (variant == 9) c.ci = Between(100, 300), c.co = Between(30, 90);
    if (mode == MatrixMode::kFold) {
      c.fold_channels = c.ci = Between(1, 8);
    } else if (mode != MatrixMode::kConv) {
      c.ci = c.co;
    }
    const int32_t qi = c.in_signed ? -128 : 0, qw = c.w_signed ? -128 : 0;
    c.za = OneIn(4) ? qi : OneIn(4) ? qi + 255 : qi + int(Below(256));
    c.zw = OneIn(3)   ? (c.w_signed ? 0 : 128)
           : OneIn(4) ? qw + 255
                      : qw + int(Below(256));
    uint64_t work =
        uint64_t{c.out_rows} * c.ow * c.kh * c.kw * (OutBlocks(c) * kBlock);
    if (mode == MatrixMode::kConv || mode == MatrixMode::kFold) work *= c.ci;
    if (work > kMaxWork * (OneIn(8) ? 16 : 2)) continue;
    c.zw_channel = mode != MatrixMode::kMaxpool && OneIn(3);
    if (one) {
      c.w_mode = variant == 7 ? WeightMode::kRow : WeightMode::kColumn;
      const uint32_t pixels = variant == 7 ? c.co : c.ci;
      const uint32_t channels = variant == 7 ? c.ci : c.co;
      c.w_step = Between(OneIn(8) ? 0 : 1, 3);
      c.w_plane = c.w_step * pixels + Below(3);
      c.w_addr = Word(uint64_t{c.w_plane} * CeilDiv(channels, kBlock) + 1);
    } else {
      c.w_addr = Word(PackedWeightBytes(c, config_) / kBlock);
    }
    c.out_type = OneIn(2) ? OutType::kS8 : OutType::kU8;
    if (variant == 1) {
      c.out_type = OneIn(2) ? OutType::kI32 : OutType::kF32;
      c.bias_f32 = c.out_type == OutType::kF32 && OneIn(2);
    }
    if (variant == 5 || variant == 6) {
      c.acc_hold = variant == 5;
      c.acc_continue = variant == 6 || OneIn(2);
    }
    if (mode == MatrixMode::kMaxpool) {
      c.out_type = c.in_signed ? OutType::kS8 : OutType::kU8;
    }
    const int layout = c.zw_channel ? 1 : c.bias_f32 ? 2 : 0;
    c.param_addr = static_cast<uint32_t>(params_[layout] / kBlock) +
                   Below(4) * ParamWords(c);
    if (OneIn(10)) c.param_addr = Word(9 * OutBlocks(c));
    ConvInput(&c);
    ConvOutput(&c, variant);
    return c;
  }
}

isa::Command CommandGenerator::MakeVrun(int variant) {
  for (;;) {
    isa::Vrun c;
    const Program& p =
        programs_[Below(static_cast<uint32_t>(programs_.size()))];
    if (p.pick != (variant >= 6) || (variant == 2 && !p.a)) continue;
    c.prog_addr = p.first_word;
    c.prologue = OneIn(2) ? 0 : Below(p.length);
    c.epilogue = OneIn(2) ? 0 : Below(p.length - c.prologue);
    c.body = p.length - c.prologue - c.epilogue;
    c.lanes = OneIn(3) ? Between(1, 100) : Pick({1, 15, 16, 17, 32});
    c.n_r1 = OneIn(2) ? 1 : Between(1, 6);
    c.n_r2 = OneIn(3) ? Between(1, 3) : 1;
    c.n_r3 = OneIn(4) ? Between(1, 3) : 1;
    c.n_o1 = OneIn(2) ? 1 : Between(1, 7);
    c.n_o2 = OneIn(3) ? Between(1, 4) : 1;
    c.n_o3 = OneIn(4) ? Between(1, 3) : 1;
    if (OneIn(3)) c.tail = Between(1, 15);
    const uint64_t work = uint64_t{CeilDiv(c.lanes, 16u)} * c.n_r1 * c.n_r2 *
                          c.n_r3 * c.n_o1 * c.n_o2 * c.n_o3 * p.length;
    // Most are short: what goes wrong does so at the ends of loops, and a core
    // works one step per cycle at best.
    if (work > (OneIn(20) ? 8000 : 300)) continue;
    c.enable_a = p.a || variant == 2 || variant == 4;
    c.enable_b = p.b;
    c.enable_c = p.c || variant == 2 || variant == 3 || variant == 8;
    c.arg0 = Bits(Scale());
    c.arg1 = static_cast<uint32_t>(random_());
    c.arg2 = Bits(-2.5f);
    c.arg3 = Below(40);
    c.store = variant == 0 || variant == 4 ? isa::StoreMode::kBody
                                           : isa::StoreMode::kEpilogue;
    if (variant > 1 && variant != 4 && OneIn(2)) {
      c.store = isa::StoreMode::kBody;
    }
    if (variant == 1 && OneIn(10)) c.store = isa::StoreMode::kNone;
    c.store_one = variant == 5;
    const uint32_t n[7] = {c.lanes, c.n_r1, c.n_r2, c.n_r3,
                           c.n_o1,  c.n_o2, c.n_o3};
    auto type = [&] {
      return static_cast<ElementType>(Below(isa::kNumElementTypeValues));
    };
    c.SetA(RandomStreamFor(type(), n, false, true));
    c.SetB(RandomStreamFor(type(), n, false, true));
    c.SetC(RandomStreamFor(type(), n, false, true));
    const bool over_r = c.store == isa::StoreMode::kBody && !OneIn(8);
    c.SetD(RandomStreamFor(type(), n, true, over_r));
    if (variant == 7 || (variant == 8 && OneIn(2))) {
      // D is, or meets, the table that is picked from.
      isa::Stream a = c.GetD();
      if (OneIn(2)) a.lane_stride = 0;
      a.base += ElementBytes(a.type) * Below(8);
      c.SetA(a);
    }
    if (p.pick) {
      c.pick_a = true;
      c.index_bound = OneIn(3) ? Between(kPickBound, 300) : kPickBound;
      c.index_stride = ElementBytes(c.a_type) * (OneIn(3) ? Between(0, 9) : 1);
    }
    if (variant == 2 || variant == 3 || variant == 8) {
      // Few elements, so that the indices' area suffices.
      if (uint64_t{c.lanes} * c.n_r1 * c.n_r2 * c.n_r3 * c.n_o1 * c.n_o2 *
              c.n_o3 >
          kIndices) {
        continue;
      }
      isa::Stream s;
      s.type = ElementType::kS32;
      s.lane_stride = 4;
      int32_t size = 4 * static_cast<int32_t>(c.lanes);
      int32_t* rest[6] = {&s.r1_stride, &s.r2_stride, &s.r3_stride,
                          &s.o1_stride, &s.o2_stride, &s.o3_stride};
      for (int d = 0; d < 6; ++d) {
        *rest[d] = size;
        size *= static_cast<int32_t>(n[d + 1]);
      }
      s.base = static_cast<uint32_t>(index_address_);
      c.SetC(s);
      c.gather_a = variant == 2;
      c.scatter_d = variant != 2;
      if (variant != 8) c.index_bound = kIndexBound;
      const uint32_t e = std::max(ElementBytes(c.a_type) * (variant != 3),
                                  ElementBytes(c.d_type) * (variant != 2));
      c.index_stride = e * Between(0, 9);
    }
    if (variant == 4) {
      isa::Stream d = c.GetA();
      if (OneIn(3)) d.base += ElementBytes(d.type) * Below(8);  // a hazard
      c.SetD(d);
    }
    return c;
  }
}

}  // namespace heddle::model
