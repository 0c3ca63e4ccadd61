// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/input_declaration.h"

#include <gtest/gtest.h>

#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

TEST(DeclaredInputs, ShapesAndNames) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {-1, 3, 0});
  b.Input("w", DataType::kFloat, {3});
  b.Input("any", DataType::kFloat, {2});
  b.Constant("w", Floats({3}, {1, 2, 3}));
  auto* type = b.proto().mutable_graph()->mutable_input(0)->mutable_type();
  // A negative size is none.
  type->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(-7);
  b.proto()
      .mutable_graph()
      ->mutable_input(2)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  const auto inputs = DeclaredInputs(b.Bytes());
  ASSERT_EQ(inputs.size(), 2u) << "a weight is no input";
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_TRUE(inputs[0].has_shape);
  EXPECT_EQ(inputs[0].shape, (Shape{-1, 3, 0, -1}));
  EXPECT_EQ(inputs[0].symbols[0], "batch");
  EXPECT_EQ(inputs[0].ShapeText(), "[batch,3,0,?]");
  EXPECT_EQ(inputs[1].name, "any");
  EXPECT_FALSE(inputs[1].has_shape);
  EXPECT_TRUE(DeclaredInputs("no model").empty());
}

TEST(SummariseModel, WhatAModelSays) {
  ModelBuilder b(17);
  b.Input("x", DataType::kInt8, {2});
  b.Constant("w", Int8s({2}, {1, 2}));
  b.Node("NoSuchOperator", {"x", "w"}, {"y"});
  b.Output("y");
  b.proto().set_producer_name("somebody");
  const auto model = SummariseModel(b.Bytes());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->producer, "somebody");
  ASSERT_FALSE(model->opsets.empty());
  EXPECT_EQ(model->opsets[0].first, "");
  EXPECT_EQ(model->opsets[0].second, 17);
  EXPECT_EQ(model->nodes, 1u);
  EXPECT_EQ(model->initializers, 1u);
  ASSERT_EQ(model->inputs.size(), 1u);
  EXPECT_EQ(model->inputs[0].type, DataType::kInt8);
  ASSERT_EQ(model->outputs.size(), 1u);
  EXPECT_FALSE(model->outputs[0].has_shape);
  EXPECT_FALSE(SummariseModel("no model").ok());
}

}  // namespace
}  // namespace heddle::compiler
