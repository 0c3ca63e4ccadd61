// SPDX-License-Identifier: Apache-2.0
// QLinearAveragePool and QLinearGlobalAveragePool on the card.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

CardCase Sizes() {
  CardCase options;
  options.sram_bytes = {0, 64 << 10, 16 << 10};
  return options;
}

TensorData Code(DataType type, int value) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = static_cast<uint8_t>(value);
  return data;
}

struct Parameters {
  float xs = 0.6015625f;
  int xz = 7;
  float ys = 0.5546875f;
  int yz = 9;
};

onnx::NodeProto* Pool(ModelBuilder* b, const std::string& op,
                      const std::string& x, const std::string& y, DataType type,
                      const Parameters& p) {
  b->Constant(y + "_xs", Floats({}, {p.xs}));
  b->Constant(y + "_xz", Code(type, p.xz));
  b->Constant(y + "_ys", Floats({}, {p.ys}));
  b->Constant(y + "_yz", Code(type, p.yz));
  return b->Node(op, {x, y + "_xs", y + "_xz", y + "_ys", y + "_yz"}, {y},
                 kMicrosoft);
}

class QuantizedPool : public testing::TestWithParam<DataType> {};

TEST_P(QuantizedPool, Global) {
  const DataType type = GetParam();
  for (const Shape& shape :
       {Shape{1, 1, 1, 1}, Shape{2, 37, 7, 7}, Shape{3, 600, 3, 5},
        Shape{2, 20, 61, 50}, Shape{2, 19, 33}, Shape{2, 5, 3, 4, 6}}) {
    SCOPED_TRACE(ShapeToString(shape));
    ModelBuilder b;
    b.Input("x", type, shape);
    Pool(&b, "QLinearGlobalAveragePool", "x", "y", type,
         {0.11f, 120, 0.07f, 133});
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(type, shape, 3)}, Sizes());
  }
}

struct WindowCase {
  Shape shape;
  std::vector<int64_t> kernel, strides, pads;
  bool include_pad = false, ceil = false;
  const char* auto_pad = "";
};

TEST_P(QuantizedPool, Windows) {
  const DataType type = GetParam();
  const std::vector<WindowCase> cases = {
      {{2, 37, 9, 11}, {2, 2}, {2, 2}, {}},
      {{2, 37, 9, 11}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
      {{2, 37, 9, 11}, {3, 3}, {1, 1}, {1, 1, 1, 1}, true},
      {{1, 5, 9, 11}, {5, 3}, {2, 3}, {2, 1, 0, 2}, false, true},
      {{1, 5, 8, 10}, {3, 3}, {2, 2}, {1, 0, 0, 1}, true, true},
      {{1, 16, 8, 8}, {3, 3}, {2, 2}, {}, false, false, "SAME_UPPER"},
      {{1, 16, 8, 8}, {3, 3}, {2, 2}, {}, false, false, "SAME_LOWER"},
      {{2, 20, 40}, {5}, {2}, {2, 2}},
      {{2, 20, 7, 7}, {7, 7}, {1, 1}, {}},  // the whole image: global form
      {{2, 20, 7, 7}, {7, 7}, {1, 1}, {1, 1, 1, 1}},
      {{1, 33, 40, 30}, {4, 4}, {4, 4}, {}},
  };
  for (const WindowCase& c : cases) {
    SCOPED_TRACE(absl::StrCat(ShapeToString(c.shape), " kernel ",
                              ShapeToString(c.kernel)));
    ModelBuilder b;
    b.Input("x", type, c.shape);
    auto* node = Pool(&b, "QLinearAveragePool", "x", "y", type, Parameters());
    SetInts(node, "kernel_shape", c.kernel);
    SetInts(node, "strides", c.strides);
    if (!c.pads.empty()) SetInts(node, "pads", c.pads);
    if (c.include_pad) SetInt(node, "count_include_pad", 1);
    if (c.ceil) SetInt(node, "ceil_mode", 1);
    if (c.auto_pad[0] != '\0') SetString(node, "auto_pad", c.auto_pad);
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {RandomData(type, c.shape, 5)},
                              Sizes());
  }
}

INSTANTIATE_TEST_SUITE_P(All, QuantizedPool,
                         testing::Values(DataType::kUint8, DataType::kInt8),
                         [](const auto& info) {
                           return std::string(DataTypeName(info.param));
                         });

// The fp32 path gives 201.5 -> 202; an int32 sum would give 201.
TEST(QLinearAveragePool, WorkedEdgeCase) {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {1, 1, 2, 4});
  auto* node =
      Pool(&b, "QLinearAveragePool", "x", "y", DataType::kUint8, Parameters());
  SetInts(node, "kernel_shape", {2, 2});
  SetInts(node, "strides", {2, 2});
  b.Output("y");
  const auto y = ExpectCardEqualsReference(
      b.Bytes(), {Uint8s({1, 1, 2, 4}, {137, 200, 1, 2, 237, 164, 3, 4})},
      Sizes());
  ASSERT_EQ(y.size(), 1u);
  EXPECT_EQ(y[0].bytes[0], 202);
}

// A chain in the blocked layout: poolings, tables and additions without a
// relayout between them.
TEST(QLinearPools, ChainStaysBlocked) {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {2, 21, 12, 10});
  auto* pool =
      Pool(&b, "QLinearAveragePool", "x", "p", DataType::kUint8, Parameters());
  SetInts(pool, "kernel_shape", {3, 3});
  SetInts(pool, "pads", {1, 1, 1, 1});
  Pool(&b, "QLinearSigmoid", "p", "s", DataType::kUint8,
       {0.05f, 128, 1 / 256.0f, 0});
  Pool(&b, "QLinearGlobalAveragePool", "s", "g", DataType::kUint8,
       {1 / 256.0f, 0, 1 / 256.0f, 0});
  b.Constant("one", Floats({}, {0.5f}));
  b.Node("QLinearMul",
         {"p", "p_ys", "p_yz", "g", "g_ys", "g_yz", "one", "g_yz"}, {"y"},
         kMicrosoft);
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kUint8, {2, 21, 12, 10}, 5)}, Sizes());
}

}  // namespace
}  // namespace heddle::compiler
