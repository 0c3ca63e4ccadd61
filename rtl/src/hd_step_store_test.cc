// SPDX-License-Identifier: Apache-2.0
//
// Random jobs: what is stored comes back, and the first malformed step and the
// steps that may be executed with a run are found where a check written from
// the rules finds them.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "Vhd_step_store.h"
#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

bool IsRun(const desc::Step& s) {
  return s.type == static_cast<uint32_t>(isa::StepType::kRun);
}
bool Overlaps(const desc::Step& s) {
  return (s.flags & desc::kStepFlagsOverlapMask) != 0;
}

// `joins`: the step before is a run, or may be executed with one.
bool WellFormed(const desc::Step& s, bool joins) {
  if ((s.flags & ~desc::kStepFlagsOverlapMask) != 0 || s.reserved1[0] != 0 ||
      s.reserved1[1] != 0) {
    return false;
  }
  if (Overlaps(s) && (!joins || IsRun(s))) return false;
  if (IsRun(s)) {
    return s.device_address % isa::kStreamAlign == 0 && s.length != 0 &&
           s.length <= isa::kStreamBytesMax && s.length % isa::kWordBytes == 0;
  }
  return s.type >= 1 && s.type <= 5;
}

TEST(StepStoreTest, RandomJobs) {
  std::mt19937_64 random(1);
  Clocked<Vhd_step_store> dut;
  dut->clear_i = dut->valid_i = dut->read_i = 0;
  dut.Reset();
  int good = 0, bad = 0, overlapping = 0;
  for (int job = 0; job < 3000; ++job) {
    dut->clear_i = 1;
    dut.Tick();
    dut->clear_i = 0;
    std::vector<desc::Step> steps(1 + random() % isa::kStepsMax);
    int first = -1;
    bool joins = false;
    uint64_t overlap = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      desc::Step& s = steps[i];
      s.type = static_cast<uint32_t>(1 + random() % 5);
      s.device_address = random() / 64 * 64;
      s.length = random() % isa::kStreamBytesMax / 16 * 16 + 16;
      s.table_iova = random();
      s.sg_count = static_cast<uint32_t>(random());
      s.fill_value = static_cast<uint32_t>(random());
      s.destination = random();
      if (joins && !IsRun(s) && random() % 2 == 0)
        s.flags = desc::kStepFlagsOverlapMask;
      if (random() % 40 == 0) {  // any bit
        reinterpret_cast<uint8_t*>(&s)[random() % sizeof(s)] ^=
            static_cast<uint8_t>(1 << random() % 8);
      }
      if (first < 0 && !WellFormed(s, joins)) first = static_cast<int>(i);
      joins = Overlaps(s) || IsRun(s);
      overlap |= uint64_t{Overlaps(s)} << i;
      for (size_t w = 0; w < 4; ++w) {
        while (random() % 4 == 0) dut.Tick();
        std::memcpy(&dut->data_i[0], reinterpret_cast<uint8_t*>(&s) + 16 * w,
                    16);
        dut->valid_i = 1;
        dut.Tick();
        dut->valid_i = 0;
      }
    }
    ASSERT_EQ(dut->bad_o != 0, first >= 0) << job;
    if (first >= 0) {
      ASSERT_EQ(dut->bad_step_o, first);
    }
    EXPECT_EQ(dut->overlap_o, overlap);
    if (first < 0 && overlap != 0) ++overlapping;
    ++(first >= 0 ? bad : good);
    for (int n = 0; n < 5; ++n) {
      const size_t i = random() % steps.size();
      dut->index_i = static_cast<uint8_t>(i);
      dut->read_i = 1;
      dut.Tick();
      dut->read_i = 0;
      int cycles = 0;
      while (!dut->ready_o && ++cycles < 20) dut.Tick();
      ASSERT_TRUE(dut->ready_o);
      ASSERT_EQ(std::memcmp(&dut->step_o[0], &steps[i], sizeof(desc::Step)), 0);
      dut.Tick();
    }
  }
  EXPECT_GT(good, 300);
  EXPECT_GT(bad, 300);
  EXPECT_GT(overlapping, 200);
}

}  // namespace
}  // namespace heddle::rtl
