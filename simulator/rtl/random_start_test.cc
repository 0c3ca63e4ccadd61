// SPDX-License-Identifier: Apache-2.0
//
// Without this, a lockstep of random starts could pass on cores that all start
// with zeros.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "simulator/rtl/core_model.h"

namespace heddle::rtl {
namespace {

std::vector<uint8_t> SramAtFirst() {
  const isa::Config& config = *isa::FindConfig("h256");
  auto core = MakeCore(config, MemoryOptions());
  EXPECT_TRUE(core.ok()) << core.status();
  std::vector<uint8_t> sram(config.sram_bytes);
  EXPECT_TRUE(!core.ok() || (*core)->ReadSram(sram.data()));
  return sram;
}

TEST(RandomStart, EveryCoreStartsDifferently) {
  const std::vector<uint8_t> one = SramAtFirst(), other = SramAtFirst();
  size_t zeros = 0, equal = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    zeros += one[i] == 0;
    equal += one[i] == other[i];
  }
  // Of random bytes, one in 256.
  EXPECT_LT(zeros, one.size() / 128);
  EXPECT_LT(equal, one.size() / 128);
}

}  // namespace
}  // namespace heddle::rtl
