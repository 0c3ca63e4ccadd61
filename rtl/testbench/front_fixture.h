// SPDX-License-Identifier: Apache-2.0
//
// What the cases of hd_front_test have in common: rings that are set up, a
// stream and its regions, and questions to the registers.
#ifndef HEDDLE_RTL_TESTBENCH_FRONT_FIXTURE_H_
#define HEDDLE_RTL_TESTBENCH_FRONT_FIXTURE_H_

#include <gtest/gtest.h>

#include <vector>

#include "Vhd_front.h"
#include "rtl/testbench/front_bench.h"

namespace heddle::rtl {

using Bench = FrontBench<Vhd_front>;
using isa::Error;

inline constexpr uint64_t kCode = 0x10000;
inline constexpr uint64_t kData = 0x80000;

inline std::vector<uint8_t> Pattern(size_t bytes, uint32_t seed = 1) {
  std::vector<uint8_t> out(bytes);
  for (uint8_t& b : out) {
    seed = seed * 1664525 + 1013904223;
    b = static_cast<uint8_t>(seed >> 24);
  }
  return out;
}

class FrontTest : public testing::Test {
 protected:
  void SetUp() override { b.SetUpRings(); }
  std::vector<desc::Region> Regions() {
    std::vector<desc::Region> regions(3);
    regions[0].base = 64;
    regions[0].size = 100;
    regions[2].base = kData;
    regions[2].size = 1 << 20;
    regions[2].flags = desc::kRegionFlagsWritableMask;
    return regions;
  }
  desc::Step Stream() { return b.Run(kCode, 4096, Regions()); }
  desc::Completion WaitForRecord() {
    desc::Completion record;
    if (!b.Next(&record)) record.status = ~0u;
    return record;
  }
  void WaitBusy() {
    ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, reg::kStatusBusyMask,
                               reg::kStatusBusyMask));
  }
  bool Halted() {
    return (b.Read(reg::kStatusOffset) & reg::kStatusHaltedMask) != 0;
  }
  uint32_t DeviceError() { return b.Read(reg::kDeviceErrorOffset); }
  void ResetEngine() {
    b.Write(reg::kResetOffset, reg::kResetEngineMask);
    ASSERT_TRUE(b.WaitRegister(reg::kStatusOffset, reg::kStatusReadyMask,
                               reg::kStatusReadyMask));
  }

  Bench b;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_FRONT_FIXTURE_H_
