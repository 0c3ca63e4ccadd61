// SPDX-License-Identifier: Apache-2.0
// Operators along an axis that is longer than SRAM: read in parts, with the
// bytes of one pass. Nothing here may be rejected, however small the SRAM.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

CardCase Small(std::vector<uint64_t> sizes = {12 << 10, 40 << 10}) {
  CardCase options;
  options.sram_bytes = std::move(sizes);
  options.may_refuse_less_sram = false;
  return options;
}

using Attributes = std::vector<std::pair<const char*, int64_t>>;

std::string Model(const char* op, DataType type, const Shape& shape,
                  const Attributes& attributes) {
  ModelBuilder b;
  b.Input("x", type, shape);
  auto* node = b.Node(op, {"x"}, {"y"});
  for (const auto& [name, value] : attributes) SetInt(node, name, value);
  b.Output("y");
  return b.Bytes();
}

TEST(LongAxes, Softmax) {
  const struct {
    Shape shape;
    int64_t axis;
    DataType type = DataType::kFloat;
  } cases[] = {{{3, 2503}, 1},
               {{2, 1999, 5}, 1},
               {{1, 1024, 9}, 1},
               {{700, 40}, 0},
               {{2, 2055}, 1, DataType::kFloat16}};
  for (const auto& c : cases) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      SCOPED_TRACE(op + ShapeToString(c.shape));
      ExpectCardEqualsReference(Model(op, c.type, c.shape, {{"axis", c.axis}}),
                                {RandomData(c.type, c.shape, 3, -9, 9)},
                                Small());
    }
  }
}

// Beyond the loop counters, and beyond all of the SRAM.
TEST(LongAxes, WithAllOfTheSram) {
  CardCase all;
  const Shape row = {1, 140001}, column = {70001, 2};
  ExpectCardEqualsReference(
      Model("Softmax", DataType::kFloat, row, {{"axis", 1}}),
      {RandomData(DataType::kFloat, row, 3)}, all);
  ExpectCardEqualsReference(
      Model("LogSoftmax", DataType::kFloat, column, {{"axis", 0}}),
      {RandomData(DataType::kFloat, column, 3)}, all);
  ExpectCardEqualsReference(
      Model("ArgMax", DataType::kFloat, row, {{"axis", 1}}),
      {RandomData(DataType::kFloat, row, 3)}, all);
  ExpectCardEqualsReference(
      Model("ArgMin", DataType::kUint8, column, {{"axis", 0}}),
      {RandomData(DataType::kUint8, column, 3)}, all);
}

TEST(LongAxes, Reductions) {
  // 4,099 and 1,511 are prime: no stage of the definition cuts them.
  const struct {
    Shape shape;
    Shape axes;
  } cases[] = {{{3, 4099}, {1}}, {{4099, 3}, {0}}, {{2, 1511, 21}, {1}}};
  for (const auto& c : cases) {
    for (const char* op : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
                           "ReduceL1", "ReduceL2", "ReduceSumSquare"}) {
      SCOPED_TRACE(op + ShapeToString(c.shape));
      ModelBuilder b;
      b.Input("x", DataType::kFloat, c.shape);
      SetInts(b.Node(op, {"x"}, {"y"}), "axes", c.axes);
      b.Output("y");
      TensorData x = RandomData(DataType::kFloat, c.shape, 3, 0.5f, 1.5f);
      // A NaN in a part that is neither the first nor the last, in one row.
      x.as<float>()[c.shape.back() == 3 ? 3000 : 2000] =
          std::numeric_limits<float>::quiet_NaN();
      ExpectCardEqualsReference(b.Bytes(), {x}, Small());
    }
  }
}

TEST(LongAxes, ReductionsOfIntegers) {
  for (DataType type : {DataType::kUint8, DataType::kInt8, DataType::kInt32}) {
    for (const Shape& shape : {Shape{2, 10007}, Shape{10007, 2}}) {
      SCOPED_TRACE(ShapeToString(shape));
      const int64_t axis = shape[0] == 2 ? 1 : 0;
      const bool wide = type == DataType::kInt32;
      for (const char* op : {"ReduceMax", "ReduceMin", "ReduceProd"}) {
        if (!wide && op == std::string("ReduceProd")) continue;
        ModelBuilder b;
        b.Input("x", type, shape);
        SetInts(b.Node(op, {"x"}, {"y"}), "axes", {axis});
        b.Output("y");
        ExpectCardEqualsReference(b.Bytes(), {RandomData(type, shape, 3)},
                                  Small());
      }
    }
  }
}

TEST(LongAxes, ArgMaxAndArgMin) {
  const struct {
    Shape shape;
    int64_t axis;
  } cases[] = {{{3, 4001}, 1}, {{2, 1501, 3}, 1}, {{2003, 40}, 0}};
  for (const auto& c : cases) {
    for (DataType type : {DataType::kFloat, DataType::kInt8}) {
      for (int64_t last : {0, 1}) {
        for (const char* op : {"ArgMax", "ArgMin"}) {
          SCOPED_TRACE(op + ShapeToString(c.shape));
          // Codes and rounded floats repeat.
          TensorData x = RandomData(type, c.shape, 3);
          if (type == DataType::kFloat) {
            for (int64_t i = 0; i < x.count(); ++i) {
              x.as<float>()[i] = static_cast<int>(x.as<float>()[i] * 16);
            }
          }
          ExpectCardEqualsReference(
              Model(op, type, c.shape,
                    {{"axis", c.axis}, {"select_last_index", last}}),
              {x}, Small());
        }
      }
    }
  }
}

TEST(LongAxes, Normalizations) {
  for (const Shape& shape :
       {Shape{2, 3, 4099}, Shape{1, 700, 7}, Shape{1, 1500, 2, 1}}) {
    SCOPED_TRACE(ShapeToString(shape));
    const TensorData x = RandomData(DataType::kFloat, shape, 3);
    {
      ModelBuilder b;
      b.Input("x", DataType::kFloat, shape);
      b.Constant("s", RandomData(DataType::kFloat, {shape[1]}, 4));
      b.Constant("b", RandomData(DataType::kFloat, {shape[1]}, 5));
      b.Node("InstanceNormalization", {"x", "s", "b"}, {"y"});
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), {x}, Small());
    }
    {
      ModelBuilder b;
      b.Input("x", DataType::kFloat, shape);
      b.Constant("s", RandomData(DataType::kFloat, {shape[1]}, 4));
      b.Constant("v", RandomData(DataType::kFloat, {shape[1]}, 5, 0.5f, 2));
      b.Node("BatchNormalization", {"x", "s", "s", "s", "v"}, {"y"});
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), {x}, Small());
    }
    for (int64_t size : {2, 5}) {
      ExpectCardEqualsReference(
          Model("LRN", DataType::kFloat, shape, {{"size", size}}), {x},
          Small());
    }
    ExpectCardEqualsReference(
        Model("GlobalAveragePool", DataType::kFloat, shape, {}), {x}, Small());
  }
}

TEST(LongAxes, SoftmaxOfCodes) {
  const struct {
    Shape shape;
    int64_t axis;
  } cases[] = {{{3, 5003}, 1}, {{2, 1501, 5}, 1}, {{7, 3, 2000}, 1}};
  for (const auto& c : cases) {
    for (DataType type : {DataType::kUint8, DataType::kInt8}) {
      SCOPED_TRACE(ShapeToString(c.shape));
      ModelBuilder b;
      b.Input("x", type, c.shape);
      b.Constant("xs", Floats({}, {0.02f}));
      b.Constant("ys", Floats({}, {0.0005f}));
      b.Constant("z", TensorData::Zeros(type, {}));
      auto* node = b.Node("QLinearSoftmax", {"x", "xs", "z", "ys", "z"}, {"y"},
                          "com.microsoft");
      SetInt(node, "axis", c.axis);
      SetInt(node, "opset", 13);
      b.Output("y");
      ExpectCardEqualsReference(b.Bytes(), {RandomData(type, c.shape, 3)},
                                Small());
    }
  }
}

TEST(LongAxes, DynamicQuantization) {
  // A prime, and a number whose divisors are short.
  for (const Shape& shape : {Shape{20011}, Shape{3, 4099}, Shape{2, 96, 96}}) {
    SCOPED_TRACE(ShapeToString(shape));
    ModelBuilder b;
    b.Input("x", DataType::kFloat, shape);
    b.Node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"});
    for (const char* name : {"y", "s", "z"}) b.Output(name);
    ExpectCardEqualsReference(
        b.Bytes(), {RandomData(DataType::kFloat, shape, 3)}, Small());
  }
}

}  // namespace
}  // namespace heddle::compiler
