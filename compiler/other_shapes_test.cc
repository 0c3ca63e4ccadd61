// SPDX-License-Identifier: Apache-2.0
#include "compiler/other_shapes.h"

#include <gtest/gtest.h>

#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

// Each open dimension of `shape` has a name of its own.
void OpenInput(ModelBuilder* b, const std::string& name, const Shape& shape) {
  b->Input(name, DataType::kFloat, shape);
  auto* graph = b->proto().mutable_graph();
  auto* dims = graph->mutable_input(graph->input_size() - 1)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->mutable_shape();
  for (int i = 0; i < dims->dim_size(); ++i) {
    if (shape[i] < 0) dims->mutable_dim(i)->clear_dim_param();
  }
}

TensorData Zeros(const Shape& shape) {
  return TensorData::Zeros(DataType::kFloat, shape);
}

bool MayHelp(const ModelBuilder& b) {
  return OtherShapesMayHelp(b.Bytes(), {});
}

bool MatMul(const Shape& x, const Shape& weights) {
  ModelBuilder b;
  OpenInput(&b, "x", x);
  b.Constant("w", Zeros(weights));
  b.Node("Relu", {"x"}, {"r"});
  b.Node("MatMul", {"r", "w"}, {"y"});
  b.Output("y");
  return MayHelp(b);
}

TEST(OtherShapes, OfAProduct) {
  EXPECT_FALSE(MatMul({-1, 4}, {5, 6})) << "4 and 5, whatever the batch";
  EXPECT_TRUE(MatMul({-1, -1}, {5, 6})) << "the second may be 5";
  EXPECT_TRUE(MatMul({-1, 5}, {5, 6})) << "nothing is refused";
  EXPECT_FALSE(MatMul({-1, 3, 4}, {2, 5, 6})) << "batches of one or two";
}

TEST(OtherShapes, OfAConvolution) {
  const auto conv = [](const Shape& x, const Shape& weights, int64_t group) {
    ModelBuilder b;
    OpenInput(&b, "x", x);
    b.Constant("w", Zeros(weights));
    SetInt(b.Node("Conv", {"x", "w"}, {"y"}), "group", group);
    b.Output("y");
    return MayHelp(b);
  };
  EXPECT_TRUE(conv({-1, 3, -1, -1}, {8, 3, 7, 7}, 1)) << "larger images";
  EXPECT_FALSE(conv({-1, 3, -1, -1}, {8, 4, 7, 7}, 1)) << "3 and 4 channels";
  EXPECT_FALSE(conv({-1, 3, 5, -1}, {8, 3, 7, 7}, 1)) << "5 rows for 7";
  EXPECT_TRUE(conv({-1, -1, -1, -1}, {8, 3, 7, 7}, 2)) << "6 channels";
}

TEST(OtherShapes, WhatProductsDecideIsLeftOpen) {
  ModelBuilder b;
  OpenInput(&b, "x", {1, 3, -1, -1});
  b.Constant("w", Zeros({4, 3, 3, 3}));
  b.Node("Conv", {"x", "w"}, {"c"});
  b.Node("Flatten", {"c"}, {"f"});
  b.Constant("g", Zeros({4 * 11 * 13, 10}));
  b.Node("MatMul", {"f", "g"}, {"y"});
  b.Output("y");
  EXPECT_TRUE(MayHelp(b)) << "13x15 fits";
  ModelBuilder reshape;
  OpenInput(&reshape, "x", {-1, 4});
  reshape.Constant("s", Int64s({2}, {7, 11}));
  reshape.Node("Reshape", {"x", "s"}, {"y"});
  reshape.Output("y");
  EXPECT_TRUE(MayHelp(reshape)) << "not looked into";
  EXPECT_TRUE(OtherShapesMayHelp("no model", {}));
}

}  // namespace
}  // namespace heddle::compiler
