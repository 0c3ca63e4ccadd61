// SPDX-License-Identifier: Apache-2.0
// Sizes that a run computes, of which the user says the most
// (CompileOptions::bounds).
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMost = 5;

absl::StatusOr<TensorData> RunModel(const ModelBuilder& b,
                                    const CompileOptions& options,
                                    const std::vector<TensorData>& inputs) {
  const auto graph = AnalyseOnnx(b.Bytes(), options);
  if (!graph.ok()) return graph.status();
  auto values = EvaluateGraph(*graph, inputs);
  if (!values.ok()) return values.status();
  return std::move((*values)[graph->outputs[0]]);
}

// From "n", a number, and "x" [1,1,2,3] to "y".
struct OfSize {
  const char* name;
  std::function<void(ModelBuilder*)> nodes;
  int64_t fewest = 0;
};

void AsList(ModelBuilder* b) {
  b->Constant("zero", Int64s({}, {0})).Constant("axis", Int64s({1}, {0}));
  b->Constant("one", Int64s({}, {1})).Constant("ones", Int64s({2}, {1, 1}));
  b->Node("Unsqueeze", {"n", "axis"}, {"list"});
}

class UserBounds : public testing::TestWithParam<OfSize> {};

TEST_P(UserBounds, AreFilledAsFarAsARunSays) {
  const TensorData x = Floats({1, 1, 2, 3}, {1, -2, 3, 0.5f, 7, -4});
  ModelBuilder open(17);
  open.Input("n", DataType::kInt64, {});
  open.Input("x", DataType::kFloat, {1, 1, 2, 3});
  AsList(&open);
  GetParam().nodes(&open);
  open.Output("y");
  CompileOptions bounded;
  bounded.bounds["n"] = kMost;
  EXPECT_NE(RejectionOf(AnalyseOnnx(open.Bytes(), {}).status()),
            Rejection::kNone);
  for (int64_t n = GetParam().fewest; n <= kMost; ++n) {
    const auto y = RunModel(open, bounded, {Int64s({}, {n}), x});
    ASSERT_TRUE(y.ok()) << y.status();
    ModelBuilder closed(17);
    closed.Input("x", DataType::kFloat, {1, 1, 2, 3});
    closed.Constant("n", Int64s({}, {n}));
    AsList(&closed);
    GetParam().nodes(&closed);
    closed.Output("y");
    const auto z = RunModel(closed, {}, {x});
    ASSERT_TRUE(z.ok()) << z.status();
    EXPECT_EQ(y->shape, z->shape);
    EXPECT_TRUE(y->bytes == z->bytes);
  }
  const auto more = RunModel(open, bounded, {Int64s({}, {kMost + 1}), x});
  EXPECT_TRUE(absl::StrContains(more.status().message(),
                                "tensor 'n' is 6, more than the bound of 5"))
      << more.status();
}

INSTANTIATE_TEST_SUITE_P(
    Operators, UserBounds,
    testing::Values(
        OfSize{"Range",
               [](ModelBuilder* b) {
                 b->Node("Range", {"zero", "n", "one"}, {"y"});
               }},
        OfSize{"RangeOfTwiceAsMany",
               [](ModelBuilder* b) {
                 b->Node("Add", {"n", "n"}, {"twice"});
                 b->Node("Range", {"zero", "twice", "one"}, {"r"});
                 b->Node("Neg", {"r"}, {"y"});
               }},
        OfSize{"ConstantOfShape",
               [](ModelBuilder* b) {
                 b->Node("ConstantOfShape", {"list"}, {"y"});
               }},
        OfSize{"Expand",
               [](ModelBuilder* b) {
                 SetInt(b->Node("Concat", {"list", "ones", "ones"}, {"to"}),
                        "axis", 0);
                 b->Node("Expand", {"x", "to"}, {"y"});
               }},
        OfSize{"Tile",
               [](ModelBuilder* b) {
                 SetInt(b->Node("Concat", {"ones", "list", "list"}, {"to"}),
                        "axis", 0);
                 b->Node("Tile", {"x", "to"}, {"y"});
               },
               1},
        OfSize{"Pad",
               [](ModelBuilder* b) {
                 b->Constant("none", Int64s({5}, {0, 0, 0, 0, 0}));
                 b->Constant("two", Int64s({1}, {2}));
                 SetInt(b->Node("Concat", {"two", "list", "none", "list"},
                                {"pads8"}),
                        "axis", 0);
                 b->Node("Pad", {"x", "pads8"}, {"y"});
               }},
        OfSize{"ResizeNearest",
               [](ModelBuilder* b) {
                 SetInt(b->Node("Concat", {"ones", "list", "list"}, {"to"}),
                        "axis", 0);
                 b->Node("Resize", {"x", "", "", "to"}, {"y"});
               },
               1},
        OfSize{"ResizeLinear",
               [](ModelBuilder* b) {
                 SetInt(b->Node("Concat", {"ones", "list", "list"}, {"to"}),
                        "axis", 0);
                 SetString(b->Node("Resize", {"x", "", "", "to"}, {"y"}),
                           "mode", "linear");
               },
               1},
        OfSize{"OneHot",
               [](ModelBuilder* b) {
                 b->Constant("at", Int64s({4}, {0, 3, 1, -1}));
                 b->Constant("off_on", Floats({2}, {0, 1}));
                 b->Node("OneHot", {"at", "n", "off_on"}, {"y"});
               },
               1}),
    [](const auto& info) { return std::string(info.param.name); });

ModelBuilder Frames() {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {4});
  b.Constant("zero", Int64s({}, {0})).Constant("one", Int64s({}, {1}));
  b.Node("ReduceSum", {"x"}, {"sum"});
  SetInt(b.Node("Cast", {"sum"}, {"total"}), "to",
         static_cast<int64_t>(DataType::kInt64));
  b.Constant("axes", Int64s({1}, {0}));
  b.Node("Squeeze", {"total", "axes"}, {"count"});
  b.Node("Range", {"zero", "count", "one"}, {"y"});
  b.Output("y");
  return b;
}

// What a node computes, of whatever shape; everything made of it has one.
TEST(UserBoundsTest, AreOfAnyIntegers) {
  for (const char* name : {"total", "count"}) {
    CompileOptions options;
    options.bounds[name] = 12;
    const auto y = RunModel(Frames(), options, {Floats({4}, {1, 2, 3.5f, 1})});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape, Shape{7});
    EXPECT_FALSE(RunModel(Frames(), options, {Floats({4}, {9, 2, 3, 1})}).ok());
  }
}

// In the model itself, for who has no options; those given go first.
TEST(UserBoundsTest, AreTakenFromTheModelsMetadata) {
  ModelBuilder b = Frames();
  auto* entry = b.proto().add_metadata_props();
  entry->set_key("heddle.bound.count");
  entry->set_value("12");
  const auto y = RunModel(b, {}, {Floats({4}, {1, 2, 3, 1})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->shape, Shape{7});
  CompileOptions options;
  options.bounds["count"] = 6;
  EXPECT_FALSE(RunModel(b, options, {Floats({4}, {1, 2, 3, 1})}).ok());
  entry->set_value("many");
  EXPECT_EQ(RejectionOf(AnalyseOnnx(b.Bytes(), {}).status()),
            Rejection::kInvalidModel);
}

TEST(UserBoundsTest, AreRefusedByName) {
  const auto why = [](const std::string& name, int64_t most) {
    CompileOptions options;
    options.bounds[name] = most;
    return std::string(
        AnalyseOnnx(Frames().Bytes(), options).status().message());
  };
  EXPECT_TRUE(
      absl::StrContains(why("none", 1), "'none', which the model does"));
  EXPECT_TRUE(absl::StrContains(why("total", -1), "'total' is -1"));
  EXPECT_TRUE(absl::StrContains(why("zero", 1), "'zero', which is a constant"));
  EXPECT_TRUE(absl::StrContains(why("sum", 1), "Bound 'sum'")) << why("sum", 1);
  EXPECT_TRUE(absl::StrContains(
      AnalyseOnnx(Frames().Bytes(), {}).status().message(), "--bound NAME=N"));
}

}  // namespace
}  // namespace heddle::compiler
