// SPDX-License-Identifier: Apache-2.0
//
// The build's flags keep the two roundings of a * b + c, even where the CPU
// could fuse them (this file is compiled with -mfma).
#include <gtest/gtest.h>

namespace {

double MultiplyAdd(double a, double b, double c) { return a * b + c; }

TEST(FpContractTest, MultiplyAndAddAreNotFused) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "the CPU has no FMA";
  volatile double a = 1.0 + 0x1p-30;
  volatile double c = -(1.0 + 0x1p-29);
  EXPECT_EQ(MultiplyAdd(a, a, c), 0.0);
  // What fusing would have given: the product's lowest bit survives.
  EXPECT_EQ(__builtin_fma(a, a, c), 0x1p-60);
}

}  // namespace
