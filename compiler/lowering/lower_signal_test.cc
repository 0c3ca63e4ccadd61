// SPDX-License-Identifier: Apache-2.0
// What samples images at computed places, and what transforms signals, on the
// card.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "compiler/ops/define.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSmall = [] {
  CardCase c;
  c.sram_bytes = {0, 16 << 10};
  return c;
}();

// Places far outside and such as are no numbers are none.
TEST(LowerSignal, GridSample) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      ModelBuilder b(20);
      b.Input("x", DataType::kFloat, {2, 20, 6, 5});
      b.Input("grid", DataType::kFloat, {2, 5, 9, 2});
      auto* node = b.Node("GridSample", {"x", "grid"}, {"y"});
      SetString(node, "mode", mode);
      SetString(node, "padding_mode", padding);
      b.Output("y");
      TensorData grid = RandomData(DataType::kFloat, {2, 5, 9, 2}, 2, -2, 2);
      const float special[] = {kInf, -kInf, kNan, 1e30f, -1e30f, 1e9f};
      for (int i = 0; i < 6; ++i) grid.as<float>()[11 * i] = special[i];
      ExpectCardEqualsReference(
          b.Bytes(), {RandomData(DataType::kFloat, {2, 20, 6, 5}, 1), grid},
          kSmall);
    }
  }
}

TEST(LowerSignal, RoiAlign) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    for (const char* mode : {"avg", "max"}) {
      ModelBuilder b(16);
      b.Input("x", type, {2, 20, 9, 8});
      b.Input("rois", type, {3, 4});
      b.Input("batch", DataType::kInt64, {3});
      auto* node = b.Node("RoiAlign", {"x", "rois", "batch"}, {"y"});
      SetString(node, "mode", mode);
      SetInt(node, "sampling_ratio", 2);
      SetInt(node, "output_height", 3);
      SetInt(node, "output_width", 2);
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(),
          {RandomData(type, {2, 20, 9, 8}, 1),
           RandomData(type, {3, 4}, 2, -3, 9), Int64s({3}, {1, 0, 1})},
          kSmall);
    }
  }
}

TEST(LowerSignal, MaxUnpool) {
  ModelBuilder b(11);
  b.Input("x", DataType::kFloat, {1, 2, 4, 3});
  b.Input("i", DataType::kInt64, {1, 2, 4, 3});
  auto* node = b.Node("MaxUnpool", {"x", "i"}, {"y"});
  SetInts(node, "kernel_shape", {2, 2});
  SetInts(node, "strides", {2, 2});
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {1, 2, 4, 3}, 1),
                  RandomData(DataType::kInt64, {1, 2, 4, 3}, 2, 0, 95)});
}

TEST(LowerSignal, Transforms) {
  for (int64_t parts : {1, 2}) {
    ModelBuilder b(17);
    b.Input("x", DataType::kFloat, {3, 50, parts});
    b.Input("step", DataType::kInt64, {});
    b.Input("window", DataType::kFloat, {12});
    SetInt(b.Node("DFT", {"x"}, {"y"}), "inverse", parts == 2);
    SetInt(b.Node("STFT", {"x", "step", "window"}, {"z"}), "onesided",
           parts == 1);
    b.Output("y");
    // A step that is computed: how many frames, the model says.
    b.Output("z", DataType::kFloat, {3, 8, parts == 1 ? 7 : 12, 2});
    ExpectCardEqualsReference(
        b.Bytes(),
        {RandomData(DataType::kFloat, {3, 50, parts}, 1), Int64s({}, {5}),
         RandomData(DataType::kFloat, {12}, 2)},
        kSmall);
  }
}

TEST(LowerSignal, Determinants) {
  for (int64_t rows : {1, 2, 3, 5}) {
    const Shape shape = {4, rows, rows};
    ModelBuilder b(11);
    b.Input("x", DataType::kFloat, shape);
    b.Node("Det", {"x"}, {"y"});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat, shape, 1)}, kSmall);
  }
}

// Of a grid that is computed, and of a size that the declared result tells.
TEST(LowerSignal, SpatialTransformer) {
  ModelBuilder b(20);
  b.Input("x", DataType::kFloat, {2, 3, 8, 9});
  b.Input("theta", DataType::kFloat, {2, 2, 3});
  b.Constant("size", Int64s({4}, {2, 3, 4, 5}));
  b.Node("AffineGrid", {"theta", "size"}, {"grid"});
  b.Node("GridSample", {"x", "grid"}, {"y"});
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kFloat, {2, 3, 8, 9}, 1),
                             RandomData(DataType::kFloat, {2, 2, 3}, 2, -1, 1)},
                            kSmall);
}

TEST(LowerSignal, ColumnsAndTheMiddleOfImages) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b(18);
    b.Input("x", type, {2, 3 * 6, 9});
    b.Constant("image", Int64s({2}, {5, 6}));
    b.Constant("block", Int64s({2}, {3, 2}));
    b.Constant("sizes", Int64s({2}, {9, 3}));
    auto* node = b.Node("Col2Im", {"x", "image", "block"}, {"folded"});
    SetInts(node, "strides", {2, 2});
    SetInts(node, "pads", {1, 0, 2, 1});
    SetInts(b.Node("CenterCropPad", {"folded", "sizes"}, {"y"}), "axes",
            {2, -1});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(type, {2, 18, 9}, 4)},
                              kSmall);
  }
}

TEST(LowerSignal, RegionsAndDeformedConvolutions) {
  for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
    ModelBuilder b(19);
    b.Input("x", type, {2, 4, 6, 7});
    b.Input("rois", type, {3, 5});
    b.Input("offset", type, {2, 2 * 6 * 2, 5, 7});
    b.Input("mask", type, {2, 2 * 6, 5, 7});
    b.Constant("w", RandomData(type, {6, 2, 2, 3}, 2));
    b.Constant("bias", RandomData(type, {6}, 3));
    SetInts(b.Node("MaxRoiPool", {"x", "rois"}, {"pooled"}), "pooled_shape",
            {2, 3});
    auto* node = b.Node("DeformConv", {"x", "w", "offset", "bias", "mask"},
                        {"convolved"});
    SetInt(node, "group", 2);
    SetInt(node, "offset_group", 2);
    SetInts(node, "pads", {0, 1, 0, 1});
    b.Output("pooled");
    b.Output("convolved");
    TensorData rois = RandomData(type, {3, 5}, 5, 0, 1);
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(type, {2, 4, 6, 7}, 4), rois,
                               RandomData(type, {2, 24, 5, 7}, 6, -3, 3),
                               RandomData(type, {2, 12, 5, 7}, 7)},
                              kSmall);
  }
}

TEST(LowerSignal, NGrams) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {3, 40});
  auto* node = b.Node("TfIdfVectorizer", {"x"}, {"y"});
  SetInt(node, "max_gram_length", 3);
  SetInt(node, "min_gram_length", 1);
  SetInt(node, "max_skip_count", 4);
  SetString(node, "mode", "TF");
  SetInts(node, "ngram_counts", {0, 2, 6});
  SetInts(node, "ngram_indexes", {3, 1, 0, 2, 5});
  SetInts(node, "pool_int64s", {1, 2, 1, 2, 2, 1, 1, 2, 1});
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kInt64, {3, 40}, 4, 0, 3)}, kSmall);
}

}  // namespace
}  // namespace heddle::compiler
