// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/transfer.h"

#include <algorithm>
#include <vector>

namespace heddle::compiler {
namespace {

constexpr uint64_t kMaxCount = 65535;  // of one dimension of a DMA command
constexpr size_t kMaxDims = 4;

using Dim = BoxDim;

// Emits a box of any number of dimensions and any counts, innermost first.
class BoxEmitter {
 public:
  BoxEmitter(Emitter* emitter, Direction direction, int region)
      : emitter_(emitter), direction_(direction), region_(region) {}

  void Emit(uint64_t element, uint64_t dram, uint64_t sram,
            std::vector<Dim> dims) {
    Simplify(&dims);
    // Larger elements where a contiguous run allows them.
    while (element < isa::kWordBytes && !dims.empty() && dims[0].s == element &&
           dims[0].t == element && dims[0].n % 2 == 0 &&
           Aligned(2 * element, dram, sram, dims)) {
      element *= 2;
      dims[0] = {dims[0].n / 2, element, element};
    }
    if (direction_ == Direction::kLoad) SpreadOverBanks(element, &dims);
    Split(element, dram, sram, dims);
  }

 private:
  static void Simplify(std::vector<Dim>* dims) {
    std::vector<Dim> kept;
    for (const Dim& d : *dims) {
      if (d.n == 1) continue;
      if (!kept.empty() && kept.back().n * kept.back().s == d.s &&
          kept.back().n * kept.back().t == d.t) {
        kept.back().n *= d.n;
      } else {
        kept.push_back(d);
      }
    }
    *dims = kept;
  }

  // Elements that the load engine places one by one are parts of words, which
  // hold their bank for two cycles: where those behind each other meet in a
  // bank, another dimension becomes the innermost, or every so many of one, of
  // which device memory has most in a beat.
  void SpreadOverBanks(uint64_t element, std::vector<Dim>* dims) const {
    const uint64_t word = isa::kWordBytes;
    const uint64_t around = word * emitter_->config->sram_banks;
    const auto meet = [&](uint64_t t) { return t < word || t % around == 0; };
    if (element == word || dims->empty()) return;
    const Dim& first = (*dims)[0];
    // (planes of bytes that the engine interleaves, too)
    const bool moved_as_words =
        first.s == element && (first.t == element || element == 1);
    if (!meet(first.t) || (moved_as_words && first.t <= word)) return;
    size_t best = dims->size();
    uint64_t best_every = 0, best_beat = 0;
    for (size_t i = 0; i < dims->size(); ++i) {
      const Dim& d = (*dims)[i];
      for (uint64_t every = 1; every <= word / element; every *= 2) {
        if (meet(every * d.t)) continue;
        const bool fits = every == 1 || dims->size() < kMaxDims;
        if (!fits || d.n % every != 0 || d.n / every < 2) break;
        // Bytes of device memory for an element.
        const uint64_t beat = std::min(word, every * d.s);
        if (best == dims->size() || beat < best_beat) {
          best = i;
          best_every = every;
          best_beat = beat;
        }
        break;
      }
    }
    if (best == dims->size()) return;
    const Dim d = (*dims)[best];
    dims->erase(dims->begin() + static_cast<std::ptrdiff_t>(best));
    if (best_every > 1) dims->insert(dims->begin(), {best_every, d.s, d.t});
    dims->insert(dims->begin(),
                 {d.n / best_every, d.s * best_every, d.t * best_every});
  }

  static bool Aligned(uint64_t element, uint64_t dram, uint64_t sram,
                      const std::vector<Dim>& dims) {
    if (dram % element || sram % element) return false;
    for (size_t i = 1; i < dims.size(); ++i) {
      if (dims[i].s % element || dims[i].t % element) return false;
    }
    return true;
  }

  void Split(uint64_t element, uint64_t dram, uint64_t sram,
             const std::vector<Dim>& dims) {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].n > kMaxCount) {
        for (uint64_t done = 0; done < dims[i].n; done += kMaxCount) {
          std::vector<Dim> part = dims;
          part[i].n = std::min(kMaxCount, dims[i].n - done);
          Split(element, dram + done * dims[i].s, sram + done * dims[i].t,
                part);
        }
        return;
      }
    }
    if (dims.size() > kMaxDims) {
      std::vector<Dim> inner(dims.begin(), dims.end() - 1);
      for (uint64_t k = 0; k < dims.back().n; ++k) {
        Split(element, dram + k * dims.back().s, sram + k * dims.back().t,
              inner);
      }
      return;
    }
    if (direction_ == Direction::kLoad) {
      Append<isa::Load>(element, dram, sram, dims);
    } else {
      Append<isa::Store>(element, dram, sram, dims);
    }
  }

  template <typename T>
  void Append(uint64_t element, uint64_t dram, uint64_t sram,
              const std::vector<Dim>& dims) {
    T c;
    c.region = region_;
    while ((1u << c.elem_log2) < element) ++c.elem_log2;
    c.dram_offset = dram;
    c.sram_addr = sram;
    uint32_t* const n[] = {&c.n0, &c.n1, &c.n2, &c.n3};
    uint32_t* const s[] = {&c.s0, &c.s1, &c.s2, &c.s3};
    uint32_t* const t[] = {&c.t0, &c.t1, &c.t2, &c.t3};
    for (size_t i = 0; i < dims.size(); ++i) {
      *n[i] = dims[i].n;
      *s[i] = dims[i].s;
      *t[i] = dims[i].t;
    }
    emitter_->Append(c);
  }

  Emitter* emitter_;
  Direction direction_;
  int region_;
};

}  // namespace

void EmitTransfer(Emitter* emitter, Direction direction, const Extent& e,
                  Layout layout, size_t element_bytes, const DramTensor& dram,
                  const TensorBox& part, const TileView& view) {
  BoxEmitter box(emitter, direction, dram.region);
  const uint64_t es = element_bytes;
  const int64_t row = part.rows.first, column = part.columns.first;
  const int64_t channel = part.channels.first;
  const uint64_t w = part.columns.count, c = part.channels.count,
                 r = part.rows.count;
  const uint64_t column_bytes = e.dense_w * es, row_bytes = e.dense_h * es,
                 plane_bytes = e.dense_c * es;
  const uint64_t dense = dram.offset + part.image * e.dense_n * es +
                         row * row_bytes + column * column_bytes +
                         channel * plane_bytes;
  if (layout == Layout::kDense) {
    box.Emit(es, dense, AddressOf(view, channel, row, column),
             {{w, column_bytes, es},
              {r, row_bytes, view.pitch},
              {c, plane_bytes, view.plane}});
    return;
  }
  // Of the storage's own layout in device memory.
  const Geometry own = GeometryOf(e, layout, 1, e.h, Halo());
  const uint64_t own_row =
      dram.offset + part.image * own.bytes + row * own.pitch;
  if (layout == Layout::kPacked) {
    const uint64_t sram = AddressOf(view, 0, row, column);
    if (dram.dense) {
      box.Emit(1, dense, sram,
               {{w, column_bytes, view.xstep},
                {r, row_bytes, view.pitch},
                {c, plane_bytes, 1}});
    } else {
      box.Emit(1, own_row + column * own.xstep, sram,
               {{w * c, 1, 1}, {r, own.pitch, view.pitch}});
    }
    return;
  }
  const uint64_t word = isa::kWordBytes;
  const uint32_t sram = AddressOf(view, channel / 16, row, column);
  if (!dram.dense) {
    box.Emit(word, own_row + column * word + channel / 16 * own.plane, sram,
             {{w, word, word},
              {r, own.pitch, view.pitch},
              {(c + 15) / 16, own.plane, view.plane}});
    return;
  }
  const uint64_t full = c / 16, rest = c % 16;
  const auto emit = [&](uint64_t from, uint32_t to, const Dim& lanes,
                        const Dim& blocks) {
    const Dim columns{w, column_bytes, word}, rows{r, row_bytes, view.pitch};
    // Channels that follow each other are moved as they lie; those of planes
    // are interleaved by the engine, which wants the columns innermost.
    if (plane_bytes == 1) {
      box.Emit(1, from, to, {lanes, columns, rows, blocks});
    } else {
      box.Emit(1, from, to, {columns, rows, lanes, blocks});
    }
  };
  if (full) {
    emit(dense, sram, {16, plane_bytes, 1},
         {full, 16 * plane_bytes, view.plane});
  }
  if (rest) {
    emit(dense + full * 16 * plane_bytes,
         static_cast<uint32_t>(sram + full * view.plane),
         {rest, plane_bytes, 1}, {1, 0, 0});
  }
}

void EmitLoadBox(Emitter* emitter, int region, uint64_t element, uint64_t dram,
                 uint32_t sram, const std::vector<BoxDim>& dims) {
  BoxEmitter(emitter, Direction::kLoad, region).Emit(element, dram, sram, dims);
}

void EmitFillBox(Emitter* emitter, uint64_t element, uint32_t value,
                 uint32_t sram, const std::vector<BoxDim>& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool too_many = dims.size() > kMaxDims && i + 1 == dims.size();
    if (dims[i].n <= kMaxCount && !too_many) continue;
    const uint64_t step = too_many ? 1 : kMaxCount;
    for (uint64_t done = 0; done < dims[i].n; done += step) {
      std::vector<BoxDim> part = dims;
      part[i].n = std::min(step, dims[i].n - done);
      if (too_many) part.pop_back();
      EmitFillBox(emitter, element, value, sram + done * dims[i].t, part);
    }
    return;
  }
  isa::Fill fill;
  while ((1u << fill.elem_log2) < element) ++fill.elem_log2;
  fill.value = value;
  fill.sram_addr = sram;
  uint32_t* const n[] = {&fill.n0, &fill.n1, &fill.n2, &fill.n3};
  uint32_t* const t[] = {&fill.t0, &fill.t1, &fill.t2, &fill.t3};
  for (size_t i = 0; i < dims.size(); ++i) {
    *n[i] = dims[i].n;
    *t[i] = dims[i].t;
  }
  emitter->Append(fill);
}

void EmitLoadBytes(Emitter* emitter, int region, uint64_t offset, uint32_t sram,
                   uint64_t bytes) {
  if (bytes == 0) return;
  BoxEmitter(emitter, Direction::kLoad, region)
      .Emit(isa::kWordBytes, offset, sram,
            {{bytes / isa::kWordBytes, isa::kWordBytes, isa::kWordBytes}});
}

void EmitFill(Emitter* emitter, uint32_t sram, uint64_t bytes, uint32_t value) {
  const uint64_t words = bytes / 4;
  for (uint64_t done = 0; done < words;) {
    // Rectangles of the largest count first.
    const uint64_t left = words - done;
    isa::Fill fill;
    fill.elem_log2 = 2;
    fill.value = value;
    fill.sram_addr = sram + done * 4;
    fill.n0 = std::min(left, kMaxCount);
    fill.t0 = 4;
    fill.n1 = std::max<uint64_t>(1, left / fill.n0);
    fill.t1 = fill.n0 * 4;
    emitter->Append(fill);
    done += uint64_t{fill.n0} * fill.n1;
  }
}

}  // namespace heddle::compiler
