// SPDX-License-Identifier: Apache-2.0
// Which statuses are right for a case, from what its model shows.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/comparer/tensor.h"
#include "tests/node_cases/node_case.h"

namespace heddle::tests {
namespace {

// Values of onnxifi.h.
constexpr int kUnsupportedOperator = 0x0203, kUnsupportedAttribute = 0x0204,
              kUnsupportedShape = 0x0205, kUnsupportedDatatype = 0x0206;

constexpr int kHighestRank = 4;

using Positions = std::map<std::string, std::vector<int>>;

// Inputs, by index, whose values decide the shape of a result.
const Positions& ShapeParameters() {
  static const auto* positions = new Positions{
      {"ConstantOfShape", {0}}, {"Expand", {1}},  {"Range", {0, 1, 2}},
      {"ReduceSum", {1}},       {"Reshape", {1}}, {"STFT", {3}},
      {"Squeeze", {1}},         {"TopK", {1}},    {"Unsqueeze", {1}},
  };
  return *positions;
}

// Inputs whose values the compiler works into weights and microprograms.
const Positions& ValueParameters() {
  static const auto* positions = new Positions{
      {"Clip", {1, 2}},    {"Conv", {1, 2}}, {"ConvTranspose", {1, 2}},
      {"Dropout", {1, 2}}, {"Gemm", {1, 2}}, {"PRelu", {1}},
  };
  return *positions;
}

// Attributes, and outputs beyond the first, that the card does not offer: a
// case that has none of them must not be refused for an attribute.
const std::map<std::string, std::set<std::string>>& HardAttributes() {
  static const auto* attributes =
      new std::map<std::string, std::set<std::string>>{
          {"Dropout", {"input 2"}},
      };
  return *attributes;
}

// Operators whose 8-bit form is no quantized arithmetic.
const std::set<std::string>& FloatOnly() {
  static const auto* operators =
      new std::set<std::string>{"Div", "Max", "Min", "Pow"};
  return *operators;
}

// "" if all are of the types in which the card computes.
std::string OtherType(const onnx::ModelProto& model) {
  const bool codes = FloatOnly().count(model.graph().node(0).op_type()) == 0;
  const auto other = [codes](int type) -> std::string {
    const bool computed = type == onnx::TensorProto::UNDEFINED ||
                          type == onnx::TensorProto::FLOAT ||
                          (codes && (type == onnx::TensorProto::UINT8 ||
                                     type == onnx::TensorProto::INT8));
    return computed ? "" : comparer::TypeName(type);
  };
  std::string found;
  const auto look = [&](int type) {
    if (found.empty()) found = other(type);
  };
  const auto& graph = model.graph();
  for (const auto& v : graph.input()) look(v.type().tensor_type().elem_type());
  for (const auto& v : graph.output()) look(v.type().tensor_type().elem_type());
  for (const auto& v : graph.value_info()) {
    look(v.type().tensor_type().elem_type());
  }
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) look(attribute.t().data_type());
      if (node.op_type() == "Cast" && attribute.name() == "to") {
        look(static_cast<int>(attribute.i()));
      }
    }
  }
  return found;
}

std::string ParameterAtRunTime(const Positions& positions,
                               const onnx::ModelProto& model, Form form) {
  // Inputs, of form kConstants only the first, and what nodes compute.
  std::set<std::string> varying;
  for (const auto& input : model.graph().input()) {
    varying.insert(input.name());
    if (form == Form::kConstants) break;
  }
  for (const auto& node : model.graph().node()) {
    if (node.op_type() == "Constant") continue;
    varying.insert(node.output().begin(), node.output().end());
  }
  for (const auto& node : model.graph().node()) {
    const auto found = positions.find(node.op_type());
    if (found == positions.end()) continue;
    for (int i : found->second) {
      if (i < node.input_size() && varying.count(node.input(i)) != 0) {
        return absl::StrCat(node.op_type(), "'s ", node.input(i),
                            " at run time");
      }
    }
  }
  return "";
}

std::string UnusualShape(const onnx::ModelProto& model) {
  for (const auto* values : {&model.graph().input(), &model.graph().output()}) {
    for (const auto& value : *values) {
      const auto& shape = value.type().tensor_type().shape();
      if (shape.dim_size() > kHighestRank) {
        return absl::StrCat("rank ", shape.dim_size());
      }
      for (const auto& dim : shape.dim()) {
        if (dim.has_dim_value() && dim.dim_value() == 0) return "no elements";
      }
    }
  }
  return "";
}

std::string HardAttribute(const onnx::ModelProto& model) {
  for (const auto& node : model.graph().node()) {
    const auto found = HardAttributes().find(node.op_type());
    if (found == HardAttributes().end()) continue;
    for (const auto& attribute : node.attribute()) {
      if (found->second.count(attribute.name()) != 0) {
        return absl::StrCat(node.op_type(), "'s ", attribute.name());
      }
    }
    for (int i = 0; i < node.output_size(); ++i) {
      const std::string name = absl::StrCat("output ", i);
      if (!node.output(i).empty() && found->second.count(name) != 0) {
        return absl::StrCat(node.op_type(), "'s ", name);
      }
    }
    for (int i = 0; i < node.input_size(); ++i) {
      const std::string name = absl::StrCat("input ", i);
      if (!node.input(i).empty() && found->second.count(name) != 0) {
        return absl::StrCat(node.op_type(), "'s ", name);
      }
    }
  }
  return "";
}

std::string OptionalOperator(const onnx::ModelProto& model) {
  std::set<std::string> known(RequiredOperators().begin(),
                              RequiredOperators().end());
  // Evaluated by the compiler.
  known.insert({"Constant", "ConstantOfShape", "Shape", "Size"});
  for (const auto& node : model.graph().node()) {
    if (known.count(node.op_type()) == 0) return node.op_type();
  }
  return "";
}

}  // namespace

std::string ReasonFor(int status, Form form, const NodeCase& node_case) {
  const onnx::ModelProto& model = node_case.model;
  switch (status) {
    case kUnsupportedOperator:
      return OptionalOperator(model);
    case kUnsupportedDatatype:
      return OtherType(model);
    case kUnsupportedAttribute: {
      const std::string value =
          ParameterAtRunTime(ValueParameters(), model, form);
      return value.empty() ? HardAttribute(model) : value;
    }
    case kUnsupportedShape: {
      const std::string shape =
          ParameterAtRunTime(ShapeParameters(), model, form);
      return shape.empty() ? UnusualShape(model) : shape;
    }
    default:
      return "";
  }
}

const std::vector<std::string>& RequiredOperators() {
  static const auto* operators =
      new std::vector<std::string>{"Abs",
                                   "Add",
                                   "ArgMax",
                                   "AveragePool",
                                   "BatchNormalization",
                                   "Cast",
                                   "Clip",
                                   "Concat",
                                   "Conv",
                                   "ConvInteger",
                                   "ConvTranspose",
                                   "DepthToSpace",
                                   "DequantizeLinear",
                                   "Div",
                                   "Dropout",
                                   "DynamicQuantizeLinear",
                                   "Elu",
                                   "Erf",
                                   "Exp",
                                   "Expand",
                                   "Flatten",
                                   "Gather",
                                   "Gemm",
                                   "GlobalAveragePool",
                                   "GlobalMaxPool",
                                   "HardSigmoid",
                                   "HardSwish",
                                   "Identity",
                                   "InstanceNormalization",
                                   "LRN",
                                   "LayerNormalization",
                                   "LeakyRelu",
                                   "Log",
                                   "LogSoftmax",
                                   "MatMul",
                                   "MatMulInteger",
                                   "Max",
                                   "MaxPool",
                                   "Mean",
                                   "Min",
                                   "Mul",
                                   "Neg",
                                   "PRelu",
                                   "Pad",
                                   "Pow",
                                   "QLinearConv",
                                   "QLinearMatMul",
                                   "QuantizeLinear",
                                   "ReduceL1",
                                   "ReduceL2",
                                   "ReduceMax",
                                   "ReduceMean",
                                   "ReduceMin",
                                   "ReduceProd",
                                   "ReduceSum",
                                   "ReduceSumSquare",
                                   "Relu",
                                   "Reshape",
                                   "Resize",
                                   "Selu",
                                   "Sigmoid",
                                   "Slice",
                                   "Softmax",
                                   "Softplus",
                                   "SpaceToDepth",
                                   "Split",
                                   "Sqrt",
                                   "Squeeze",
                                   "Sub",
                                   "Sum",
                                   "Tanh",
                                   "Tile",
                                   "Transpose",
                                   "Unsqueeze",
                                   "Upsample"};
  return *operators;
}

}  // namespace heddle::tests
