// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/type_variables.h"

#include <cstring>
#include <deque>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

// The variable of an input, '.' if it has none.
char VariableOf(const char* inputs, size_t i) {
  const size_t count = std::strlen(inputs);
  if (i < count && inputs[i] != '*') return inputs[i];
  return count > 1 && inputs[count - 1] == '*' ? inputs[count - 2] : '.';
}

bool HaveOneType(const Graph& graph, const Node& node, std::string* detail) {
  const char* inputs = TypeVariablesOf(node.op, node.opset);
  std::map<char, size_t> first;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const char variable = VariableOf(inputs, i);
    if (variable == '.' || !HasInput(node, i)) continue;
    const auto at = first.emplace(variable, i).first;
    const Tensor &a = InputOf(graph, node, at->second),
                 &b = InputOf(graph, node, i);
    if (a.type == b.type) continue;
    *detail = absl::StrCat("input ", at->second, " '", a.name, "' is ",
                           DataTypeName(a.type), ", input ", i, " '", b.name,
                           "' ", DataTypeName(b.type));
    return false;
  }
  return true;
}

// "inputs 0 and 2 have one type, inputs 1 and 3 have one type"
std::string TextOf(const char* inputs) {
  const size_t count = std::strlen(inputs);
  if (count > 1 && inputs[count - 1] == '*') return "all inputs have one type";
  std::map<char, std::vector<size_t>> groups;
  for (size_t i = 0; i < count; ++i) {
    if (inputs[i] != '.') groups[inputs[i]].push_back(i);
  }
  std::string text;
  for (const auto& [variable, members] : groups) {
    if (members.size() < 2) continue;
    absl::StrAppend(&text, text.empty() ? "inputs " : ", inputs ");
    for (size_t k = 0; k < members.size(); ++k) {
      absl::StrAppend(&text,
                      k == 0                    ? ""
                      : k + 1 == members.size() ? " and "
                                                : ", ",
                      members[k]);
    }
    absl::StrAppend(&text, " have one type");
  }
  return text;
}

}  // namespace

const std::vector<TypeVariables>& AllTypeVariables() {
  static const auto* rows = new std::vector<TypeVariables>{
      {"Add", 1, "TT"},
      {"And", 1, "TT"},
      {"Attention", 23, "TTUVTU"},
      {"Attention", 24, "TTUVTU."},
      {"BatchNormalization", 1, "TTTTT"},
      {"BatchNormalization", 14, "TTTUU"},
      {"BatchNormalization", 15, "TUUVV"},
      {"BitShift", 11, "TT"},
      {"BitwiseAnd", 18, "TT"},
      {"BitwiseOr", 18, "TT"},
      {"BitwiseXor", 18, "TT"},
      {"Clip", 11, "TTT"},
      {"Concat", 1, "T*"},
      {"Conv", 1, "TTT"},
      {"ConvInteger", 10, "TUTU"},
      {"ConvTranspose", 1, "TTT"},
      {"DeformConv", 19, "TTTTT"},
      {"DequantizeLinear", 10, "T.T"},
      {"DequantizeLinear", 19, "TUT"},
      {"Div", 1, "TT"},
      {"DynamicSlice", 1, "TUUU"},
      {"Einsum", 12, "T*"},
      {"Equal", 1, "TT"},
      {"GRU", 1, "TTTTUT"},
      {"Gemm", 1, "TTT"},
      {"Greater", 1, "TT"},
      {"GreaterOrEqual", 12, "TT"},
      {"GridSample", 16, "TT"},
      {"GridSample", 20, ""},
      {"GroupNormalization", 18, "TTT"},
      {"InstanceNormalization", 1, "TTT"},
      {"LSTM", 1, "TTTTUTTT"},
      {"LayerNormalization", 17, "TTT"},
      {"Less", 1, "TT"},
      {"LessOrEqual", 12, "TT"},
      {"MatMul", 1, "TT"},
      {"MatMulInteger", 10, "TUTU"},
      {"Max", 1, "T*"},
      {"MaxRoiPool", 1, "TT"},
      {"MaxUnpool", 9, "TUU"},
      {"Mean", 1, "T*"},
      {"MelWeightMatrix", 17, "TTTUU"},
      {"Min", 1, "T*"},
      {"Mod", 10, "TT"},
      {"Mul", 1, "TT"},
      {"NegativeLogLikelihoodLoss", 12, "TUT"},
      {"Or", 1, "TT"},
      {"PRelu", 1, "TT"},
      {"Pad", 11, "T.T"},
      {"Pad", 18, "T.TU"},
      {"Pow", 1, "TT"},
      {"Pow", 12, ""},
      {"QLinearConv", 10, "T.TU.U.VW"},
      {"QLinearMatMul", 10, "T.TU.U.V"},
      {"QuantizeLinear", 19, "TTU"},
      {"QuantizeLinear", 23, ""},
      {"RNN", 1, "TTTTUT"},
      {"Range", 11, "TTT"},
      {"RoiAlign", 10, "TTU"},
      {"RotaryEmbedding", 23, "TTTU"},
      {"STFT", 17, "TUTU"},
      {"Scatter", 9, "TUT"},
      {"ScatterElements", 11, "TUT"},
      {"ScatterND", 11, "T.T"},
      {"Slice", 10, "TUUUU"},
      {"SoftmaxCrossEntropyLoss", 12, "TUT"},
      {"Split", 1, "TT"},
      {"Split", 2, ""},
      {"Sub", 1, "TT"},
      {"Sum", 1, "T*"},
      {"Tile", 1, "TTT"},
      {"Tile", 6, ""},
      {"Where", 9, "TUU"},
      {"Xor", 1, "TT"},
  };
  return *rows;
}

bool InputsHaveOneType(const Graph& graph, const Node& node) {
  std::string detail;
  return HaveOneType(graph, node, &detail);
}

const char* TypeVariablesOf(const std::string& op, int opset) {
  const char* inputs = "";
  for (const TypeVariables& row : AllTypeVariables()) {
    if (op == row.op && row.since <= opset) inputs = row.inputs;
  }
  return inputs;
}

Constraint OneTypeRule(const char* inputs) {
  static auto* texts = new std::deque<std::string>;
  texts->push_back(TextOf(inputs));
  return {Rejection::kInvalidModel, texts->back().c_str(), HaveOneType};
}

}  // namespace heddle::compiler
