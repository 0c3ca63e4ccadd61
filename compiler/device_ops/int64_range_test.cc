// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/int64_range.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

absl::StatusOr<int64_t> BoundOf(ModelBuilder& b) {
  auto graph = AnalyseOnnx(b.Bytes(), {});
  if (!graph.ok()) return graph.status();
  return Int64InputBound(*graph);
}

TEST(Int64Range, WhatConstantsMakeWideIsFound) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {4});
  b.Input("f", DataType::kFloat, {4});
  b.Constant("large", Int64s({}, {int64_t{1} << 33}));
  b.Constant("three", Int64s({}, {3}));
  b.Node("Mul", {"x", "large"}, {"product"});
  b.Node("Mul", {"product", "product"}, {"square"});
  b.Node("Mod", {"square", "three"}, {"rest"});
  SetInt(b.Node("Cast", {"f"}, {"number"}), "to", 7);
  b.Node("Mul", {"number", "three"}, {"threefold"});
  b.Node("Add", {"x", "threefold"}, {"sum"});
  b.Constant("sizes", Int64s({2}, {1, 3}));
  b.Node("Split", {"square", "sizes"}, {"front", "back"});
  for (const char* name : {"square", "rest", "sum", "front", "back"}) {
    b.Output(name);
  }
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_FALSE(Int64InputBound(*graph).ok());
  const auto wide_of = [&](const std::vector<bool>& inputs) {
    const std::vector<bool> wide = FindWideInt64(*graph, inputs);
    std::string names;
    for (size_t id = 0; id < wide.size(); ++id) {
      if (wide[id]) names += graph->tensors[id].name + " ";
    }
    return names;
  };
  EXPECT_EQ(wide_of({}), "product square front back ");
  EXPECT_EQ(wide_of({true, false}), "x product square sum front back ");
}

TEST(Int64Range, MovesKeepTheWholeRange) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {4, 6});
  b.Constant("start", Int64s({1}, {2}));
  b.Constant("end", Int64s({1}, {INT64_MAX}));
  b.Node("Slice", {"x", "start", "end"}, {"s"});
  b.Node("Transpose", {"s"}, {"y"});
  b.Output("y");
  auto bound = BoundOf(b);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(*bound, int64_t{1} << 31);
}

TEST(Int64Range, ProductsAndSumsNarrowTheInputs) {
  ModelBuilder b;
  b.Input("ids", DataType::kInt64, {1, 4});
  b.Input("mask", DataType::kInt64, {1, 4});
  b.Input("types", DataType::kInt64, {1, 4});
  b.Node("Mul", {"ids", "mask"}, {"m"});
  b.Node("Add", {"m", "types"}, {"y"});
  b.Output("y");
  auto bound = BoundOf(b);
  ASSERT_TRUE(bound.ok()) << bound.status();
  // B*B + B - 1 must fit.
  EXPECT_EQ(*bound, int64_t{1} << 15);
  auto result = CompileOnnx(b.Bytes(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  auto package = package::Parse(result->package);
  ASSERT_TRUE(package.ok());
  for (const package::TensorInfo& input : package->inputs) {
    EXPECT_EQ(input.minimum, -32768) << input.name;
    EXPECT_EQ(input.maximum, 32767) << input.name;
  }
  ExpectCardEqualsReference(b.Bytes(),
                            {Int64s({1, 4}, {32767, -32768, 5, -7}),
                             Int64s({1, 4}, {32767, 32767, 0, 1}),
                             Int64s({1, 4}, {32767, -32768, 3, -1})});
}

TEST(Int64Range, ConstantOperandsCount) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {3});
  b.Constant("thousand", Int64s({1}, {1000}));
  b.Node("Mul", {"x", "thousand"}, {"m"});
  b.Node("Sub", {"m", "x"}, {"y"});
  b.Output("y");
  auto bound = BoundOf(b);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(*bound, int64_t{1} << 21);  // 1001 * 2^21 < 2^31 < 1001 * 2^22
  ExpectCardEqualsReference(b.Bytes(), {Int64s({3}, {-2097152, 2097151, 1})});
}

TEST(Int64Range, QuotientsAndRemainders) {
  for (const bool positive : {true, false}) {
    ModelBuilder b;
    b.Input("x", DataType::kInt64, {4});
    b.Constant("by", Int64s({4}, {3, positive ? 1 : -1, 7, positive ? 1 : 0}));
    b.Node("Div", {"x", "by"}, {"q"});
    b.Node("Mod", {"x", "by"}, {"r"});
    b.Output("q");
    b.Output("r");
    auto bound = BoundOf(b);
    ASSERT_TRUE(bound.ok()) << bound.status();
    // -2^31 by -1 would not fit.
    EXPECT_EQ(*bound, int64_t{1} << (positive ? 31 : 30));
    ExpectCardEqualsReference(
        b.Bytes(), {Int64s({4}, {-(*bound), -(*bound), *bound - 1, -8})});
  }
  // What a remainder can be is less than its operand.
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {4});
  b.Constant("hundred", Int64s({}, {100}));
  b.Constant("million", Int64s({}, {1000000}));
  b.Node("Mod", {"x", "hundred"}, {"r"});
  b.Node("Mul", {"r", "million"}, {"y"});
  b.Output("y");
  auto bound = BoundOf(b);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(*bound, int64_t{1} << 31);
}

// What is selected is one of the operands: the widest of them counts.
TEST(Int64Range, SelectionsKeepTheRangeOfWhatTheySelectFrom) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {2, 3});
  b.Input("y", DataType::kInt64, {3});
  b.Constant("million", Int64s({}, {1000000}));
  b.Constant("zero", Int64s({}, {0}));
  b.Node("Less", {"x", "y"}, {"less"});
  b.Node("Where", {"less", "x", "million"}, {"chosen"});
  b.Node("Max", {"chosen", "y", "zero"}, {"most"});
  b.Node("Min", {"y", "most"}, {"least"});
  b.Node("Add", {"most", "million"}, {"sum"});
  b.Output("least");
  b.Output("sum");
  auto bound = BoundOf(b);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(*bound, int64_t{1} << 30);
  ExpectCardEqualsReference(
      b.Bytes(), {Int64s({2, 3}, {-(*bound), *bound - 1, 7, 0, -8, 5}),
                  Int64s({3}, {*bound - 1, -(*bound), 6})});
}

TEST(Int64Range, WhatCannotBeProvenIsRefusedByName) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3});
  SetInt(b.Node("Cast", {"x"}, {"f"}), "to", 6);  // int32
  SetInt(b.Node("Cast", {"f"}, {"l"}), "to", 7);  // int64
  b.Node("Mul", {"l", "l"}, {"y"})->set_name("square");
  b.Output("y");
  auto bound = BoundOf(b);
  EXPECT_EQ(RejectionOf(bound.status()), Rejection::kUnsupportedDatatype);
  EXPECT_NE(bound.status().message().find("square"), std::string::npos);
  EXPECT_FALSE(CompileOnnx(b.Bytes(), {}).ok());
}

}  // namespace
}  // namespace heddle::compiler
