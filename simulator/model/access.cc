// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/access.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "simulator/model/geometry.h"
#include "simulator/model/legal.h"

namespace heddle::model {
namespace {

using Sink = std::function<void(const Access&)>;

Access Sram(bool write, int64_t base, uint64_t bytes) {
  Access a;
  a.write = write;
  a.base = base;
  a.bytes = bytes;
  return a;
}

Access Dram(bool write, uint32_t region, int64_t base, uint64_t bytes) {
  Access a = Sram(write, base, bytes);
  a.space = Space::kDram;
  a.region = region;
  return a;
}

int32_t IndexAt(const uint8_t* sram, uint64_t address) {
  int32_t v;
  std::memcpy(&v, sram + address, sizeof(v));
  return v;
}

template <typename T>
void Touch(const isa::Config&, const T&, const uint8_t*, const Sink&) {
  static_assert(T::kWords == isa::Header::kWords, "a command without accesses");
}

template <typename T>
void Transfer(const T& c, bool to_sram, const Sink& f) {
  const uint64_t e = uint64_t{1} << c.elem_log2;
  f(Dram(!to_sram, c.region, c.dram_offset, e)
        .Along(c.n0, c.s0)
        .Along(c.n1, c.s1)
        .Along(c.n2, c.s2)
        .Along(c.n3, c.s3));
  f(Sram(to_sram, c.sram_addr, e)
        .Along(c.n0, c.t0)
        .Along(c.n1, c.t1)
        .Along(c.n2, c.t2)
        .Along(c.n3, c.t3));
}

void Touch(const isa::Config&, const isa::Load& c, const uint8_t*,
           const Sink& f) {
  Transfer(c, true, f);
}
void Touch(const isa::Config&, const isa::Store& c, const uint8_t*,
           const Sink& f) {
  Transfer(c, false, f);
}
void Touch(const isa::Config&, const isa::Fill& c, const uint8_t*,
           const Sink& f) {
  f(Sram(true, c.sram_addr, uint64_t{1} << c.elem_log2)
        .Along(c.n0, c.t0)
        .Along(c.n1, c.t1)
        .Along(c.n2, c.t2)
        .Along(c.n3, c.t3));
}

template <typename T>
void Indexed(const T& c, bool to_sram, const uint8_t* sram, const Sink& f) {
  const uint64_t row = uint64_t{c.n0} << c.elem_log2;
  f(Sram(false, c.index_addr, 4).Along(c.count, 4));
  f(Sram(to_sram, c.sram_addr, row).Along(c.count, c.t1));
  if (sram == nullptr) {
    f(Dram(!to_sram, c.region, c.dram_offset, row).Along(c.bound, c.s1));
    return;
  }
  for (uint32_t j = 0; j < c.count; ++j) {
    const int32_t i = IndexAt(sram, c.index_addr + uint64_t{4} * j);
    if (i < 0 || static_cast<uint32_t>(i) >= c.bound) return;  // faults
    f(Dram(!to_sram, c.region, c.dram_offset + int64_t{i} * c.s1, row));
  }
}
void Touch(const isa::Config&, const isa::LoadGather& c, const uint8_t* sram,
           const Sink& f) {
  Indexed(c, true, sram, f);
}
void Touch(const isa::Config&, const isa::StoreScatter& c, const uint8_t* sram,
           const Sink& f) {
  Indexed(c, false, sram, f);
}

// ---- Matrix engine
// -----------------------------------------------------------

// A run of equally spaced coordinates.
struct Span {
  int64_t first;
  int64_t step;
  uint64_t n;
};

// The coordinates 0 .. size-1 that taps touch, as few spans as possible.
std::vector<Span> Touched(int64_t first, uint32_t n, uint32_t stride,
                          uint32_t taps, uint32_t dilation, uint32_t size) {
  std::vector<uint8_t> hit(size, 0);
  for (uint32_t o = 0; o < n; ++o) {
    for (uint32_t k = 0; k < taps; ++k) {
      const int64_t i = first + int64_t{o} * stride + int64_t{k} * dilation;
      if (i >= 0 && i < size) hit[i] = 1;
    }
  }
  std::vector<Span> spans;
  for (uint32_t i = 0; i < size; ++i) {
    if (hit[i] == 0) continue;
    if (!spans.empty()) {
      Span& s = spans.back();
      if (s.n == 1) s.step = i - s.first;
      if (s.n == 1 || i == s.first + s.step * static_cast<int64_t>(s.n)) {
        ++s.n;
        continue;
      }
    }
    spans.push_back({i, 1, 1});
  }
  return spans;
}

// Words of channel blocks: all 16 channels but those at and beyond `channels`.
void Blocks(Access a, uint32_t channels, int64_t plane, const Sink& f) {
  const uint32_t full = channels / kBlock;
  const uint32_t rest = channels % kBlock;
  Access last = a;
  if (full > 0) f(a.Along(full, plane));
  if (rest > 0) {
    last.base += full * plane;
    last.bytes = rest;
    f(last);
  }
}

void Inputs(const isa::Conv& c, const Sink& f) {
  const int64_t y0 = int64_t{c.out_row0} * c.sy - c.pad_top;
  const std::vector<Span> rows =
      Touched(y0, c.out_rows, c.sy, c.kh, c.dy, c.ih);
  const std::vector<Span> columns =
      Touched(-int64_t{c.pad_left}, c.ow, c.sx, c.kw, c.dx, c.iw);
  for (const Span& row : rows) {
    for (uint64_t i = 0; i < row.n; ++i) {
      const int64_t iy = row.first + row.step * static_cast<int64_t>(i);
      for (const Span& s : columns) {
        if (c.mode == isa::MatrixMode::kFold) {
          f(Sram(false, FoldAddress(c, iy, s.first), c.fold_channels)
                .Along(s.n, s.step * c.fold_channels));
          continue;
        }
        Blocks(Sram(false, InputAddress(c, 0, iy, s.first), kBlock)
                   .Along(s.n, s.step * c.in_xstep * kBlock),
               c.ci, int64_t{c.in_plane} * kBlock, f);
      }
    }
  }
}

void Weights(const isa::Config& config, const isa::Conv& c, const Sink& f) {
  const int64_t base = int64_t{c.w_addr} * kBlock;
  const int64_t step = int64_t{c.w_step} * kBlock;
  const int64_t plane = int64_t{c.w_plane} * kBlock;
  if (c.w_mode == isa::WeightMode::kRow) {
    Blocks(Sram(false, base, kBlock).Along(c.co, step), c.ci, plane, f);
  } else if (c.w_mode == isa::WeightMode::kColumn) {
    Blocks(Sram(false, base, kBlock).Along(c.ci, step), c.co, plane, f);
  } else if (c.mode != isa::MatrixMode::kMaxpool) {
    f(Sram(false, base, PackedWeightBytes(c, config)));
  }
}

void Parameters(const isa::Conv& c, const Sink& f) {
  if (c.mode == isa::MatrixMode::kMaxpool) return;
  const int64_t block = int64_t{ParamWords(c)} * kBlock;
  if (!c.acc_hold) {
    f(Sram(false, BiasAddress(c, 0), block).Along(OutBlocks(c), block));
  } else if (c.zw_channel) {
    f(Sram(false, ZeroAddress(c, 0), kBlock).Along(OutBlocks(c), block));
  }
}

void PooledRows(const isa::Conv& c, const Sink& f) {
  const int64_t plane = int64_t{c.out_plane} * kBlock;
  for (uint32_t py = 0; py < c.pool_oh; ++py) {
    const int64_t first = int64_t{py} * c.pool_s - c.pool_pad;
    if (first + c.pool_k <= c.out_row0 ||
        first >= int64_t{c.out_row0} + c.out_rows) {
      continue;
    }
    const int64_t row = Slot(py, c.pool_row0, c.out_wrap);
    Access a = Sram(true, OutputAddress(c, 0, row, 0), kBlock)
                   .Along(c.pool_ow, int64_t{c.out_xstep} * kBlock)
                   .Along(OutBlocks(c), plane);
    // An earlier command began this pooled row.
    if (c.out_row0 > std::max<int64_t>(0, first)) {
      a.write = false;
      f(a);
      a.write = true;
    }
    f(a);
  }
}

void Outputs(const isa::Conv& c, const Sink& f) {
  const int64_t plane = int64_t{c.out_plane} * kBlock;
  const uint32_t word = IsWide(c) ? 4 * kBlock : kBlock;
  if (c.pool == isa::PoolKind::kMax) {
    PooledRows(c, f);
  } else if (c.pool == isa::PoolKind::kAverage) {
    f(Sram(true, OutputAddress(c, 0, 0, 0), kBlock).Along(OutBlocks(c), plane));
  } else {
    for (uint32_t y = 0; y < c.out_rows; ++y) {
      const int64_t row = Slot(c.out_row0 + y, c.out_row0, c.out_wrap);
      f(Sram(true, OutputAddress(c, 0, row, 0), word)
            .Along(c.ow, int64_t{c.out_xstep} * kBlock)
            .Along(OutBlocks(c), plane));
    }
  }
}

void Touch(const isa::Config& config, const isa::Conv& c, const uint8_t*,
           const Sink& f) {
  Inputs(c, f);
  Weights(config, c, f);
  Parameters(c, f);
  if (c.acc_continue || c.acc_hold) {
    Access a;
    a.space = Space::kAccumulators;
    a.bytes = uint64_t{CellBlocks(c, config)} * c.out_rows * c.ow;
    if (c.acc_continue) f(a);
    a.write = true;
    f(a);
  } else {
    // The accumulators are undefined afterwards.
    Access a;
    a.space = Space::kAccumulators;
    a.bytes = config.acc_pixels;
    a.write = true;
    f(a);
  }
  if (c.acc_hold) return;
  if (c.lut) f(Sram(false, int64_t{c.lut_addr} * kBlock, 256));
  if (c.res_op != isa::ResidualOp::kNone) {
    for (uint32_t y = 0; y < c.out_rows; ++y) {
      f(Sram(false, ResidualAddress(c, 0, c.out_row0 + y, 0), kBlock)
            .Along(c.ow, kBlock)
            .Along(OutBlocks(c), int64_t{c.res_plane} * kBlock));
    }
  }
  Outputs(c, f);
}

// ---- Vector engine
// -----------------------------------------------------------

struct Loops {
  uint32_t lanes, r1, r2, r3, o1, o2, o3;
};

Access StreamBox(const isa::Stream& s, bool write, const Loops& n) {
  return Sram(write, s.base, ElementBytes(s.type))
      .Along(n.lanes, s.lane_stride)
      .Along(n.r1, s.r1_stride)
      .Along(n.r2, s.r2_stride)
      .Along(n.r3, s.r3_stride)
      .Along(n.o1, s.o1_stride)
      .Along(n.o2, s.o2_stride)
      .Along(n.o3, s.o3_stride);
}

void Touch(const isa::Config&, const isa::Vmac& c, const uint8_t*,
           const Sink& f) {
  const Loops all = {c.lanes, c.n_r1, c.n_r2, c.n_r3, c.n_o1, c.n_o2, c.n_o3};
  const Loops out = {c.lanes, 1, 1, 1, c.n_o1, c.n_o2, c.n_o3};
  f(StreamBox(c.GetA(), false, all));
  f(StreamBox(c.GetB(), false, all));
  if (c.initial) f(StreamBox(c.GetC(), false, out));
  f(StreamBox(c.GetD(), true, out));
}

// The parts of a vrun's index space in which lanes are valid, as boxes. Chunks
// of 16 lanes count apart because of `tail`. f(loops, first lane, first r1).
template <typename F>
void ValidParts(const isa::Vrun& c, bool body, const F& f) {
  const Loops n = {c.lanes,
                   body ? c.n_r1 : 1,
                   body ? c.n_r2 : 1,
                   body ? c.n_r3 : 1,
                   c.n_o1,
                   c.n_o2,
                   c.n_o3};
  const bool cut = c.tail != 0 && (body || c.n_r1 == 1);
  if (!cut) {
    f(n, 0, 0);
    return;
  }
  if (n.r1 > 1) {
    Loops head = n;
    head.r1 = n.r1 - 1;
    f(head, 0, 0);
  }
  for (uint32_t e = 0; e < c.lanes; e += isa::kVectorLanes) {
    Loops last = n;
    last.r1 = 1;
    last.lanes = std::min(c.tail, c.lanes - e);
    f(last, e, n.r1 - 1);
  }
}

void StreamParts(const isa::Vrun& c, const isa::Stream& s, bool write,
                 bool body, const Sink& f) {
  ValidParts(c, body, [&](Loops n, uint32_t lane, uint32_t r1) {
    isa::Stream moved = s;
    Access a = StreamBox(moved, write, n);
    a.base += int64_t{lane} * s.lane_stride + int64_t{r1} * s.r1_stride;
    f(a);
  });
}

// Stream A by index, or stream D: one access per valid element.
void IndexedParts(const isa::Vrun& c, const isa::Stream& s, bool write,
                  bool body, const uint8_t* sram, const Sink& f) {
  const isa::Stream index = c.GetC();
  ValidParts(c, body, [&](Loops n, uint32_t lane0, uint32_t r10) {
    uint64_t i[6] = {};
    const uint64_t limit[6] = {n.r1, n.r2, n.r3, n.o1, n.o2, n.o3};
    for (;;) {
      for (uint32_t l = 0; l < n.lanes; ++l) {
        if (write && c.store_one && (lane0 + l) % isa::kVectorLanes != 0) {
          continue;
        }
        auto at = [&](const isa::Stream& t) {
          return t.base + int64_t{lane0 + l} * t.lane_stride +
                 static_cast<int64_t>(i[0] + r10) * t.r1_stride +
                 static_cast<int64_t>(i[1]) * t.r2_stride +
                 static_cast<int64_t>(i[2]) * t.r3_stride +
                 static_cast<int64_t>(i[3]) * t.o1_stride +
                 static_cast<int64_t>(i[4]) * t.o2_stride +
                 static_cast<int64_t>(i[5]) * t.o3_stride;
        };
        const int32_t v = IndexAt(sram, at(index));
        if (v < 0 || static_cast<uint32_t>(v) >= c.index_bound) continue;
        f(Sram(write, at(s) + int64_t{v} * c.index_stride,
               ElementBytes(s.type)));
      }
      int d = 0;
      while (d < 6 && ++i[d] == limit[d]) i[d++] = 0;
      if (d == 6) break;
    }
  });
}

void Touch(const isa::Config&, const isa::Vrun& c, const uint8_t* sram,
           const Sink& f) {
  const uint32_t length = c.prologue + c.body + c.epilogue;
  f(Sram(false, int64_t{c.prog_addr} * kBlock, uint64_t{8} * length));
  const bool stores = c.store != isa::StoreMode::kNone;
  if (sram == nullptr) {
    // All elements the loops can reach, named or not, valid or not.
    const Loops all = {c.lanes, c.n_r1, c.n_r2, c.n_r3, c.n_o1, c.n_o2, c.n_o3};
    Loops out = all;
    if (c.store == isa::StoreMode::kEpilogue) out.r1 = out.r2 = out.r3 = 1;
    if (c.enable_a) {
      Access a = StreamBox(c.GetA(), false, all);
      a.maybe = c.pick_a;
      f(c.gather_a || c.pick_a ? a.Along(c.index_bound, c.index_stride) : a);
    }
    if (c.enable_b) f(StreamBox(c.GetB(), false, all));
    if (c.enable_c) f(StreamBox(c.GetC(), false, all));
    if (stores) {
      Access d = StreamBox(c.GetD(), true, out);
      f(c.scatter_d ? d.Along(c.index_bound, c.index_stride) : d);
    }
    return;
  }
  // Which streams each section names.
  bool named[3][2] = {};
  for (uint32_t i = 0; i < length; ++i) {
    uint64_t word;
    std::memcpy(&word, sram + uint64_t{c.prog_addr} * kBlock + 8 * i, 8);
    const auto m = isa::MicroInstruction::Decode(word);
    if (!m.ok()) return;  // faults before it touches anything
    const bool body = i >= c.prologue && i < c.prologue + c.body;
    if (m->op == isa::MicroOp::kPick) named[0][body] = true;
    for (isa::Operand o : {m->a, m->b, m->c}) {
      if (o == isa::Operand::kStreamA) named[0][body] = true;
      if (o == isa::Operand::kStreamB) named[1][body] = true;
      if (o == isa::Operand::kStreamC) named[2][body] = true;
    }
  }
  const bool store_body = c.store == isa::StoreMode::kBody;
  for (bool body : {false, true}) {
    if (c.gather_a && named[0][body]) named[2][body] = true;
    if (c.scatter_d && stores && store_body == body) named[2][body] = true;
    if (named[0][body]) {
      if (c.gather_a) {
        IndexedParts(c, c.GetA(), false, body, sram, f);
      } else if (c.pick_a) {
        StreamParts(c, c.GetA(), false, body, [&](Access a) {
          a.maybe = true;
          f(a.Along(c.index_bound, c.index_stride));
        });
      } else {
        StreamParts(c, c.GetA(), false, body, f);
      }
    }
    if (named[1][body]) StreamParts(c, c.GetB(), false, body, f);
    if (named[2][body]) StreamParts(c, c.GetC(), false, body, f);
  }
  if (!stores) return;
  if (c.scatter_d) {
    IndexedParts(c, c.GetD(), true, store_body, sram, f);
  } else if (c.store_one) {
    // Lane 0 of every chunk.
    isa::Stream d = c.GetD();
    for (uint32_t e = 0; e < c.lanes; e += isa::kVectorLanes) {
      const uint32_t n = store_body ? c.n_r1 : 1;
      f(StreamBox(d, true,
                  {1, n, store_body ? c.n_r2 : 1, store_body ? c.n_r3 : 1,
                   c.n_o1, c.n_o2, c.n_o3}));
      d.base += isa::kVectorLanes * d.lane_stride;
    }
  } else {
    StreamParts(c, c.GetD(), true, store_body, f);
  }
}

// Commands that nobody has checked yet get here, too: extents beyond 64 bits
// stay beyond every memory.
int64_t Saturate(__int128 value) {
  constexpr auto kLow = std::numeric_limits<int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<int64_t>::max();
  return value < kLow ? kLow : value > kHigh ? kHigh : value;
}

}  // namespace

int64_t Access::Lowest() const {
  __int128 low = base;
  for (int i = 0; i < num_dims; ++i) {
    low += std::min<__int128>(0, __int128{dims[i].n - 1} * dims[i].stride);
  }
  return Saturate(low);
}

int64_t Access::Highest() const {
  __int128 high = __int128{base} + bytes - 1;
  for (int i = 0; i < num_dims; ++i) {
    high += std::max<__int128>(0, __int128{dims[i].n - 1} * dims[i].stride);
  }
  return Saturate(high);
}

void Access::ForEachRun(const std::function<void(int64_t, uint64_t)>& f) const {
  if (empty) return;
  // Dimensions that follow each other without a gap make longer runs; of what
  // is touched in part at most nobody counts how often.
  Dim rest[kMaxDims];
  int n = num_dims;
  std::copy(dims, dims + n, rest);
  uint64_t run = bytes;
  for (bool merged = true; merged;) {
    merged = false;
    for (int i = 0; i < n && !merged; ++i) {
      const int64_t stride = rest[i].stride;
      if (stride == static_cast<int64_t>(run) ||
          (maybe && stride > 0 && stride < static_cast<int64_t>(run))) {
        run += static_cast<uint64_t>(stride) * (rest[i].n - 1);
        rest[i] = rest[--n];
        merged = true;
      }
    }
  }
  uint64_t index[kMaxDims] = {};
  int64_t address = base;
  for (;;) {
    f(address, run);
    int d = 0;
    for (; d < n; ++d) {
      address += rest[d].stride;
      if (++index[d] < rest[d].n) break;
      address -= static_cast<int64_t>(rest[d].n) * rest[d].stride;
      index[d] = 0;
    }
    if (d == n) return;
  }
}

void ForEachAccess(const isa::Config& config, const isa::Command& command,
                   const uint8_t* sram, const Sink& f) {
  std::visit([&](const auto& c) { Touch(config, c, sram, f); }, command);
}

}  // namespace heddle::model
