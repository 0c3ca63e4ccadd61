// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const char* const kReduceOps[] = {"ReduceSum", "ReduceMean",     "ReduceMax",
                                  "ReduceMin", "ReduceProd",     "ReduceL1",
                                  "ReduceL2",  "ReduceSumSquare"};

std::string Model(const std::string& op, DataType type, const Shape& shape,
                  const std::vector<int64_t>& axes, bool keep) {
  ModelBuilder b(op == "ReduceSum" ? 13 : 11);
  b.Input("x", type, shape);
  std::vector<std::string> inputs = {"x"};
  if (op == "ReduceSum" && !axes.empty()) {
    b.Constant("axes", Int64s({static_cast<int64_t>(axes.size())}, axes));
    inputs.push_back("axes");
  }
  onnx::NodeProto* node = b.Node(op, inputs, {"y"});
  if (inputs.size() == 1 && !axes.empty()) SetInts(node, "axes", axes);
  if (!keep) SetInt(node, "keepdims", 0);
  b.Output("y");
  return b.Bytes();
}

struct ReduceCase {
  Shape shape;
  std::vector<int64_t> axes;
  bool keep = true;
};

TEST(LowerReduce, EveryOperatorOverEveryKindOfAxes) {
  const ReduceCase cases[] = {
      {{3, 5, 7}, {2}},
      {{3, 5, 7}, {1}, false},
      {{3, 5, 7}, {0}},
      {{3, 5, 7}, {}},
      {{3, 5, 7}, {-1, 0}, false},
      {{2, 3, 4, 5}, {1, 3}},
      {{2, 3, 4, 5, 3}, {0, 2, 4}, false},
      {{1, 40, 33}, {-2}},
      {{4, 1, 6}, {1}, false},
      {{16}, {0}, false},
      {{17}, {0}},
      {{}, {}, false},
  };
  int seed = 0;
  for (const char* op : kReduceOps) {
    for (const ReduceCase& c : cases) {
      SCOPED_TRACE(op + ShapeToString(c.shape) + ShapeToString(c.axes));
      const DataType type =
          ++seed % 3 == 0 ? DataType::kFloat16 : DataType::kFloat;
      ExpectCardEqualsReference(Model(op, type, c.shape, c.axes, c.keep),
                                {RandomData(type, c.shape, seed, -2, 2)});
    }
  }
}

TEST(LowerReduce, TilesOfLittleSram) {
  CardCase options;
  options.sram_bytes = {0, 40 << 10};
  options.may_refuse_less_sram = false;
  const ReduceCase cases[] = {
      {{700, 50}, {1}},          {{30, 50, 41}, {1}}, {{2, 70, 41, 13}, {1}},
      {{2, 70, 41, 13}, {0, 2}}, {{9, 5000}, {}},     {{66000, 3}, {1}},
  };
  int seed = 0;
  for (const ReduceCase& c : cases) {
    for (const char* op : {"ReduceSum", "ReduceProd"}) {
      SCOPED_TRACE(op + ShapeToString(c.shape) + ShapeToString(c.axes));
      ExpectCardEqualsReference(
          Model(op, DataType::kFloat, c.shape, c.axes, c.keep),
          {RandomData(DataType::kFloat, c.shape, ++seed, 0.5f, 1.5f)}, options);
    }
  }
}

TEST(LowerReduce, NanAndInfinities) {
  const std::vector<float> values = {1,     kNan,  -kInf, kInf, -0.0f, 0,
                                     -kInf, -kInf, kInf,  kInf, -0.0f, -0.0f};
  for (const int64_t axis : {0, 1}) {
    for (const char* op : kReduceOps) {
      SCOPED_TRACE(op + std::to_string(axis));
      const auto y = ExpectCardEqualsReference(
          Model(op, DataType::kFloat, {6, 2}, {axis}, true),
          {Floats({6, 2}, values)});
      ASSERT_EQ(y.size(), 1u);
      const float first = y[0].as<float>()[0];
      if (axis == 1) {
        EXPECT_TRUE(std::isnan(first)) << first;
      }
    }
  }
}

TEST(LowerReduce, Integers) {
  int seed = 0;
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd",
                         "ReduceL1", "ReduceSumSquare"}) {
    for (const int64_t axis : {0, 1}) {
      SCOPED_TRACE(op + std::to_string(axis));
      ExpectCardEqualsReference(
          Model(op, DataType::kInt32, {21, 19}, {axis}, false),
          {RandomData(DataType::kInt32, {21, 19}, ++seed, -2e9f, 2e9f)});
    }
  }
  for (const DataType type : {DataType::kInt8, DataType::kUint8}) {
    ModelBuilder b(12);
    b.Input("x", type, {2, 18, 5});
    SetInts(b.Node("ReduceMax", {"x"}, {"y"}), "axes", {1});
    SetInts(b.Node("ReduceMin", {"x"}, {"z"}), "axes", {-1});
    b.Output("y");
    b.Output("z");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(type, {2, 18, 5}, 9)});
  }
}

TEST(LowerReduce, EmptyAxesMayDoNothing) {
  ModelBuilder b(13);
  b.Input("x", DataType::kFloat, {3, 4});
  SetInt(b.Node("ReduceSum", {"x"}, {"y"}), "noop_with_empty_axes", 1);
  b.Output("y");
  const TensorData x = RandomData(DataType::kFloat, {3, 4}, 1);
  const auto y = ExpectCardEqualsReference(b.Bytes(), {x});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].bytes, x.bytes);
}

// What helps is to make them a constant, or to declare the result.
TEST(LowerReduce, AxesAtRunTimeAreRefusedWithAWayOut) {
  ModelBuilder b(13);
  b.Input("x", DataType::kFloat, {3, 4});
  b.Input("axes", DataType::kInt64, {1});
  b.Node("ReduceSum", {"x", "axes"}, {"y"});
  b.Output("y");
  const absl::Status status = CompileOnnx(b.Bytes(), {}).status();
  EXPECT_EQ(RejectionOf(status), Rejection::kUnsupportedShape) << status;
  EXPECT_EQ(status.message(),
            "ReduceSum 'y_node': axes 'axes' are computed at run time, and the "
            "model does not declare the shape of the result; declare it, or "
            "make them an initializer");
}

TEST(LowerReduce, RefusesWhatTheCardCannotDo) {
  const auto result =
      CompileOnnx(Model("ReduceSum", DataType::kInt64, {3, 4}, {1}, true), {});
  EXPECT_EQ(RejectionOf(result.status()), Rejection::kUnsupportedDatatype)
      << result.status();
}

}  // namespace
}  // namespace heddle::compiler
