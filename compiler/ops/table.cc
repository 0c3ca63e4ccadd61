// SPDX-License-Identifier: Apache-2.0
// heddle.Table, what a pass makes of a chain of operators between one 8-bit
// tensor and another (passes/fold_table.h): y = table[x], by x's bit pattern.
// Inputs: x of any shape, and the table, 256 constants of y's type.
#include "compiler/base/pace.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

constexpr TypeSet kQuantizedValues = Types(DataType::kUint8, DataType::kInt8);

bool HasTable(const Graph& graph, const Node& node, std::string* why) {
  const Tensor& table = InputOf(graph, node, 1);
  if (table.is_constant() && ElementCount(table.shape) == 256) return true;
  *why = "its table must be 256 constants";
  return false;
}

absl::Status InferTable(Graph* graph, const Node& node) {
  return SetOutput(graph, node, 0, InputOf(*graph, node, 1).type,
                   InputOf(*graph, node, 0).shape);
}

Results EvaluateTable(const Graph&, const Node&, const Inputs& inputs) {
  TensorData y = TensorData::Zeros(inputs[1]->type, inputs[0]->shape);
  for (size_t i = 0; i < y.bytes.size(); ++i) {
    PaceAt(i);
    y.bytes[i] = inputs[1]->bytes[inputs[0]->bytes[i]];
  }
  std::vector<TensorData> results;
  results.push_back(std::move(y));
  return results;
}

const OperatorRegistration kTable(Define("Table", 1, kMaxOpset)
                                      .Domain(kInternalDomain)
                                      .Inputs(2, 2, kQuantizedValues,
                                              kQuantizedValues)
                                      .Rule(Rejection::kUnsupportedAttribute,
                                            "the table is constant", HasTable)
                                      .Run(InferTable, EvaluateTable));

}  // namespace
}  // namespace heddle::compiler
