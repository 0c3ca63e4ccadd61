// SPDX-License-Identifier: Apache-2.0
// Transfers by runs of elements that follow each other in the region.
#include <cstring>
#include <vector>

#include "simulator/model/engines.h"
#include "simulator/model/fast.h"

namespace heddle::model {
namespace {

// One row of elements (dimension 0). Dense in the region: one access to memory.
template <typename C>
struct Rows {
  explicit Rows(const C& c_in)
      : c(c_in),
        e(uint64_t{1} << c.elem_log2),
        dense_dram(c.n0 == 1 || c.s0 == e),
        dense_sram(c.n0 == 1 || c.t0 == e) {}

  // Calls f(region offset, SRAM address) for every row.
  template <typename F>
  Fault ForEach(const F& f) const {
    for (uint64_t i3 = 0; i3 < c.n3; ++i3) {
      for (uint64_t i2 = 0; i2 < c.n2; ++i2) {
        for (uint64_t i1 = 0; i1 < c.n1; ++i1) {
          const Fault fault =
              f(c.dram_offset + i1 * c.s1 + i2 * c.s2 + i3 * c.s3,
                c.sram_addr + i1 * c.t1 + i2 * c.t2 + i3 * c.t3);
          if (!fault.ok()) return fault;
        }
      }
    }
    return {};
  }

  const C& c;
  uint64_t e;
  bool dense_dram, dense_sram;
};

// Elements between a dense row and a strided place in SRAM.
void Scatter(const uint8_t* from, uint64_t e, uint64_t n, uint64_t stride,
             uint8_t* to) {
  if (e == 1) {
    for (uint64_t i = 0; i < n; ++i) to[i * stride] = from[i];
  } else {
    for (uint64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * stride, from + i * e, e);
    }
  }
}
void Gather(const uint8_t* from, uint64_t stride, uint64_t e, uint64_t n,
            uint8_t* to) {
  if (e == 1) {
    for (uint64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  } else {
    for (uint64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * e, from + i * stride, e);
    }
  }
}

uint64_t Span(uint64_t n, uint64_t stride) { return (n - 1) * stride; }

template <typename C>
uint64_t LastByte(const C& c) {
  return c.dram_offset + Span(c.n0, c.s0) + Span(c.n1, c.s1) +
         Span(c.n2, c.s2) + Span(c.n3, c.s3) + (uint64_t{1} << c.elem_log2) - 1;
}

}  // namespace

Fault FastLoad(const isa::Load& c, Core* core) {
  const Rows<isa::Load> rows(c);
  if (!rows.dense_dram) return RunLoad(c, core);
  const Fault fault = CheckRegion(*core, c.region, LastByte(c), false);
  if (!fault.ok()) return fault;
  const uint64_t bytes = c.n0 * rows.e;
  std::vector<uint8_t> row(rows.dense_sram ? 0 : bytes);
  return rows.ForEach([&](uint64_t offset, uint64_t sram) -> Fault {
    const uint64_t address = core->regions[c.region].base + offset;
    uint8_t* place = core->sram.data() + sram;
    uint8_t* to = rows.dense_sram ? place : row.data();
    if (!core->memory->Read(address, to, bytes)) {
      return {isa::Error::kBusError, 0, address};
    }
    if (!rows.dense_sram) Scatter(to, rows.e, c.n0, c.t0, place);
    core->result.bytes_loaded += bytes;
    return {};
  });
}

Fault FastStore(const isa::Store& c, Core* core) {
  const Rows<isa::Store> rows(c);
  if (!rows.dense_dram) return RunStore(c, core);
  const Fault fault = CheckRegion(*core, c.region, LastByte(c), true);
  if (!fault.ok()) return fault;
  const uint64_t bytes = c.n0 * rows.e;
  std::vector<uint8_t> row(rows.dense_sram ? 0 : bytes);
  return rows.ForEach([&](uint64_t offset, uint64_t sram) -> Fault {
    const uint64_t address = core->regions[c.region].base + offset;
    const uint8_t* from = core->sram.data() + sram;
    if (!rows.dense_sram) {
      Gather(from, c.t0, rows.e, c.n0, row.data());
      from = row.data();
    }
    if (!core->memory->Write(address, from, bytes)) {
      return {isa::Error::kBusError, 0, address};
    }
    core->result.bytes_stored += bytes;
    return {};
  });
}

Fault FastFill(const isa::Fill& c, Core* core) {
  const uint64_t e = uint64_t{1} << c.elem_log2;
  const bool same_bytes = c.value == (c.value & 0xff) * 0x01010101u;
  const bool dense = c.n0 == 1 || c.t0 == e;
  if (!dense || !(e == 1 || same_bytes)) return RunFill(c, core);
  for (uint64_t i3 = 0; i3 < c.n3; ++i3) {
    for (uint64_t i2 = 0; i2 < c.n2; ++i2) {
      for (uint64_t i1 = 0; i1 < c.n1; ++i1) {
        std::memset(
            core->sram.data() + c.sram_addr + i1 * c.t1 + i2 * c.t2 + i3 * c.t3,
            static_cast<int>(c.value & 0xff), c.n0 * e);
      }
    }
  }
  return {};
}

}  // namespace heddle::model
