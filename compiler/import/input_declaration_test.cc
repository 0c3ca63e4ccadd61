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

}  // namespace
}  // namespace heddle::compiler
