// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/cancel_moves.h"

#include <cstring>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"
#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

std::vector<int64_t> PermOf(const Node& node, size_t rank) {
  std::vector<int64_t> reversed(rank);
  for (size_t i = 0; i < rank; ++i) {
    reversed[i] = static_cast<int64_t>(rank - 1 - i);
  }
  return node.IntsAttribute("perm", reversed);
}

bool IsReshape(const Rewriter& r, int n) {
  return r.IsOp(n, "Reshape") || r.IsOp(n, "Flatten") || r.IsOp(n, "Squeeze") ||
         r.IsOp(n, "Unsqueeze");
}

// Do the dimensions that are not 1 keep their order?
bool KeepsOrder(const Shape& shape, const std::vector<int64_t>& perm) {
  int64_t last = -1;
  for (int64_t p : perm) {
    if (shape[static_cast<size_t>(p)] == 1) continue;
    if (p < last) return false;
    last = p;
  }
  return true;
}

// Puts a Reshape of `from` in the place of node n.
void Reshape(Rewriter* r, int n, TensorId from,
             const std::vector<std::string>& sources) {
  Node node = r->node(n);
  const Shape shape = r->tensor(node.outputs[0]).shape;
  TensorData data =
      TensorData::Zeros(DataType::kInt64, {static_cast<int64_t>(shape.size())});
  if (!shape.empty()) {
    std::memcpy(data.bytes.data(), shape.data(), data.bytes.size());
  }
  // Not that of the node it replaces: before opset 5 the shape is an attribute.
  constexpr int kOpset = 13;
  node.op = "Reshape";
  node.opset = kOpset;
  node.attributes.clear();
  node.inputs = {from,
                 r->NewConstant(r->tensor(node.outputs[0]).name + "/shape",
                                std::move(data))};
  node.sources.insert(node.sources.begin(), sources.begin(), sources.end());
  r->Remove(n);
  r->Add(std::move(node));
}

// One step for node n; true if something changed.
bool Step(Rewriter* r, int n) {
  const Node node = r->node(n);
  const TensorId x = node.inputs[0];
  if (ElementCount(r->tensor(x).shape) == 0) return false;
  const int p = r->Producer(x);
  if (r->IsOp(n, "Transpose")) {
    const Shape& shape = r->tensor(x).shape;
    const std::vector<int64_t> perm = PermOf(node, shape.size());
    if (KeepsOrder(shape, perm)) {
      Reshape(r, n, x, {});
      return true;
    }
    if (!r->IsOp(p, "Transpose")) return false;
    const Node before = r->node(p);
    const std::vector<int64_t> first = PermOf(before, shape.size());
    std::vector<int64_t> both;
    for (int64_t i : perm) both.push_back(first[static_cast<size_t>(i)]);
    Node merged = node;
    merged.inputs[0] = before.inputs[0];
    merged.attributes["perm"] = both;
    if (r->OnlyUse(x)) {
      merged.sources.insert(merged.sources.begin(), before.sources.begin(),
                            before.sources.end());
      r->Remove(n);
      r->Remove(p);
    } else {
      r->Remove(n);
    }
    r->Add(std::move(merged));
    return true;
  }
  if (!IsReshape(*r, n) || !IsReshape(*r, p)) return false;
  const Node before = r->node(p);
  const bool only = r->OnlyUse(x);
  Reshape(r, n, before.inputs[0],
          only ? before.sources : std::vector<std::string>());
  if (only) r->Remove(p);
  return true;
}

}  // namespace

absl::Status CancelMoves(Graph* graph) {
  // A dimension of at most 1 is no dimension of 1.
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(*graph));
  Rewriter rewriter(graph);
  // Every step makes a chain of moves shorter or a Transpose a Reshape, so it
  // ends. What a step adds comes at the end.
  for (bool changed = true; changed;) {
    changed = false;
    for (int n = 0; n < rewriter.size(); ++n) {
      if (!rewriter.alive(n) || bounded.Touches(rewriter.node(n))) continue;
      if (rewriter.IsOp(n, "Transpose") || IsReshape(rewriter, n)) {
        changed = Step(&rewriter, n) || changed;
      }
    }
  }
  return rewriter.Finish();
}

}  // namespace heddle::compiler
