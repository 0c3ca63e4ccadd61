// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10, 64 << 10}, false, true};

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

TEST(LowerConcat, EveryTypeAndAxis) {
  for (DataType type : kTypes) {
    for (int64_t axis = 0; axis < 4; ++axis) {
      Shape a = {2, 5, 7, 9}, c = a;
      a[axis] = 3;
      SCOPED_TRACE(std::string(DataTypeName(type)) + " axis " +
                   std::to_string(axis));
      ModelBuilder b;
      b.Input("a", type, a);
      b.Constant("b", AnyBits(type, {2, 5, 7, 9}, 1));
      b.Input("c", type, c);
      SetInt(b.Node("Concat", {"a", "b", "c", "a"}, {"y"}), "axis", axis);
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(), {AnyBits(type, a, 2), AnyBits(type, c, 3)}, kSizes);
    }
  }
}

TEST(LowerConcat, ProducersWriteTheirParts) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 24, 13, 13});
  b.Node("Relu", {"x"}, {"a"});
  b.Node("Add", {"x", "x"}, {"b"});
  SetInt(b.Node("Concat", {"a", "b"}, {"y"}), "axis", 1);
  b.Node("Mul", {"y", "y"}, {"z"});
  b.Output("z");
  const TensorData x = RandomData(DataType::kFloat, {1, 24, 13, 13}, 1);
  ExpectCardEqualsReference(b.Bytes(), {x}, kSizes);
  auto result = CompileOnnx(b.Bytes(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  for (const LayerReport& layer : result->report.layers) {
    EXPECT_NE(layer.op, "Concat");
  }
}

// Parts that are read elsewhere, that are results of the network, that occur
// twice, and a concatenation of concatenations.
TEST(LowerConcat, PartsHaveOtherReaders) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 6, 13, 11});
  b.Node("Relu", {"x"}, {"a"});
  b.Node("Add", {"x", "a"}, {"b"});
  SetInt(b.Node("Concat", {"a", "b", "a", "x"}, {"y"}), "axis", 1);
  auto* pool = b.Node("MaxPool", {"b"}, {"p"});
  SetInts(pool, "kernel_shape", {3, 3});
  SetInts(pool, "pads", {1, 1, 1, 1});
  b.Node("Sub", {"p", "a"}, {"s"});
  SetInt(b.Node("Concat", {"y", "s"}, {"z"}), "axis", -3);
  auto* last = b.Node("MaxPool", {"z"}, {"q"});
  SetInts(last, "kernel_shape", {3, 3});
  SetInts(last, "strides", {2, 2});
  SetInts(last, "pads", {0, 0, 1, 1});
  b.Output("q");
  b.Output("b");
  b.Output("y");
  const TensorData x = RandomData(DataType::kFloat, {1, 6, 13, 11}, 1);
  ExpectCardEqualsReference(b.Bytes(), {x}, kSizes);
}

// Codes in the blocked layout: whole blocks without a detour, others with one.
TEST(LowerConcat, Codes) {
  for (int64_t channels : {16, 32, 20}) {
    for (int64_t axis : {1, 2, 3}) {
      for (int64_t batch : {1, 2}) {
        SCOPED_TRACE("channels " + std::to_string(channels) + " axis " +
                     std::to_string(axis) + " batch " + std::to_string(batch));
        const TensorData zero = Uint8s({}, {7});
        ModelBuilder b;
        b.Input("x", DataType::kFloat, {batch, channels, 9, 10});
        b.Input("k", DataType::kUint8, {batch, channels, 9, 10});
        b.Quantize("x", "q", 0.05f, zero);
        auto* pool = b.Node("MaxPool", {"q"}, {"p"});
        SetInts(pool, "kernel_shape", {3, 3});
        SetInts(pool, "pads", {1, 1, 1, 1});
        SetInt(b.Node("Concat", {"q", "p", "k"}, {"y"}), "axis", axis);
        auto* after = b.Node("MaxPool", {"y"}, {"z"});
        SetInts(after, "kernel_shape", {2, 2});
        b.Output("z");
        b.Output("y");
        const TensorData x =
            RandomData(DataType::kFloat, {batch, channels, 9, 10}, 1);
        const TensorData k =
            RandomData(DataType::kUint8, {batch, channels, 9, 10}, 2);
        ExpectCardEqualsReference(b.Bytes(), {x, k}, kSizes);
      }
    }
  }
}

TEST(LowerTranspose, EveryTypeAndRank) {
  const std::vector<std::vector<int64_t>> perms = {
      {1, 0}, {2, 0, 1}, {0, 2, 3, 1}, {3, 1, 0, 2}, {0, 4, 1, 5, 2, 3}};
  for (DataType type : kTypes) {
    for (const auto& perm : perms) {
      Shape shape;
      for (size_t i = 0; i < perm.size(); ++i) {
        shape.push_back(perm.size() == 2 ? 131 + i : 3 + 2 * (i % 4));
      }
      ModelBuilder b;
      b.Input("x", type, shape);
      SetInts(b.Node("Transpose", {"x"}, {"y"}), "perm", perm);
      SetInts(b.Node("Transpose", {"y"}, {"z"}), "perm", perm);
      b.Output("z");
      ExpectCardEqualsReference(b.Bytes(), {AnyBits(type, shape, 5)}, kSizes);
    }
  }
}

// What does not fit SRAM goes through it in tiles: super resolution's shuffle.
TEST(LowerTranspose, LargerThanSram) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 9, 224, 224});
  b.Node("Relu", {"x"}, {"r"});
  b.Constant("s1", Int64s({6}, {1, 1, 3, 3, 224, 224}));
  b.Node("Reshape", {"r", "s1"}, {"a"});
  SetInts(b.Node("Transpose", {"a"}, {"t"}), "perm", {0, 1, 4, 2, 5, 3});
  b.Constant("s2", Int64s({4}, {1, 1, 672, 672}));
  b.Node("Reshape", {"t", "s2"}, {"y"});
  b.Output("y");
  const TensorData x = RandomData(DataType::kFloat, {1, 9, 224, 224}, 1);
  const auto y = ExpectCardEqualsReference(b.Bytes(), {x}, {{0}});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].as<float>()[672 * 3 + 4],
            std::max(0.0f, x.as<float>()[224 * 224 + 224 + 1]));
}

// Constants are read from device memory in tiles too.
TEST(LowerTranspose, LargeConstantIsAnOutput) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1});
  b.Constant("c", RandomData(DataType::kFloat, {3, 60, 80, 20}, 3));
  b.Node("Identity", {"c"}, {"y"});
  b.Node("Add", {"x", "x"}, {"z"});
  b.Output("y");
  b.Output("z");
  ExpectCardEqualsReference(b.Bytes(), {Floats({1, 1}, {2})}, kSizes);
}

}  // namespace
}  // namespace heddle::compiler
