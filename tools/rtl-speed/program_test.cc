// SPDX-License-Identifier: Apache-2.0
#include "tools/rtl-speed/program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace heddle::rtl {
namespace {

TEST(Program, EverythingHasItsPlace) {
  package::Package package;
  package.weights = std::vector<uint8_t>(5000, 7);
  package.scratch_bytes = 100;
  package.io_bytes = 300;
  package::TensorInfo in, out;
  in.type = compiler::DataType::kFloat;
  in.offset = 16;
  in.size = 64;
  out.type = compiler::DataType::kInt8;
  out.offset = 128;
  out.size = 10;
  package.inputs = {in};
  package.outputs = {out};
  package.streams = {{1, 2, 3, 4}, {5, 6}};
  const Program p = ProgramOf(package);
  EXPECT_EQ(p.regions[0].base, 0);
  EXPECT_EQ(p.regions[0].size, 5000);
  EXPECT_FALSE(p.regions[0].writable);
  EXPECT_EQ(p.regions[1].base, 8192);
  EXPECT_EQ(p.regions[1].size, 100);
  EXPECT_EQ(p.regions[2].base, 12288);
  EXPECT_EQ(p.regions[2].size, 300);
  EXPECT_TRUE(p.regions[1].writable && p.regions[2].writable);
  EXPECT_EQ(p.memory[4999], 7);
  EXPECT_EQ(p.memory[5000], 0);
  ASSERT_EQ(p.inputs.size(), 1);
  EXPECT_EQ(p.inputs[0].address, 12288 + 16);
  EXPECT_EQ(p.inputs[0].bytes, 64);
  float least = 1, most = -1;
  for (int i = 0; i < 16; ++i) {
    float value;
    std::memcpy(&value, &p.memory[p.inputs[0].address + i * 4], 4);
    ASSERT_LE(std::abs(value), 1) << i;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_LT(least, -0.5);
  EXPECT_GT(most, 0.5);
  ASSERT_EQ(p.outputs.size(), 1);
  EXPECT_EQ(p.outputs[0].address, 12288 + 128);
  ASSERT_EQ(p.streams.size(), 2);
  EXPECT_EQ(p.streams[0].address, 16384);
  EXPECT_EQ(p.streams[0].bytes, 16);
  EXPECT_EQ(p.streams[1].address, 20480);
  EXPECT_EQ(p.streams[1].bytes, 8);
  EXPECT_EQ(p.memory[20484], 6);
  EXPECT_EQ(p.memory.size(), 24576);
}

TEST(Program, BytesAreRandomAndAlwaysTheSame) {
  package::Package package;
  package::TensorInfo bytes, truth;
  bytes.type = compiler::DataType::kInt8;
  bytes.size = 256;
  truth.type = compiler::DataType::kBool;
  truth.offset = truth.size = 256;
  package.inputs = {bytes, truth};
  package.io_bytes = 512;
  const Program p = ProgramOf(package);
  EXPECT_EQ(p.memory, ProgramOf(package).memory);
  uint8_t any = 0, all = 255, any_truth = 0;
  for (int i = 0; i < 256; ++i) {
    any |= p.memory[i];
    all &= p.memory[i];
    any_truth |= p.memory[256 + i];
  }
  EXPECT_EQ(any, 255);
  EXPECT_EQ(all, 0);
  EXPECT_EQ(any_truth, 1);
}

}  // namespace
}  // namespace heddle::rtl
