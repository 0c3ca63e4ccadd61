// SPDX-License-Identifier: Apache-2.0
// Comparisons, Div and Mod of integers.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10}, false, true};

const DataType kIntegerTypes[] = {DataType::kUint8,  DataType::kInt8,
                                  DataType::kUint16, DataType::kInt16,
                                  DataType::kUint32, DataType::kInt32};

// The lowest and the highest, zeros, ones and what lies between.
TensorData AnyIntegers(DataType type, const Shape& shape, uint64_t seed) {
  const size_t bytes = ElementBytes(type);
  TensorData data =
      RandomData(DataType::kUint8,
                 {ElementCount(shape) * static_cast<int64_t>(bytes)}, seed);
  data.type = type;
  data.shape = shape;
  const auto count = static_cast<uint64_t>(data.count());
  for (uint64_t i = 0; i < count; i += 2) {
    // Every pair of them occurs with another seed.
    const uint64_t pick = (i / 2 / (seed == 1 ? 1 : 6)) % 6;
    const uint64_t top = uint64_t{1} << (8 * bytes - 1);
    const uint64_t values[] = {0, 1, ~uint64_t{0}, top, top - 1, 7};
    std::memcpy(&data.bytes[i * bytes], &values[pick], bytes);
  }
  return data;
}

TEST(LowerCompare, IntegersOfAllTypes) {
  const Shape shape = {3, 7, 41};
  for (DataType type : kIntegerTypes) {
    SCOPED_TRACE(DataTypeName(type));
    ModelBuilder b;
    b.Input("x", type, shape);
    b.Input("y", type, shape);
    for (const char* op :
         {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Div",
          "Mod", "Max", "Min", "Add", "Mul", "Sub"}) {
      b.Node(op, {"x", "y"}, {op});
      b.Output(op);
    }
    SetInt(b.Node("Mod", {"x", "y"}, {"fmod"}), "fmod", 1);
    b.Output("fmod");
    ExpectCardEqualsReference(
        b.Bytes(), {AnyIntegers(type, shape, 1), AnyIntegers(type, shape, 2)},
        kSizes);
  }
}

TEST(LowerCompare, RemaindersOfFloats) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    SCOPED_TRACE(DataTypeName(type));
    const Shape shape = {3, 7, 41};
    ModelBuilder b;
    b.Input("x", type, shape);
    b.Input("y", type, {7, 1});
    SetInt(b.Node("Mod", {"x", "y"}, {"z"}), "fmod", 1);
    b.Output("z");
    TensorData y = RandomData(type, {7, 1}, 2, -3, 3);
    y.bytes[0] = y.bytes[1] = y.bytes[2] = y.bytes[3] = 0;
    ExpectCardEqualsReference(
        b.Bytes(), {RandomData(type, shape, 1, -1000, 1000), y}, kSizes);
  }
}

TEST(LowerCompare, Powers) {
  const Shape shape = {3, 41};
  const TensorData base = RandomData(DataType::kInt32, shape, 3, -4, 4);
  for (DataType type : {DataType::kInt32, DataType::kUint32, DataType::kInt8,
                        DataType::kFloat}) {
    SCOPED_TRACE(DataTypeName(type));
    ModelBuilder b;
    b.Input("x", DataType::kInt32, shape);
    b.Input("y", type, shape);
    b.Node("Pow", {"x", "y"}, {"z"});
    b.Output("z");
    const bool has_sign = type != DataType::kUint32;
    ExpectCardEqualsReference(
        b.Bytes(), {base, RandomData(type, shape, 4, has_sign ? -9 : 0, 40)},
        kSizes);
  }
  ModelBuilder b;
  b.Input("x", DataType::kFloat, shape);
  b.Input("y", DataType::kInt64, {41});
  b.Node("Pow", {"x", "y"}, {"z"});
  b.Output("z");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, shape, 5, -4, 4),
                             RandomData(DataType::kInt64, {41}, 6, -9, 40)},
                            kSizes);
}

TEST(LowerCompare, Constants) {
  for (DataType type : kIntegerTypes) {
    SCOPED_TRACE(DataTypeName(type));
    ModelBuilder b;
    b.Input("x", type, {5, 90});
    TensorData seven = TensorData::Zeros(type, {});
    seven.bytes[0] = 7;
    b.Constant("seven", seven);
    b.Constant("row", AnyIntegers(type, {90}, 2));
    b.Node("Mod", {"x", "seven"}, {"m"});
    b.Node("Div", {"x", "row"}, {"d"});
    b.Node("Less", {"m", "seven"}, {"l"});
    b.Node("Where", {"l", "x", "d"}, {"w"});
    for (const char* name : {"m", "d", "l", "w"}) b.Output(name);
    const auto y = ExpectCardEqualsReference(
        b.Bytes(), {AnyIntegers(type, {5, 90}, 1)}, kSizes);
    ASSERT_EQ(y.size(), 4u);
    // By zero.
    EXPECT_EQ(y[1].bytes[0], 0xff);
  }
}

TEST(LowerCompare, FloatsWithNan) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    const Shape shape = {2, 3, 5, 33};
    const size_t bytes = ElementBytes(type);
    const auto any = [&](uint64_t seed) {
      TensorData data = RandomData(type, shape, seed, -2, 2);
      const uint32_t one[] = {0, 0x80000000, 0x7f800000, 0xff800000,
                              0x7fc00000};
      const uint16_t half[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e00};
      for (size_t i = 0; i < 25; ++i) {
        const size_t pick = seed == 1 ? i % 5 : i / 5;
        std::memcpy(
            &data.bytes[i * bytes],
            bytes == 4 ? static_cast<const void*>(&one[pick]) : &half[pick],
            bytes);
      }
      return data;
    };
    ModelBuilder b;
    b.Input("x", type, shape);
    b.Input("y", type, shape);
    for (const char* op :
         {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}) {
      b.Node(op, {"x", "y"}, {op});
      b.Output(op);
    }
    ExpectCardEqualsReference(b.Bytes(), {any(1), any(2)}, kSizes);
  }
}

TEST(LowerCompare, BoolsAreEqual) {
  ModelBuilder b;
  b.Input("x", DataType::kBool, {5, 9});
  b.Input("y", DataType::kBool, {9});
  b.Node("Equal", {"x", "y"}, {"z"});
  b.Output("z");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kBool, {5, 9}, 1),
                                        RandomData(DataType::kBool, {9}, 2)});
}

// A mask as models of language write it, from int64.
TEST(LowerCompare, Int64) {
  ModelBuilder b;
  b.Input("ids", DataType::kInt64, {2, 30});
  b.Constant("pad", Int64s({}, {-5}));
  b.Constant("seven", Int64s({}, {7}));
  b.Constant("low", Floats({}, {-10000}));
  b.Constant("zero", Floats({}, {0}));
  b.Node("Equal", {"ids", "pad"}, {"e"});
  b.Node("Where", {"e", "low", "zero"}, {"mask"});
  b.Node("Div", {"ids", "seven"}, {"row"});
  b.Node("Mod", {"ids", "seven"}, {"column"});
  for (const char* name : {"mask", "row", "column"}) b.Output(name);
  const auto y = ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kInt64, {2, 30}, 3, -9, 9)}, kSizes);
  ASSERT_EQ(y.size(), 3u);
}

TEST(LowerCompare, Int64ConstantsMustFit) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {3});
  b.Constant("far", Int64s({}, {int64_t{1} << 40}));
  b.Node("Less", {"x", "far"}, {"y"});
  b.Output("y");
  EXPECT_EQ(RejectionOf(CompileOnnx(b.Bytes(), {}).status()),
            Rejection::kUnsupportedDatatype);
}

}  // namespace
}  // namespace heddle::compiler
