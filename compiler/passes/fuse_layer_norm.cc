// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fuse_layer_norm.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/reduce.h"
#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

class Matcher {
 public:
  explicit Matcher(const Rewriter& rewriter) : r_(rewriter) {}

  // Finds the normalisation between codes that ends with the QuantizeLinear.
  bool FindCodes(int quantize) {
    const Node& q = r_.node(quantize);
    if (!IsCode(r_.tensor(q.outputs[0]).type) || !HasScalars(q)) return false;
    if (!Find(q.inputs[0]) || !OnlyInside(quantize)) return false;
    dequantize_ = r_.Producer(x_);
    return r_.IsOp(dequantize_, "DequantizeLinear") &&
           IsCode(r_.tensor(r_.node(dequantize_).inputs[0]).type) &&
           HasScalars(r_.node(dequantize_));
  }

  // Finds the normalisation of floats that ends with node `n`.
  bool FindFloats(int n) {
    end_ = r_.node(n).outputs[0];
    return r_.tensor(end_).type == DataType::kFloat && Find(end_) &&
           OnlyInside(-1);
  }
  // The nodes in place of which `Fused` stands, without the DequantizeLinear.
  const std::set<int>& nodes() const { return taken_; }
  int dequantize() const { return dequantize_; }
  TensorId x() const { return x_; }
  TensorId gamma() const { return gamma_; }
  TensorId beta() const { return beta_; }
  float epsilon() const { return epsilon_; }

 private:
  // The normalisation that computes `id`.
  bool Find(TensorId id) {
    shape_ = r_.tensor(id).shape;
    if (shape_.empty()) return false;
    if (Operator(id)) return true;
    size_t other = 0;
    if (const int n = PerColumn(id, "Add", &other); n >= 0) {
      beta_ = r_.node(n).inputs[1 - other];
      id = r_.node(n).inputs[other];
    }
    if (const int n = PerColumn(id, "Mul", &other); n >= 0) {
      gamma_ = r_.node(n).inputs[1 - other];
      id = r_.node(n).inputs[other];
    }
    const int divide = Take(id, "Div");
    return divide >= 0 && Centred(r_.node(divide).inputs[0]) &&
           Deviation(r_.node(divide).inputs[1]);
  }

  // ONNX's own operator, over the last axis.
  bool Operator(TensorId id) {
    const int n = r_.Producer(id);
    if (!r_.IsOp(n, "LayerNormalization") || id == end_) return false;
    const Node& node = r_.node(n);
    const auto last = static_cast<int64_t>(shape_.size()) - 1;
    const int64_t axis = node.IntAttribute("axis", -1);
    if ((axis != -1 && axis != last) || node.outputs.size() != 1) return false;
    x_ = node.inputs[0];
    gamma_ = node.inputs[1];
    beta_ = node.input(2);
    epsilon_ = node.FloatAttribute("epsilon", 1e-5f);
    taken_.insert(n);
    return true;
  }

  bool HasScalars(const Node& node) const {
    const auto scalar = [&](TensorId id) {
      const Tensor& t = r_.tensor(id);
      return t.is_constant() && t.constant->count() == 1;
    };
    return scalar(node.inputs[1]) &&
           (node.input(2) == kNoTensor || scalar(node.inputs[2]));
  }

  // The node of this operator that computes `id`, or -1.
  int Take(TensorId id, const char* op) {
    const int n = r_.Producer(id);
    if (!r_.IsOp(n, op)) return -1;
    taken_.insert(n);
    return n;
  }

  // A node `op` with one operand as large as the result and one constant that
  // is the same in all rows: the node, and the former's index.
  int PerColumn(TensorId id, const char* op, size_t* other) {
    const int n = r_.Producer(id);
    if (!r_.IsOp(n, op)) return -1;
    for (size_t c = 0; c < 2; ++c) {
      const Tensor& t = r_.tensor(r_.node(n).inputs[c]);
      if (!t.is_constant() || t.type != DataType::kFloat ||
          r_.tensor(r_.node(n).inputs[1 - c]).shape != shape_) {
        continue;
      }
      const int64_t count = t.constant->count();
      if (count == 1 || (count == shape_.back() && t.shape.back() == count)) {
        taken_.insert(n);
        *other = 1 - c;
        return n;
      }
    }
    return -1;
  }

  // ReduceMean over the last axis, which stays as 1: its operand.
  TensorId MeanOf(TensorId id) {
    const int n = Take(id, "ReduceMean");
    if (n < 0) return kNoTensor;
    const Node& node = r_.node(n);
    const auto axes = ResolveReduce(r_.graph(), node);
    if (!axes.ok() || node.IntAttribute("keepdims", 1) == 0) return kNoTensor;
    std::vector<bool> last(shape_.size(), false);
    if (last.empty()) return kNoTensor;
    last.back() = true;
    return axes->reduced == last ? node.inputs[0] : kNoTensor;
  }

  // x - mean(x), of the same x each time.
  bool Centred(TensorId id) {
    const int n = Take(id, "Sub");
    if (n < 0) return false;
    const TensorId x = r_.node(n).inputs[0];
    if (r_.tensor(x).shape != shape_ || MeanOf(r_.node(n).inputs[1]) != x ||
        (x_ != kNoTensor && x != x_)) {
      return false;
    }
    x_ = x;
    return true;
  }

  std::optional<float> Scalar(TensorId id) const {
    const Tensor& t = r_.tensor(id);
    if (!t.is_constant() || t.type != DataType::kFloat ||
        t.constant->count() != 1) {
      return std::nullopt;
    }
    return t.constant->as<float>()[0];
  }

  bool Deviation(TensorId id) {
    const int root = Take(id, "Sqrt");
    if (root < 0) return false;
    const int add = Take(r_.node(root).inputs[0], "Add");
    if (add < 0) return false;
    const std::vector<TensorId>& terms = r_.node(add).inputs;
    const size_t e = Scalar(terms[1]) ? 1 : 0;
    const std::optional<float> epsilon = Scalar(terms[e]);
    if (!epsilon) return false;
    epsilon_ = *epsilon;
    const TensorId square = MeanOf(terms[1 - e]);
    if (square == kNoTensor) return false;
    if (const int n = Take(square, "Mul"); n >= 0) {
      return r_.node(n).inputs[0] == r_.node(n).inputs[1] &&
             Centred(r_.node(n).inputs[0]);
    }
    const int power = Take(square, "Pow");
    return power >= 0 && Scalar(r_.node(power).inputs[1]) == 2.0f &&
           Centred(r_.node(power).inputs[0]);
  }

  // Nobody else reads what is between.
  bool OnlyInside(int quantize) const {
    for (int n : taken_) {
      const TensorId id = r_.node(n).outputs[0];
      if (id == end_) continue;
      if (r_.graph().IsOutput(id)) return false;
      for (int reader : r_.Consumers(id)) {
        if (reader != quantize && taken_.count(reader) == 0) return false;
      }
    }
    return true;
  }

  const Rewriter& r_;
  Shape shape_;
  std::set<int> taken_;
  TensorId end_ = kNoTensor;  // of floats
  int dequantize_ = -1;
  TensorId x_ = kNoTensor, gamma_ = kNoTensor, beta_ = kNoTensor;
  float epsilon_ = 0;
};

TensorId One(Rewriter* r, const std::string& name, float value) {
  TensorData data = TensorData::Zeros(DataType::kFloat, {});
  data.as<float>()[0] = value;
  return r->NewConstant(name, std::move(data));
}

void FuseCodes(Rewriter* r, int quantize) {
  Matcher m(*r);
  if (!m.FindCodes(quantize)) return;
  const Node q = r->node(quantize), d = r->node(m.dequantize());
  const auto zero = [&](TensorId id, TensorId codes) {
    if (id != kNoTensor) return id;
    const Tensor t = r->tensor(codes);
    return r->NewConstant(t.name + "/zero_point",
                          TensorData::Zeros(t.type, {}));
  };
  Node node;
  node.op = "LayerNorm";
  node.domain = kInternalDomain;
  node.opset = 1;
  node.name = q.name;
  node.attributes["epsilon"] = m.epsilon();
  node.outputs = q.outputs;
  const std::string name = r->tensor(q.outputs[0]).name;
  node.inputs = {
      d.inputs[0],
      d.inputs[1],
      zero(d.input(2), d.inputs[0]),
      m.gamma() == kNoTensor ? One(r, name + "/gamma", 1) : m.gamma(),
      m.beta() == kNoTensor ? One(r, name + "/beta", 0) : m.beta(),
      q.inputs[1],
      zero(q.input(2), q.outputs[0])};
  node.sources = d.sources;
  for (int n : m.nodes()) {
    const std::vector<std::string>& sources = r->node(n).sources;
    node.sources.insert(node.sources.end(), sources.begin(), sources.end());
  }
  node.sources.insert(node.sources.end(), q.sources.begin(), q.sources.end());
  if (!CheckNode(r->graph(), node).ok()) return;
  const std::set<int> nodes = m.nodes();
  r->Remove(quantize);
  for (int n : nodes) r->Remove(n);
  const TensorId x = d.outputs[0];
  if (r->Consumers(x).empty() && !r->graph().IsOutput(x)) {
    r->Remove(m.dequantize());
  }
  r->Add(std::move(node));
}

void FuseFloats(Rewriter* r, int n) {
  constexpr int kOpset = 17;
  Matcher m(*r);
  if (!m.FindFloats(n)) return;
  const Node last = r->node(n);
  Node node;
  node.op = "LayerNormalization";
  node.opset = kOpset;
  node.name = last.name;
  node.attributes["axis"] = int64_t{-1};
  node.attributes["epsilon"] = m.epsilon();
  node.outputs = last.outputs;
  const std::string name = r->tensor(last.outputs[0]).name;
  node.inputs = {
      m.x(), m.gamma() == kNoTensor ? One(r, name + "/gamma", 1) : m.gamma()};
  if (m.beta() != kNoTensor) node.inputs.push_back(m.beta());
  r->Replace(m.nodes(), std::move(node));
}

}  // namespace

absl::Status FuseLayerNorm(Graph* graph) {
  // (What the host computes are ONNX's operators.)
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(*graph));
  Rewriter rewriter(graph);
  const int count = rewriter.size();
  for (int n = 0; n < count; ++n) {
    if (rewriter.alive(n) && rewriter.IsOp(n, "QuantizeLinear") &&
        !bounded.Touches(rewriter.node(n))) {
      FuseCodes(&rewriter, n);
    }
  }
  // The last node first, which has all of the normalisation before it.
  for (int n = count; n-- > 0;) {
    if (rewriter.alive(n) && !bounded.Touches(rewriter.node(n)) &&
        (rewriter.IsOp(n, "Add") || rewriter.IsOp(n, "Mul") ||
         rewriter.IsOp(n, "Div"))) {
      FuseFloats(&rewriter, n);
    }
  }
  return rewriter.Finish();
}

}  // namespace heddle::compiler
