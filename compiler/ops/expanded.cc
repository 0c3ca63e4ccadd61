// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/expanded.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/reduce.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// As of a tensor of the model.
constexpr int64_t kMostBytes = int64_t{4} << 30;

struct Entry {
  ExpandFunction expand;
  bool (*applies)(const Graph&, const Node&);
  decltype(OperatorInfo::infer) infer;
  decltype(OperatorInfo::evaluate) evaluate;
};

// By domain and name, and the first opset of the definition.
using Key = std::pair<std::string, std::string>;
std::map<Key, std::map<int, Entry>>& Registry() {
  static auto* registry = new std::map<Key, std::map<int, Entry>>();
  return *registry;
}

const Entry* FindEntry(const Node& node) {
  const auto it = Registry().find({node.domain, node.op});
  if (it == Registry().end()) return nullptr;
  // Of the definition that holds for the node; some of an operator's may be no
  // expansions.
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  if (info == nullptr) return nullptr;
  const auto entry = it->second.find(info->since_version);
  return entry == it->second.end() ? nullptr : &entry->second;
}

bool Applies(const Entry& entry, const Graph& graph, const Node& node) {
  return entry.applies == nullptr || entry.applies(graph, node);
}

absl::Status InferExpanded(Graph* graph, const Node& node) {
  const Entry& entry = *FindEntry(node);
  if (!Applies(entry, *graph, node)) return entry.infer(graph, node);
  Graph alone = Isolated(*graph, node);
  const Node own = alone.nodes[0];
  RETURN_IF_ERROR(ExpandNode(&alone, own).status());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId id = own.outputs[i];
    if (id == kNoTensor) continue;
    const Tensor& result = alone.tensors[id];
    RETURN_IF_ERROR(SetOutput(graph, node, i, result.type, result.shape));
  }
  return absl::OkStatus();
}

Results EvaluateExpanded(const Graph& graph, const Node& node,
                         const Inputs& inputs) {
  const Entry& entry = *FindEntry(node);
  if (!Applies(entry, graph, node)) {
    return entry.evaluate(graph, node, inputs);
  }
  Graph alone = Isolated(graph, node);
  const Node own = alone.nodes[0];
  // Parameters that are known only here, when constants are folded.
  std::vector<TensorData> given;
  for (TensorId id : alone.inputs) {
    const auto at = std::find(own.inputs.begin(), own.inputs.end(), id);
    given.push_back(*inputs[static_cast<size_t>(at - own.inputs.begin())]);
  }
  ASSIGN_OR_RETURN(alone.nodes, ExpandNode(&alone, own));
  ASSIGN_OR_RETURN(auto values, EvaluateGraph(alone, given));
  std::vector<TensorData> results(node.outputs.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorId id = own.outputs[i];
    if (id != kNoTensor) results[i] = std::move(values[id]);
  }
  return results;
}

}  // namespace

absl::Status CheckTable(const Node& node, int64_t rows, int64_t columns) {
  if (rows <= 0 || columns <= kMostTableElements / rows) {
    return absl::OkStatus();
  }
  return RejectNode(Rejection::kUnsupportedShape, node, "a table of ", rows,
                    " times ", columns, " elements would be needed, at most ",
                    kMostTableElements, " are supported");
}

Expansion::Expansion(Graph* graph, const Node& node)
    : graph_(graph), node_(node) {
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    hint_ = graph->tensors[id].name;
    break;
  }
}

TensorId Expansion::NewTensor(DataType type, Shape shape) {
  // (Graph::AddTemporary looks at all names each time.)
  if (taken_.empty()) {
    for (const Tensor& other : graph_->tensors) taken_.insert(other.name);
  }
  Tensor tensor;
  do {
    tensor.name = absl::StrCat(hint_, "_", ++suffix_);
  } while (!taken_.insert(tensor.name).second);
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.shape_known = true;
  return graph_->AddTensor(std::move(tensor));
}

TensorId Expansion::Constant(TensorData data) {
  const TensorId id = NewTensor(data.type, data.shape);
  graph_->tensors[id].constant =
      std::make_shared<const TensorData>(std::move(data));
  return id;
}

TensorId Expansion::Ints(const std::vector<int64_t>& values) {
  TensorData data = TensorData::Zeros(DataType::kInt64,
                                      {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    data.as<int64_t>()[i] = values[i];
  }
  return Constant(std::move(data));
}

TensorId Expansion::Scalar(DataType type, double value) {
  TensorData data = TensorData::Zeros(type, {});
  switch (type) {
    case DataType::kFloat:
      *data.as<float>() = static_cast<float>(value);
      break;
    case DataType::kFloat16:
      *data.as<uint16_t>() = model::F32ToF16(static_cast<float>(value));
      break;
    case DataType::kDouble:
      *data.as<double>() = value;
      break;
    case DataType::kInt64:
      *data.as<int64_t>() = static_cast<int64_t>(value);
      break;
    default:
      for (size_t i = 0; i < data.bytes.size(); ++i) {
        data.bytes[i] =
            static_cast<uint8_t>(static_cast<int64_t>(value) >> (8 * i));
      }
  }
  return Constant(std::move(data));
}

DataType Expansion::Real() const {
  for (size_t i = 0; i < node_.inputs.size(); ++i) {
    if (HasIn(i) && T(In(i)).type == DataType::kDouble) {
      return DataType::kDouble;
    }
  }
  return DataType::kFloat;
}

TensorId Expansion::Numbers(const Shape& shape,
                            const std::vector<double>& values) {
  if (Real() == DataType::kDouble) return Constant(FromDoubles(shape, values));
  return Constant(FromFloats(DataType::kFloat, shape,
                             std::vector<float>(values.begin(), values.end())));
}

TensorId Expansion::Add(const std::string& op,
                        const std::vector<TensorId>& inputs,
                        const std::map<std::string, Attribute>& attributes,
                        int opset) {
  return AddAll(1, op, inputs, attributes, opset)[0];
}

std::vector<TensorId> Expansion::AddAll(
    size_t count, const std::string& op, const std::vector<TensorId>& inputs,
    const std::map<std::string, Attribute>& attributes, int opset) {
  std::vector<TensorId> out;
  for (size_t i = 0; i < count; ++i) {
    out.push_back(NewTensor(DataType::kUndefined, {}));
  }
  if (!status_.ok()) return out;
  Node node;
  // "heddle.NAME" is one of the internal domain, whose opset is 1.
  constexpr char kInternal[] = "heddle.";
  const size_t prefix = op.compare(0, sizeof(kInternal) - 1, kInternal) == 0
                            ? sizeof(kInternal) - 1
                            : 0;
  if (prefix > 0) node.domain = kInternalDomain;
  node.op = op.substr(prefix);
  node.name = node_.name;
  node.opset = prefix > 0 ? 1 : opset;
  node.inputs = inputs;
  for (TensorId& id : node.inputs) {
    const auto it = returned_.find(id);
    if (it != returned_.end()) id = it->second;
  }
  node.outputs = out;
  node.attributes = attributes;
  node.sources = node_.sources;
  status_ = CheckNode(*graph_, node);
  if (status_.ok()) {
    status_ =
        FindOperator(node.domain, node.op, node.opset)->infer(graph_, node);
  }
  nodes_.push_back(std::move(node));
  return out;
}

TensorId Expansion::Cast(TensorId x, DataType to) {
  if (T(x).type == to) return x;
  return Add("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

TensorId Expansion::Reshape(TensorId x, Shape shape) {
  if (T(x).shape == shape) return x;
  // A dimension of 0 is meant, not that of x.
  if (std::count(shape.begin(), shape.end(), 0) != 0) {
    return Add("Reshape", {x, Ints(shape)}, {{"allowzero", int64_t{1}}}, 14);
  }
  return Add("Reshape", {x, Ints(shape)});
}

TensorId Expansion::Wide(TensorId x) {
  return Contains(kReals, T(x).type) ? Cast(x, Real()) : x;
}

void Expansion::Return(size_t i, TensorId x, DataType type) {
  if (!HasOut(i) || !status_.ok()) return;
  x = Cast(x, type);
  if (!status_.ok()) return;
  const TensorId out = node_.outputs[i];
  Tensor& tensor = graph_->tensors[out];
  tensor.type = T(x).type;
  tensor.shape = T(x).shape;
  tensor.shape_known = true;
  // What another node reads, nobody here writes, or has another name already,
  // is copied.
  TensorId* own = nullptr;
  for (Node& node : nodes_) {
    for (TensorId& id : node.outputs) {
      if (id == x) own = &id;
    }
    for (TensorId id : node.inputs) {
      if (id == x) own = nullptr;
    }
  }
  if (own == nullptr) {
    Add("Identity", {x});
    if (!status_.ok()) return;
    own = &nodes_.back().outputs[0];
  }
  *own = out;
  returned_.emplace(x, out);
}

std::vector<Node> Expansion::Take() { return std::move(nodes_); }

ExpandedOperator::ExpandedOperator(Define define, ExpandFunction expand)
    : ExpandedOperator(std::move(define), expand, nullptr, nullptr, nullptr) {}

ExpandedOperator::ExpandedOperator(Define define, ExpandFunction expand,
                                   bool (*applies)(const Graph& graph,
                                                   const Node& node),
                                   decltype(OperatorInfo::infer) infer,
                                   decltype(OperatorInfo::evaluate) evaluate) {
  OperatorInfo info = define.Run(InferExpanded, EvaluateExpanded);
  if (info.since_version <= info.until_version) {
    Registry()[{info.domain, info.op}][info.since_version] = {expand, applies,
                                                              infer, evaluate};
  }
  OperatorRegistration registration(std::move(info));
}

bool MayBeExpanded(const std::string& domain, const std::string& op) {
  return Registry().count({domain, op}) > 0;
}

bool IsExpanded(const Graph& graph, const Node& node) {
  const Entry* entry = FindEntry(node);
  return entry != nullptr && Applies(*entry, graph, node);
}

bool HasInternalParts(const Graph& graph, const Node& node) {
  Graph alone = Isolated(graph, node);
  const Node own = alone.nodes[0];
  const auto nodes = ExpandNode(&alone, own);
  return nodes.ok() &&
         std::any_of(nodes->begin(), nodes->end(), [](const Node& part) {
           return part.domain == kInternalDomain;
         });
}

absl::StatusOr<std::vector<Node>> ExpandNode(Graph* graph, const Node& node) {
  Expansion expansion(graph, node);
  RETURN_IF_ERROR(FindEntry(node)->expand(&expansion));
  RETURN_IF_ERROR(expansion.status());
  std::vector<Node> nodes = expansion.Take();
  for (const Node& part : nodes) {
    for (TensorId id : part.outputs) {
      if (id == kNoTensor) continue;
      const Tensor& t = graph->tensors[id];
      const auto element = static_cast<int64_t>(ElementBytes(t.type));
      if (element == 0 || ElementCount(t.shape) <= kMostBytes / element) {
        continue;
      }
      return RejectNode(Rejection::kUnsupportedShape, node,
                        "it is made of others, of which ", part.op,
                        " has a result of shape ", ShapeToString(t.shape),
                        ", more than ", kMostBytes, " bytes");
    }
  }
  return nodes;
}

}  // namespace heddle::compiler
