// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fold_pad.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;

struct PadCase {
  Ints pads;
  std::string mode = "constant";
  float value = 0;
  std::string auto_pad = "NOTSET";
  bool second_reader = false;
  bool attributes = false;  // the form before opset 11
  std::string reader = "Conv";
};

// Pad, then Conv with pads 1; "" or the Conv's pads after the pass.
std::string PadsAfter(const PadCase& c) {
  Graph g;
  const auto tensor = [&](const char* name, const Shape& shape) {
    Tensor t;
    t.name = name;
    t.type = DataType::kFloat;
    t.shape = shape;
    t.shape_known = true;
    return g.AddTensor(t);
  };
  const TensorId x = tensor("x", {1, 2, 5, 6});
  const TensorId p = tensor("p", {1, 2, 9, 9}), y = tensor("y", {1, 3, 9, 9});
  g.inputs = {x};
  g.outputs = {y};
  Node pad;
  pad.op = "Pad";
  pad.name = "pad";
  pad.sources = {"pad"};
  pad.inputs = {x};
  pad.outputs = {p};
  pad.attributes["mode"] = c.mode;
  if (c.attributes) {
    pad.attributes["pads"] = c.pads;
    pad.attributes["value"] = c.value;
  } else {
    pad.inputs.push_back(g.AddConstant(
        "pads", Int64s({static_cast<int64_t>(c.pads.size())}, c.pads)));
    pad.inputs.push_back(g.AddConstant("value", Floats({}, {c.value})));
  }
  Node conv;
  conv.op = c.reader;
  conv.name = "conv";
  conv.sources = {"conv"};
  conv.inputs = {
      p, g.AddConstant("w", TensorData::Zeros(DataType::kFloat, {3, 2, 3, 3}))};
  conv.outputs = {y};
  conv.attributes["auto_pad"] = c.auto_pad;
  conv.attributes["pads"] = Ints{1, 1, 1, 1};
  g.nodes = {pad, conv};
  if (c.second_reader) g.outputs.push_back(p);
  EXPECT_TRUE(FoldPad(&g).ok());
  EXPECT_TRUE(g.Verify().ok());
  if (g.nodes.size() != 1) return "";
  EXPECT_EQ(g.nodes[0].inputs[0], x);
  EXPECT_EQ(g.nodes[0].outputs[0], y);
  EXPECT_EQ(g.nodes[0].sources, (std::vector<std::string>{"pad", "conv"}));
  EXPECT_EQ(g.nodes[0].StringAttribute("auto_pad", "NOTSET"), "NOTSET");
  return ShapeToString(g.nodes[0].IntsAttribute("pads", {}));
}

TEST(FoldPadTest, ZerosAroundTheImage) {
  EXPECT_EQ(PadsAfter({{0, 0, 1, 2, 0, 0, 3, 4}}), "[2,3,4,5]");
  PadCase c{{0, 0, 1, 2, 0, 0, 3, 4}};
  c.attributes = true;
  EXPECT_EQ(PadsAfter(c), "[2,3,4,5]");
  c.auto_pad = "VALID";
  EXPECT_EQ(PadsAfter(c), "[1,2,3,4]");
}

TEST(FoldPadTest, OthersStay) {
  const Ints pads = {0, 0, 1, 2, 0, 0, 3, 4};
  PadCase c{pads};
  c.mode = "reflect";
  EXPECT_EQ(PadsAfter(c), "");
  c = {pads};
  c.value = 1;
  EXPECT_EQ(PadsAfter(c), "");
  c.value = -0.0f;  // -0 times a negative weight is +0
  EXPECT_EQ(PadsAfter(c), "");
  c = {pads};
  c.auto_pad = "SAME_UPPER";
  EXPECT_EQ(PadsAfter(c), "");
  c = {pads};
  c.second_reader = true;
  EXPECT_EQ(PadsAfter(c), "");
  c = {pads};
  c.reader = "AveragePool";
  EXPECT_EQ(PadsAfter(c), "");
  EXPECT_EQ(PadsAfter({{0, 0, -1, 2, 0, 0, 3, 4}}), "");
  EXPECT_EQ(PadsAfter({{0, 1, 1, 2, 0, 0, 3, 4}}), "");
  EXPECT_EQ(PadsAfter({{0, 0, 65535, 2, 0, 0, 3, 4}}), "");
}

}  // namespace
}  // namespace heddle::compiler
