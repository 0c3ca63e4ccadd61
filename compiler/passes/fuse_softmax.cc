// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fuse_softmax.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/operator.h"
#include "compiler/ops/reduce.h"
#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

class Matcher {
 public:
  explicit Matcher(const Rewriter& rewriter) : r_(rewriter) {}

  // Finds the softmax that ends with the Div `root`.
  bool Find(int root) {
    const Node& divide = r_.node(root);
    nodes_ = {root};
    const TensorId e = divide.inputs[0];
    const int exp = r_.Producer(e), sum = r_.Producer(divide.inputs[1]);
    if (!r_.IsOp(exp, "Exp") || r_.graph().IsOutput(e) ||
        r_.Consumers(e) != std::set<int>{root, sum} ||
        r_.tensor(e).type != DataType::kFloat || e == divide.inputs[1] ||
        !OverAxis(divide.inputs[1], "ReduceSum", e)) {
      return false;
    }
    nodes_.insert(exp);
    x_ = r_.node(exp).inputs[0];
    const int sub = r_.Producer(x_);
    if (r_.IsOp(sub, "Sub") && r_.OnlyUse(x_)) {
      const TensorId from = r_.node(sub).inputs[0];
      if (OverAxis(r_.node(sub).inputs[1], "ReduceMax", from)) {
        nodes_.insert(sub);
        x_ = from;
      }
    }
    return r_.tensor(x_).shape == r_.tensor(divide.outputs[0]).shape;
  }

  TensorId x() const { return x_; }
  int64_t axis() const { return axis_; }
  const std::set<int>& nodes() const { return nodes_; }

 private:
  // `id` is what `op` makes of `from` along one axis, that of the others, for
  // one reader.
  bool OverAxis(TensorId id, const char* op, TensorId from) {
    const int n = r_.Producer(id);
    if (!r_.IsOp(n, op) || !r_.OnlyUse(id) || r_.node(n).inputs[0] != from ||
        r_.node(n).IntAttribute("keepdims", 1) == 0) {
      return false;
    }
    const auto axes = ResolveReduce(r_.graph(), r_.node(n));
    if (!axes.ok() ||
        std::count(axes->reduced.begin(), axes->reduced.end(), true) != 1) {
      return false;
    }
    const int64_t axis =
        std::find(axes->reduced.begin(), axes->reduced.end(), true) -
        axes->reduced.begin();
    if (axis_ >= 0 && axis != axis_) return false;
    axis_ = axis;
    nodes_.insert(n);
    return true;
  }

  const Rewriter& r_;
  TensorId x_ = kNoTensor;
  int64_t axis_ = -1;
  std::set<int> nodes_;
};

}  // namespace

absl::Status FuseSoftmax(Graph* graph) {
  constexpr int kOpset = 13;
  Rewriter r(graph);
  const int count = r.size();
  for (int n = 0; n < count; ++n) {
    if (!r.alive(n) || !r.IsOp(n, "Div")) continue;
    Matcher m(r);
    if (!m.Find(n)) continue;
    Node node;
    node.op = "Softmax";
    node.opset = kOpset;
    node.name = r.node(n).name;
    node.attributes["axis"] = m.axis();
    node.inputs = {m.x()};
    node.outputs = r.node(n).outputs;
    r.Replace(m.nodes(), std::move(node));
  }
  return r.Finish();
}

}  // namespace heddle::compiler
