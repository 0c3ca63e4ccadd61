// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fuse_gelu.h"

#include <cmath>
#include <optional>
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

// How far a constant may be from what it stands for, relative to it: the
// rounding of a decimal number to fp32.
constexpr double kTolerance = 1e-6;

bool Near(double value, double exact) {
  return std::abs(value - exact) <= kTolerance * exact;
}

class Matcher {
 public:
  explicit Matcher(const Rewriter& rewriter) : r_(rewriter) {}

  // Finds the function that ends with the Mul `root`.
  bool Find(int root) {
    const TensorId out = r_.node(root).outputs[0];
    if (r_.tensor(out).type != DataType::kFloat) return false;
    std::vector<TensorId> factors;
    double scale = 1;
    Factors(root, &factors, &scale);
    if (factors.size() != 2 || !Near(scale, 0.5)) return false;
    for (size_t gate : {0, 1}) {
      const std::set<int> before = nodes_;
      x_ = factors[1 - gate];
      if (IsGate(factors[gate])) {
        return r_.tensor(x_).shape == r_.tensor(out).shape;
      }
      nodes_ = before;
    }
    return false;
  }

  TensorId x() const { return x_; }
  const std::set<int>& nodes() const { return nodes_; }

 private:
  std::optional<double> Scalar(TensorId id) const {
    const Tensor& t = r_.tensor(id);
    if (!t.is_constant() || t.type != DataType::kFloat ||
        t.constant->count() != 1) {
      return std::nullopt;
    }
    return double{t.constant->as<float>()[0]};
  }

  // What the tree of products multiplies, and its constants' product.
  void Factors(int n, std::vector<TensorId>* factors, double* scale) {
    nodes_.insert(n);
    for (TensorId id : r_.node(n).inputs) {
      const int p = r_.Producer(id);
      if (const std::optional<double> c = Scalar(id)) {
        *scale *= *c;
      } else if (factors->size() < 3 && r_.IsOp(p, "Mul") && r_.OnlyUse(id)) {
        Factors(p, factors, scale);
      } else {
        factors->push_back(id);
      }
    }
  }

  // A node of which only what has been found reads; its place, or -1.
  int Take(TensorId id, const char* op) {
    const int n = r_.Producer(id);
    if (!r_.IsOp(n, op) || !r_.OnlyUse(id)) return -1;
    nodes_.insert(n);
    return n;
  }

  // erf(x / sqrt(2)) + 1
  bool IsGate(TensorId id) {
    const int add = Take(id, "Add");
    if (add < 0) return false;
    const std::vector<TensorId>& terms = r_.node(add).inputs;
    const size_t one = Scalar(terms[1]) ? 1 : 0;
    if (Scalar(terms[one]) != 1.0) return false;
    const int erf = Take(terms[1 - one], "Erf");
    if (erf < 0) return false;
    const TensorId z = r_.node(erf).inputs[0];
    if (const int n = Take(z, "Div"); n >= 0) {
      const std::optional<double> c = Scalar(r_.node(n).inputs[1]);
      return c && r_.node(n).inputs[0] == x_ && Near(*c, std::sqrt(2.0));
    }
    const int n = Take(z, "Mul");
    if (n < 0) return false;
    const std::vector<TensorId>& product = r_.node(n).inputs;
    const size_t factor = Scalar(product[1]) ? 1 : 0;
    const std::optional<double> c = Scalar(product[factor]);
    return c && product[1 - factor] == x_ && Near(*c, std::sqrt(0.5));
  }

  const Rewriter& r_;
  TensorId x_ = kNoTensor;
  std::set<int> nodes_;
};

}  // namespace

absl::Status FuseGelu(Graph* graph) {
  // (What the host computes are ONNX's operators.)
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(*graph));
  Rewriter r(graph);
  for (int n = r.size(); n-- > 0;) {
    if (!r.alive(n) || !r.IsOp(n, "Mul") || bounded.Touches(r.node(n))) {
      continue;
    }
    Matcher m(r);
    if (!m.Find(n)) continue;
    Node node;
    node.op = "Gelu";
    node.domain = kInternalDomain;
    node.opset = 1;
    node.name = r.node(n).name;
    node.inputs = {m.x()};
    node.outputs = r.node(n).outputs;
    r.Replace(m.nodes(), std::move(node));
  }
  return r.Finish();
}

}  // namespace heddle::compiler
