// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, made of other
// operators in fp32 or double, rounded once at the end. The class of a target
// is found by comparing it with all: loss = -(sum over classes of x * weight
// where it is the target's, else 0). The mean divides by the sum of the weights
// of the targets; a target that is `ignore_index` has weight 0.
#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

absl::Status CheckShapes(const Expansion& e) {
  const Tensor &x = e.T(e.In(0)), &target = e.T(e.In(1));
  Shape expected = x.shape;
  if (expected.size() >= 2) expected.erase(expected.begin() + 1);
  if (x.shape.size() < 2 || target.shape != expected) {
    return RejectNode(Rejection::kMismatchingShape, e.node(), "targets of ",
                      ShapeToString(target.shape),
                      " are not one for each element of ",
                      ShapeToString(x.shape), " without its classes");
  }
  if (e.HasIn(2) && e.T(e.In(2)).shape != Shape{x.shape[1]}) {
    return RejectNode(Rejection::kMismatchingShape, e.node(), "weights of ",
                      ShapeToString(e.T(e.In(2)).shape),
                      " are not one for each of the ", x.shape[1], " classes");
  }
  return absl::OkStatus();
}

// The loss of logarithms of probabilities, of the shapes checked.
TensorId Loss(Expansion* e, TensorId x) {
  const Shape shape = e->T(x).shape;
  const Tensor target = e->T(e->In(1));
  Shape column = shape, classes(shape.size(), 1);
  column[1] = 1;
  classes[1] = shape[1];
  const TensorId t = e->Reshape(e->In(1), column);
  TensorData places = TensorData::Zeros(target.type, classes);
  TensorData ignored = TensorData::Zeros(target.type, {});
  const int64_t ignore = e->node().IntAttribute("ignore_index", -1);
  const bool wide = target.type == DataType::kInt64;
  for (int64_t i = 0; i < shape[1]; ++i) {
    if (wide) {
      places.as<int64_t>()[i] = i;
    } else {
      places.as<int32_t>()[i] = static_cast<int32_t>(i);
    }
  }
  if (wide) {
    *ignored.as<int64_t>() = ignore;
  } else {
    *ignored.as<int32_t>() = static_cast<int32_t>(ignore);
  }
  TensorId hit = e->Add("Equal", {t, e->Constant(std::move(places))});
  const bool ignores = e->node().attributes.count("ignore_index") > 0;
  if (ignores) {
    const TensorId out = e->Add("Equal", {t, e->Constant(std::move(ignored))});
    hit = e->Add("And", {hit, e->Add("Not", {out})});
  }
  const TensorId zero = e->Number(0);
  TensorId weight = e->Number(1);
  if (e->HasIn(2)) {
    weight = e->Reshape(e->Wide(e->In(2)), classes);
    x = e->Add("Mul", {x, weight});
  }
  const TensorId picked = e->Add("Where", {hit, x, zero});
  const auto sum = [&](TensorId of) {
    return e->Add("ReduceSum", {of, e->Ints({1})}, {{"keepdims", int64_t{0}}});
  };
  const TensorId loss = e->Add("Neg", {sum(picked)});
  const std::string reduction = e->node().StringAttribute("reduction", "mean");
  const std::map<std::string, Attribute> all = {{"keepdims", int64_t{0}}};
  if (reduction == "none") return loss;
  if (reduction == "sum") return e->Add("ReduceSum", {loss}, all);
  if (!ignores && !e->HasIn(2)) return e->Add("ReduceMean", {loss}, all);
  const TensorId total =
      e->Add("ReduceSum", {sum(e->Add("Where", {hit, weight, zero}))}, all);
  return e->Add("Div", {e->Add("ReduceSum", {loss}, all), total});
}

absl::Status ExpandLikelihood(Expansion* e) {
  RETURN_IF_ERROR(CheckShapes(*e));
  const DataType type = e->T(e->In(0)).type;
  e->Return(0, Loss(e, e->Wide(e->In(0))), type);
  return absl::OkStatus();
}

absl::Status ExpandCrossEntropy(Expansion* e) {
  RETURN_IF_ERROR(CheckShapes(*e));
  const DataType type = e->T(e->In(0)).type;
  const TensorId logarithms =
      e->Add("LogSoftmax", {e->Wide(e->In(0))}, {{"axis", int64_t{1}}});
  if (!e->status().ok()) return e->status();
  e->Return(0, Loss(e, logarithms), type);
  e->Return(1, logarithms, type);
  return absl::OkStatus();
}

bool ReductionIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string name = node.StringAttribute("reduction", "mean");
  *detail = absl::StrCat("reduction = '", name, "'");
  return name == "mean" || name == "sum" || name == "none";
}

Define WithLoss(const char* op, int since, int until) {
  Define define(op, since, until);
  define.Inputs(2, 3, kRealsAndDouble, kIndices, kRealsAndDouble)
      .Attr("ignore_index", AttributeKind::kInt)
      .Attr("reduction", AttributeKind::kString)
      .Rule(Rejection::kInvalidModel, "reduction is mean, sum or none",
            ReductionIsKnown);
  return define;
}

const ExpandedOperator kLikelihood(WithLoss("NegativeLogLikelihoodLoss", 12,
                                            kMaxOpset),
                                   ExpandLikelihood);
const ExpandedOperator kCrossEntropy(
    WithLoss("SoftmaxCrossEntropyLoss", 12, kMaxOpset).Outputs(2),
    ExpandCrossEntropy);

}  // namespace
}  // namespace heddle::compiler
