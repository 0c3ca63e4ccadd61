// SPDX-License-Identifier: Apache-2.0
// Normalisations of a sum, of com.microsoft: s = x + skip + bias, then
// LayerNormalization with gamma and beta, or RMSNormalization with gamma. The
// results beside y: mean and 1 / deviation of rows, and s. In fp32, rounded
// once at the end.
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

// [batch, tokens, hidden] or [tokens, hidden]; skip may lack the batch.
absl::Status CheckShapes(const Expansion& e, size_t vectors) {
  const Tensor &x = e.T(e.In(0)), &skip = e.T(e.In(1));
  Shape own = x.shape;
  if (own.size() != 2 && own.size() != 3) {
    return RejectNode(Rejection::kMismatchingShape, e.node(), "input of ",
                      ShapeToString(own), " must have rank 2 or 3");
  }
  Shape one = own, none(own.begin() + (own.size() == 3 ? 1 : 0), own.end());
  if (own.size() == 3) one[0] = 1;
  if (skip.shape != own && skip.shape != one && skip.shape != none) {
    return RejectNode(Rejection::kMismatchingShape, e.node(), "skip of ",
                      ShapeToString(skip.shape), " does not fit the input of ",
                      ShapeToString(own));
  }
  for (size_t i = 2; i < 2 + vectors; ++i) {
    if (!e.HasIn(i) || e.T(e.In(i)).shape == Shape{own.back()}) continue;
    return RejectNode(Rejection::kMismatchingShape, e.node(), "input ", i,
                      " of ", ShapeToString(e.T(e.In(i)).shape),
                      " must have shape ", ShapeToString({own.back()}));
  }
  return absl::OkStatus();
}

TensorId Sum(Expansion* e, size_t bias) {
  TensorId sum = e->Add("Add", {e->Wide(e->In(0)), e->Wide(e->In(1))});
  if (e->HasIn(bias)) sum = e->Add("Add", {sum, e->Wide(e->In(bias))});
  return sum;
}

absl::Status ExpandSkip(Expansion* e) {
  RETURN_IF_ERROR(CheckShapes(*e, 3));
  const DataType type = e->T(e->In(0)).type;
  const TensorId sum = Sum(e, 4);
  std::vector<TensorId> in = {sum, e->Wide(e->In(2))};
  if (e->HasIn(3)) in.push_back(e->Wide(e->In(3)));
  const size_t results = e->HasOut(2) ? 3 : e->HasOut(1) ? 2 : 1;
  const auto y =
      e->AddAll(results, "LayerNormalization", in,
                {{"epsilon", e->node().FloatAttribute("epsilon", 1e-12f)}}, 17);
  e->Return(0, y[0], type);
  for (size_t i = 1; i < results; ++i) e->Return(i, y[i], kFloat);
  e->Return(3, sum, type);
  return absl::OkStatus();
}

absl::Status ExpandSimplified(Expansion* e) {
  RETURN_IF_ERROR(CheckShapes(*e, 2));
  const DataType type = e->T(e->In(0)).type;
  const TensorId sum = Sum(e, 3);
  e->Return(
      0,
      e->Add("RMSNormalization", {sum, e->Wide(e->In(2))},
             {{"epsilon", e->node().FloatAttribute("epsilon", 1e-12f)}}, 23),
      type);
  e->Return(3, sum, type);
  return absl::OkStatus();
}

// Nobody computes what the simplified form names and does not have.
bool HasNoStatistics(const Graph&, const Node& node, std::string* detail) {
  for (size_t i : {1, 2}) {
    *detail = absl::StrCat("output ", i, " is used");
    if (i < node.outputs.size() && node.outputs[i] != kNoTensor) return false;
  }
  return true;
}

Define Skip(const char* op, int inputs) {
  Define define(op, 1, 1);
  define.Domain("com.microsoft")
      .Inputs(3, inputs, kReals)
      .Outputs(4)
      .Attr("epsilon", AttributeKind::kFloat);
  return define;
}

const ExpandedOperator kSkip(Skip("SkipLayerNormalization", 5), ExpandSkip);
const ExpandedOperator kSimplified(
    Skip("SkipSimplifiedLayerNormalization", 4)
        .Rule(Rejection::kUnsupportedAttribute,
              "the outputs mean and inv_std_var are absent", HasNoStatistics),
    ExpandSimplified);

}  // namespace
}  // namespace heddle::compiler
