// SPDX-License-Identifier: Apache-2.0
#include "compiler/shapes/compile_shape_set.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

TEST(ShapeValues, AreListsAndRanges) {
  ShapeValues values;
  ASSERT_TRUE(
      ParseShapeValues("batch=1..3,8;height=64..192:64;x:0=5", &values).ok());
  EXPECT_EQ(values["batch"], (std::vector<int64_t>{1, 2, 3, 8}));
  EXPECT_EQ(values["height"], (std::vector<int64_t>{64, 128, 192}));
  EXPECT_EQ(values["x:0"], (std::vector<int64_t>{5}));
  EXPECT_TRUE(ParseShapeValues("", &values).ok());
  EXPECT_FALSE(ParseShapeValues("batch=4", &values).ok()) << "twice";
}

TEST(ShapeValues, RefuseWhatTheyAreNot) {
  for (const char* text :
       {"batch", "=1", "batch=", "batch=0", "batch=-1", "batch=3..1",
        "batch=1..", "batch=1..9:0", "batch=1..x", "batch=1,,2", "batch=1..257",
        "batch=1..9223372036854775807", "batch=99999999999999999999"}) {
    ShapeValues values;
    const absl::Status status = ParseShapeValues(text, &values);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_TRUE(absl::StrContains(status.message(), "such as batch=1..8"))
        << status;
  }
}

// [batch,2,side,side] to 3 classes; the side is open, too, if it is -1.
std::string Classifier(bool open_side) {
  ModelBuilder b(18);
  b.Input("x", DataType::kFloat, {-1, 2, open_side ? -1 : 8, 8});
  if (open_side) {
    b.proto()
        .mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(2)
        ->set_dim_param("height");
  }
  std::vector<float> w(64 * 2 * 9), d(64 * 3);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 17) - 8;
  for (size_t i = 0; i < d.size(); ++i) d[i] = static_cast<float>(i % 5) - 2;
  b.Constant("w", Floats({64, 2, 3, 3}, w));
  b.Constant("d", Floats({64, 3}, d));
  b.Node("Conv", {"x", "w"}, {"c"});
  b.Node("Relu", {"c"}, {"r"});
  b.Node("GlobalAveragePool", {"r"}, {"p"});
  b.Node("Flatten", {"p"}, {"f"});
  b.Node("MatMul", {"f", "d"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

absl::StatusOr<ShapeSetResult> Compile(const std::string& model,
                                       const std::string& text) {
  ShapeValues values;
  const absl::Status status = ParseShapeValues(text, &values);
  if (!status.ok()) return status;
  return CompileShapeSet(model, {}, values);
}

TEST(CompileShapeSet, HoldsWhatCompilingEachAloneGives) {
  const std::string model = Classifier(true);
  const auto result = Compile(model, "batch=1..3;height=8,12");
  ASSERT_TRUE(result.ok()) << result.status();
  const auto set = package::ParseShapeSet(result->package);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->model_sha256, ModelSha256(model));
  ASSERT_EQ(set->specialisations.size(), 6u);
  uint64_t alone = 0;
  for (size_t i = 0; i < set->specialisations.size(); ++i) {
    const auto& values = set->specialisations[i].values;
    CompileOptions options;
    options.input_shapes = set->ShapesOf(values);
    EXPECT_EQ(options.input_shapes["x"], (Shape{values[0], 2, values[1], 8}));
    const auto one = CompileOnnx(model, options);
    ASSERT_TRUE(one.ok());
    alone += one->package.size();
    EXPECT_TRUE(set->PackageBytes(i) == one->package) << set->Text(values);
    const auto package = package::Parse(one->package);
    EXPECT_TRUE(set->Check(i, *package).ok());
    EXPECT_FALSE(set->Check((i + 1) % 6, *package).ok());
  }
  // The weights alone are 5 kB of each.
  EXPECT_LT(result->package.size(), alone - 5 * 5000);
  ASSERT_EQ(result->padding.size(), 1u) << "batches have no gaps";
  EXPECT_TRUE(absl::StartsWith(result->padding[0], "'height' is not padded"));
}

TEST(CompileShapeSet, PadsBatchesAndNotPictures) {
  const auto result = Compile(Classifier(true), "batch=4,6;height=8");
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->padding.size(), 2u);
  EXPECT_EQ(result->padding[0],
            "'batch' between the values is padded to the next one");
  EXPECT_TRUE(
      absl::StartsWith(result->padding[1], "'height' is not padded: Conv"))
      << result->padding[1];
  const auto set = package::ParseShapeSet(result->package);
  ASSERT_TRUE(set.ok());
  const auto at = [&](int64_t batch, int64_t height) {
    const auto choice = set->Choose({batch, height});
    return !choice.has_value() ? std::string("none")
           : choice->padding == nullptr
               ? "exact"
               : "to " + set->Text(set->specialisations[choice->index].values);
  };
  EXPECT_EQ(at(4, 8), "exact");
  EXPECT_EQ(at(1, 8), "to batch=4, height=8");
  EXPECT_EQ(at(3, 8), "to batch=4, height=8");
  EXPECT_EQ(at(5, 8), "to batch=6, height=8");
  EXPECT_EQ(at(7, 8), "none");
  EXPECT_EQ(at(4, 7), "none");
  EXPECT_EQ(set->Missing({4, 7}),
            "dimension 'height' is 7, and the package holds batch 4,6; height "
            "8 (2 specialisations)");
}

TEST(CompileShapeSet, HasADefaultForBatchesOnly) {
  const auto batches = AllShapeValues(Classifier(false), {}, {});
  ASSERT_TRUE(batches.ok());
  EXPECT_EQ(batches->at("batch"), (std::vector<int64_t>{1, 2, 4, 8}));
  const auto heights = AllShapeValues(Classifier(true), {}, {});
  EXPECT_TRUE(
      absl::StrContains(heights.status().message(), "add height=A,B,..."))
      << heights.status();
}

TEST(CompileShapeSet, RefusesByName) {
  const std::string model = Classifier(true);
  for (const auto& [text, why] :
       {std::make_pair("batch=1;height=8;depth=3",
                       "no open dimension 'depth'; it has 'batch', 'height'"),
        std::make_pair("batch=1..20;height=8..40",
                       "more than 256 combinations"),
        std::make_pair("batch=1;height=1", "with batch=1, height=1: Conv")}) {
    const auto result = Compile(model, text);
    EXPECT_FALSE(result.ok());
    EXPECT_TRUE(absl::StrContains(result.status().message(), why))
        << result.status();
  }
  CompileOptions options;
  options.input_shapes["x"] = {2, 2, 8, 8};
  EXPECT_TRUE(
      absl::StrContains(CompileShapeSet(model, options, {}).status().message(),
                        "the model has no open dimension; omit"));
  options.input_shapes = {{"depth", {2}}};
  EXPECT_TRUE(
      absl::StrContains(CompileShapeSet(model, options, {}).status().message(),
                        "'depth', which is neither an input"));
}

// A dimension that is given by its name is not open.
TEST(CompileShapeSet, TakesANamedDimensionForAllShapes) {
  CompileOptions options;
  options.input_shapes["height"] = {8};
  const auto values = AllShapeValues(Classifier(true), options, {});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->size(), 1u);
  EXPECT_EQ(values->at("batch"), (std::vector<int64_t>{1, 2, 4, 8}));
}

}  // namespace
}  // namespace heddle::compiler
