// SPDX-License-Identifier: Apache-2.0
// Random load and store commands over a memory of 1 MiB (region 0: its first
// half, read-only; region 1: its second half) and 512 KiB of SRAM, with the
// shapes that matter to the DMA engines: alignments, run lengths around words,
// bursts and pages, strides around 16, planes.
#ifndef HEDDLE_RTL_TESTBENCH_DMA_COMMANDS_H_
#define HEDDLE_RTL_TESTBENCH_DMA_COMMANDS_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::rtl {

class DmaCommands {
 public:
  static constexpr uint64_t kRegion = 1 << 19;
  static constexpr uint64_t kSram = 1 << 19;

  explicit DmaCommands(uint64_t seed) : random_(seed * 7919 + 17) {}

  uint32_t Below(uint32_t n) { return (random_() >> 20) % n; }
  uint32_t Between(uint32_t a, uint32_t b) { return a + Below(b - a + 1); }

  isa::Command Load() { return Box<isa::Load>(); }
  isa::Command Store() { return Box<isa::Store>(); }

  // Bytes of planes into words, as the compiler loads a network's input.
  isa::Command Planes() { return PlanesOf<isa::Load>(); }
  isa::Command StorePlanes() { return PlanesOf<isa::Store>(); }

  // A load that faults, nearly always: an end just outside, or far.
  isa::Command BadLoad() { return Bad<isa::Load>(); }
  isa::Command BadStore() { return Bad<isa::Store>(); }

 private:
  template <typename T>
  T Box() {
    constexpr bool store = T::kOpcode == isa::Opcode::kStore;
    for (;;) {
      T c;
      c.elem_log2 = Below(5);
      const uint32_t e = 1u << c.elem_log2;
      uint32_t* n[4] = {&c.n0, &c.n1, &c.n2, &c.n3};
      uint32_t* s[4] = {&c.s0, &c.s1, &c.s2, &c.s3};
      uint32_t* t[4] = {&c.t0, &c.t1, &c.t2, &c.t3};
      // The written side is made of distinct places.
      uint32_t** w = store ? s : t;
      uint32_t** r = store ? t : s;
      int order[4] = {0, 1, 2, 3};
      const bool dense = Below(3) != 0;
      std::shuffle(order + dense, order + 4, random_);
      uint64_t size = e, reach = e;
      for (int d : order) {
        *n[d] = Below(3) == 0 ? 1 : Between(1, d == 0 ? Pick0() : 5);
        uint64_t stride = size;
        if (!(dense && d == 0) && Below(2)) stride += e * Below(24);
        *w[d] = stride;
        size += stride * (*n[d] - 1);
      }
      if (size > kSram / 2) continue;
      for (int d = 0; d < 4; ++d) {
        const uint32_t k = Below(4);
        *r[d] = k == 0   ? *w[d]
                : k == 1 ? e * Below(5)
                : k == 2 ? e * Below(300)
                         : e * (1 + Below(16 / e + 2));
        if (d == 0 && dense && Below(4) != 0) *r[d] = e;
        reach += uint64_t{*r[d]} * (*n[d] - 1);
      }
      const uint64_t ds = store ? size : reach, dt = store ? reach : size;
      if (ds > kRegion || dt > kSram) continue;
      c.region = store ? 1 : Below(2);
      c.dram_offset = Below((kRegion - ds) / e + 1) * e;
      c.sram_addr = Below((kSram - dt) / e + 1) * e;
      return c;
    }
  }

  uint32_t Pick0() {
    switch (Below(4)) {
      case 0:
        return 4;
      case 1:
        return 40;
      case 2:
        return 400;
      default:
        return 3000;
    }
  }

  template <typename T>
  isa::Command PlanesOf() {
    T c;
    c.region = 1;
    const uint32_t steps[] = {2, 3, 4, 16, 16, 5};
    c.t0 = steps[Below(6)];
    const uint32_t planes = Below(4) == 0 ? 1 : Between(1, c.t0);
    c.s0 = 1;
    c.n0 = Between(1, 70);
    uint32_t* n[3] = {&c.n1, &c.n2, &c.n3};
    uint32_t* s[3] = {&c.s1, &c.s2, &c.s3};
    uint32_t* t[3] = {&c.t1, &c.t2, &c.t3};
    int order[3] = {0, 1, 2};
    std::shuffle(order, order + 3, random_);
    const uint32_t rows = Between(1, 6), blocks = Between(1, 3);
    const uint32_t width = c.n0 + (Below(2) ? Below(20) : 0);
    uint32_t pitch = c.t0 * c.n0 + (Below(2) ? Below(20) : 0);
    if (Below(2)) pitch = (pitch + 15) / 16 * 16;
    *n[order[0]] = rows;
    *s[order[0]] = width;
    *t[order[0]] = pitch;
    *n[order[1]] = planes;
    *s[order[1]] = rows * width + (Below(2) ? Below(20) : 0);
    *t[order[1]] = 1;
    *n[order[2]] = blocks;
    *s[order[2]] = planes * *s[order[1]];
    *t[order[2]] = rows * pitch + (Below(2) ? 16 * Below(3) : Below(30));
    c.dram_offset = Below(100000);
    c.sram_addr = Below(2) ? 16 * Below(10000) : Below(160000);
    return c;
  }

  template <typename T>
  isa::Command Bad() {
    constexpr bool store = T::kOpcode == isa::Opcode::kStore;
    T c = Box<T>();
    const uint32_t e = 1u << c.elem_log2;
    const uint64_t last_s =
        uint64_t{c.n0 - 1} * c.s0 + uint64_t{c.n1 - 1} * c.s1 +
        uint64_t{c.n2 - 1} * c.s2 + uint64_t{c.n3 - 1} * c.s3 + e;
    const uint64_t last_t =
        uint64_t{c.n0 - 1} * c.t0 + uint64_t{c.n1 - 1} * c.t1 +
        uint64_t{c.n2 - 1} * c.t2 + uint64_t{c.n3 - 1} * c.t3 + e;
    switch (Below(6)) {
      case 0:  // one element outside the region
        c.dram_offset = (kRegion - last_s) / e * e + e;
        break;
      case 1:  // one element outside SRAM
        c.sram_addr = (kSram - last_t) / e * e + e;
        break;
      case 2:  // strides that would wrap 32 bits
        c.n3 = 65535;
        c.s3 = 0x80000000u;
        c.t3 = 0;
        break;
      case 3:
        c.n2 = 4;
        c.t2 = 0x800000;
        c.s2 = 0;
        break;
      case 4:  // not bound
        c.region = 9;
        break;
      default:
        if (store) {
          c.region = 0;
        } else {
          c.dram_offset = 0xfffffff0u;
        }
        break;
    }
    return c;
  }

  std::mt19937_64 random_;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_DMA_COMMANDS_H_
