// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10, 64 << 10}};

struct ConvCase {
  Shape x, w;
  int64_t group = 1;
  std::vector<int64_t> strides = {}, dilations = {}, pads = {};
  bool bias = true;
  std::string op = "Conv";
  std::string clamp = "";
  DataType type = DataType::kFloat;
  std::vector<int64_t> output_padding = {}, output_shape = {};
  std::string auto_pad = "";
};

std::string Build(const ConvCase& c, std::vector<TensorData>* inputs) {
  ModelBuilder b;
  b.Input("x", c.type, c.x);
  b.Constant("w", RandomData(c.type, c.w, 2, -1, 1));
  std::vector<std::string> in = {"x", "w"};
  if (c.bias) {
    const int64_t maps = c.op == "Conv" ? c.w[0] : c.w[1] * c.group;
    b.Constant("b", RandomData(c.type, {maps}, 3));
    in.push_back("b");
  }
  onnx::NodeProto* node = b.Node(c.op, in, {c.clamp.empty() ? "y" : "sum"});
  SetInt(node, "group", c.group);
  if (!c.strides.empty()) SetInts(node, "strides", c.strides);
  if (!c.dilations.empty()) SetInts(node, "dilations", c.dilations);
  if (!c.pads.empty()) SetInts(node, "pads", c.pads);
  if (!c.auto_pad.empty()) SetString(node, "auto_pad", c.auto_pad);
  if (!c.output_padding.empty())
    SetInts(node, "output_padding", c.output_padding);
  if (!c.output_shape.empty()) SetInts(node, "output_shape", c.output_shape);
  if (c.clamp == "Relu") b.Node("Relu", {"sum"}, {"y"});
  if (c.clamp == "Clip") {
    TensorData low = RandomData(c.type, {}, 5, -0.5, -0.25);
    TensorData high = RandomData(c.type, {}, 6, 0.5, 1);
    b.Constant("low", low).Constant("high", high);
    b.Node("Clip", {"sum", "low", "high"}, {"y"});
  }
  b.Output("y");
  *inputs = {RandomData(c.type, c.x, 1, -2, 2)};
  return b.Bytes();
}

void Check(const ConvCase& c, const CardCase& options = kSizes) {
  std::vector<TensorData> inputs;
  const std::string model = Build(c, &inputs);
  ExpectCardEqualsReference(model, inputs, options);
}

TEST(LowerConvTest, OneDimension) {
  Check({{2, 5, 37}, {6, 5, 3}, 1, {2}, {1}, {1, 2}});
  Check({{1, 4, 19}, {8, 2, 4}, 2, {1}, {2}, {3, 0}, false});
  Check({{1, 1, 300}, {20, 1, 31}, 1, {4}, {}, {}});
}

// Cut into tiles of columns.
TEST(LowerConvTest, LongLines) {
  const CardCase sizes{{0, 16 << 10, 64 << 10}, false};
  Check({{1, 2, 20011}, {6, 2, 5}, 1, {2}, {3}, {7, 2}}, sizes);
  Check({{2, 3, 1, 9000}, {3, 1, 1, 3}, 3, {}, {}, {0, 1, 0, 1}}, sizes);
  ConvCase c{{1, 2, 9001}, {2, 3, 5}, 1, {3}, {}, {1, 2}};
  c.op = "ConvTranspose";
  c.type = DataType::kFloat16;
  c.clamp = "Relu";
  Check(c, sizes);
}

TEST(LowerConvTest, TwoDimensions) {
  Check({{1, 3, 17, 13}, {16, 3, 3, 3}, 1, {2, 2}, {}, {1, 1, 1, 1}});
  Check({{2, 7, 9, 11}, {5, 7, 2, 3}, 1, {1, 2}, {2, 1}, {0, 2, 1, 1}, false});
  Check({{1, 20, 12, 12}, {33, 20, 1, 1}});
  Check({{1, 64, 5, 3}, {17, 64, 1, 1}});
}

TEST(LowerConvTest, Groups) {
  Check({{1, 12, 9, 9}, {18, 4, 3, 3}, 3, {1, 1}, {}, {1, 1, 1, 1}});
  Check({{1, 64, 6, 6}, {64, 32, 1, 1}, 2});
}

TEST(LowerConvTest, Depthwise) {
  Check({{1, 24, 20, 20}, {24, 1, 3, 3}, 24, {1, 1}, {}, {1, 1, 1, 1}});
  Check({{2, 40, 5, 3}, {40, 1, 3, 3}, 40, {2, 2}, {}, {1, 1, 1, 1}, false});
  Check({{1, 6, 8, 30}, {12, 1, 5, 5}, 6, {1, 1}, {2, 2}, {4, 4, 4, 4}});
}

TEST(LowerConvTest, AutomaticPadding) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    ConvCase c{{1, 3, 10, 9}, {4, 3, 3, 2}, 1, {2, 2}};
    c.auto_pad = mode;
    Check(c);
  }
}

// The reduction in pieces, which continue the chain through the result.
TEST(LowerConvTest, WeightsLargerThanSram) {
  CardCase sizes = kSizes;
  sizes.may_refuse_less_sram = false;
  Check({{1, 300, 4, 4}, {40, 300, 3, 3}, 1, {}, {}, {1, 1, 1, 1}}, sizes);
  // One channel's kernel is larger than a piece may be.
  Check({{1, 2, 40, 40}, {3, 2, 37, 37}}, {{0, 32 << 10}, false});
  ConvCase half{{1, 300, 4, 4}, {40, 300, 3, 3}, 1, {}, {}, {1, 1, 1, 1}};
  half.type = DataType::kFloat16;
  half.clamp = "Clip";
  Check(half, sizes);
}

// One row of all channels is larger than SRAM: channel slices.
TEST(LowerConvTest, InputRowsLargerThanSram) {
  Check({{1, 96, 6, 30}, {8, 96, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},
        {{0, 16 << 10, 64 << 10}, false});
  Check({{1, 96, 6, 30}, {96, 1, 3, 3}, 96, {}, {}, {1, 1, 1, 1}},
        {{64 << 10}, false});
  Check({{1, 96, 6, 30}, {24, 24, 3, 3}, 4, {}, {}, {1, 1, 1, 1}},
        {{16 << 10}, false});
}

TEST(LowerConvTest, ClampsAreFused) {
  for (const char* clamp : {"Relu", "Clip"}) {
    for (const char* op : {"Conv", "ConvTranspose"}) {
      for (DataType type : {DataType::kFloat, DataType::kFloat16}) {
        ConvCase c{{1, 4, 7, 9}, {4, 4, 3, 3}, 1, {2, 2}};
        c.op = op;
        c.clamp = clamp;
        c.type = type;
        Check(c);
        std::vector<TensorData> inputs;
        auto result = CompileOnnx(Build(c, &inputs), {});
        ASSERT_TRUE(result.ok()) << result.status();
        ASSERT_EQ(result->report.layers.size(), 1u);
        EXPECT_EQ(result->report.layers[0].sources.size(), 2u);
      }
    }
  }
}

// NaN, infinities and zeros of both signs through the fused clamp.
TEST(LowerConvTest, ClampOfSpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool relu : {true, false}) {
    for (const float low : {0.0f, -0.0f, -1.0f}) {
      ModelBuilder b(6 + 5);
      b.Input("x", DataType::kFloat, {1, 1, 1, 8});
      b.Constant("w", Floats({1, 1, 1, 1}, {1}));
      b.Constant("b", Floats({1}, {-0.0f}));
      b.Constant("low", Floats({}, {low})).Constant("high", Floats({}, {0}));
      b.Node("Conv", {"x", "w", "b"}, {"sum"});
      if (relu) {
        b.Node("Relu", {"sum"}, {"y"});
      } else {
        b.Node("Clip", {"sum", "low", "high"}, {"y"});
      }
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(),
          {Floats({1, 1, 1, 8}, {nan, inf, -inf, 0, -0.0f, 1, -1, -0.5f})});
    }
  }
}

// fp16: rounding and clamping at a zero do not commute in every case.
TEST(LowerConvTest, HalfClampAtZero) {
  for (const uint16_t low : {0x0000, 0x8000, 0xbc00}) {
    for (const uint16_t high : {0x0000, 0x8000, 0x3c00}) {
      ModelBuilder b;
      b.Input("x", DataType::kFloat16, {1, 1, 1, 6});
      b.Constant("w", MakeData<uint16_t>(DataType::kFloat16, {1, 1, 1, 1},
                                         {0x0001}));  // 2^-24
      b.Constant("low", MakeData<uint16_t>(DataType::kFloat16, {}, {low}));
      b.Constant("high", MakeData<uint16_t>(DataType::kFloat16, {}, {high}));
      b.Node("Conv", {"x", "w"}, {"sum"});
      b.Node("Clip", {"sum", "low", "high"}, {"y"});
      b.Output("y");
      ExpectCardEqualsReference(
          b.Bytes(),
          {MakeData<uint16_t>(DataType::kFloat16, {1, 1, 1, 6},
                              {0x3400, 0xb400, 0, 0x8000, 0x7c00, 0x7e00})});
    }
  }
}

TEST(LowerConvTest, Half) {
  ConvCase c{{2, 6, 9, 11}, {20, 6, 3, 3}, 1, {1, 2}, {}, {1, 1, 1, 1}};
  c.type = DataType::kFloat16;
  Check(c);
  c = {{1, 15, 9, 7}, {15, 1, 3, 3}, 15, {1, 1}, {}, {1, 1, 1, 1}};
  c.type = DataType::kFloat16;
  Check(c);
  c = {{1, 4, 5, 5}, {4, 3, 3, 3}, 1, {2, 2}, {}, {0, 1, 0, 1}};
  c.op = "ConvTranspose";
  c.type = DataType::kFloat16;
  Check(c);
}

TEST(LowerConvTest, ComputedWeights) {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    ModelBuilder b;
    b.Input("x", DataType::kFloat, {2, 4, 7, 6});
    b.Input("w", DataType::kFloat, {4, 2, 3, 3});
    b.Input("b", DataType::kFloat, {4});
    onnx::NodeProto* node = b.Node(op, {"x", "w", "b"}, {"y"});
    SetInt(node, "group", 2);
    SetInts(node, "pads", {1, 1, 1, 1});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(),
                              {RandomData(DataType::kFloat, {2, 4, 7, 6}, 1),
                               RandomData(DataType::kFloat, {4, 2, 3, 3}, 2),
                               RandomData(DataType::kFloat, {4}, 3)},
                              kSizes);
  }
}

ConvCase Transposed(ConvCase c) {
  c.op = "ConvTranspose";
  return c;
}

TEST(LowerConvTest, ConvTranspose) {
  Check(Transposed({{1, 3, 5, 4}, {3, 6, 3, 3}}));
  Check(Transposed({{2, 3, 9, 5}, {3, 6, 3, 3}, 1, {2, 2}, {}, {1, 0, 1, 2}}));
  Check(Transposed({{1, 8, 20, 6}, {8, 5, 4, 4}, 1, {2, 2}, {}, {1, 1, 1, 1}}));
  Check(Transposed({{1, 4, 11}, {4, 3, 5}, 2, {3}, {}, {1, 1}}));
  Check(Transposed({{1, 3, 5, 4}, {3, 2, 3, 2}, 1, {3, 2}, {2, 3}}));
  // Strides beyond the kernel leave results that are the bias only.
  Check(Transposed({{1, 3, 5, 4}, {3, 4, 2, 1}, 1, {3, 2}}));
  Check(Transposed({{1, 3, 5, 4}, {3, 4, 1, 1}, 1, {2, 2}, {}, {}, false}));
  ConvCase relu = Transposed({{1, 3, 5, 4}, {3, 4, 2, 1}, 1, {3, 2}});
  relu.clamp = "Relu";
  Check(relu);
  ConvCase more = Transposed({{1, 3, 5, 4}, {3, 4, 3, 3}, 1, {2, 2}});
  more.output_padding = {1, 1};
  Check(more);
  more.output_padding = {};
  more.output_shape = {10, 9};
  Check(more);
  more.output_shape = {};
  more.auto_pad = "SAME_UPPER";
  Check(more);
  more.auto_pad = "SAME_LOWER";
  Check(more);
  // Padding that reaches inside of the image.
  Check(Transposed({{1, 3, 6, 7}, {3, 4, 2, 2}, 1, {2, 2}, {}, {3, 3, 3, 3}}));
}

TEST(LowerConvTest, ConvTransposeInPieces) {
  Check(Transposed(
            {{1, 100, 6, 4}, {100, 20, 4, 4}, 1, {2, 2}, {}, {1, 1, 1, 1}}),
        {{16 << 10, 64 << 10}, false});
  Check(Transposed({{1, 40, 15, 30}, {40, 3, 4, 4}, 1, {4, 4}}),
        {{16 << 10, 64 << 10}, false});
}

// One row of all maps is larger than SRAM: an operation for some of them each.
TEST(LowerConvTest, ResultRowsLargerThanSram) {
  const CardCase sizes{{0, 16 << 10, 64 << 10}, false};
  Check({{1, 3, 5, 200}, {70, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1}}, sizes);
  Check({{1, 70, 4, 120}, {70, 1, 3, 3}, 70, {}, {}, {1, 1, 1, 1}}, sizes);
  ConvCase c{{1, 40, 3, 60}, {40, 20, 3, 3}, 1, {2, 2}};
  c.op = "ConvTranspose";
  c.type = DataType::kFloat16;
  c.clamp = "Relu";
  Check(c, sizes);
}

// The convolutions of SqueezeNet 1.0 compile, and keep the vector engine's
// lanes full.
TEST(LowerConvTest, SqueezeNetLayers) {
  struct Layer {
    int64_t size, channels, maps, kernel, stride, pad;
  };
  for (const Layer& l : std::vector<Layer>{{224, 3, 96, 7, 2, 0},
                                           {54, 96, 16, 1, 1, 0},
                                           {54, 16, 64, 1, 1, 0},
                                           {54, 16, 64, 3, 1, 1},
                                           {27, 256, 32, 1, 1, 0},
                                           {27, 48, 192, 3, 1, 1},
                                           {13, 64, 256, 3, 1, 1},
                                           {13, 512, 1000, 1, 1, 0}}) {
    ConvCase c{{1, l.channels, l.size, l.size},
               {l.maps, l.channels, l.kernel, l.kernel},
               1,
               {l.stride, l.stride},
               {},
               {l.pad, l.pad, l.pad, l.pad}};
    c.clamp = "Relu";
    std::vector<TensorData> inputs;
    auto result = CompileOnnx(Build(c, &inputs), {});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->report.layers.size(), 1u);
    const auto& layer = result->report.layers[0];
    // Of contractions of 16, their beginning takes a quarter.
    const double least = l.channels * l.kernel > 16 ? 0.85 : 0.75;
    EXPECT_GT(layer.macs, least * 16 * layer.estimated_cycles)
        << l.size << " " << l.channels << " " << l.maps;
  }
}

}  // namespace
}  // namespace heddle::compiler
