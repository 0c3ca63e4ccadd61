// SPDX-License-Identifier: Apache-2.0
// Products that ONNX Runtime's graph optimizer fuses with what stands around
// them, of com.microsoft, made of the parts; in fp32, rounded once at the end:
//
//   FusedMatMul       alpha * A' B', A' and B' turned: transBatchA moves the
//                     first dimension before the last, transA changes the last
//                     two. TransposeMatMul: the older one without batches
//   FusedGemm         f(alpha * A' B' + beta * C)
//   FusedConv         f(Conv(X, W, B) + Z)
//
// f is ONNX's function of the name in `activation`, its
// attributes activation_alpha and so on, of FusedConv activation_params.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

// The names of the attributes that ONNX's function has, in order; null: it is
// none of a fused node. "": no function.
const std::vector<std::string>* ParametersOf(const std::string& function) {
  static const auto* functions =
      new std::map<std::string, std::vector<std::string>>{
          {"", {}},
          {"Celu", {"alpha"}},
          {"Clip", {"min", "max"}},
          {"Elu", {"alpha"}},
          {"HardSigmoid", {"alpha", "beta"}},
          {"LeakyRelu", {"alpha"}},
          {"Relu", {}},
          {"Selu", {"alpha", "gamma"}},
          {"Sigmoid", {}},
          {"Softplus", {}},
          {"Softsign", {}},
          {"Tanh", {}},
          {"ThresholdedRelu", {"alpha"}},
      };
  const auto it = functions->find(function);
  return it == functions->end() ? nullptr : &it->second;
}

// function(x), with as many `parameters` as it has.
TensorId Activated(Expansion* e, const std::string& function,
                   const std::vector<float>& parameters, TensorId x) {
  if (function.empty()) return x;
  if (function == "Clip") {
    return e->Add(function, {x, e->Scalar(DataType::kFloat, parameters[0]),
                             e->Scalar(DataType::kFloat, parameters[1])});
  }
  const std::vector<std::string>& names = *ParametersOf(function);
  std::map<std::string, Attribute> attributes;
  for (size_t i = 0; i < names.size(); ++i) {
    attributes[names[i]] = parameters[i];
  }
  return e->Add(function, {x}, attributes);
}

// An operand of fp32 in the order of MatMul.
TensorId Turned(Expansion* e, size_t i, const char* last, const char* batch) {
  const TensorId x = e->Wide(e->In(i));
  const auto rank = static_cast<int64_t>(e->T(x).shape.size());
  if (rank < 2) return x;
  std::vector<int64_t> perm, same;
  for (int64_t d = 0; d < rank; ++d) same.push_back(d);
  perm = same;
  if (e->node().IntAttribute(batch, 0) != 0) {
    perm.erase(perm.begin());
    perm.insert(perm.end() - 1, 0);
  }
  if (e->node().IntAttribute(last, 0) != 0) {
    std::swap(perm[rank - 2], perm[rank - 1]);
  }
  return perm == same ? x : e->Add("Transpose", {x}, {{"perm", perm}});
}

absl::Status ExpandMatMul(Expansion* e) {
  const Shape &left = e->T(e->In(0)).shape, &right = e->T(e->In(1)).shape;
  const bool batches = e->node().IntAttribute("transBatchA", 0) != 0 ||
                       e->node().IntAttribute("transBatchB", 0) != 0;
  if (batches && (left.size() != right.size() || left.size() < 3)) {
    return RejectNode(Rejection::kMismatchingShape, e->node(), "operands of ",
                      ShapeToString(left), " and ", ShapeToString(right),
                      " must have one rank of 3 or more for transBatchA and "
                      "transBatchB");
  }
  const DataType type = e->T(e->In(0)).type;
  const TensorId a = Turned(e, 0, "transA", "transBatchA");
  const TensorId b = Turned(e, 1, "transB", "transBatchB");
  TensorId y = e->Add("MatMul", {a, b});
  const float alpha = e->node().FloatAttribute("alpha", 1);
  if (alpha != 1) y = e->Add("Mul", {y, e->Scalar(kFloat, alpha)});
  e->Return(0, y, type);
  return absl::OkStatus();
}

std::string FunctionOf(const Node& node) {
  return node.StringAttribute("activation", "");
}

bool FunctionIsKnown(const Graph&, const Node& node, std::string* detail) {
  *detail = absl::StrCat("it is '", FunctionOf(node), "'");
  if (FunctionOf(node).empty()) return node.attributes.count("activation") == 0;
  return ParametersOf(FunctionOf(node)) != nullptr;
}

bool HasParameters(const Graph&, const Node& node, std::string* detail) {
  for (const std::string& name : *ParametersOf(FunctionOf(node))) {
    *detail = absl::StrCat("activation_", name, " is missing");
    if (node.attributes.count("activation_" + name) == 0) return false;
  }
  return true;
}

absl::Status ExpandGemm(Expansion* e) {
  const Node& node = e->node();
  const DataType type = e->T(e->In(0)).type;
  std::vector<TensorId> in = {e->Wide(e->In(0)), e->Wide(e->In(1))};
  if (e->HasIn(2)) in.push_back(e->Wide(e->In(2)));
  std::map<std::string, Attribute> attributes;
  for (const char* name : {"alpha", "beta", "transA", "transB"}) {
    const auto it = node.attributes.find(name);
    if (it != node.attributes.end()) attributes.insert(*it);
  }
  const std::string function = FunctionOf(node);
  std::vector<float> parameters;
  for (const std::string& name : *ParametersOf(function)) {
    parameters.push_back(node.FloatAttribute("activation_" + name, 0));
  }
  const TensorId y = e->Add("Gemm", in, attributes);
  e->Return(0, Activated(e, function, parameters, y), type);
  return absl::OkStatus();
}

std::vector<float> ConvParameters(const Node& node) {
  const auto it = node.attributes.find("activation_params");
  return it == node.attributes.end() ? std::vector<float>()
                                     : std::get<std::vector<float>>(it->second);
}

bool HasConvParameters(const Graph&, const Node& node, std::string* detail) {
  *detail = absl::StrCat("there are ", ConvParameters(node).size());
  return ConvParameters(node).size() == ParametersOf(FunctionOf(node))->size();
}

absl::Status ExpandConv(Expansion* e) {
  const Node& node = e->node();
  const DataType type = e->T(e->In(0)).type;
  std::vector<TensorId> in = {e->Wide(e->In(0)), e->Wide(e->In(1))};
  if (e->HasIn(2)) in.push_back(e->Wide(e->In(2)));
  std::map<std::string, Attribute> attributes = node.attributes;
  attributes.erase("activation");
  attributes.erase("activation_params");
  TensorId y = e->Add("Conv", in, attributes);
  if (e->HasIn(3)) {
    const TensorId z = e->Wide(e->In(3));
    if (e->status().ok() && e->T(z).shape != e->T(y).shape) {
      return RejectNode(Rejection::kMismatchingShape, node, "Z of ",
                        ShapeToString(e->T(z).shape), " must be of ",
                        ShapeToString(e->T(y).shape), " as the result is");
    }
    y = e->Add("Add", {y, z});
  }
  e->Return(0, Activated(e, FunctionOf(node), ConvParameters(node), y), type);
  return absl::OkStatus();
}

Define Microsoft(const char* op) {
  Define define(op, 1, 1);
  define.Domain("com.microsoft");
  return define;
}

Define Product(const char* op) {
  Define define = Microsoft(op);
  define.Inputs(2, 2, kReals)
      .Attr("alpha", AttributeKind::kFloat)
      .Attr("transA", AttributeKind::kInt)
      .Attr("transB", AttributeKind::kInt);
  return define;
}

constexpr char kKnown[] =
    "activation is one of Celu, Clip, Elu, HardSigmoid, LeakyRelu, Relu, Selu, "
    "Sigmoid, Softplus, Softsign, Tanh and ThresholdedRelu";

const ExpandedOperator kFusedMatMul(Product("FusedMatMul")
                                        .Attr("transBatchA",
                                              AttributeKind::kInt)
                                        .Attr("transBatchB",
                                              AttributeKind::kInt),
                                    ExpandMatMul);
const ExpandedOperator kTransposeMatMul(Product("TransposeMatMul"),
                                        ExpandMatMul);
const ExpandedOperator kFusedGemm(
    Microsoft("FusedGemm")
        .Inputs(2, 3, kReals)
        .Attr("activation", AttributeKind::kString, true)
        .Attr("activation_alpha", AttributeKind::kFloat)
        .Attr("activation_beta", AttributeKind::kFloat)
        .Attr("activation_gamma", AttributeKind::kFloat)
        .Attr("alpha", AttributeKind::kFloat)
        .Attr("beta", AttributeKind::kFloat)
        .Attr("transA", AttributeKind::kInt)
        .Attr("transB", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute, kKnown, FunctionIsKnown)
        .Rule(Rejection::kInvalidModel, "the activation has its parameters",
              HasParameters),
    ExpandGemm);
const ExpandedOperator kFusedConv(
    Microsoft("FusedConv")
        .Inputs(2, 4, kReals)
        .Attr("activation", AttributeKind::kString)
        .Attr("activation_params", AttributeKind::kFloats)
        .Attr("auto_pad", AttributeKind::kString)
        .Attr("dilations", AttributeKind::kInts)
        .Attr("group", AttributeKind::kInt)
        .Attr("kernel_shape", AttributeKind::kInts)
        .Attr("pads", AttributeKind::kInts)
        .Attr("strides", AttributeKind::kInts)
        .Rule(Rejection::kUnsupportedAttribute, kKnown, FunctionIsKnown)
        .Rule(Rejection::kInvalidModel,
              "activation_params are as many as the activation has",
              HasConvParameters),
    ExpandConv);

}  // namespace
}  // namespace heddle::compiler
