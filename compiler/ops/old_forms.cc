// SPDX-License-Identifier: Apache-2.0
// Operators as opsets 1 to 8 defined them, where that differs from what came
// after in more than types: one row of a table each, with what a node of the
// newer form must look like to do the same. Forms that differ only in
// attributes turned inputs (Slice, Squeeze, ...) are handled with the operator.
//
//   broadcast, axis  the second operand has one element, or its shape is that
//   of
//                    the dimensions of the first from `axis` on (without it: of
//                    the last ones). Without broadcast=1 both shapes are equal.
//   consumed_inputs  which inputs may be overwritten: means nothing.
//   is_test          0, the default, is training, which is refused.
//
// Expected results of every row: old_forms_test.cc.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/form_writer.h"
#include "compiler/ops/rank_rule.h"

namespace heddle::compiler {
namespace {

using Nodes = absl::StatusOr<std::vector<Node>>;

FormWriter::Attributes Without(const Node& node,
                               std::initializer_list<const char*> names) {
  FormWriter::Attributes attributes = node.attributes;
  attributes.erase("consumed_inputs");
  for (const char* name : names) attributes.erase(name);
  return attributes;
}

// The same operator without consumed_inputs, at the opset after.
template <int opset>
Nodes Forget(Graph* graph, const Node& node) {
  return FormWriter(graph, node)
      .Finish(node.op.c_str(), opset, node.inputs, Without(node, {}));
}

// Selu-1 and -6 differ in the defaults, too.
Nodes OldSelu(Graph* graph, const Node& node) {
  FormWriter::Attributes attributes = Without(node, {});
  attributes.emplace("alpha", 1.6732f);
  attributes.emplace("gamma", 1.0507f);
  return FormWriter(graph, node)
      .Finish("Selu", 6, node.inputs, std::move(attributes));
}

// Min, Max, Sum, Mean before opset 8: nothing is broadcast.
Nodes SameShapes(Graph* graph, const Node& node) {
  const Tensor& first = InputOf(*graph, node, 0);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!HasInput(node, i)) {
      return RejectNode(Rejection::kInvalidModel, node, "input ", i,
                        " is missing");
    }
    const Tensor& other = InputOf(*graph, node, i);
    if (other.shape == first.shape) continue;
    return RejectNode(Rejection::kMismatchingShape, node, "input '", other.name,
                      "' has shape ", ShapeToString(other.shape),
                      ", the first one ", ShapeToString(first.shape),
                      "; before opset 8 they must be equal");
  }
  return Forget<8>(graph, node);
}

// Operators of two operands: the second one in a shape that broadcasts as numpy
// does.
template <int opset>
Nodes Aligned(Graph* graph, const Node& node) {
  const Shape a = InputOf(*graph, node, 0).shape,
              b = InputOf(*graph, node, 1).shape;
  FormWriter writer(graph, node);
  std::vector<TensorId> inputs = node.inputs;
  const auto refuse = [&](const auto&... why) {
    return RejectNode(Rejection::kMismatchingShape, node, "shapes ",
                      ShapeToString(a), " and ", ShapeToString(b), why...);
  };
  if (node.IntAttribute("broadcast", 0) == 0) {
    if (a != b) return refuse(" differ and broadcast is 0");
  } else if (ElementCount(b) != 1 || b.size() > a.size()) {
    const auto rank = static_cast<int64_t>(a.size()),
               count = static_cast<int64_t>(b.size());
    const int64_t axis = node.IntAttribute("axis", rank - count);
    if (axis < 0 || axis > rank - count ||
        !std::equal(b.begin(), b.end(), a.begin() + axis)) {
      return refuse(" do not match from axis ", axis, " on");
    }
    if (axis + count < rank) {
      Shape shape(b);
      shape.resize(static_cast<size_t>(rank - axis), 1);
      inputs[1] = writer.Add("Reshape", 13, {inputs[1], writer.Ints(shape)});
    }
  }
  return writer.Finish(node.op.c_str(), opset, std::move(inputs),
                       Without(node, {"axis", "broadcast"}));
}

// LpPool-1 and GlobalLpPool-1: the power is a float.
Nodes WholePower(Graph* graph, const Node& node) {
  const float p = node.FloatAttribute("p", 2);
  if (!(p >= 1 && p <= 1024) || p != std::floor(p)) {
    return RejectNode(Rejection::kUnsupportedAttribute, node, "p = ", p,
                      " is not a whole number from 1 to 1024");
  }
  FormWriter::Attributes attributes = Without(node, {"p"});
  attributes["p"] = static_cast<int64_t>(p);
  return FormWriter(graph, node)
      .Finish(node.op.c_str(), 2, node.inputs, std::move(attributes));
}

// C is [M, N], or broadcasts to it if the attribute says so.
Nodes OldGemm(Graph* graph, const Node& node) {
  const Shape &a = InputOf(*graph, node, 0).shape,
              &b = InputOf(*graph, node, 1).shape,
              &c = InputOf(*graph, node, 2).shape;
  if (node.IntAttribute("broadcast", 0) == 0 && a.size() == 2 &&
      b.size() == 2) {
    const Shape result = {a[node.IntAttribute("transA", 0) != 0 ? 1 : 0],
                          b[node.IntAttribute("transB", 0) != 0 ? 0 : 1]};
    if (c != result) {
      return RejectNode(Rejection::kMismatchingShape, node, "C of shape ",
                        ShapeToString(c), " is not ", ShapeToString(result),
                        " and broadcast is 0");
    }
  }
  return FormWriter(graph, node)
      .Finish("Gemm", 7, node.inputs, Without(node, {"broadcast"}));
}

// One slope for all, or one for each channel.
Nodes OldPRelu(Graph* graph, const Node& node) {
  const Shape x = InputOf(*graph, node, 0).shape,
              slope = InputOf(*graph, node, 1).shape;
  FormWriter writer(graph, node);
  std::vector<TensorId> inputs = node.inputs;
  if (ElementCount(slope) == 1) {
    inputs[1] = writer.Add("Reshape", 13, {inputs[1], writer.Ints({1})});
  } else if (x.size() < 2 || slope != Shape{x[1]}) {
    return RejectNode(Rejection::kMismatchingShape, node, "slope of shape ",
                      ShapeToString(slope),
                      " must have one element, or one for each channel of ",
                      ShapeToString(x));
  } else if (x.size() > 2) {
    Shape shape(x.size() - 1, 1);
    shape[0] = x[1];
    inputs[1] = writer.Add("Reshape", 13, {inputs[1], writer.Ints(shape)});
  }
  return writer.Finish("PRelu", 9, std::move(inputs));
}

Nodes OldReshape(Graph* graph, const Node& node) {
  FormWriter writer(graph, node);
  const TensorId shape = writer.Ints(node.IntsAttribute("shape", {}));
  return writer.Finish("Reshape", 13, {node.inputs[0], shape});
}

Nodes OldPad(Graph* graph, const Node& node) {
  FormWriter::Attributes attributes = Without(node, {"paddings"});
  attributes["pads"] = node.IntsAttribute("paddings", {});
  return FormWriter(graph, node)
      .Finish("Pad", 2, node.inputs, std::move(attributes));
}

Nodes OldUpsample(Graph* graph, const Node& node) {
  FormWriter::Attributes attributes =
      Without(node, {"height_scale", "width_scale"});
  attributes["scales"] =
      std::vector<float>{1, 1, node.FloatAttribute("height_scale", 1),
                         node.FloatAttribute("width_scale", 1)};
  return FormWriter(graph, node)
      .Finish("Upsample", 7, node.inputs, std::move(attributes));
}

// The axis is 1 where it is not given.
Nodes OldConcat(Graph* graph, const Node& node) {
  return FormWriter(graph, node)
      .Finish("Concat", 4, node.inputs,
              {{"axis", node.IntAttribute("axis", 1)}});
}

Nodes OldDropout(Graph* graph, const Node& node) {
  return FormWriter(graph, node).Finish("Dropout", 13, node.inputs);
}

// spatial=0: a value for each element of a batch's row, not for each channel.
Nodes OldBatchNormalization(Graph* graph, const Node& node) {
  FormWriter writer(graph, node);
  const FormWriter::Attributes attributes =
      Without(node, {"is_test", "spatial"});
  const Shape x = InputOf(*graph, node, 0).shape;
  if (node.IntAttribute("spatial", 1) != 0) {
    return writer.Finish("BatchNormalization", 9, node.inputs, attributes);
  }
  const Shape row(x.begin() + 1, x.end());
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor& t = InputOf(*graph, node, i);
    if (t.shape == row) continue;
    return RejectNode(Rejection::kMismatchingShape, node, "input '", t.name,
                      "' of shape ", ShapeToString(t.shape),
                      " must have one value for each element of ",
                      ShapeToString(row), ", since spatial is 0");
  }
  if (row.size() == 1) {
    return writer.Finish("BatchNormalization", 9, node.inputs, attributes);
  }
  const int64_t count = ElementCount(row);
  std::vector<TensorId> inputs = {
      writer.Add("Reshape", 14, {node.inputs[0], writer.Ints({x[0], count})},
                 {{"allowzero", int64_t{1}}})};
  const TensorId flat = writer.Ints({count});
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    inputs.push_back(writer.Add("Reshape", 14, {node.inputs[i], flat},
                                {{"allowzero", int64_t{1}}}));
  }
  const TensorId y =
      writer.Add("BatchNormalization", 9, std::move(inputs), attributes);
  return writer.Finish("Reshape", 14, {y, writer.Ints(x)},
                       {{"allowzero", int64_t{1}}});
}

// The type as TensorProto.DataType spells it.
DataType TypeOfWord(const std::string& word) {
  static constexpr const char* kWords[] = {
      "UNDEFINED", "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
      "INT64",     "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
  for (int i = 1; i < 14; ++i) {
    if (word == kWords[i]) return static_cast<DataType>(i);
  }
  return DataType::kUndefined;
}

Nodes OldCast(Graph* graph, const Node& node) {
  const auto to =
      static_cast<int64_t>(TypeOfWord(node.StringAttribute("to", "")));
  return FormWriter(graph, node).Finish("Cast", 6, node.inputs, {{"to", to}});
}

// Rules.

bool IsTest(const Graph&, const Node& node, std::string* detail) {
  const int64_t is_test = node.IntAttribute("is_test", 0);
  *detail = absl::StrCat("is_test = ", is_test);
  return is_test != 0;
}

bool HasOneOutput(const Graph& graph, const Node& node, std::string* detail) {
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    *detail = absl::StrCat("output ", i, " is '",
                           graph.tensors[node.outputs[i]].name, "'");
    return false;
  }
  return true;
}

bool HasOneInput(const Graph&, const Node& node, std::string*) {
  return !HasInput(node, 1);
}

bool WordIsType(const Graph&, const Node& node, std::string* detail) {
  const std::string word = node.StringAttribute("to", "");
  *detail = absl::StrCat("to = ", word);
  return TypeOfWord(word) != DataType::kUndefined;
}

// The table.

constexpr int kMost = 1 << 16;  // inputs of a node
constexpr TypeSet kBoolOrIndex = kIndices | Types(DataType::kBool);

struct Row {
  const char* op;
  int since, until;
  int min_inputs, max_inputs;
  TypeSet types;
  std::vector<AttributeRule> attributes;
  decltype(OperatorInfo::convert) convert;
  std::vector<Constraint> rules;
  int outputs = 1;
};

std::vector<Row> Table() {
  const AttributeRule consumed = {"consumed_inputs", AttributeKind::kInts},
                      axis = {"axis", AttributeKind::kInt},
                      broadcast = {"broadcast", AttributeKind::kInt},
                      alpha = {"alpha", AttributeKind::kFloat},
                      beta = {"beta", AttributeKind::kFloat},
                      epsilon = {"epsilon", AttributeKind::kFloat},
                      is_test = {"is_test", AttributeKind::kInt},
                      ratio = {"ratio", AttributeKind::kFloat},
                      mode = {"mode", AttributeKind::kString};
  const Constraint test = {Rejection::kUnsupportedAttribute,
                           "is_test is 1 (training is not supported)", IsTest},
                   one_output = {Rejection::kUnsupportedAttribute,
                                 "the first output is the only one",
                                 HasOneOutput};
  std::vector<Row> rows;
  for (const char* op : {"Abs", "Ceil", "Exp", "Floor", "Log", "Neg",
                         "Reciprocal", "Relu", "Sigmoid", "Sqrt", "Tanh"}) {
    rows.push_back(
        {op, 1, 5, 1, 1, kRealsAndDouble, {consumed}, Forget<6>, {}});
  }
  for (const char* op : {"Elu", "LeakyRelu"}) {
    rows.push_back(
        {op, 1, 5, 1, 1, kRealsAndDouble, {consumed, alpha}, Forget<6>, {}});
  }
  rows.push_back({"HardSigmoid",
                  1,
                  5,
                  1,
                  1,
                  kRealsAndDouble,
                  {consumed, alpha, beta},
                  Forget<6>,
                  {}});
  rows.push_back({"Selu",
                  1,
                  5,
                  1,
                  1,
                  kRealsAndDouble,
                  {consumed, alpha, {"gamma", AttributeKind::kFloat}},
                  OldSelu,
                  {}});
  rows.push_back({"Clip",
                  1,
                  5,
                  1,
                  1,
                  kRealsAndDouble,
                  {consumed,
                   {"min", AttributeKind::kFloat},
                   {"max", AttributeKind::kFloat}},
                  Forget<6>,
                  {}});
  rows.push_back({"InstanceNormalization",
                  1,
                  5,
                  3,
                  3,
                  kRealsAndDouble,
                  {consumed, epsilon},
                  Forget<6>,
                  {}});
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    rows.push_back(
        {op, 1, 5, 1, kMost, kRealsAndDouble, {consumed}, SameShapes, {}});
    rows.push_back({op, 6, 7, 1, kMost, kRealsAndDouble, {}, SameShapes, {}});
  }
  for (const char* op : {"Add", "Div", "Mul", "Sub"}) {
    rows.push_back({op,
                    1,
                    5,
                    2,
                    2,
                    kRealsAndDouble,
                    {axis, broadcast, consumed},
                    Aligned<7>,
                    {}});
    rows.push_back({op,
                    6,
                    6,
                    2,
                    2,
                    kRealsAndDouble | kIndices |
                        Types(DataType::kUint32, DataType::kUint64),
                    {axis, broadcast},
                    Aligned<7>,
                    {}});
  }
  for (const char* op : {"Greater", "Less", "Pow"}) {
    rows.push_back(
        {op, 1, 6, 2, 2, kRealsAndDouble, {axis, broadcast}, Aligned<7>, {}});
  }
  rows.push_back(
      {"Equal", 1, 6, 2, 2, kBoolOrIndex, {axis, broadcast}, Aligned<7>, {}});
  for (const char* op : {"And", "Or", "Xor"}) {
    rows.push_back({op,
                    1,
                    6,
                    2,
                    2,
                    Types(DataType::kBool),
                    {axis, broadcast},
                    Aligned<7>,
                    {}});
  }
  rows.push_back({"Gemm",
                  1,
                  6,
                  3,
                  3,
                  kRealsAndDouble,
                  {alpha,
                   beta,
                   broadcast,
                   {"transA", AttributeKind::kInt},
                   {"transB", AttributeKind::kInt}},
                  OldGemm,
                  {}});
  rows.push_back({"GlobalLpPool",
                  1,
                  1,
                  1,
                  1,
                  kRealsAndDouble,
                  {{"p", AttributeKind::kFloat}},
                  WholePower,
                  {}});
  rows.push_back({"LpPool",
                  1,
                  1,
                  1,
                  1,
                  kRealsAndDouble,
                  {{"auto_pad", AttributeKind::kString},
                   {"kernel_shape", AttributeKind::kInts},
                   {"p", AttributeKind::kFloat},
                   {"pads", AttributeKind::kInts},
                   {"strides", AttributeKind::kInts}},
                  WholePower,
                  {}});
  rows.push_back(
      {"PRelu", 1, 5, 2, 2, kRealsAndDouble, {consumed}, OldPRelu, {}});
  rows.push_back({"PRelu", 6, 6, 2, 2, kRealsAndDouble, {}, OldPRelu, {}});
  rows.push_back({"Reshape",
                  1,
                  4,
                  1,
                  1,
                  kRealsAndDouble,
                  {consumed, {"shape", AttributeKind::kInts}},
                  OldReshape,
                  {}});
  rows.push_back({"Pad",
                  1,
                  1,
                  1,
                  1,
                  kRealsAndDouble,
                  {mode,
                   {"paddings", AttributeKind::kInts, true},
                   {"value", AttributeKind::kFloat}},
                  OldPad,
                  {}});
  rows.push_back(
      {"Upsample",
       1,
       6,
       1,
       1,
       kRealsAndDouble | kIndices | Types(DataType::kBool),
       {{"height_scale", AttributeKind::kFloat, true},
        {"width_scale", AttributeKind::kFloat, true},
        mode},
       OldUpsample,
       {{Rejection::kInvalidModel, "the input has rank 4", RankIs<4, 4>}}});
  rows.push_back({"Split",
                  1,
                  1,
                  1,
                  2,
                  kRealsAndDouble,
                  {axis, {"split", AttributeKind::kInts}},
                  Forget<2>,
                  {{Rejection::kUnsupportedAttribute,
                    "split is an attribute, not an input", HasOneInput}},
                  kMost});
  rows.push_back(
      {"Concat", 1, 3, 1, kMost, kRealsAndDouble, {axis}, OldConcat, {}});
  rows.push_back(
      {"Cast",
       1,
       5,
       1,
       1,
       kRealsAndDouble | kIntegers | Types(DataType::kBool),
       {{"to", AttributeKind::kString, true}},
       OldCast,
       {{Rejection::kInvalidModel,
         "to is a type as TensorProto.DataType spells it", WordIsType}}});
  rows.push_back({"Dropout",
                  1,
                  5,
                  1,
                  1,
                  kRealsAndDouble,
                  {consumed, is_test, ratio},
                  OldDropout,
                  {test, one_output},
                  2});
  rows.push_back({"Dropout",
                  6,
                  6,
                  1,
                  1,
                  kRealsAndDouble,
                  {is_test, ratio},
                  OldDropout,
                  {test, one_output},
                  2});
  const AttributeRule momentum = {"momentum", AttributeKind::kFloat},
                      spatial = {"spatial", AttributeKind::kInt};
  rows.push_back({"BatchNormalization",
                  1,
                  5,
                  5,
                  5,
                  kRealsAndDouble,
                  {consumed, epsilon, is_test, momentum, spatial},
                  OldBatchNormalization,
                  {test, one_output},
                  5});
  rows.push_back({"BatchNormalization",
                  6,
                  6,
                  5,
                  5,
                  kRealsAndDouble,
                  {epsilon, is_test, momentum, spatial},
                  OldBatchNormalization,
                  {test, one_output},
                  5});
  rows.push_back(
      {"BatchNormalization",
       7,
       8,
       5,
       5,
       kRealsAndDouble,
       {epsilon, momentum, spatial},
       OldBatchNormalization,
       {one_output,
        {Rejection::kUnsupportedShape, "input has rank 2 or more", RankIs<2>}},
       5});
  return rows;
}

// Registers all rows.
struct OldForms {
  OldForms() {
    for (const Row& row : Table()) {
      Define define(row.op, row.since, row.until);
      define.Inputs(row.min_inputs, row.max_inputs, row.types)
          .Outputs(row.outputs)
          .Rules(row.rules)
          .Converts(row.convert);
      for (const AttributeRule& rule : row.attributes) {
        define.Attr(rule.name, rule.kind, rule.required);
      }
      OperatorRegistration(define.Run(InferNothing, EvaluateNothing));
    }
  }
};
const OldForms kOldForms;

}  // namespace
}  // namespace heddle::compiler
