// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/value_range.h"

#include <gtest/gtest.h>

#include <cstring>

#include "simulator/model/numerics.h"
#include "tools/heddle-run/data.h"

namespace heddle::run {
namespace {

using compiler::DataType;

package::TensorInfo Input(const std::string& name, DataType type) {
  package::TensorInfo info;
  info.name = name;
  info.type = type;
  info.shape = {4096};
  return info;
}

TEST(ValueRange, IsRead) {
  ValueRanges ranges;
  ASSERT_TRUE(
      ParseRanges({"-1:1", "ids=0:30521", "a=b:c=1e-3:2"}, &ranges).ok());
  EXPECT_EQ(ranges.at("").low, -1);
  EXPECT_EQ(FindRange(ranges, "ids")->high, 30521);
  EXPECT_EQ(FindRange(ranges, "a=b:c")->low, 1e-3);
  EXPECT_EQ(FindRange(ranges, "other"), FindRange(ranges, "")) << "all others";
  EXPECT_EQ(FindRange({}, "ids"), nullptr);
  for (const char* text : {"", "1", ":", "1:", ":1", "a:b", "=1:2", "2:1",
                           "nan:1", "0:inf", "x=1", "1:2:3"}) {
    ValueRanges none;
    const absl::Status status = ParseRanges({text}, &none);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.message().find("ids=0:30521"), std::string::npos) << text;
  }
  EXPECT_FALSE(ParseRanges({"x=0:1", "x=0:2"}, &ranges).ok());
}

TEST(ValueRange, FitsTheInputs) {
  const auto check = [](const std::vector<std::string>& texts, DataType type) {
    ValueRanges ranges;
    EXPECT_TRUE(ParseRanges(texts, &ranges).ok());
    return CheckRanges(ranges, {Input("x", type)});
  };
  EXPECT_TRUE(check({"0:255"}, DataType::kUint8).ok());
  EXPECT_TRUE(check({"x=-2:2"}, DataType::kFloat16).ok());
  EXPECT_TRUE(check({"0:0"}, DataType::kBool).ok());
  EXPECT_EQ(check({"0:256"}, DataType::kUint8).message(),
            "--range 0:256: input 'x' is uint8, whose values go from 0 to 255");
  EXPECT_EQ(check({"0:1.5"}, DataType::kInt32).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(check({"0:70000"}, DataType::kFloat16).ok());
  EXPECT_EQ(check({"y=0:1"}, DataType::kFloat).message(),
            "--range: the model has no input 'y'; it has 'x'");
  // A range for all does not matter where each input has its own.
  EXPECT_TRUE(check({"0:1e300", "x=0:1"}, DataType::kFloat).ok());
}

template <typename T, typename ToDouble>
void ExpectWithin(DataType type, ValueRange range, ToDouble to_double) {
  const compiler::TensorData data = RandomTensor(Input("x", type), 1, &range);
  double least = range.high, most = range.low;
  for (int64_t i = 0; i < data.count(); ++i) {
    T bits;
    std::memcpy(&bits, data.bytes.data() + i * sizeof(T), sizeof(T));
    const double value = to_double(bits);
    ASSERT_GE(value, range.low) << i;
    ASSERT_LE(value, range.high) << i;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const double width = range.high - range.low;
  EXPECT_LE(least, range.low + width / 50);
  EXPECT_GE(most, range.high - width / 50);
}

TEST(ValueRange, ValuesFillIt) {
  const auto same = [](auto value) { return static_cast<double>(value); };
  ExpectWithin<float>(DataType::kFloat, {-3, 5}, same);
  ExpectWithin<double>(DataType::kDouble, {1e-3, 2e-3}, same);
  ExpectWithin<uint16_t>(DataType::kFloat16, {-100, -1}, model::F16ToF32);
  ExpectWithin<uint16_t>(DataType::kBfloat16, {0, 1}, model::Bf16ToF32);
  ExpectWithin<uint16_t>(DataType::kBfloat16, {-3.38e38, 0}, model::Bf16ToF32);
  ExpectWithin<uint16_t>(DataType::kFloat16, {0.1, 0.12}, model::F16ToF32);
  ExpectWithin<int8_t>(DataType::kInt8, {-128, 127}, same);
  ExpectWithin<uint8_t>(DataType::kUint8, {7, 7}, same);
  ExpectWithin<int16_t>(DataType::kInt16, {-300, 300}, same);
  ExpectWithin<uint32_t>(DataType::kUint32, {0, 4294967295.0}, same);
  ExpectWithin<int64_t>(DataType::kInt64, {0, 30521}, same);
  ExpectWithin<uint8_t>(DataType::kBool, {0, 1}, same);
}

}  // namespace
}  // namespace heddle::run
