// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/narrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace heddle::compiler {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr DataType kFn = DataType::kFloat8E4M3Fn,
                   kFnUz = DataType::kFloat8E4M3FnUz,
                   kE5 = DataType::kFloat8E5M2,
                   kE5Uz = DataType::kFloat8E5M2FnUz,
                   kE2 = DataType::kFloat4E2M1;

// Codes of the tables in ONNX's documentation.
TEST(Narrow, CodesAreOnnxs) {
  struct Row {
    DataType type;
    int code;
    float value;
  };
  for (const Row& row :
       std::vector<Row>{{kFn, 0x7e, 448},      {kFn, 0x08, 0x1p-6f},
                        {kFn, 0x01, 0x1p-9f},  {kFn, 0x80, -0.0f},
                        {kFn, 0x7f, kNan},     {kFn, 0xff, kNan},
                        {kFnUz, 0x7f, 240},    {kFnUz, 0x08, 0x1p-7f},
                        {kFnUz, 1, 0x1p-10f},  {kFnUz, 0x80, kNan},
                        {kE5, 0x7b, 57344},    {kE5, 0x04, 0x1p-14f},
                        {kE5, 0x01, 0x1p-16f}, {kE5, 0xfc, -kInfinity},
                        {kE5, 0x7d, kNan},     {kE5Uz, 0x7f, 57344},
                        {kE5Uz, 4, 0x1p-15f},  {kE5Uz, 1, 0x1p-17f},
                        {kE5Uz, 0x80, kNan},   {kE2, 7, 6},
                        {kE2, 1, 0.5f},        {kE2, 0xf, -6},
                        {kE2, 2, 1},           {kE2, 8, -0.0f}}) {
    const float value = NarrowToF32(row.type, static_cast<uint8_t>(row.code));
    if (std::isnan(row.value)) {
      EXPECT_TRUE(std::isnan(value)) << DataTypeName(row.type) << row.code;
      continue;
    }
    EXPECT_EQ(value, row.value) << DataTypeName(row.type) << " " << row.code;
    EXPECT_EQ(std::signbit(value), std::signbit(row.value));
  }
}

// Every number is its own code; every float between two numbers is the nearer
// one, of two the even one.
TEST(Narrow, RoundsToNearestEven) {
  for (const DataType type : {kFn, kFnUz, kE5, kE5Uz, kE2}) {
    const int half = type == kE2 ? 8 : 128;
    std::vector<std::pair<float, uint8_t>> numbers;
    for (int code = 0; code < half; ++code) {
      const float value = NarrowToF32(type, static_cast<uint8_t>(code));
      if (!std::isfinite(value)) continue;
      numbers.emplace_back(value, code);
      for (const bool saturates : {false, true}) {
        EXPECT_EQ(F32ToNarrow(type, value, saturates), code)
            << DataTypeName(type) << " " << value;
        if (value == 0 && (type == kFnUz || type == kE5Uz)) continue;
        EXPECT_EQ(F32ToNarrow(type, -value, saturates), code + half);
      }
    }
    for (size_t i = 0; i + 1 < numbers.size(); ++i) {
      const auto [low, low_code] = numbers[i];
      const auto [high, high_code] = numbers[i + 1];
      ASSERT_LT(low, high);
      const float middle = (low + high) / 2;
      const auto even = low_code % 2 == 0 ? low_code : high_code;
      EXPECT_EQ(F32ToNarrow(type, middle, true), even) << middle;
      EXPECT_EQ(F32ToNarrow(type, std::nextafter(middle, 0.0f), true),
                low_code);
      EXPECT_EQ(F32ToNarrow(type, std::nextafter(middle, kInfinity), true),
                high_code);
    }
  }
}

TEST(Narrow, WhatIsTooLargeSaturatesOrNot) {
  for (const float large : {1e6f, kInfinity}) {
    EXPECT_EQ(F32ToNarrow(kFn, large, true), 0x7e);
    EXPECT_EQ(F32ToNarrow(kFn, large, false), 0x7f);
    EXPECT_EQ(F32ToNarrow(kFn, -large, false), 0xff);
    EXPECT_EQ(F32ToNarrow(kFnUz, large, true), 0x7f);
    EXPECT_EQ(F32ToNarrow(kFnUz, -large, true), 0xff);
    EXPECT_EQ(F32ToNarrow(kFnUz, large, false), 0x80);
    EXPECT_EQ(F32ToNarrow(kE5, large, true), 0x7b);
    EXPECT_EQ(F32ToNarrow(kE5, large, false), 0x7c);
    EXPECT_EQ(F32ToNarrow(kE5, -large, false), 0xfc);
    EXPECT_EQ(F32ToNarrow(kE5Uz, large, true), 0x7f);
    EXPECT_EQ(F32ToNarrow(kE5Uz, large, false), 0x80);
    EXPECT_EQ(F32ToNarrow(kE2, large, false), 7);
    EXPECT_EQ(F32ToNarrow(kE2, -large, true), 15);
  }
  // 464 lies between 448 and the number after it, which is none.
  EXPECT_EQ(F32ToNarrow(kFn, 464, false), 0x7e);
  EXPECT_EQ(F32ToNarrow(kFn, 465, false), 0x7f);
  EXPECT_EQ(F32ToNarrow(kE2, kNan, true), 7);
  EXPECT_TRUE(std::isnan(NarrowToF32(kE5, F32ToNarrow(kE5, kNan, true))));
  EXPECT_EQ(F32ToNarrow(kFnUz, kNan, true), 0x80);
  EXPECT_EQ(F32ToNarrow(kFnUz, -0.0f, true), 0);
}

}  // namespace
}  // namespace heddle::compiler
