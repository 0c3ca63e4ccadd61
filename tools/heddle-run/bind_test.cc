// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/bind.h"

#include <gtest/gtest.h>

namespace heddle::run {
namespace {

using compiler::DataType;
using compiler::InputDeclaration;
using compiler::Shape;
using compiler::TensorData;

InputDeclaration Input(const std::string& name, const Shape& shape,
                       const std::vector<std::string>& symbols) {
  return {name, DataType::kFloat, true, shape, symbols};
}

NamedTensor Data(const std::string& name, const Shape& shape) {
  return {name, TensorData::Zeros(DataType::kFloat, shape)};
}

TEST(BindInputs, FromDataByNameOrPlace) {
  const std::vector<InputDeclaration> inputs = {
      Input("ids", {-1, -1}, {"batch", "tokens"}),
      Input("mask", {-1, -1}, {"batch", "tokens"}),
      Input("state", {2, -1, 8}, {"", "", ""}),
      {"free", DataType::kFloat, false, {}, {}}};
  const Binding binding = BindInputs(inputs, {},
                                     {Data("mask", {3, 9}), Data("ids", {3, 9}),
                                      Data("", {2, 5, 8}), Data("", {4})},
                                     {});
  EXPECT_EQ(binding.shapes.at("ids"), (Shape{3, 9}));
  EXPECT_EQ(binding.shapes.at("free"), (Shape{4}));
  EXPECT_EQ(binding.found,
            "'batch' = 3, 'tokens' = 9, dimension 1 of 'state' = 5, 'free' is "
            "[4]");
}

TEST(BindInputs, WhatTheUserGivesIsNotFound) {
  const std::vector<InputDeclaration> inputs = {
      Input("a", {-1, 4}, {"batch", ""}), Input("b", {-1, 2}, {"batch", ""})};
  const Binding binding = BindInputs(inputs, {{"a", {7, 4}}},
                                     {Data("", {1, 4}), Data("", {7, 2})}, {});
  EXPECT_EQ(binding.shapes.at("a"), (Shape{7, 4}));
  EXPECT_EQ(binding.found, "");
  EXPECT_TRUE(BindInputs(inputs, {}, {}, {}).shapes.empty()) << "stays open";
}

TEST(BindInputs, FromImageFiles) {
  ImageOptions raw;
  raw.images = "set.u8";
  raw.dims = {3, 24, 32};
  const auto bind = [](const Shape& shape, const ImageOptions& images) {
    const Binding binding =
        BindInputs({Input("x", shape, {"n", "", "", ""})}, {}, {}, images);
    const auto found = binding.shapes.find("x");
    return found == binding.shapes.end() ? "open" : binding.found;
  };
  EXPECT_EQ(bind({-1, 3, 24, 32}, raw), "'n' = 1");
  EXPECT_EQ(bind({-1, 3, -1, 32}, raw), "'n' = 1, dimension 2 of 'x' = 24");
  EXPECT_EQ(bind({-1, -1, -1, 3}, raw),
            "'n' = 1, dimension 1 of 'x' = 24, dimension 2 of 'x' = 32");
  EXPECT_EQ(bind({4, -1, 24, 32}, raw), "dimension 1 of 'x' = 3");
  EXPECT_EQ(bind({-1, 3, 24, 31}, raw), "open") << "another size";
  EXPECT_EQ(bind({-1, 3, 24}, raw), "open") << "no image";
  ImageOptions file;
  file.files = {"a.png"};
  EXPECT_EQ(bind({-1, 3, 24, 32}, file), "'n' = 1");
  EXPECT_EQ(bind({-1, 3, -1, -1}, file), "open") << "no size";
  file.resize = "256";
  EXPECT_EQ(bind({-1, 3, -1, -1}, file), "open") << "one side only";
  file.crop = "224";
  EXPECT_EQ(bind({-1, 3, -1, -1}, file),
            "'n' = 1, dimension 2 of 'x' = 224, dimension 3 of 'x' = 224");
  file.crop = "32x24";
  EXPECT_EQ(bind({-1, -1, -1, 3}, file),
            "'n' = 1, dimension 1 of 'x' = 24, dimension 2 of 'x' = 32");
  file.pixels.layout = "nchw";
  EXPECT_EQ(bind({-1, -1, -1, 3}, file), "open") << "the layout is given";
}

TEST(BindBatch, IsTheOpenFirstDimension) {
  const std::vector<InputDeclaration> inputs = {
      Input("ids", {-1, -1}, {"batch", "tokens"}),
      Input("mask", {-1, 4}, {"", ""}), Input("fixed", {2, -1}, {"", "n"}),
      Input("scalar", {}, {})};
  std::map<std::string, Shape> shapes = {{"tokens", {7}}};
  ASSERT_TRUE(BindBatch(inputs, 3, &shapes).ok());
  EXPECT_EQ(shapes, (std::map<std::string, Shape>{
                        {"tokens", {7}}, {"batch", {3}}, {"mask", {3, 4}}}));
  // What is given stays.
  shapes = {{"batch", {5}}, {"mask", {5, 4}}};
  const auto given = shapes;
  EXPECT_FALSE(BindBatch(inputs, 3, &shapes).ok()) << "nothing is left to set";
  EXPECT_EQ(shapes, given);
}

TEST(BindBatch, SaysWhyNot) {
  std::map<std::string, Shape> shapes;
  EXPECT_EQ(BindBatch({Input("x", {1, 3}, {"", ""})}, 8, &shapes).message(),
            "--batch: the model leaves the first dimension of no input open: "
            "'x' is [1,3]; export the model with a dynamic batch dimension");
  EXPECT_EQ(BindBatch({Input("x", {-1, -1}, {"", "n"})}, 8, &shapes).message(),
            "--batch: input 'x' leaves other dimensions open, too ([?,n]): "
            "give --shape x=8,...");
  EXPECT_TRUE(shapes.empty());
}

}  // namespace
}  // namespace heddle::run
