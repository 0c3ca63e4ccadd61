// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/access.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "simulator/timing/matrix_cost.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kWord = isa::kWordBytes;

uint64_t DivUp(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

void Add(std::vector<Access>* out, int space, uint64_t begin, uint64_t bytes,
         bool write, bool dense = false) {
  out->push_back({space, begin, begin + bytes, write, dense});
}

// `n` times something, `stride` apart.
struct Repeat {
  uint64_t n;
  int64_t stride;
};

// Whether `unit` bytes, repeated, leave no gap.
template <size_t N>
bool IsDense(uint64_t unit, std::array<Repeat, N> repeats) {
  std::sort(
      repeats.begin(), repeats.end(),
      [](const Repeat& a, const Repeat& b) { return a.stride < b.stride; });
  for (const Repeat& r : repeats) {
    if (r.n == 1) continue;
    if (r.stride < 0 || static_cast<uint64_t>(r.stride) > unit) return false;
    unit += (r.n - 1) * static_cast<uint64_t>(r.stride);
  }
  return true;
}

// Is the SRAM side of a load, store or fill without gaps?
template <typename T>
bool SramIsDense(const T& c) {
  return IsDense<4>(1u << c.elem_log2,
                    {{{c.n0, c.t0}, {c.n1, c.t1}, {c.n2, c.t2}, {c.n3, c.t3}}});
}

// The box of a load or store, from both sides.
template <typename T>
void AddBox(const T& c, bool store, std::vector<Access>* out) {
  const uint64_t element = 1u << c.elem_log2;
  const uint64_t dram = uint64_t{c.n0 - 1} * c.s0 + uint64_t{c.n1 - 1} * c.s1 +
                        uint64_t{c.n2 - 1} * c.s2 + uint64_t{c.n3 - 1} * c.s3;
  const uint64_t sram = uint64_t{c.n0 - 1} * c.t0 + uint64_t{c.n1 - 1} * c.t1 +
                        uint64_t{c.n2 - 1} * c.t2 + uint64_t{c.n3 - 1} * c.t3;
  Add(out, c.region, c.dram_offset, dram + element, store);
  Add(out, kSramSpace, c.sram_addr, sram + element, !store,
      !store && SramIsDense(c));
}

template <typename T>
void AddRows(const T& c, bool store, std::vector<Access>* out) {
  const uint64_t row = uint64_t{c.n0} << c.elem_log2;
  Add(out, c.region, c.dram_offset, uint64_t{c.bound - 1} * c.s1 + row, store);
  Add(out, kSramSpace, c.sram_addr, uint64_t{c.count - 1} * c.t1 + row, !store);
  Add(out, kSramSpace, c.index_addr, uint64_t{c.count} * 4, false);
}

// Row slots [first, last] that rows [row, row + rows) of an image occupy.
void Slots(uint32_t row, uint32_t rows, uint32_t row0, uint32_t wrap,
           uint64_t* first, uint64_t* last) {
  if (wrap == 0) {
    *first = row - row0;
    *last = row + rows - 1 - row0;
  } else {
    *first = 0;
    *last = wrap - 1;
    if (rows <= wrap - row % wrap) {
      *first = row % wrap;
      *last = *first + rows - 1;
    }
  }
}

void AddConv(const isa::Conv& c, const isa::Config& config,
             std::vector<Access>* out) {
  // Input rows inside the image.
  const int64_t top = int64_t{c.out_row0} * c.sy - c.pad_top;
  const int64_t bottom = int64_t{c.out_row0 + c.out_rows - 1} * c.sy -
                         c.pad_top + int64_t{c.kh - 1} * c.dy;
  // Rows before in_row0 lie between the taps: a legal command reads none.
  const int64_t row_begin =
      std::max<int64_t>(top, c.in_wrap == 0 ? c.in_row0 : 0);
  const int64_t row_end = std::min<int64_t>(bottom, int64_t{c.ih} - 1);
  const uint64_t in_blocks = DivUp(c.ci, 16), out_blocks = DivUp(c.co, 16);
  if (row_begin <= row_end) {
    uint64_t first, last;
    Slots(row_begin, row_end - row_begin + 1, c.in_row0, c.in_wrap, &first,
          &last);
    if (c.mode == isa::MatrixMode::kFold) {
      Add(out, kSramSpace, (c.in_addr + first * c.in_pitch) * kWord,
          (last - first) * c.in_pitch * kWord +
              uint64_t{c.iw} * c.fold_channels,
          false);
    } else {
      Add(out, kSramSpace, (c.in_addr + first * c.in_pitch) * kWord,
          ((in_blocks - 1) * c.in_plane + (last - first) * c.in_pitch +
           uint64_t{c.iw - 1} * c.in_xstep + 1) *
              kWord,
          false);
    }
  }
  if (c.mode != isa::MatrixMode::kMaxpool) {
    uint64_t words = 0;
    if (c.w_mode == isa::WeightMode::kRow) {
      words = (in_blocks - 1) * c.w_plane + uint64_t{c.co - 1} * c.w_step + 1;
    } else if (c.w_mode == isa::WeightMode::kColumn) {
      words = (out_blocks - 1) * c.w_plane + uint64_t{c.ci - 1} * c.w_step + 1;
    } else if (c.mode == isa::MatrixMode::kDepthwise) {
      words = out_blocks * c.kh * c.kw;
    } else {
      const uint64_t tile =
          uint64_t{config.lanes_in} * config.lanes_out / kWord;
      const uint64_t tiles =
          c.mode == isa::MatrixMode::kFold
              ? timing::FoldVectors(c.kh, c.kw * c.fold_channels,
                                    config.lanes_in)
              : uint64_t{c.kh} * c.kw * DivUp(c.ci, config.lanes_in);
      words = DivUp(c.co, config.lanes_out) * tiles * tile;
    }
    Add(out, kSramSpace, c.w_addr * kWord, words * kWord, false);
    if (!c.acc_hold) {
      Add(out, kSramSpace, c.param_addr * kWord,
          out_blocks * (c.zw_channel ? 9 : 8) * kWord, false);
    } else if (c.zw_channel) {
      Add(out, kSramSpace, c.param_addr * kWord, out_blocks * 9 * kWord, false);
    }
    const uint64_t entries = DivUp(c.co, config.lanes_out) * c.out_rows * c.ow;
    if (c.acc_continue) Add(out, kAccumulatorSpace, 0, entries, false);
  }
  // Without acc_hold the accumulators are left undefined, in every mode.
  Add(out, kAccumulatorSpace, 0, config.acc_pixels, true, true);
  if (c.lut) Add(out, kSramSpace, c.lut_addr * kWord, 256, false);
  uint64_t first, last;
  if (c.res_op != isa::ResidualOp::kNone) {
    Slots(c.out_row0, c.out_rows, c.out_row0, c.res_wrap, &first, &last);
    Add(out, kSramSpace, (c.res_addr + first * c.res_pitch) * kWord,
        ((out_blocks - 1) * c.res_plane + (last - first) * c.res_pitch + c.ow) *
            kWord,
        false);
  }
  if (c.acc_hold) return;
  const uint64_t wide =
      c.out_type == isa::OutType::kI32 || c.out_type == isa::OutType::kF32 ? 4
                                                                           : 1;
  if (c.pool == isa::PoolKind::kAverage) {
    Add(out, kSramSpace, c.out_addr * kWord,
        ((out_blocks - 1) * c.out_plane + 1) * kWord, true);
    return;
  }
  uint64_t columns = c.ow;
  if (c.pool == isa::PoolKind::kMax) {
    columns = c.pool_ow;
    const int64_t py_first = std::max<int64_t>(
        0, (int64_t{c.out_row0} + c.pool_pad - c.pool_k) / c.pool_s);
    const int64_t py_last = std::min<int64_t>(
        int64_t{c.pool_oh} - 1,
        (int64_t{c.out_row0} + c.out_rows - 1 + c.pool_pad) / c.pool_s);
    const int64_t from =
        std::max<int64_t>(py_first, c.out_wrap == 0 ? c.pool_row0 : 0);
    Slots(from, std::max<int64_t>(1, py_last - from + 1), c.pool_row0,
          c.out_wrap, &first, &last);
    Add(out, kSramSpace, (c.out_addr + first * c.out_pitch) * kWord,
        ((out_blocks - 1) * c.out_plane + (last - first) * c.out_pitch +
         (columns - 1) * c.out_xstep + 1) *
            kWord,
        false);
  } else {
    Slots(c.out_row0, c.out_rows, c.out_row0, c.out_wrap, &first, &last);
  }
  Add(out, kSramSpace, (c.out_addr + first * c.out_pitch) * kWord,
      ((out_blocks - 1) * c.out_plane + (last - first) * c.out_pitch +
       (columns - 1) * c.out_xstep + wide) *
          kWord,
      true,
      // A pooling may write some of the rows only.
      c.pool == isa::PoolKind::kNone && c.out_wrap == 0 &&
          IsDense<3>(wide, {{{columns, c.out_xstep},
                             {last - first + 1, c.out_pitch},
                             {out_blocks, c.out_plane}}}));
}

uint64_t ElementSize(isa::ElementType type) {
  switch (type) {
    case isa::ElementType::kU8:
    case isa::ElementType::kS8:
      return 1;
    case isa::ElementType::kU16:
    case isa::ElementType::kS16:
    case isa::ElementType::kF16:
    case isa::ElementType::kBf16:
      return 2;
    default:
      return 4;
  }
}

// Hull of a stream; with `outer_only` the r indices stay 0. `every_lane`: no
// lane is left out of a write.
template <typename T>
void AddStream(const T& c, const isa::Stream& s, bool outer_only,
               uint64_t index_bytes, bool write, std::vector<Access>* out,
               bool every_lane = true) {
  int64_t low = s.base, high = s.base;
  auto extend = [&](uint32_t n, int32_t stride) {
    const int64_t reach = int64_t{n - 1} * stride;
    (reach < 0 ? low : high) += reach;
  };
  extend(c.lanes, s.lane_stride);
  if (!outer_only) {
    extend(c.n_r1, s.r1_stride);
    extend(c.n_r2, s.r2_stride);
    extend(c.n_r3, s.r3_stride);
  }
  extend(c.n_o1, s.o1_stride);
  extend(c.n_o2, s.o2_stride);
  extend(c.n_o3, s.o3_stride);
  low = std::max<int64_t>(low, 0);
  const uint32_t r1 = outer_only ? 1 : c.n_r1, r2 = outer_only ? 1 : c.n_r2,
                 r3 = outer_only ? 1 : c.n_r3;
  Add(out, kSramSpace, low, high - low + index_bytes + ElementSize(s.type),
      write,
      write && index_bytes == 0 && every_lane &&
          IsDense<7>(ElementSize(s.type), {{{c.lanes, s.lane_stride},
                                            {r1, s.r1_stride},
                                            {r2, s.r2_stride},
                                            {r3, s.r3_stride},
                                            {c.n_o1, s.o1_stride},
                                            {c.n_o2, s.o2_stride},
                                            {c.n_o3, s.o3_stride}}}));
}

void AddVrun(const isa::Vrun& c, std::vector<Access>* out) {
  Add(out, kSramSpace, c.prog_addr * kWord,
      uint64_t{c.prologue + c.body + c.epilogue} * 8, false);
  const uint64_t reach =
      c.index_bound ? uint64_t{c.index_bound - 1} * c.index_stride : 0;
  if (c.enable_a)
    AddStream(c, c.GetA(), false, c.gather_a || c.pick_a ? reach : 0, false,
              out);
  if (c.enable_b) AddStream(c, c.GetB(), false, 0, false, out);
  if (c.enable_c) AddStream(c, c.GetC(), false, 0, false, out);
  if (c.store != isa::StoreMode::kNone) {
    AddStream(c, c.GetD(), c.store == isa::StoreMode::kEpilogue,
              c.scatter_d ? reach : 0, true, out,
              (!c.store_one || c.lanes == 1) && c.tail == 0);
  }
}

void AddVmac(const isa::Vmac& c, std::vector<Access>* out) {
  AddStream(c, c.GetA(), false, 0, false, out);
  AddStream(c, c.GetB(), false, 0, false, out);
  if (c.initial) AddStream(c, c.GetC(), true, 0, false, out);
  AddStream(c, c.GetD(), true, 0, true, out);
}

}  // namespace

std::vector<Access> AccessesOf(const isa::Command& command,
                               const isa::Config& config) {
  std::vector<Access> out;
  std::visit(
      [&](const auto& c) {
        using T = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<T, isa::Load>) {
          AddBox(c, false, &out);
        } else if constexpr (std::is_same_v<T, isa::Store>) {
          AddBox(c, true, &out);
        } else if constexpr (std::is_same_v<T, isa::Fill>) {
          const uint64_t reach =
              uint64_t{c.n0 - 1} * c.t0 + uint64_t{c.n1 - 1} * c.t1 +
              uint64_t{c.n2 - 1} * c.t2 + uint64_t{c.n3 - 1} * c.t3;
          Add(&out, kSramSpace, c.sram_addr, reach + (1u << c.elem_log2), true,
              SramIsDense(c));
        } else if constexpr (std::is_same_v<T, isa::LoadGather>) {
          AddRows(c, false, &out);
        } else if constexpr (std::is_same_v<T, isa::StoreScatter>) {
          AddRows(c, true, &out);
        } else if constexpr (std::is_same_v<T, isa::Conv>) {
          AddConv(c, config, &out);
        } else if constexpr (std::is_same_v<T, isa::Vrun>) {
          AddVrun(c, &out);
        } else if constexpr (std::is_same_v<T, isa::Vmac>) {
          AddVmac(c, &out);
        }
      },
      command);
  return out;
}

isa::Engine EngineOf(const isa::Command& command) {
  return std::visit(
      [](const auto& c) { return std::decay_t<decltype(c)>::kEngine; },
      command);
}

uint64_t MacsOf(const isa::Command& command) {
  if (const auto* c = std::get_if<isa::Conv>(&command)) {
    if (c->mode == isa::MatrixMode::kMaxpool) return 0;
    const uint64_t taps = uint64_t{c->out_rows} * c->ow * c->kh * c->kw * c->co;
    return c->mode == isa::MatrixMode::kDepthwise ? taps : taps * c->ci;
  }
  if (const auto* c = std::get_if<isa::Vmac>(&command)) {
    return uint64_t{c->lanes} * c->n_r1 * c->n_r2 * c->n_r3 * c->n_o1 *
           c->n_o2 * c->n_o3;
  }
  return 0;
}

}  // namespace heddle::compiler
