// SPDX-License-Identifier: Apache-2.0
// vmac over many independent elements at once, each with its own chain in the
// order of ISA.md.
//
// If one factor does not depend on the lane (X), the other (Y) is converted
// once for all outer indices it does not depend on ("rows") and the kernel
// works on tiles of rows x lanes. Otherwise 16 lanes at a time, both factors
// converted.
#include <algorithm>
#include <vector>

#include "simulator/model/engines.h"
#include "simulator/model/fast.h"
#include "simulator/model/legal.h"
#include "simulator/model/micro.h"
#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

constexpr uint64_t kMaxFloats = uint64_t{1} << 22;
// X is converted for this many rows at a time.
constexpr uint32_t kRows = 24;
constexpr uint32_t kVector = isa::kVectorLanes;

struct Outer {
  int64_t o1, o2, o3;
};

class FastMac {
 public:
  FastMac(const isa::Vmac& c, const Kernels& kernels, Core* core)
      : c_(c),
        kernels_(kernels),
        core_(core),
        a_(c.GetA()),
        b_(c.GetB()),
        initial_(c.GetC()),
        d_(c.GetD()),
        steps_(uint64_t{c.n_r1} * c.n_r2 * c.n_r3),
        vectors_(CeilDiv(c.lanes, kVector)) {}

  // False if the command is left to the reference implementation.
  bool Run() {
    if (steps_ * kRows > kMaxFloats || steps_ * kVector > kMaxFloats) {
      return false;
    }
    const bool tiles = (a_.lane_stride == 0 || b_.lane_stride == 0) &&
                       steps_ * vectors_ * kVector <= kMaxFloats;
    if (tiles) {
      RunTiles();
    } else {
      RunLanes();
    }
    core_->result.macs += c_.lanes * steps_ * c_.n_o1 * c_.n_o2 * c_.n_o3;
    return true;
  }

 private:
  static int64_t Base(const isa::Stream& s, const Outer& o) {
    return s.base + o.o1 * s.o1_stride + o.o2 * s.o2_stride +
           o.o3 * s.o3_stride;
  }

  float Load(const isa::Stream& s, int64_t at) const {
    return FromBits(LoadElement(s.type, core_->sram.data() + at));
  }

  // Calls f(address) for every reduction step.
  template <typename F>
  void ForEachStep(const isa::Stream& s, int64_t base, const F& f) const {
    for (int64_t r3 = 0; r3 < c_.n_r3; ++r3) {
      for (int64_t r2 = 0; r2 < c_.n_r2; ++r2) {
        int64_t at = base + r3 * s.r3_stride + r2 * s.r2_stride;
        for (int64_t r1 = 0; r1 < c_.n_r1; ++r1, at += s.r1_stride) f(at);
      }
    }
  }

  // n lanes of one step, zeros up to whole vectors.
  void LoadLanes(const isa::Stream& s, int64_t at, uint32_t n,
                 float* to) const {
    if (s.type == isa::ElementType::kF32 && s.lane_stride == 4) {
      std::memcpy(to, core_->sram.data() + at, n * sizeof(float));
    } else {
      for (uint32_t l = 0; l < n; ++l) {
        to[l] = Load(s, at + int64_t{l} * s.lane_stride);
      }
    }
    std::fill(to + n, to + CeilDiv(n, kVector) * kVector, 0.0f);
  }

  void LoadInitial(const Outer& o, uint32_t first, uint32_t n, float* acc) {
    std::fill(acc, acc + CeilDiv(n, kVector) * kVector, 0.0f);
    if (!c_.initial) return;
    LoadLanes(initial_,
              Base(initial_, o) + int64_t{first} * initial_.lane_stride, n,
              acc);
  }

  void StoreResult(const Outer& o, uint32_t first, uint32_t n,
                   const float* acc) {
    int64_t at = Base(d_, o) + int64_t{first} * d_.lane_stride;
    for (uint32_t l = 0; l < n; ++l, at += d_.lane_stride) {
      float v = acc[l];
      if (c_.clamp) v = FMin(FMax(v, c_.clamp_min), c_.clamp_max);
      StoreElement(d_.type, Bits(v), core_->sram.data() + at);
    }
  }

  void RunTiles() {
    const bool a_is_x = a_.lane_stride == 0;
    const isa::Stream& x = a_is_x ? a_ : b_;
    const isa::Stream& y = a_is_x ? b_ : a_;
    // Rows run over the outer dimensions that Y does not depend on.
    const int64_t n[3] = {c_.n_o1, c_.n_o2, c_.n_o3};
    const bool row[3] = {y.o1_stride == 0, y.o2_stride == 0, y.o3_stride == 0};
    const int64_t rows[3] = {row[0] ? n[0] : 1, row[1] ? n[1] : 1,
                             row[2] ? n[2] : 1};
    const int64_t rest[3] = {n[0] / rows[0], n[1] / rows[1], n[2] / rows[2]};
    const uint32_t width = vectors_ * kVector;
    y_.resize(steps_ * width);
    x_.resize(steps_ * kRows);
    acc_.resize(size_t{kRows} * width);
    for (int64_t i3 = 0; i3 < rest[2]; ++i3) {
      for (int64_t i2 = 0; i2 < rest[1]; ++i2) {
        for (int64_t i1 = 0; i1 < rest[0]; ++i1) {
          float* to = y_.data();
          ForEachStep(y, Base(y, {i1, i2, i3}), [&](int64_t at) {
            LoadLanes(y, at, c_.lanes, to);
            to += width;
          });
          const int64_t total = rows[0] * rows[1] * rows[2];
          for (int64_t first = 0; first < total; first += kRows) {
            Outer outer[kRows];
            const uint32_t count =
                static_cast<uint32_t>(std::min<int64_t>(kRows, total - first));
            for (uint32_t r = 0; r < count; ++r) {
              const int64_t i = first + r;
              outer[r] = {i1 + i % rows[0], i2 + i / rows[0] % rows[1],
                          i3 + i / rows[0] / rows[1]};
            }
            Tile(x, outer, count);
          }
        }
      }
    }
  }

  void Tile(const isa::Stream& x, const Outer* outer, uint32_t count) {
    const uint32_t width = vectors_ * kVector;
    const float* pointers[kRows];
    for (uint32_t r = 0; r < count; ++r) {
      float* to = x_.data() + r * steps_;
      pointers[r] = to;
      if (x.type == isa::ElementType::kF32) {
        ForEachStep(x, Base(x, outer[r]),
                    [&](int64_t at) { *to++ = core_->Get<float>(at); });
      } else {
        ForEachStep(x, Base(x, outer[r]),
                    [&](int64_t at) { *to++ = Load(x, at); });
      }
      LoadInitial(outer[r], 0, c_.lanes, acc_.data() + size_t{r} * width);
    }
    FmaTile t;
    t.a = pointers;
    t.a_step = 1;
    t.b = y_.data();
    t.b_step = width;
    t.n = static_cast<uint32_t>(steps_);
    t.acc = acc_.data();
    t.acc_stride = width;
    t.rows = count;
    t.vectors = vectors_;
    kernels_.fma_tile(t);
    for (uint32_t r = 0; r < count; ++r) {
      StoreResult(outer[r], 0, c_.lanes, acc_.data() + size_t{r} * width);
    }
  }

  void RunLanes() {
    x_.resize(steps_ * kVector);
    y_.resize(steps_ * kVector);
    for (int64_t o3 = 0; o3 < c_.n_o3; ++o3) {
      for (int64_t o2 = 0; o2 < c_.n_o2; ++o2) {
        for (int64_t o1 = 0; o1 < c_.n_o1; ++o1) {
          for (uint32_t first = 0; first < c_.lanes; first += kVector) {
            LanesAt({o1, o2, o3}, first, std::min(kVector, c_.lanes - first));
          }
        }
      }
    }
  }

  void LanesAt(const Outer& o, uint32_t first, uint32_t n) {
    auto convert = [&](const isa::Stream& s, float* to) {
      ForEachStep(s, Base(s, o) + int64_t{first} * s.lane_stride,
                  [&](int64_t at) {
                    LoadLanes(s, at, n, to);
                    to += kVector;
                  });
    };
    convert(a_, x_.data());
    convert(b_, y_.data());
    float acc[kVector];
    LoadInitial(o, first, n, acc);
    kernels_.fma_lanes(x_.data(), y_.data(), static_cast<uint32_t>(steps_),
                       acc);
    StoreResult(o, first, n, acc);
  }

  const isa::Vmac& c_;
  const Kernels& kernels_;
  Core* core_;
  isa::Stream a_, b_, initial_, d_;
  uint64_t steps_;
  uint32_t vectors_;
  std::vector<float> x_, y_, acc_;
};

}  // namespace

Fault FastVmac(const isa::Vmac& c, const Kernels& kernels, Core* core) {
  if (!FastMac(c, kernels, core).Run()) return RunVmac(c, core);
  return {};
}

}  // namespace heddle::model
