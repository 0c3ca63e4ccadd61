// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

template <typename T>
std::vector<T> ModOf(DataType type, const std::vector<T>& a,
                     const std::vector<T>& b, int64_t fmod = 0) {
  const Shape shape = {static_cast<int64_t>(a.size())};
  auto y = RunNode({"Mod", "", 13, {{"fmod", fmod}}},
                   {MakeData(type, shape, a), MakeData(type, shape, b)});
  EXPECT_TRUE(y.ok()) << y.status();
  if (!y.ok()) return {};
  const T* first = y->template as<T>();
  return std::vector<T>(first, first + a.size());
}

// ONNX's example.
TEST(ModTest, TheSignIsTheDivisors) {
  const std::vector<int32_t> a = {-4, 7, 5, 4, -7, 8}, b = {2, -3, 8, -2, 3, 5};
  EXPECT_EQ(ModOf(DataType::kInt32, a, b),
            (std::vector<int32_t>{0, -2, 5, 0, 2, 3}));
  EXPECT_EQ(ModOf(DataType::kInt32, a, b, 1),
            (std::vector<int32_t>{0, 1, 5, 0, -1, 3}));
}

TEST(ModTest, WhatOnnxLeavesOpen) {
  constexpr int32_t kLow = std::numeric_limits<int32_t>::min();
  for (int64_t fmod : {0, 1}) {
    EXPECT_EQ(ModOf<int32_t>(DataType::kInt32, {kLow, kLow, 7, 0, kLow},
                             {-1, 0, 0, 0, kLow}, fmod),
              (std::vector<int32_t>{0, kLow, 7, 0, 0}));
    EXPECT_EQ(ModOf<int8_t>(DataType::kInt8, {-128}, {-1}, fmod),
              std::vector<int8_t>{0});
  }
}

TEST(ModTest, WithoutSign) {
  EXPECT_EQ(ModOf<uint32_t>(DataType::kUint32, {0xfffffffeu, 5, 9},
                            {0x80000000u, 0xffffffffu, 0}),
            (std::vector<uint32_t>{0x7ffffffeu, 5, 9}));
  EXPECT_EQ(ModOf<uint8_t>(DataType::kUint8, {250}, {7}),
            std::vector<uint8_t>{5});
  EXPECT_EQ(ModOf<uint16_t>(DataType::kUint16, {65535}, {1000}),
            std::vector<uint16_t>{535});
  EXPECT_EQ(ModOf<int64_t>(DataType::kInt64, {-(int64_t{1} << 40)}, {3}),
            std::vector<int64_t>{2});
}

TEST(ModTest, OfFloatsTheSignIsTheDividends) {
  const auto fmod = [](int64_t attribute) {
    return RunNode(
        {"Mod", "", 13, {{"fmod", attribute}}},
        {Floats({4}, {5, -5, 5.3f, -1e30f}), Floats({4}, {3, 3, -2, 0.7f})});
  };
  const auto y = fmod(1);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Difference(*y,
                       Floats({4}, {2, -2, std::fmod(5.3f, 2.f),
                                    std::fmod(-1e30f, 0.7f)}),
                       0, 0),
            "");
  EXPECT_EQ(RejectionOf(fmod(0).status()), Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
