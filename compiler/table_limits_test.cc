// SPDX-License-Identifier: Apache-2.0
// Small models whose shapes ask the compiler itself for tables of many
// gigabytes (ops/expanded.h): refused before they are made.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMany = 1 << 20;

void ExpectTooLarge(const ModelBuilder& b) {
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  EXPECT_EQ(RejectionOf(graph.status()), Rejection::kUnsupportedShape)
      << graph.status();
}

TEST(TableLimits, DiagonalOfAnEinsum) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1, 1});
  b.Input("a", DataType::kFloat, {kMany}).Input("b", DataType::kFloat, {kMany});
  SetString(b.Node("Einsum", {"x", "a", "b"}, {"y"}), "equation",
            "aab,a,b->ab");
  b.Output("y");
  ExpectTooLarge(b);
}

TEST(TableLimits, CausalMask) {
  ModelBuilder b(23);
  for (const char* name : {"q", "k", "v"}) {
    b.Input(name, DataType::kFloat, {1, 1, kMany, 1});
  }
  SetInt(b.Node("Attention", {"q", "k", "v"}, {"y"}), "is_causal", 1);
  b.Output("y");
  ExpectTooLarge(b);
}

TEST(TableLimits, WhatAMaskIsShorterBy) {
  ModelBuilder b(23);
  for (const char* name : {"q", "k", "v"}) {
    b.Input(name, DataType::kFloat, {1, 1, kMany, 1});
  }
  b.Input("m", DataType::kFloat, {kMany, 2});
  b.Node("Attention", {"q", "k", "v", "m"}, {"y"});
  b.Output("y");
  ExpectTooLarge(b);
}

TEST(TableLimits, IndicesOfLongWindows) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1, 2 * kMany});
  SetInts(b.Node("MaxPool", {"x"}, {"y", "i"}), "kernel_shape", {65535});
  b.Output("y").Output("i");
  ExpectTooLarge(b);
}

TEST(TableLimits, PlanesOfAVolume) {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {1, 1, 131070, 1, 1});
    b.Input("w", DataType::kFloat, {1, 1, 65535, 1, 1});
    b.Node(op, {"x", "w"}, {"y"});
    b.Output("y");
    SCOPED_TRACE(op);
    ExpectTooLarge(b);
  }
}

TEST(TableLimits, EndsOfACubicResize) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 1, kMany, 1});
  b.Input("s", DataType::kFloat, {4});
  SetString(b.Node("Resize", {"x", "", "s"}, {"y"}), "mode", "cubic");
  b.Output("y", DataType::kFloat, {1, 1, 2 * kMany, 1});
  ExpectTooLarge(b);
}

// What no table is made for, but the results of whose parts are too large.
TEST(TableLimits, PartsOfAnEinsum) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {kMany, 1})
      .Input("a", DataType::kFloat, {1, kMany});
  b.Input("b", DataType::kFloat, {1, 1});
  SetString(b.Node("Einsum", {"x", "a", "b"}, {"y"}), "equation",
            "ij,jk,ik->i");
  b.Output("y");
  ExpectTooLarge(b);
}

}  // namespace
}  // namespace heddle::compiler
