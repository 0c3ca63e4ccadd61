// SPDX-License-Identifier: Apache-2.0
#include "simulator/timing/transfer_cost.h"

#include <algorithm>
#include <array>

namespace heddle::timing {
namespace {

constexpr uint64_t kWord = isa::kWordBytes;
constexpr uint64_t kLoadBurst = 1024, kStoreBurst = 256;  // bytes

uint64_t DivUp(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// Pieces of `size` bytes that [begin, begin + bytes) touches.
uint64_t Pieces(uint64_t begin, uint64_t bytes, uint64_t size) {
  return DivUp(begin % size + bytes, size);
}

struct Axis {
  uint64_t n, s, t;  // elements, stride in device memory, stride in SRAM
};

// A box as the engines walk it: dimension 0 and the rows outside.
struct Box {
  uint64_t element, n0, s0, t0;
  std::array<Axis, 3> rows;
  uint64_t dram, sram;
  uint64_t planes = 1;  // bytes interleaved into words: how many planes

  bool dense() const { return s0 == element && t0 == element; }
};

template <typename T>
Box BoxOf(const T& c) {
  Box b;
  b.element = uint64_t{1} << c.elem_log2;
  b.n0 = c.n0;
  // Strides of a dimension of one step mean nothing.
  b.s0 = c.n0 == 1 ? b.element : c.s0;
  b.t0 = c.n0 == 1 ? b.element : c.t0;
  b.rows = {Axis{c.n1, c.s1, c.t1}, Axis{c.n2, c.s2, c.t2},
            Axis{c.n3, c.s3, c.t3}};
  b.dram = c.dram_offset;
  b.sram = c.sram_addr;
  // Planes of bytes that are interleaved: see rtl/src/hd_dma_prep.sv.
  if (b.element != 1 || b.s0 != 1 ||
      !(b.t0 == 2 || b.t0 == 3 || b.t0 == 4 || b.t0 == 16)) {
    return b;
  }
  int plane = -1, lone = -1;
  for (int i = 2; i >= 0; --i) {
    if (b.rows[i].t == 1 && b.rows[i].n > 1 && b.rows[i].n <= b.t0) plane = i;
    if (b.rows[i].n == 1) lone = i;
  }
  if (plane < 0 && lone < 0) return b;
  if (b.t0 == 16 && plane >= 0) {
    if (b.sram % 16 + b.rows[plane].n > 16) return b;
    for (int i = 0; i < 3; ++i) {
      if (i != plane && b.rows[i].n > 1 && b.rows[i].t % 16 != 0) return b;
    }
  }
  b.planes = plane >= 0 ? b.rows[plane].n : 1;
  std::swap(b.rows[0], b.rows[plane >= 0 ? plane : lone]);
  b.element = 0;  // marks the grouped walk
  return b;
}

// Calls `f` with the places of rows, of all or of so many that the mean is
// known; returns by what the sums are to be multiplied.
template <typename F>
double ForRows(const std::array<Axis, 3>& rows, uint64_t dram, uint64_t sram,
               const F& f) {
  constexpr uint64_t kMost[3] = {16, 4, 4};
  uint64_t n[3];
  double times = 1;
  for (int i = 0; i < 3; ++i) {
    n[i] = std::min(rows[i].n, kMost[i]);
    times *= static_cast<double>(rows[i].n) / static_cast<double>(n[i]);
  }
  for (uint64_t k = 0; k < n[2]; ++k) {
    for (uint64_t j = 0; j < n[1]; ++j) {
      for (uint64_t i = 0; i < n[0]; ++i) {
        f(dram + i * rows[0].s + j * rows[1].s + k * rows[2].s,
          sram + i * rows[0].t + j * rows[1].t + k * rows[2].t);
      }
    }
  }
  return times;
}

struct Sums {
  uint64_t bursts = 0, beats = 0, places = 0, words = 0;
};

TransferCost Scaled(const Sums& s, double times, bool store) {
  TransferCost cost;
  const auto scaled = [&](uint64_t v) {
    return static_cast<uint64_t>(static_cast<double>(v) * times + 0.5);
  };
  cost.beats = scaled(s.beats);
  cost.words = scaled(store ? s.words : std::max(s.places, s.words));
  cost.cycles = scaled(std::max({s.bursts, s.beats, s.places, s.words}));
  return cost;
}

// Bytes of planes that are interleaved: chunks of up to 16 elements.
Sums Grouped(const Box& b, double* times) {
  Sums sums;
  std::array<Axis, 3> rows = b.rows;
  const Axis planes = rows[0];
  rows[0] = {1, 0, 0};
  *times = ForRows(rows, b.dram, b.sram, [&](uint64_t dram, uint64_t sram) {
    const uint64_t chunks = Pieces(dram, b.n0, kWord);
    sums.bursts += chunks * planes.n;
    sums.places += chunks * planes.n;
    // Chunks end where the first plane's beats do; planes that lie differently
    // need two beats for one that is whole.
    const uint64_t head = std::min(b.n0, kWord - dram % kWord);
    const uint64_t whole = (b.n0 - head) / kWord, tail = (b.n0 - head) % kWord;
    for (uint64_t i = 0; i < planes.n; ++i) {
      const uint64_t at = dram + i * planes.s;
      sums.beats += Pieces(at, head, kWord);
      sums.beats += whole * Pieces(at + head, kWord, kWord);
      if (tail > 0) sums.beats += Pieces(at + head, tail, kWord);
    }
    sums.words += b.t0 == 16 ? b.n0 : chunks * Pieces(sram, 16 * b.t0, kWord);
  });
  return sums;
}

// Of the elements of a row that are placed one by one, those that wait for the
// bank, which reads and writes a word for a part of it, because the one before
// is there.
uint64_t Met(const Box& b, uint64_t sram, const isa::Config& config) {
  if (b.element == kWord) return 0;
  constexpr uint64_t kMost = 64;
  const uint64_t count = std::min(b.n0, kMost);
  uint64_t met = 0;
  const auto bank = [&](uint64_t i) {
    return (sram + i * b.t0) / kWord % config.sram_banks;
  };
  for (uint64_t i = 1; i < count; ++i) met += bank(i) == bank(i - 1);
  return count < b.n0 ? met * b.n0 / count : met;
}

}  // namespace

TransferCost CostOf(const isa::Load& c, const isa::Config& config) {
  const Box b = BoxOf(c);
  Sums sums;
  double times = 1;
  if (b.element == 0) {
    sums = Grouped(b, &times);
    return Scaled(sums, times, false);
  }
  const uint64_t bytes = (b.n0 - 1) * b.s0 + b.element;
  times = ForRows(b.rows, b.dram, b.sram, [&](uint64_t dram, uint64_t sram) {
    if (b.s0 > kWord) {  // an access per element
      sums.bursts += b.n0;
      sums.beats += b.n0 * Pieces(dram, b.element, kWord);
    } else {
      sums.bursts += Pieces(dram, bytes, kLoadBurst);
      sums.beats += Pieces(dram, bytes, kWord);
    }
    sums.places +=
        b.dense() ? Pieces(sram, bytes, kWord) : b.n0 + Met(b, sram, config);
  });
  return Scaled(sums, times, false);
}

TransferCost CostOf(const isa::Store& c, const Calibration&) {
  const Box b = BoxOf(c);
  Sums sums;
  double times = 1;
  if (b.element == 0) {
    sums = Grouped(b, &times);
    return Scaled(sums, times, true);
  }
  const uint64_t bytes = (b.n0 - 1) * b.s0 + b.element;
  const uint64_t span = (b.n0 - 1) * b.t0 + b.element;
  uint64_t last = UINT64_MAX;  // beat that is open
  times = ForRows(b.rows, b.dram, b.sram, [&](uint64_t dram, uint64_t sram) {
    if (b.dense()) {
      sums.places += Pieces(dram, bytes, kWord);
    } else {
      sums.places += b.n0;
    }
    if (b.s0 > kWord) {
      sums.beats += b.n0 * Pieces(dram, b.element, kWord);
    } else {
      sums.beats += Pieces(dram, bytes, kWord);
      if (dram / kWord == last) --sums.beats;
      last = (dram + bytes - 1) / kWord;
    }
    sums.words += b.t0 > kWord ? b.n0 : Pieces(sram, span, kWord);
  });
  return Scaled(sums, times, true);
}

TransferCost CostOf(const isa::Fill& c, const Calibration&) {
  const uint64_t element = uint64_t{1} << c.elem_log2;
  const uint64_t t0 = c.n0 == 1 ? element : c.t0;
  const uint64_t bytes = (c.n0 - 1) * t0 + element;
  Sums sums;
  const double times = ForRows(
      {Axis{c.n1, 0, c.t1}, Axis{c.n2, 0, c.t2}, Axis{c.n3, 0, c.t3}}, 0,
      c.sram_addr, [&](uint64_t, uint64_t sram) {
        sums.places += t0 == element ? Pieces(sram, bytes, kWord) : c.n0;
      });
  return Scaled(sums, times, false);
}

TransferCost CostOf(const isa::LoadGather& c, const Calibration& calibration) {
  // Rows lie anywhere; as a row that begins where the table does.
  const uint64_t bytes = uint64_t{c.n0} << c.elem_log2;
  const uint64_t beats = Pieces(c.dram_offset, bytes, kWord);
  TransferCost cost;
  cost.beats = c.count * beats;
  cost.words = c.count * Pieces(c.sram_addr, bytes, kWord);
  cost.cycles =
      std::max({cost.beats, cost.words,
                c.count * (calibration.gather_row + bytes / kLoadBurst)});
  return cost;
}

TransferCost CostOf(const isa::StoreScatter& c,
                    const Calibration& calibration) {
  const uint64_t bytes = uint64_t{c.n0} << c.elem_log2;
  const uint64_t beats = Pieces(c.dram_offset, bytes, kWord);
  TransferCost cost;
  cost.beats = c.count * beats;
  cost.words = c.count * Pieces(c.sram_addr, bytes, kWord);
  cost.cycles =
      std::max({cost.beats, cost.words,
                c.count * (calibration.scatter_row + bytes / kStoreBurst)});
  return cost;
}

}  // namespace heddle::timing
