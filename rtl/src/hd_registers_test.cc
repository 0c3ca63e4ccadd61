// SPDX-License-Identifier: Apache-2.0
//
// Every register of the generated table by its kinds of access, every other
// offset, accesses that are not whole words, strobes, latched counters.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "Vhd_registers.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/spec/generated/registers.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

class Registers : public testing::Test {
 protected:
  Registers() {
    dut->req_i = 0;
    dut->clear_i = 0;
    // The reset values of what the card supplies.
    for (const reg::RegisterInfo& info : reg::kRegisters) {
      if (info.offset == reg::kConfigOffset) dut->config_i = info.reset;
      if (info.offset == reg::kDramLoOffset) dut->dram_bytes_i = info.reset;
      if (info.offset == reg::kStatusOffset) dut->status_i = info.reset;
    }
    dut->core_kind_i = dut->int_status_i = 0;
    dut->progress_i = dut->device_error_i = dut->completion_tail_i = 0;
    dut->unique_i = dut->running_i = dut->cycles_i = dut->macs_i = 0;
    dut->jobs_i = dut->faults_i = dut->resets_i = 0;
    dut->sram_corrected_i = 0;
    for (uint32_t i = 0; i < isa::kRings; ++i)
      dut->ring_head_i[i] = dut->ring_tail_i[i] = 0;
    dut.Reset();
  }
  uint32_t Access(bool write, uint32_t offset, uint32_t value,
                  uint32_t strobes = 15) {
    dut->req_i = 1;
    dut->write_i = write;
    dut->addr_i = static_cast<uint16_t>(offset);
    dut->wdata_i = value;
    dut->strb_i = static_cast<uint8_t>(strobes);
    dut.Settle();
    strobes_ = Strobes();
    EXPECT_EQ(dut->wdata_o, value);
    dut.Tick();
    EXPECT_TRUE(dut->ack_o);
    dut.Settle();
    EXPECT_EQ(Strobes(), 0u) << "an access acts once";
    const uint32_t got = dut->rdata_o;
    dut->req_i = 0;
    dut.Tick();
    EXPECT_FALSE(dut->ack_o);
    return got;
  }
  uint32_t Read(uint32_t offset, uint32_t strobes = 15) {
    return Access(false, offset, 0, strobes);
  }
  void Write(uint32_t offset, uint32_t value) { Access(true, offset, value); }
  // All strobes as bits, for comparison.
  uint32_t Strobes() {
    return dut->reset_we_o | dut->abort_we_o << 1 | dut->int_status_we_o << 2 |
           dut->int_enable_we_o << 3 | dut->int_raise_we_o << 4 |
           dut->device_error_we_o << 5 | dut->completion_size_we_o << 6 |
           dut->ring_size_we_o << 8 | dut->ring_head_we_o << 12;
  }

  Clocked<Vhd_registers> dut;
  uint32_t strobes_ = 0;
};

TEST_F(Registers, TableHolds) {
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t offset = info.offset + i * info.stride;
      EXPECT_EQ(Read(offset), info.reset & ~info.wo_mask) << info.name;
      for (uint32_t value : {0xffffffffu, 0xa5a5a5a5u, 0x5a5a5a5au, 0u}) {
        Write(offset, value);
        const bool acts = (info.wo_mask | info.w1c_mask | info.w1s_mask) != 0;
        if (acts) {
          EXPECT_NE(strobes_, 0u) << info.name;
        }
        // RING_HEAD is the job engine's: it is written through a strobe.
        if (info.is_volatile || info.offset == reg::RingHeadOffset(0)) continue;
        EXPECT_EQ(Read(offset),
                  ((info.reset & ~info.rw_mask) | (value & info.rw_mask)) &
                      ~info.wo_mask)
            << info.name;
      }
    }
  }
  // Back to the reset values.
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i)
      Write(info.offset + i * info.stride, 0xffffffff);
  }
  dut->clear_i = 1;
  dut.Tick();
  dut->clear_i = 0;
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i)
      EXPECT_EQ(Read(info.offset + i * info.stride), info.reset) << info.name;
  }
}

TEST_F(Registers, OtherOffsetsReadZero) {
  std::set<uint32_t> known;
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i)
      known.insert(info.offset + i * info.stride);
  }
  for (uint32_t offset = 0; offset < reg::kBlockBytes; offset += 4) {
    if (known.count(offset) != 0) continue;
    Write(offset, 0xffffffff);
    ASSERT_EQ(strobes_, 0u) << offset;
    ASSERT_EQ(Read(offset), 0u) << offset;
  }
  for (const reg::RegisterInfo& info : reg::kRegisters)
    EXPECT_EQ(Read(info.offset), info.reset) << info.name;
}

TEST_F(Registers, OnlyWholeAlignedWords) {
  for (uint32_t strobes = 0; strobes < 15; ++strobes) {
    EXPECT_EQ(Read(reg::kIdOffset, strobes), 0xffffffffu);
    Access(true, reg::kScratchOffset, 77, strobes);
    EXPECT_EQ(Read(reg::kScratchOffset), 0u);
    Access(true, reg::kResetOffset, 1, strobes);
    EXPECT_EQ(strobes_, 0u);
  }
  for (uint32_t byte : {1, 2, 3}) {
    EXPECT_EQ(Read(reg::kIdOffset + byte), 0xffffffffu);
    Write(reg::kScratchOffset + byte, 77);
    EXPECT_EQ(Read(reg::kScratchOffset), 0u);
  }
  dut->cycles_i = uint64_t{9} << 32;
  Read(reg::kCounterCyclesLoOffset, 3);
  EXPECT_EQ(Read(reg::kCounterCyclesHiOffset), 0u) << "no latch by an error";
}

TEST_F(Registers, EachWriteHasItsStrobe) {
  std::map<uint32_t, uint32_t> want = {
      {reg::kResetOffset, 1},          {reg::kAbortOffset, 2},
      {reg::kIntStatusOffset, 4},      {reg::kIntEnableOffset, 8},
      {reg::kIntRaiseOffset, 16},      {reg::kDeviceErrorOffset, 32},
      {reg::kCompletionSizeOffset, 64}};
  for (uint32_t i = 0; i < isa::kRings; ++i) {
    want[reg::RingSizeOffset(i)] = 0x100 << i;
    want[reg::RingHeadOffset(i)] = 0x1000 << i;
  }
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t offset = info.offset + i * info.stride;
      Write(offset, 0x12345678);
      EXPECT_EQ(strobes_, want.count(offset) != 0 ? want[offset] : 0u)
          << info.name;
      Read(offset);
      EXPECT_EQ(strobes_, 0u) << info.name;
    }
  }
}

TEST_F(Registers, WhatTheCardSuppliesIsShown) {
  std::mt19937_64 random(1);
  auto half = [](uint64_t v, bool high) {
    return static_cast<uint32_t>(high ? v >> 32 : v);
  };
  for (int n = 0; n < 20; ++n) {
    dut->config_i = static_cast<uint32_t>(random());
    dut->core_kind_i = random() % 16;
    dut->dram_bytes_i = random();
    dut->unique_i = random();
    dut->status_i = static_cast<uint32_t>(random());
    dut->progress_i = static_cast<uint32_t>(random());
    dut->running_i = random();
    dut->int_status_i = random() % 16;
    dut->device_error_i = static_cast<uint32_t>(random());
    dut->completion_tail_i = static_cast<uint32_t>(random());
    dut->jobs_i = static_cast<uint32_t>(random());
    dut->faults_i = static_cast<uint32_t>(random());
    dut->resets_i = static_cast<uint32_t>(random());
    dut->sram_corrected_i = static_cast<uint32_t>(random());
    for (uint32_t i = 0; i < isa::kRings; ++i) {
      dut->ring_head_i[i] = static_cast<uint32_t>(random());
      dut->ring_tail_i[i] = static_cast<uint32_t>(random());
    }
    EXPECT_EQ(Read(reg::kConfigOffset), dut->config_i);
    EXPECT_EQ(Read(reg::kCoreKindOffset), dut->core_kind_i);
    EXPECT_EQ(Read(reg::kDramLoOffset), half(dut->dram_bytes_i, false));
    EXPECT_EQ(Read(reg::kDramHiOffset), half(dut->dram_bytes_i, true));
    EXPECT_EQ(Read(reg::kUniqueLoOffset), half(dut->unique_i, false));
    EXPECT_EQ(Read(reg::kUniqueHiOffset), half(dut->unique_i, true));
    EXPECT_EQ(Read(reg::kStatusOffset),
              dut->status_i & (reg::kStatusReadyMask | reg::kStatusBusyMask |
                               reg::kStatusHaltedMask | reg::kStatusRingMask));
    EXPECT_EQ(Read(reg::kProgressOffset), dut->progress_i);
    EXPECT_EQ(Read(reg::kRunningLoOffset), half(dut->running_i, false));
    EXPECT_EQ(Read(reg::kRunningHiOffset), half(dut->running_i, true));
    EXPECT_EQ(Read(reg::kIntStatusOffset), dut->int_status_i);
    EXPECT_EQ(Read(reg::kDeviceErrorOffset), dut->device_error_i);
    EXPECT_EQ(Read(reg::kCompletionTailOffset), dut->completion_tail_i);
    EXPECT_EQ(Read(reg::kCounterJobsOffset), dut->jobs_i);
    EXPECT_EQ(Read(reg::kCounterFaultsOffset), dut->faults_i);
    EXPECT_EQ(Read(reg::kCounterResetsOffset), dut->resets_i);
    EXPECT_EQ(Read(reg::kCounterSramCorrectedOffset), dut->sram_corrected_i);
    for (uint32_t i = 0; i < isa::kRings; ++i) {
      EXPECT_EQ(Read(reg::RingHeadOffset(i)), dut->ring_head_i[i]);
      EXPECT_EQ(Read(reg::RingTailOffset(i)), dut->ring_tail_i[i]);
    }
    // Reading the low half latches the high one.
    const uint64_t cycles = random(), macs = random();
    dut->cycles_i = cycles;
    dut->macs_i = macs;
    EXPECT_EQ(Read(reg::kCounterCyclesLoOffset), half(cycles, false));
    EXPECT_EQ(Read(reg::kCounterMacsLoOffset), half(macs, false));
    dut->cycles_i = random();
    dut->macs_i = random();
    EXPECT_EQ(Read(reg::kCounterCyclesHiOffset), half(cycles, true));
    EXPECT_EQ(Read(reg::kCounterMacsHiOffset), half(macs, true));
  }
}

TEST_F(Registers, BasesOfRings) {
  Write(reg::kCompletionBaseLoOffset, 0x11111111);
  Write(reg::kCompletionBaseHiOffset, 0x22222222);
  EXPECT_EQ(dut->completion_base_o, 0x2222222211111111u);
  for (uint32_t i = 0; i < isa::kRings; ++i) {
    Write(reg::RingBaseLoOffset(i), 100 + i);
    Write(reg::RingBaseHiOffset(i), 200 + i);
  }
  for (uint32_t i = 0; i < isa::kRings; ++i) {
    EXPECT_EQ(dut->ring_base_o[2 * i], 100 + i);
    EXPECT_EQ(dut->ring_base_o[2 * i + 1], 200 + i);
  }
}

}  // namespace
}  // namespace heddle::rtl
