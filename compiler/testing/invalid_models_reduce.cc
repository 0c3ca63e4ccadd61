// SPDX-License-Identifier: Apache-2.0
// Operators along an axis.
#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

OperatorCases Reduce(const std::string& op) {
  return {op,
          [op] {
            ModelBuilder b;
            b.Input("x", DataType::kFloat, {2, 3, 4});
            auto* node = b.Node(op, {"x"}, {"y"});
            SetInts(node, "axes", {1});
            SetInt(node, "keepdims", 1);
            b.Output("y");
            return b;
          },
          {{"an axis beyond the rank", wrong::kValue, Ints("axes", {3})},
           {"an axis before the first", wrong::kValue, Ints("axes", {-4})},
           {"the second of two axes beyond the rank", wrong::kValue,
            Ints("axes", {0, 7})},
           {"one axis instead of a list", wrong::kValue, Int("axes", 1)},
           {"an input of bool", wrong::kType, InputType("x", DataType::kBool)},
           {"axes as an input", wrong::kValue, [](onnx::ModelProto* m) {
              m->mutable_graph()->mutable_node(0)->add_input("x");
            }}}};
}

ModelBuilder ReduceSum() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3, 4});
  b.Constant("a", Int64s({1}, {1}));
  SetInt(b.Node("ReduceSum", {"x", "a"}, {"y"}), "keepdims", 1);
  b.Output("y");
  return b;
}

OperatorCases AlongAxis(const std::string& op, bool select) {
  OperatorCases cases = {
      op,
      [=] {
        ModelBuilder b;
        b.Input("x", DataType::kFloat, {2, 3, 4});
        auto* node = b.Node(op, {"x"}, {"y"});
        SetInt(node, "axis", 1);
        if (select) SetInt(node, "keepdims", 1);
        b.Output("y");
        return b;
      },
      {{"an axis beyond the rank", wrong::kValue, Int("axis", 3)},
       {"an axis before the first", wrong::kValue, Int("axis", -4)},
       {"a list of axes", wrong::kValue, Ints("axis", {1})},
       {"axes instead of an axis",
        {Rejection::kInvalidModel},
        Ints("axes", {1})},
       {"an input of bool", wrong::kType, InputType("x", DataType::kBool)}}};
  return cases;
}

std::vector<OperatorCases> ReductionCases() {
  std::vector<OperatorCases> all;
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean",
                         "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    all.push_back(Reduce(op));
  }
  all.push_back(
      {"ReduceSum",
       ReduceSum,
       {{"an axis beyond the rank", wrong::kValue,
         Value("a", Int64s({1}, {3}))},
        {"an axis before the first", wrong::kValue,
         Value("a", Int64s({1}, {-4}))},
        {"axes of rank 2", wrong::kShapes, Value("a", Int64s({1, 1}, {1}))},
        {"axes of int32", wrong::kType, Value("a", Int32s({1}, {1}))},
        {"the attribute of opset 11",
         {Rejection::kInvalidModel},
         Ints("axes", {1})},
        {"an input of bool", wrong::kType, InputType("x", DataType::kBool)}}});
  all.push_back(AlongAxis("Softmax", false));
  all.push_back(AlongAxis("LogSoftmax", false));
  all.push_back(AlongAxis("ArgMax", true));
  return all;
}

const InvalidModels kReduction(ReductionCases);

}  // namespace
}  // namespace heddle::compiler
