// SPDX-License-Identifier: Apache-2.0
// Operators that are made of others.
#include <string>
#include <vector>

#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

// One input "x" of floats of shape [2,4,3,3] unless said otherwise.
OperatorCases One(const std::string& op, int opset,
                  const std::function<void(onnx::NodeProto*)>& attributes,
                  std::vector<Mutation> own,
                  const Shape& shape = {2, 4, 3, 3}) {
  own.push_back({"integers", wrong::kType, InputType("x", DataType::kInt8)});
  return {op,
          [=] {
            ModelBuilder b(opset);
            b.Input("x", DataType::kFloat, shape);
            attributes(b.Node(op, {"x"}, {"y"}));
            b.Output("y");
            return b;
          },
          std::move(own)};
}

void Nothing(onnx::NodeProto*) {}

std::vector<Mutation> OfAxes() {
  return {{"an axis that is none", wrong::kValue, Ints("axes", {4})},
          {"an axis twice", wrong::kValue, Ints("axes", {0, 0})},
          {"an axis twice, once from the end", wrong::kValue,
           Ints("axes", {0, -4})},
          {"a number as axes", wrong::kValue, Int("axes", 0)}};
}

ModelBuilder OneHot() {
  ModelBuilder b(13);
  b.Input("x", DataType::kInt64, {2, 3});
  b.Constant("depth", Int64s({}, {5}));
  b.Constant("values", Floats({2}, {0, 1}));
  b.Node("OneHot", {"x", "depth", "values"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder Trilu() {
  ModelBuilder b(14);
  b.Input("x", DataType::kFloat, {2, 3, 4});
  b.Constant("k", Int64s({}, {1}));
  b.Node("Trilu", {"x", "k"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder CumSum() {
  ModelBuilder b(14);
  b.Input("x", DataType::kFloat, {2, 3, 4});
  b.Constant("axis", Int64s({}, {1}));
  b.Node("CumSum", {"x", "axis"}, {"y"});
  b.Output("y");
  return b;
}

ModelBuilder Loss(const char* op) {
  ModelBuilder b(13);
  b.Input("x", DataType::kFloat, {2, 5, 3});
  b.Input("t", DataType::kInt64, {2, 3});
  b.Constant("w", Floats({5}, {1, 2, 3, 4, 5}));
  b.Node(op, {"x", "t", "w"}, {"y"});
  b.Output("y");
  return b;
}
ModelBuilder Likelihood() { return Loss("NegativeLogLikelihoodLoss"); }
ModelBuilder CrossEntropy() { return Loss("SoftmaxCrossEntropyLoss"); }
std::vector<Mutation> OfLosses() {
  return {{"another reduction", wrong::kValue, String("reduction", "max")},
          {"targets of another shape", wrong::kShapes, InputShape("t", {2, 4})},
          {"targets with classes", wrong::kShapes, InputShape("t", {2, 5, 3})},
          {"targets that are fractions", wrong::kType,
           InputType("t", DataType::kFloat)},
          {"too many weights", wrong::kShapes,
           Value("w", Floats({6}, {1, 2, 3, 4, 5, 6}))},
          {"no targets", wrong::kValue, Inputs(1)}};
}

std::vector<OperatorCases> ExpandedCases() {
  std::vector<OperatorCases> all;
  for (const char* op : {"ReduceLogSum", "ReduceLogSumExp"}) {
    all.push_back(One(op, 13, Nothing, OfAxes()));
  }
  all.push_back(One("Hardmax", 13, Nothing,
                    {{"an axis that is none", wrong::kValue, Int("axis", 4)},
                     {"axes", {Rejection::kInvalidModel}, Ints("axes", {1})}}));
  all.push_back(One("LpNormalization", 13, Nothing,
                    {{"an axis that is none", wrong::kValue, Int("axis", -5)},
                     {"another norm", wrong::kValue, Int("p", 3)}}));
  all.push_back(
      One("MeanVarianceNormalization", 13, Nothing,
          {{"an axis that is none", wrong::kValue, Ints("axes", {0, 4})}}));
  all.push_back(One("GlobalLpPool", 13, Nothing,
                    {{"no power", wrong::kValue, Int("p", 0)},
                     {"a kernel", wrong::kValue, Ints("kernel_shape", {2})}}));
  all.push_back(One(
      "LpPool", 13,
      [](onnx::NodeProto* n) {
        SetInts(n, "kernel_shape", {2, 2});
      },
      {{"no kernel", wrong::kValue, Drop("kernel_shape")},
       {"a kernel of another rank", wrong::kValue, Ints("kernel_shape", {2})},
       {"a kernel of 0", wrong::kValue, Ints("kernel_shape", {0, 2})},
       {"a negative power", wrong::kValue, Int("p", -1)},
       {"pads of one side", wrong::kValue, Ints("pads", {1, 1})}}));
  all.push_back(
      {"OneHot",
       OneHot,
       {{"an axis that is none", wrong::kValue, Int("axis", 3)},
        {"a depth of 0", wrong::kValue, Value("depth", Int64s({}, {0}))},
        {"values of three", wrong::kShapes,
         Value("values", Floats({3}, {0, 1, 2}))},
        {"no values", wrong::kValue, Inputs(2)}}});
  all.push_back(
      {"Trilu",
       Trilu,
       {{"a vector", wrong::kRank, InputShape("x", {4})},
        {"a fraction as k", wrong::kType, Value("k", Floats({}, {1}))}}});
  all.push_back(
      {"CumSum",
       CumSum,
       {{"an axis that is none", wrong::kValue, Value("axis", Int64s({}, {3}))},
        {"a fraction as axis", wrong::kType, Value("axis", Floats({}, {1}))},
        {"no axis", wrong::kValue, Inputs(1)},
        {"a type without sums", wrong::kType,
         InputType("x", DataType::kBool)}}});
  all.push_back({"NegativeLogLikelihoodLoss", Likelihood, OfLosses()});
  all.push_back({"SoftmaxCrossEntropyLoss", CrossEntropy, OfLosses()});
  return all;
}

const InvalidModels kExpanded(ExpandedCases);

}  // namespace
}  // namespace heddle::compiler
