// SPDX-License-Identifier: Apache-2.0
// Against 128-bit arithmetic, with values that lie at the edges.
#include <memory>
#include <random>

#include "Vhd_region_check.h"
#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::rtl {
namespace {

TEST(HdRegionCheck, AgreesWithWideArithmetic) {
  auto dut = std::make_unique<Vhd_region_check>();
  std::mt19937_64 random(1);
  // Small numbers, and small distances from powers of two.
  auto value = [&]() -> uint64_t {
    const uint64_t near = random() % 33 - 16;
    switch (random() % 5) {
      case 0:
        return near;
      case 1:
        return (uint64_t{1} << 40) + near;
      case 2:
        return (uint64_t{1} << random() % 64) + near;
      case 3:
        return random();
      default:
        return random() % 200;
    }
  };
  int seen[5] = {};
  for (int i = 0; i < 2000000; ++i) {
    const uint64_t base = value(), size = value(), first = value();
    const uint64_t last = random() % 4 ? first + random() % 1024 : value();
    const bool write = random() % 2, writable = random() % 2;
    dut->first_i = first;
    dut->last_i = last;
    dut->base_i = base;
    dut->size_i = size;
    dut->write_i = write;
    dut->writable_i = writable;
    dut->eval();
    const unsigned __int128 end = static_cast<unsigned __int128>(base) + last;
    isa::Error want = isa::Error::kOk;
    uint64_t address = 0;
    if (last < first || last >= size) {
      want = isa::Error::kRegionBounds;
      address = first >= size ? first : size;
    } else if (write && !writable) {
      want = isa::Error::kRegionReadonly;
    } else if (end >> 40 != 0) {
      want = isa::Error::kBusError;
      address = static_cast<uint64_t>(end);
    }
    ASSERT_EQ(dut->ok_o, want == isa::Error::kOk);
    ASSERT_EQ(dut->code_o, static_cast<uint32_t>(want));
    ASSERT_EQ(dut->addr_o, address);
    ++seen[want == isa::Error::kOk               ? 0
           : want == isa::Error::kRegionBounds   ? 1
           : want == isa::Error::kRegionReadonly ? 2
                                                 : 3];
  }
  for (int i = 0; i < 4; ++i) EXPECT_GT(seen[i], 10000) << i;
}

}  // namespace
}  // namespace heddle::rtl
