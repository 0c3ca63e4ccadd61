// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/open_sizes.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

bool IsInt(DataType type) {
  return type == DataType::kInt64 || type == DataType::kInt32;
}

int64_t At(const TensorData& data, int64_t i) {
  switch (data.type) {
    case DataType::kInt64:
      return data.as<int64_t>()[i];
    case DataType::kInt32:
      return data.as<int32_t>()[i];
    default:
      return data.bytes[i];
  }
}

bool AllOf(const TensorData& data, bool (*holds)(int64_t)) {
  for (int64_t i = 0; i < data.count(); ++i) {
    if (!holds(At(data, i))) return false;
  }
  return true;
}

// 1 where it varies.
TensorData Flags(const TensorData& like, const std::vector<bool>& varies) {
  TensorData flags = TensorData::Zeros(like.type, like.shape);
  for (int64_t i = 0; i < flags.count(); ++i) {
    const bool flag = !varies.empty() && varies[i];
    if (like.type == DataType::kInt64) {
      flags.as<int64_t>()[i] = flag;
    } else if (like.type == DataType::kInt32) {
      flags.as<int32_t>()[i] = flag;
    } else {
      flags.bytes[i] = flag;
    }
  }
  return flags;
}

// The one result of `node` of these operands, by its definition.
std::optional<TensorData> Evaluate(const Graph& graph, const Node& node,
                                   const std::vector<TensorData>& operands) {
  Graph alone;
  Node copy = node;
  std::vector<const TensorData*> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor) {
      inputs.push_back(nullptr);
      continue;
    }
    Tensor tensor = graph.tensors[node.inputs[i]];
    tensor.shape = operands[i].shape;
    tensor.type = operands[i].type;
    tensor.constant = std::make_shared<const TensorData>(operands[i]);
    copy.inputs[i] = alone.AddTensor(std::move(tensor));
    inputs.push_back(&operands[i]);
  }
  for (TensorId& id : copy.outputs) {
    if (id != kNoTensor) id = alone.AddTensor(Tensor());
  }
  const OperatorInfo* info = FindOperator(copy.domain, copy.op, copy.opset);
  if (info == nullptr || info->evaluate == nullptr ||
      !CheckNode(alone, copy).ok() || !info->infer(&alone, copy).ok()) {
    return std::nullopt;
  }
  auto results = EvaluateNode(alone, copy, inputs);
  if (!results.ok() || results->size() != 1) return std::nullopt;
  return std::move((*results)[0]);
}

bool IsNotNegative(int64_t value) { return value >= 0; }
bool IsPositive(int64_t value) { return value > 0; }
bool IsNegative(int64_t value) { return value < 0; }

// Elements go elsewhere as they are.
bool IsMove(const std::string& op) {
  static const auto* const moves = new std::set<std::string>{
      "Cast",  "Concat",  "Gather",    "Identity", "Reshape",
      "Slice", "Squeeze", "Unsqueeze", "Where"};
  return moves->count(op) != 0;
}

// Operands, as values and as flags.
struct Operands {
  std::vector<TensorData> most, flags;
  std::vector<bool> open;  // by operand
  bool varies(size_t i) const {
    return open[i] && !AllOf(flags[i], [](int64_t f) { return f == 0; });
  }
};

std::optional<Operands> OperandsOf(const Graph& graph, const Node& node,
                                   const FindSizes& find) {
  Operands operands;
  bool any = false;
  for (TensorId id : node.inputs) {
    const OpenSizes* sizes = id == kNoTensor ? nullptr : find(id);
    any |= sizes != nullptr;
    operands.open.push_back(sizes != nullptr);
    if (sizes != nullptr) {
      operands.most.push_back(sizes->most);
      operands.flags.push_back(Flags(sizes->most, sizes->varies));
    } else if (id == kNoTensor) {
      operands.most.emplace_back();
      operands.flags.emplace_back();
    } else if (graph.tensors[id].is_constant() &&
               graph.tensors[id].constant->count() <= kMostSizes) {
      operands.most.push_back(*graph.tensors[id].constant);
      operands.flags.emplace_back();
    } else {
      return std::nullopt;
    }
  }
  if (!any) return std::nullopt;
  return operands;
}

// Whether a size that is less makes no element of the result larger.
bool Rises(const Node& node, const Operands& o) {
  const std::string& op = node.op;
  if (op == "Add" || op == "Min" || op == "Max" || op == "ReduceSum" ||
      op == "ReduceMin" || op == "ReduceMax") {
    return true;
  }
  if (op == "Mul" || op == "ReduceProd") {
    return std::all_of(o.most.begin(), o.most.end(), [](const auto& data) {
      return AllOf(data, IsNotNegative);
    });
  }
  if (op == "Sub") return !o.varies(1);
  if (op == "Div") return !o.varies(1) && AllOf(o.most[1], IsPositive);
  return false;
}

}  // namespace

std::optional<OpenSizes> FollowSizes(
    const Graph& graph, const Node& node, const FindSizes& find,
    const std::function<bool(size_t axis)>& is_bounded) {
  if (!node.domain.empty() || node.outputs.size() != 1 || node.inputs.empty() ||
      node.inputs[0] == kNoTensor) {
    return std::nullopt;
  }
  OpenSizes result;
  if (node.op == "Shape" || node.op == "Size") {
    TensorData operand;
    operand.type = graph.tensors[node.inputs[0]].type;
    operand.shape = graph.tensors[node.inputs[0]].shape;
    auto results = EvaluateNode(graph, node, {&operand});
    if (!results.ok()) return std::nullopt;
    result.most = std::move((*results)[0]);
    const auto rank = static_cast<int64_t>(operand.shape.size());
    int64_t start = node.IntAttribute("start", 0);
    if (start < 0) start += rank;
    start = std::clamp<int64_t>(start, 0, rank);
    for (int64_t i = 0; i < result.most.count(); ++i) {
      result.varies.push_back(node.op == "Size" ||
                              is_bounded(static_cast<size_t>(start + i)));
    }
    return result;
  }
  auto operands = OperandsOf(graph, node, find);
  if (!operands.has_value()) return std::nullopt;
  std::optional<TensorData> most = Evaluate(graph, node, operands->most);
  if (!most.has_value() || most->count() > kMostSizes ||
      (!IsInt(most->type) && most->type != DataType::kBool)) {
    return std::nullopt;
  }
  std::optional<TensorData> flags;
  if (IsMove(node.op)) {
    if (node.op == "Where" && operands->varies(0)) return std::nullopt;
    // Places and parameters stay; what is moved are the flags.
    std::vector<TensorData> moved = operands->most;
    for (size_t i = 0; i < moved.size(); ++i) {
      const bool data = node.op == "Concat" || i == 0 || node.op == "Where";
      if (!data || (node.op == "Where" && i == 0)) {
        if (operands->varies(i)) return std::nullopt;
        continue;
      }
      if (node.inputs[i] != kNoTensor) {
        moved[i] = operands->open[i] ? operands->flags[i]
                                     : Flags(operands->most[i], {});
      }
    }
    flags = Evaluate(graph, node, moved);
  } else if (node.op == "Equal") {
    // A size is none of these.
    for (size_t i = 0; i < 2; ++i) {
      if (operands->varies(i) && (operands->varies(1 - i) ||
                                  !AllOf(operands->most[1 - i], IsNegative))) {
        return std::nullopt;
      }
    }
    flags = Flags(*most, {});
  } else if (Rises(node, *operands)) {
    if (node.op.compare(0, 6, "Reduce") == 0) {
      if (most->count() != 1) return std::nullopt;
      flags = Flags(*most, {operands->varies(0)});
    } else {
      Node sum = node;
      sum.op = "Add";
      std::vector<TensorData> added;
      for (size_t i = 0; i < operands->most.size(); ++i) {
        added.push_back(operands->open[i] ? operands->flags[i]
                                          : Flags(operands->most[i], {}));
      }
      flags = Evaluate(graph, sum, added);
    }
  }
  if (!flags.has_value() || flags->count() != most->count()) {
    return std::nullopt;
  }
  for (int64_t i = 0; i < flags->count(); ++i) {
    result.varies.push_back(At(*flags, i) != 0);
  }
  result.most = *std::move(most);
  return result;
}

TensorId SizesOperand(const Node& node) {
  static const auto* const kOperands = new std::map<std::string, size_t>{
      {"ConstantOfShape", 0}, {"Expand", 1},  {"OneHot", 1}, {"Pad", 1},
      {"Range", 1},           {"Reshape", 1}, {"Resize", 3}, {"Tile", 1}};
  const auto it = kOperands->find(node.op);
  return !node.domain.empty() || it == kOperands->end()
             ? kNoTensor
             : node.input(it->second);
}

SizesAsConstants::SizesAsConstants(const Node& node, const FindSizes& find,
                                   Graph* graph)
    : graph_(graph) {
  const TensorId id = SizesOperand(node);
  const OpenSizes* sizes = id == kNoTensor ? nullptr : find(id);
  if (sizes == nullptr || graph->tensors[id].is_constant()) return;
  graph->tensors[id].constant = std::make_shared<const TensorData>(sizes->most);
  changed_ = id;
}

SizesAsConstants::~SizesAsConstants() {
  if (changed_ != kNoTensor) graph_->tensors[changed_].constant = nullptr;
}

}  // namespace heddle::compiler
