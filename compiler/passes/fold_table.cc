// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fold_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

constexpr size_t kMaxChain = 64;

// One element of the result from one of each operand, nothing else.
bool IsElementwise(const Node& node) {
  static const auto* ops =
      new std::set<std::string>{"Abs",         "Add",        "Ceil",
                                "Clip",        "Div",        "Elu",
                                "Erf",         "Exp",        "Floor",
                                "HardSigmoid", "Log",        "HardSwish",
                                "LeakyRelu",   "Max",        "Min",
                                "Mul",         "Neg",        "PRelu",
                                "Pow",         "Reciprocal", "Relu",
                                "Round",       "Selu",       "Sigmoid",
                                "Sign",        "Sqrt",       "Softplus",
                                "Softsign",    "Sub",        "Tanh",
                                "Celu",        "Identity",   "ThresholdedRelu",
                                "Gelu",        "Mish",       "Shrink",
                                "Sin",         "Cos",        "Tan",
                                "Asin",        "Acos",       "Atan",
                                "Sinh",        "Cosh",       "Asinh",
                                "Acosh",       "Atanh"};
  return node.domain.empty() && node.outputs.size() == 1 &&
         ops->count(node.op) > 0;
}

bool IsByte(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

class Chain {
 public:
  Chain(const Rewriter& rewriter, int quantize)
      : r_(rewriter), quantize_(quantize) {}

  // Finds the chain that ends with the QuantizeLinear; false if there is none.
  bool Find() {
    const Node& q = r_.node(quantize_);
    const Tensor& out = r_.tensor(q.outputs[0]);
    if (!IsByte(out.type) || !HasScalars(q)) return false;
    shape_ = out.shape;
    if (!Visit(q.inputs[0]) || source_ == kNoTensor || inner_.empty() ||
        r_.tensor(source_).type != out.type) {
      return false;
    }
    for (int n : inner_) {
      const TensorId id = r_.node(n).outputs[0];
      if (r_.graph().IsOutput(id)) return false;
      for (int reader : r_.Consumers(id)) {
        if (reader != quantize_ && !seen_.count(reader)) return false;
      }
    }
    return true;
  }

  // The chain's results for all 256 bit patterns.
  absl::StatusOr<TensorData> Evaluate() const {
    Graph g;
    std::map<TensorId, TensorId> ids;
    const auto id_of = [&](TensorId id) {
      if (id == kNoTensor) return kNoTensor;
      const auto [it, fresh] = ids.try_emplace(id, kNoTensor);
      if (!fresh) return it->second;
      Tensor t = r_.tensor(id);
      if (t.is_constant()) {
        auto data = std::make_shared<TensorData>(*t.constant);
        data->shape.clear();
        t.constant = std::move(data);
        t.shape.clear();
      } else {
        t.shape = {256};
      }
      return it->second = g.AddTensor(std::move(t));
    };
    g.inputs = {id_of(source_)};
    std::vector<int> nodes = order_;
    nodes.push_back(quantize_);
    for (int n : nodes) {
      Node node = r_.node(n);
      for (TensorId& id : node.inputs) id = id_of(id);
      for (TensorId& id : node.outputs) id = id_of(id);
      g.nodes.push_back(std::move(node));
    }
    g.outputs = {id_of(r_.node(quantize_).outputs[0])};
    TensorData all = TensorData::Zeros(r_.tensor(source_).type, {256});
    for (int i = 0; i < 256; ++i) all.bytes[i] = static_cast<uint8_t>(i);
    ASSIGN_OR_RETURN(auto results, EvaluateGraph(g, {all}));
    return std::move(results[g.outputs[0]]);
  }

  TensorId source() const { return source_; }
  // In order; without the DequantizeLinears, which others may read.
  const std::vector<int>& inner() const { return inner_; }
  const std::vector<int>& order() const { return order_; }

 private:
  // Scale and zero point, if it is there, are constants of one element.
  bool HasScalars(const Node& node) const {
    for (size_t i = 1; i <= 2; ++i) {
      const TensorId id = node.input(i);
      if (id != kNoTensor && !IsScalar(id)) return false;
    }
    return true;
  }
  bool IsScalar(TensorId id) const {
    const Tensor& t = r_.tensor(id);
    return t.is_constant() && t.constant->count() == 1;
  }

  bool Visit(TensorId id) {
    if (id == kNoTensor || IsScalar(id)) return true;
    const Tensor& t = r_.tensor(id);
    const int n = r_.Producer(id);
    if (n < 0 || t.type != DataType::kFloat || t.shape != shape_) return false;
    if (seen_.count(n)) return true;
    if (seen_.size() >= kMaxChain) return false;
    const Node& node = r_.node(n);
    if (r_.IsOp(n, "DequantizeLinear")) {
      const TensorId from = node.inputs[0];
      if (!IsByte(r_.tensor(from).type) || r_.tensor(from).is_constant() ||
          !HasScalars(node) || (source_ != kNoTensor && source_ != from)) {
        return false;
      }
      source_ = from;
    } else {
      if (!IsElementwise(node)) return false;
      for (TensorId input : node.inputs) {
        if (!Visit(input)) return false;
      }
      inner_.push_back(n);
    }
    seen_.insert(n);
    order_.push_back(n);
    return true;
  }

  const Rewriter& r_;
  const int quantize_;
  Shape shape_;
  TensorId source_ = kNoTensor;
  std::set<int> seen_;
  std::vector<int> inner_, order_;
};

void Fold(Rewriter* r, int quantize, std::set<std::string>* folded) {
  Chain chain(*r, quantize);
  if (!chain.Find()) return;
  absl::StatusOr<TensorData> table = chain.Evaluate();
  // Nodes are checked after this pass: what is wrong with one is told then.
  if (!table.ok()) return;
  Node node;
  node.op = "Table";
  node.domain = kInternalDomain;
  node.opset = 1;
  node.name = r->node(quantize).name;
  node.outputs = r->node(quantize).outputs;
  for (int n : chain.order()) {
    const std::vector<std::string>& sources = r->node(n).sources;
    node.sources.insert(node.sources.end(), sources.begin(), sources.end());
  }
  const std::vector<std::string>& last = r->node(quantize).sources;
  node.sources.insert(node.sources.end(), last.begin(), last.end());
  node.inputs = {chain.source(),
                 r->NewConstant(r->tensor(node.outputs[0]).name + "/table",
                                *std::move(table))};
  r->Remove(quantize);
  for (int n : chain.inner()) {
    folded->insert(r->node(n).name);
    r->Remove(n);
  }
  for (int n : chain.order()) {
    if (r->alive(n) && r->Consumers(r->node(n).outputs[0]).empty() &&
        !r->graph().IsOutput(r->node(n).outputs[0])) {
      r->Remove(n);
    }
  }
  r->Add(std::move(node));
}

}  // namespace

absl::Status FoldTables(Graph* graph) {
  // (What is bounded is the host's, which has no tables.)
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(*graph));
  Rewriter r(graph);
  std::set<std::string> folded;
  const int count = r.size();
  for (int n = 0; n < count; ++n) {
    if (!r.alive(n) || !r.IsOp(n, "QuantizeLinear") ||
        bounded.Touches(r.node(n))) {
      continue;
    }
    Fold(&r, n, &folded);
  }
  RETURN_IF_ERROR(r.Finish());
  std::vector<FloatGroup>& groups = graph->float_groups;
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [&](const FloatGroup& group) {
                                return folded.count(group.node) > 0;
                              }),
               groups.end());
  return absl::OkStatus();
}

}  // namespace heddle::compiler
