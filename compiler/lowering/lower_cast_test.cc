// SPDX-License-Identifier: Apache-2.0
// Cast, Dropout and int64 tensors on the card.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10}, false, true};

const DataType kTypes[] = {DataType::kFloat,    DataType::kFloat16,
                           DataType::kBfloat16, DataType::kUint8,
                           DataType::kInt8,     DataType::kInt16,
                           DataType::kUint16,   DataType::kInt32,
                           DataType::kUint32,   DataType::kBool};

TensorData AnyBits(DataType type, const Shape& shape, uint64_t seed) {
  TensorData bytes = RandomData(
      DataType::kUint8,
      {ElementCount(shape) * static_cast<int64_t>(ElementBytes(type))}, seed);
  bytes.type = type;
  bytes.shape = shape;
  return bytes;
}

TEST(LowerCast, AllPairsWithAnyBits) {
  const Shape shape = {2, 3, 37, 41};
  for (DataType from : kTypes) {
    for (DataType to : kTypes) {
      SCOPED_TRACE(std::string(DataTypeName(from)) + " to " + DataTypeName(to));
      ModelBuilder b;
      b.Input("x", from, shape);
      SetInt(b.Node("Cast", {"x"}, {"y"}), "to", static_cast<int64_t>(to));
      b.Output("y");
      TensorData x = AnyBits(from, shape, 4);
      // Floats near the limits of every integer type.
      if (from == DataType::kFloat) {
        const float special[] = {0.0f,
                                 -0.0f,
                                 0.5f,
                                 -0.5f,
                                 1.5f,
                                 -1.5f,
                                 127.5f,
                                 128.0f,
                                 -128.5f,
                                 -129.0f,
                                 255.9f,
                                 256.0f,
                                 32767.5f,
                                 32768.0f,
                                 -32769.f,
                                 65536.f,
                                 2147483520.f,
                                 2147483648.f,
                                 -2147483648.f,
                                 -2147483904.f,
                                 4294967040.f,
                                 4294967296.f,
                                 4294968320.f,
                                 -3e9f,
                                 -1e12f,
                                 0x1.fffffep55f,
                                 0x1p63f,
                                 1e30f,
                                 -1e30f,
                                 std::numeric_limits<float>::infinity(),
                                 -std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN(),
                                 1e-45f,
                                 65504.f,
                                 65520.f};
        std::memcpy(x.bytes.data(), special, sizeof(special));
      }
      ExpectCardEqualsReference(b.Bytes(), {x}, kSizes);
    }
  }
}

TEST(LowerCast, Int64AtTheEdge) {
  const TensorData x =
      Int64s({2, 4}, {0, 1, -1, INT32_MAX, INT32_MIN, 255, -129, 1 << 24});
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {2, 4});
  b.Input("k", DataType::kInt8, {2, 3});
  b.Constant("c", Int64s({1, 7}, {1, -2, 3, INT32_MIN, 5, INT32_MAX, 7}));
  b.Node("Transpose", {"x"}, {"t"});
  SetInt(b.Node("Cast", {"x"}, {"f"}), "to",
         static_cast<int64_t>(DataType::kFloat));
  SetInt(b.Node("Cast", {"x"}, {"i"}), "to",
         static_cast<int64_t>(DataType::kInt32));
  SetInt(b.Node("Cast", {"x"}, {"q"}), "to",
         static_cast<int64_t>(DataType::kUint8));
  SetInt(b.Node("Cast", {"k"}, {"w"}), "to",
         static_cast<int64_t>(DataType::kInt64));
  SetInt(b.Node("Concat", {"x", "w"}, {"z"}), "axis", 1);
  SetInt(b.Node("Concat", {"z", "c"}, {"y"}), "axis", 0);
  b.Node("Identity", {"x"}, {"same"});
  b.Node("Identity", {"c"}, {"constant"});
  for (const char* name : {"t", "f", "i", "q", "y", "same", "constant"}) {
    b.Output(name);
  }
  ExpectCardEqualsReference(
      b.Bytes(), {x, Int8s({2, 3}, {-128, -1, 0, 1, 5, 127})}, kSizes);
}

TEST(LowerCast, Int64LargerThanSram) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {3, 401, 50});
  SetInts(b.Node("Transpose", {"x"}, {"y"}), "perm", {2, 0, 1});
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kInt64, {3, 401, 50}, 1, -2e9f, 2e9f)},
      kSizes);
}

TEST(LowerCast, RefusesWhatInt32CannotHold) {
  ModelBuilder a;
  a.Input("x", DataType::kInt64, {1});
  a.Constant("c", Int64s({1}, {int64_t{1} << 40}));
  SetInt(a.Node("Concat", {"x", "c"}, {"y"}), "axis", 0);
  a.Output("y");
  auto result = CompileOnnx(a.Bytes(), {});
  EXPECT_EQ(RejectionOf(result.status()), Rejection::kUnsupportedDatatype)
      << result.status();
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1});
  SetInt(b.Node("Cast", {"x"}, {"y"}), "to",
         static_cast<int64_t>(DataType::kInt64));
  b.Output("y");
  result = CompileOnnx(b.Bytes(), {});
  EXPECT_EQ(RejectionOf(result.status()), Rejection::kUnsupportedDatatype)
      << result.status();
}

TEST(LowerDropout, MaskOfOnes) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 700});
  b.Node("Dropout", {"x"}, {"y", "mask"});
  b.Output("y");
  b.Output("mask");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {2, 700}, 1)}, kSizes);
}

}  // namespace
}  // namespace heddle::compiler
