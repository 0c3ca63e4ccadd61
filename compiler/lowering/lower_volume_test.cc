// SPDX-License-Identifier: Apache-2.0
// QLinearConv and ConvInteger of three dimensions, on the card.
#include <gtest/gtest.h>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

void Describe(onnx::NodeProto* node) {
  SetInt(node, "group", 2);
  SetInts(node, "strides", {1, 2, 1});
  SetInts(node, "dilations", {2, 1, 1});
  SetInts(node, "pads", {1, 0, 1, 2, 1, 0});
}

const Shape kX = {2, 4, 5, 6, 7}, kW = {6, 2, 2, 3, 2};

TEST(LowerVolume, QLinearConv) {
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    ModelBuilder b(13);
    const TensorData x = RandomData(type, kX, 1);
    b.Input("x", type, kX);
    b.Constant("xs", Floats({}, {0.02f}));
    b.Constant("xz", RandomData(type, {}, 2));
    b.Constant("w", RandomData(DataType::kInt8, kW, 3));
    b.Constant("ws", Floats({6}, {0.01f, 0.02f, 0.03f, 0.01f, 0.05f, 0.02f}));
    b.Constant("wz", TensorData::Zeros(DataType::kInt8, {6}));
    b.Constant("ys", Floats({}, {0.2f}));
    b.Constant("yz", RandomData(type, {}, 4));
    b.Constant("bias", RandomData(DataType::kInt32, {6}, 5));
    Describe(b.Node("QLinearConv",
                    {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "bias"},
                    {"y"}));
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {x});
  }
}

TEST(LowerVolume, ConvInteger) {
  for (const bool zero : {false, true}) {
    ModelBuilder b(13);
    const TensorData x = RandomData(DataType::kUint8, kX, 6);
    b.Input("x", x.type, kX);
    b.Constant("w", RandomData(DataType::kInt8, kW, 7));
    std::vector<std::string> in = {"x", "w"};
    if (zero) {
      b.Constant("z", RandomData(DataType::kUint8, {}, 8));
      in.push_back("z");
    }
    Describe(b.Node("ConvInteger", in, {"y"}));
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), {x});
  }
}

}  // namespace
}  // namespace heddle::compiler
