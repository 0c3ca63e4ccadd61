// SPDX-License-Identifier: Apache-2.0
// What takes the place of sequences, and what is left with a reason. That it
// computes the same is shown against ONNX Runtime (tests/exporters).
#include "compiler/import/sequences.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/importer.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

// Of a model of opset 13 with the input x [4, 6]: the operators that are left,
// or why it is refused.
std::string Left(const std::function<void(ModelBuilder*)>& build,
                 int opset = 13) {
  ModelBuilder b(opset);
  b.Input("x", DataType::kFloat, {4, 6}).Input("i", DataType::kInt64, {});
  b.Constant("zero", Int64s({}, {0})).Constant("one", Int64s({}, {1}));
  b.Constant("two", Int64s({}, {2})).Constant("back", Int64s({}, {-1}));
  build(&b);
  b.Output("y");
  const auto model = ImportOnnx(b.Bytes(), {});
  if (!model.ok()) {
    EXPECT_EQ(RejectionOf(model.status()), Rejection::kUnsupportedOperator);
    return std::string(model.status().message());
  }
  std::string ops;
  for (const Node& node : model->graph.nodes) {
    if (node.op == "Constant") continue;
    absl::StrAppend(&ops, ops.empty() ? "" : " ", node.op);
  }
  return ops;
}

void ExpectRefused(const std::function<void(ModelBuilder*)>& build,
                   const std::string& reason) {
  const std::string said = Left(build);
  EXPECT_TRUE(absl::StrContains(said, reason)) << said;
}

TEST(Sequences, ListsAreTheirTensors) {
  EXPECT_EQ(Left([](ModelBuilder* b) {
              b->Node("Relu", {"x"}, {"r"});
              b->Node("SequenceConstruct", {"x", "r"}, {"s"});
              b->Node("SequenceInsert", {"s", "x", "zero"}, {"t"});
              b->Node("SequenceErase", {"t", "back"}, {"u"});
              b->Node("SequenceAt", {"u", "one"}, {"y"});
            }),
            "Relu Identity");
  EXPECT_EQ(Left([](ModelBuilder* b) {
              b->Node("SequenceConstruct", {"x", "x"}, {"s"});
              b->Node("Identity", {"s"}, {"t"});
              b->Node("SequenceLength", {"t"}, {"y"});
            }),
            "");
  EXPECT_EQ(Left([](ModelBuilder* b) {
              b->Node("SequenceConstruct", {"x", "x"}, {"s"});
              onnx::NodeProto* node =
                  b->Node("ConcatFromSequence", {"s"}, {"y"});
              SetInt(node, "axis", 0);
              SetInt(node, "new_axis", 1);
            }),
            "Unsqueeze Unsqueeze Concat");
}

TEST(Sequences, PiecesAreSlices) {
  const auto split = [](ModelBuilder* b, const std::string& size, bool keep) {
    onnx::NodeProto* node = b->Node("SplitToSequence", {"x", size}, {"s"});
    if (size.empty()) node->mutable_input()->RemoveLast();
    SetInt(node, "keepdims", keep);
    SetInt(node, "axis", 1);
  };
  EXPECT_EQ(Left([&](ModelBuilder* b) {
              split(b, "two", true);
              b->Node("SequenceAt", {"s", "one"}, {"y"});
            }),
            "Slice");
  EXPECT_EQ(Left([&](ModelBuilder* b) {
              split(b, "", true);
              b->Node("SequenceAt", {"s", "back"}, {"y"});
            }),
            "Gather Unsqueeze");
  // Where a run says.
  EXPECT_EQ(Left([&](ModelBuilder* b) {
              split(b, "", false);
              b->Node("SequenceAt", {"s", "i"}, {"y"});
            }),
            "Reshape Gather");
  EXPECT_EQ(Left([&](ModelBuilder* b) {
              split(b, "two", true);
              b->Node("SequenceLength", {"s"}, {"y"});
            }),
            "Shape Gather Add Div");
  EXPECT_EQ(Left([&](ModelBuilder* b) {
              split(b, "two", true);
              SetInt(b->Node("ConcatFromSequence", {"s"}, {"y"}), "axis", 1);
            }),
            "Identity");
}

// Opset 11 has sizes and axes as attributes.
TEST(Sequences, AreReplacedInTheModelsOpset) {
  const auto build = [](ModelBuilder* b) {
    b->Constant("sizes", Int64s({2}, {1, 3}));
    b->Node("SplitToSequence", {"x", "sizes"}, {"s"});
    b->Node("SequenceAt", {"s", "one"}, {"part"});
    b->Node("SequenceConstruct", {"part"}, {"t"});
    onnx::NodeProto* node = b->Node("ConcatFromSequence", {"t"}, {"y"});
    SetInt(node, "axis", 0);
    SetInt(node, "new_axis", 1);
  };
  for (int opset : {11, 13}) {
    EXPECT_EQ(Left(build, opset), "Split Identity Unsqueeze Concat") << opset;
  }
}

TEST(Sequences, AreNoneBeforeOpset11) {
  const std::string said = Left(
      [](ModelBuilder* b) {
        b->Node("SequenceConstruct", {"x", "x"}, {"s"});
        b->Node("SequenceAt", {"s", "zero"}, {"y"});
      },
      10);
  EXPECT_TRUE(absl::StrContains(said, "since opset 11")) << said;
}

TEST(Sequences, WhatARunDecidesIsRefusedWithTheReason) {
  ExpectRefused(
      [](ModelBuilder* b) {
        b->Node("SequenceConstruct", {"x", "x"}, {"s"});
        b->Node("SequenceAt", {"s", "i"}, {"y"});
      },
      "position 'i' is computed");
  ExpectRefused(
      [](ModelBuilder* b) {
        b->Node("SequenceConstruct", {"x", "x"}, {"s"});
        b->Node("SequenceAt", {"s", "two"}, {"y"});
      },
      "position 2 is outside of a sequence of 2 tensors");
  ExpectRefused(
      [](ModelBuilder* b) {
        b->Node("SplitToSequence", {"x", "i"}, {"s"});
        b->Node("SequenceAt", {"s", "zero"}, {"y"});
      },
      "the sizes of its pieces 'i' are computed");
  ExpectRefused(
      [](ModelBuilder* b) { b->Node("SequenceConstruct", {"x"}, {"y"}); },
      "output 'y' is a sequence");
  ExpectRefused(
      [](ModelBuilder* b) {
        b->Node("SequenceEmpty", {}, {"s"});
        SetInt(b->Node("ConcatFromSequence", {"s"}, {"y"}), "axis", 0);
      },
      "the sequence is empty");
  ExpectRefused(
      [](ModelBuilder* b) {
        b->Node("SequenceConstruct", {"x"}, {"s"});
        b->Node("Relu", {"s"}, {"y"});
      },
      "reads the sequence 's'");
}

// A Loop that appends i to what begins as `start` and is written by `op`.
void AddLoop(ModelBuilder* b, const std::string& op, bool empty) {
  if (empty) {
    b->Node("SequenceEmpty", {}, {"start"});
  } else {
    b->Node("SequenceConstruct", {"x"}, {"start"});
  }
  onnx::NodeProto* loop = b->Node("Loop", {"i", "", "start"}, {"list"});
  onnx::AttributeProto* attribute = loop->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto* body = attribute->mutable_g();
  for (const char* name : {"step", "go", "in"}) {
    body->add_input()->set_name(name);
  }
  const auto add = [&](const char* what, std::vector<std::string> inputs,
                       const char* output) {
    onnx::NodeProto* node = body->add_node();
    node->set_op_type(what);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
  };
  add("Identity", {"go"}, "again");
  add("Relu", {"x"}, "r");
  if (op == "SequenceInsert") add("SequenceInsert", {"in", "r"}, "out");
  if (op == "foreign") {
    add("SequenceInsert", {"in", "r"}, "out");
    body->mutable_node(body->node_size() - 1)->set_domain("somebody.else");
    auto* import = b->proto().add_opset_import();
    import->set_domain("somebody.else");
    import->set_version(1);
  }
  if (op == "SequenceErase") add("SequenceErase", {"in"}, "out");
  if (op == "twice") {
    add("SequenceInsert", {"in", "r"}, "half");
    add("SequenceInsert", {"half", "r"}, "out");
  }
  for (const char* name : {"again", "out"}) {
    body->add_output()->set_name(name);
  }
  onnx::NodeProto* node = b->Node("ConcatFromSequence", {"list"}, {"y"});
  SetInt(node, "axis", 0);
  SetInt(node, "new_axis", 1);
}

TEST(Sequences, WhatALoopAppendsIsAScanOutput) {
  EXPECT_EQ(Left([](ModelBuilder* b) { AddLoop(b, "SequenceInsert", true); }),
            "Loop Identity");
  for (const char* op : {"SequenceErase", "twice", "foreign"}) {
    ExpectRefused([op](ModelBuilder* b) { AddLoop(b, op, true); },
                  "the body does something other than");
  }
  ExpectRefused([](ModelBuilder* b) { AddLoop(b, "SequenceInsert", false); },
                "the body does something other than");
}

// A chain that would copy names without end is refused, not carried out.
TEST(Sequences, MayNotGrowWithoutEnd) {
  ExpectRefused(
      [](ModelBuilder* b) {
        b->Node("SequenceConstruct", {"x"}, {"s0"});
        for (int n = 0; n < 2000; ++n) {
          b->Node("SequenceInsert", {absl::StrCat("s", n), "x"},
                  {absl::StrCat("s", n + 1)});
        }
        b->Node("SequenceAt", {"s2000", "zero"}, {"y"});
      },
      "sequences have more than");
}

}  // namespace
}  // namespace heddle::compiler
