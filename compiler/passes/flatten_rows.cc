// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/flatten_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/operator.h"
#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

// The inputs of which a row of the result takes a row each; none if the
// operator is no such one.
std::vector<size_t> RowInputs(const Node& node) {
  if (node.domain == kInternalDomain) {
    if (node.op == "Table" || node.op == "LayerNorm") return {0};
  } else if (node.domain.empty()) {
    if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear") {
      return {0};
    }
  } else if (node.op == "QLinearAdd" || node.op == "QLinearMul") {
    return {0, 3};
  } else if (node.op == "QLinearSigmoid" || node.op == "QLinearLeakyRelu") {
    return {0};
  }
  return {};
}

Shape Rows(const Shape& shape) {
  return {ElementCount(shape) / shape.back(), shape.back()};
}

class Flattener {
 public:
  explicit Flattener(Rewriter* rewriter) : r_(*rewriter) {}

  void Run() {
    // An operator that becomes one on a matrix may let its neighbours follow.
    std::vector<int> todo;
    for (int n = r_.size(); n-- > 0;) todo.push_back(n);
    while (!todo.empty()) {
      const int n = todo.back();
      todo.pop_back();
      if (!r_.alive(n) || !IsOnStack(n) || !MeetsMatrix(n)) continue;
      const Node node = r_.node(n);
      Flatten(n);
      for (size_t i : RowInputs(node)) {
        if (const int p = r_.Producer(node.inputs[i]); p >= 0) {
          todo.push_back(p);
        }
      }
      for (int reader : r_.Consumers(node.outputs[0])) todo.push_back(reader);
    }
  }

 private:
  bool IsOnStack(int n) const {
    const Node& node = r_.node(n);
    const std::vector<size_t> inputs = RowInputs(node);
    if (inputs.empty()) return false;
    const Shape& shape = r_.tensor(node.outputs[0]).shape;
    if (shape.size() < 3 || ElementCount(shape) == 0) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (id == kNoTensor) continue;
      const Shape& own = r_.tensor(id).shape;
      const bool rows =
          std::find(inputs.begin(), inputs.end(), i) != inputs.end();
      if (rows && own != shape) return false;
      // Scales along an axis keep the axis. A table has its own shape.
      if (!rows && node.domain != kInternalDomain && ElementCount(own) != 1) {
        return false;
      }
    }
    return true;
  }

  // Is node n a Reshape between a stack and the matrix of all its rows?
  bool IsFlattening(int n, size_t matrix, size_t stack) const {
    if (!r_.IsOp(n, "Reshape") && !r_.IsOp(n, "Flatten")) return false;
    const TensorId ends[] = {r_.node(n).inputs[0], r_.node(n).outputs[0]};
    const Shape& rows = r_.tensor(ends[matrix]).shape;
    return rows.size() == 2 && rows == Rows(r_.tensor(ends[stack]).shape);
  }

  bool MeetsMatrix(int n) const {
    const Node& node = r_.node(n);
    for (size_t i : RowInputs(node)) {
      if (IsFlattening(r_.Producer(node.inputs[i]), 0, 1)) return true;
    }
    for (int reader : r_.Consumers(node.outputs[0])) {
      if (IsFlattening(reader, 1, 0)) return true;
    }
    return false;
  }

  TensorId Matrix(TensorId id) {
    const Tensor t = r_.tensor(id);
    return r_.NewTensor(t.name + "/rows", t.type, Rows(t.shape));
  }

  void Flatten(int n) {
    Node node = r_.node(n);
    r_.Remove(n);
    for (size_t i : RowInputs(node)) {
      const TensorId rows = Matrix(node.inputs[i]);
      r_.AddReshape(node.inputs[i], rows);
      node.inputs[i] = rows;
    }
    const TensorId out = node.outputs[0];
    node.outputs[0] = Matrix(out);
    // (there is one scale)
    node.attributes.erase("axis");
    r_.AddReshape(node.outputs[0], out);
    r_.Add(std::move(node));
  }

  Rewriter& r_;
};

}  // namespace

absl::Status FlattenRows(Graph* graph) {
  Rewriter rewriter(graph);
  Flattener(&rewriter).Run();
  return rewriter.Finish();
}

}  // namespace heddle::compiler
