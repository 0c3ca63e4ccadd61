// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/bfloat16.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/type_variables.h"

namespace heddle::compiler {
namespace {

constexpr int kOpset = 13;  // of the nodes that it makes

Node Convert(const Node& owner, TensorId from, TensorId to, DataType type) {
  Node node;
  node.op = "Cast";
  node.opset = kOpset;
  node.name = owner.name;
  node.sources = owner.sources;
  node.inputs = {from};
  node.outputs = {to};
  node.attributes["to"] = static_cast<int64_t>(type);
  return node;
}

bool IsBfloat16(const Graph& graph, TensorId id) {
  return id != kNoTensor && graph.tensors[id].type == DataType::kBfloat16;
}

// Results that are float whatever the type of the first operand is.
bool StaysFloat(const Graph& graph, const Node& node, size_t output) {
  if (output == 0) return false;
  if (node.op == "LayerNormalization") return true;  // mean and deviation
  // Those of a training step have the type of the statistics.
  return node.op == "BatchNormalization" && !IsBfloat16(graph, node.input(3));
}

}  // namespace

int Bfloat16Since(const std::string& op) {
  static const auto* const since = [] {
    auto* made = new std::map<std::string, int>;
    const auto add = [made](int opset, std::initializer_list<const char*> ops) {
      for (const char* name : ops) made->emplace(name, opset);
    };
    add(13, {"Abs",          "Add",
             "ArgMax",       "ArgMin",
             "Ceil",         "Clip",
             "Div",          "Dropout",
             "Equal",        "Erf",
             "Exp",          "Floor",
             "Gemm",         "Greater",
             "Hardmax",      "IsNaN",
             "LRN",          "Less",
             "Log",          "LogSoftmax",
             "MatMul",       "Max",
             "Mean",         "MeanVarianceNormalization",
             "Min",          "Mod",
             "Mul",          "Neg",
             "Pow",          "Reciprocal",
             "ReduceL1",     "ReduceL2",
             "ReduceLogSum", "ReduceLogSumExp",
             "ReduceMax",    "ReduceMean",
             "ReduceMin",    "ReduceProd",
             "ReduceSum",    "ReduceSumSquare",
             "Relu",         "Resize",
             "Sigmoid",      "Sign",
             "Softmax",      "SoftmaxCrossEntropyLoss",
             "Sqrt",         "Sub",
             "Sum",          "Tanh"});
    add(14, {"BatchNormalization", "CumSum", "Trilu"});
    add(16, {"GreaterOrEqual", "LeakyRelu", "LessOrEqual", "PRelu", "Where"});
    add(17, {"DFT", "LayerNormalization", "STFT"});
    add(18, {"GroupNormalization"});
    add(19, {"DequantizeLinear", "QuantizeLinear"});
    add(20, {"AffineGrid", "Gelu", "IsInf"});
    add(22, {"Acos",          "Acosh",
             "Asin",          "Asinh",
             "Atan",          "Atanh",
             "AveragePool",   "Conv",
             "ConvTranspose", "Cos",
             "Cosh",          "DeformConv",
             "Det",           "Elu",
             "GRU",           "GlobalAveragePool",
             "GlobalLpPool",  "GlobalMaxPool",
             "GridSample",    "HardSigmoid",
             "HardSwish",     "InstanceNormalization",
             "LSTM",          "LpNormalization",
             "LpPool",        "MaxPool",
             "MaxRoiPool",    "MaxUnpool",
             "Mish",          "NegativeLogLikelihoodLoss",
             "RNN",           "RoiAlign",
             "Round",         "Selu",
             "Sin",           "Sinh",
             "Softplus",      "Softsign",
             "Tan",           "ThresholdedRelu"});
    add(23, {"Attention", "RMSNormalization", "RotaryEmbedding"});
    add(24, {"Swish", "TopK"});
    add(26, {"CumProd"});
    return made;
  }();
  const auto it = since->find(op);
  return it == since->end() ? 0 : it->second;
}

bool ComputesBfloat16(const Graph& graph, const Node& node) {
  const int since = node.domain.empty() ? Bfloat16Since(node.op) : 0;
  if (since == 0 || node.opset < since) return false;
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  if (info == nullptr || info->input_types.empty()) return false;
  bool any = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!IsBfloat16(graph, node.inputs[i])) continue;
    const TypeSet types =
        info->input_types[std::min(i, info->input_types.size() - 1)];
    if (Contains(types, DataType::kBfloat16)) continue;
    if (!Contains(types, DataType::kFloat)) return false;
    any = true;
  }
  return any && InputsHaveOneType(graph, node);
}

std::vector<Node> ToFloat(const Node& node, Graph* graph) {
  std::vector<Node> nodes;
  Node made = node;
  for (TensorId& id : made.inputs) {
    if (!IsBfloat16(*graph, id)) continue;
    const TensorId wide = graph->AddTemporary(
        graph->tensors[id].name + "/float", DataType::kUndefined, {});
    graph->tensors[wide].shape_known = false;
    nodes.push_back(Convert(node, id, wide, DataType::kFloat));
    id = wide;
  }
  for (TensorId& id : made.outputs) {
    if (id == kNoTensor) continue;
    id = graph->AddTemporary(graph->tensors[id].name + "/float",
                             DataType::kUndefined, {});
    graph->tensors[id].shape_known = false;
  }
  nodes.push_back(std::move(made));
  return nodes;
}

std::vector<Node> FromFloat(const Node& node, const Node& made, Graph* graph) {
  std::vector<Node> nodes;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    const DataType type = graph->tensors[made.outputs[i]].type;
    const bool rounded =
        type == DataType::kFloat && !StaysFloat(*graph, node, i);
    nodes.push_back(Convert(node, made.outputs[i], node.outputs[i],
                            rounded ? DataType::kBfloat16 : type));
    if (rounded) continue;
    nodes.back().op = "Identity";
    nodes.back().attributes.clear();
  }
  return nodes;
}

}  // namespace heddle::compiler
