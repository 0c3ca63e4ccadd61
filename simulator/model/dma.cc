// SPDX-License-Identifier: Apache-2.0
// Load and store DMA, element by element.
#include "simulator/model/engines.h"

namespace heddle::model {
namespace {

Fault BusError(uint64_t address) { return {isa::Error::kBusError, 0, address}; }

// Calls f(region offset, SRAM address) for every element; f returns a Fault.
template <typename C, typename F>
Fault ForEachElement(const C& c, const F& f) {
  for (uint64_t i3 = 0; i3 < c.n3; ++i3) {
    for (uint64_t i2 = 0; i2 < c.n2; ++i2) {
      for (uint64_t i1 = 0; i1 < c.n1; ++i1) {
        for (uint64_t i0 = 0; i0 < c.n0; ++i0) {
          const Fault fault =
              f(c.dram_offset + i0 * c.s0 + i1 * c.s1 + i2 * c.s2 + i3 * c.s3,
                c.sram_addr + i0 * c.t0 + i1 * c.t1 + i2 * c.t2 + i3 * c.t3);
          if (!fault.ok()) return fault;
        }
      }
    }
  }
  return {};
}

template <typename C>
uint64_t LastByte(const C& c) {
  return c.dram_offset + uint64_t{c.n0 - 1} * c.s0 + uint64_t{c.n1 - 1} * c.s1 +
         uint64_t{c.n2 - 1} * c.s2 + uint64_t{c.n3 - 1} * c.s3 +
         (uint64_t{1} << c.elem_log2) - 1;
}

template <typename C>
uint64_t LastTableByte(const C& c) {
  return c.dram_offset + uint64_t{c.bound - 1} * c.s1 +
         (uint64_t{c.n0} << c.elem_log2) - 1;
}

// Calls f(region offset, SRAM address) for every row of a gather or scatter.
template <typename C, typename F>
Fault ForEachRow(const C& c, const Core& core, const F& f) {
  for (uint64_t j = 0; j < c.count; ++j) {
    const int32_t i = core.Get<int32_t>(c.index_addr + 4 * j);
    if (i < 0 || static_cast<uint32_t>(i) >= c.bound) {
      return {isa::Error::kIndexBounds, c.region, static_cast<uint32_t>(i)};
    }
    const Fault fault = f(c.dram_offset + static_cast<uint64_t>(i) * c.s1,
                          c.sram_addr + j * c.t1);
    if (!fault.ok()) return fault;
  }
  return {};
}

// Bytes between a region and SRAM.
Fault Read(uint32_t region, uint64_t offset, uint64_t sram, uint64_t bytes,
           Core* core) {
  const uint64_t address = core->regions[region].base + offset;
  if (!core->memory->Read(address, core->sram.data() + sram, bytes)) {
    return BusError(address);
  }
  core->result.bytes_loaded += bytes;
  return {};
}

Fault Write(uint32_t region, uint64_t offset, uint64_t sram, uint64_t bytes,
            Core* core) {
  const uint64_t address = core->regions[region].base + offset;
  if (!core->memory->Write(address, core->sram.data() + sram, bytes)) {
    return BusError(address);
  }
  core->result.bytes_stored += bytes;
  return {};
}

}  // namespace

Fault CheckRegion(const Core& core, uint32_t region, uint64_t last,
                  bool write) {
  if (!core.options.check_regions) return {};
  const Region& r = core.regions[region];
  if (last >= r.size) return {isa::Error::kRegionBounds, region, last};
  if (write && !r.writable) return {isa::Error::kRegionReadonly, region, 0};
  return {};
}

Fault RunLoad(const isa::Load& c, Core* core) {
  const Fault fault = CheckRegion(*core, c.region, LastByte(c), false);
  if (!fault.ok()) return fault;
  return ForEachElement(c, [&](uint64_t offset, uint64_t sram) {
    return Read(c.region, offset, sram, uint64_t{1} << c.elem_log2, core);
  });
}

Fault RunStore(const isa::Store& c, Core* core) {
  const Fault fault = CheckRegion(*core, c.region, LastByte(c), true);
  if (!fault.ok()) return fault;
  return ForEachElement(c, [&](uint64_t offset, uint64_t sram) {
    return Write(c.region, offset, sram, uint64_t{1} << c.elem_log2, core);
  });
}

Fault RunFill(const isa::Fill& c, Core* core) {
  for (uint64_t i3 = 0; i3 < c.n3; ++i3) {
    for (uint64_t i2 = 0; i2 < c.n2; ++i2) {
      for (uint64_t i1 = 0; i1 < c.n1; ++i1) {
        for (uint64_t i0 = 0; i0 < c.n0; ++i0) {
          const uint64_t at =
              c.sram_addr + i0 * c.t0 + i1 * c.t1 + i2 * c.t2 + i3 * c.t3;
          for (uint32_t b = 0; b < 1u << c.elem_log2; ++b) {
            core->sram[at + b] = static_cast<uint8_t>(c.value >> (8 * b));
          }
        }
      }
    }
  }
  return {};
}

Fault RunLoadGather(const isa::LoadGather& c, Core* core) {
  const Fault fault = CheckRegion(*core, c.region, LastTableByte(c), false);
  if (!fault.ok()) return fault;
  return ForEachRow(c, *core, [&](uint64_t offset, uint64_t sram) {
    return Read(c.region, offset, sram, uint64_t{c.n0} << c.elem_log2, core);
  });
}

Fault RunStoreScatter(const isa::StoreScatter& c, Core* core) {
  const Fault fault = CheckRegion(*core, c.region, LastTableByte(c), true);
  if (!fault.ok()) return fault;
  return ForEachRow(c, *core, [&](uint64_t offset, uint64_t sram) {
    return Write(c.region, offset, sram, uint64_t{c.n0} << c.elem_log2, core);
  });
}

}  // namespace heddle::model
