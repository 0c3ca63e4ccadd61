// SPDX-License-Identifier: Apache-2.0
// Random products of the vector engine, and the streams that its commands walk.
#include <algorithm>

#include "simulator/model/legal.h"
#include "simulator/model/numerics.h"
#include "simulator/model/random_command.h"

namespace heddle::model {

using isa::ElementType;

isa::Stream CommandGenerator::RandomStreamFor(ElementType type,
                                              const uint32_t n[7],
                                              bool distinct, bool over_r) {
  for (;;) {
    isa::Stream s;
    s.type = type;
    const int32_t e = static_cast<int32_t>(ElementBytes(type));
    int32_t* strides[7] = {&s.lane_stride, &s.r1_stride, &s.r2_stride,
                           &s.r3_stride,   &s.o1_stride, &s.o2_stride,
                           &s.o3_stride};
    int order[7] = {0, 1, 2, 3, 4, 5, 6};
    if (OneIn(2)) std::shuffle(order, order + 7, random_);
    int64_t size = e, low = 0, high = e;
    for (int d : order) {
      const bool r = d >= 1 && d <= 3;
      if (r && !over_r) continue;
      int64_t stride = size;
      if (!distinct && OneIn(3)) stride = e * int64_t{Below(6)};
      if (OneIn(4)) stride += e * int64_t{Below(4)};
      size = std::max(size, stride * n[d]);
      if (OneIn(6)) stride = -stride;
      if (size > static_cast<int64_t>(data_bytes_)) break;
      *strides[d] = static_cast<int32_t>(stride);
      (stride < 0 ? low : high) += stride * (int64_t{n[d]} - 1);
    }
    const int64_t room = static_cast<int64_t>(data_bytes_) - (high - low);
    if (room <= e || size > static_cast<int64_t>(data_bytes_)) continue;
    s.base = static_cast<uint32_t>(
        -low + e * int64_t{Below(static_cast<uint32_t>(room / e))});
    return s;
  }
}

isa::Command CommandGenerator::MakeVmac(int variant) {
  for (;;) {
    isa::Vmac c;
    c.lanes = OneIn(3) ? Between(1, 100) : Pick({1, 8, 15, 16, 17, 32, 64});
    c.n_r1 = Between(1, 12);
    c.n_r2 = OneIn(2) ? Between(1, 3) : 1;
    c.n_r3 = OneIn(2) ? Between(1, 3) : 1;
    c.n_o1 = OneIn(2) ? Between(1, 9) : 1;
    c.n_o2 = OneIn(3) ? Between(1, 5) : 1;
    c.n_o3 = OneIn(4) ? Between(1, 3) : 1;
    const uint64_t work =
        uint64_t{c.lanes} * c.n_r1 * c.n_r2 * c.n_r3 * c.n_o1 * c.n_o2 * c.n_o3;
    if (work > (OneIn(20) ? 20000 : 3000)) continue;
    const uint32_t n[7] = {c.lanes, c.n_r1, c.n_r2, c.n_r3,
                           c.n_o1,  c.n_o2, c.n_o3};
    auto type = [&] {
      return OneIn(2)   ? ElementType::kF32
             : OneIn(2) ? ElementType::kF16
                        : ElementType::kBf16;
    };
    c.SetA(RandomStreamFor(type(), n, false, true));
    c.SetB(RandomStreamFor(type(), n, false, true));
    c.SetC(RandomStreamFor(type(), n, false, true));
    c.SetD(RandomStreamFor(type(), n, true, false));
    if (variant == 2) {
      // A convolution's shape: weights along lanes, pixels broadcast.
      isa::Stream a = c.GetA(), b = c.GetB();
      a.lane_stride = 0;
      b.o1_stride = b.o2_stride = b.o3_stride = 0;
      b.lane_stride = static_cast<int32_t>(ElementBytes(b.type));
      c.SetA(a);
      c.SetB(b);
    }
    c.initial = variant == 1 || OneIn(3);
    if (variant == 1) {
      isa::Stream d = c.GetD();
      d.r1_stride = static_cast<int32_t>(4 * ElementBytes(d.type));  // unused
      c.SetC(d);
    }
    c.clamp = OneIn(3);
    c.clamp_min = OneIn(6) ? FromBits(kNan) : -Scale();
    c.clamp_max = Scale();
    return c;
  }
}

}  // namespace heddle::model
