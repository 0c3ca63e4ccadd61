// SPDX-License-Identifier: Apache-2.0
// Operators that give the same bytes another shape: Reshape, Flatten, Squeeze,
// Unsqueeze, Identity, Dropout (inference).
#include "compiler/ops/layout.h"

#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/narrow.h"

namespace heddle::compiler {

namespace {

// The bytes stay; the shape was found by `infer`.
Results Copy(const Graph& graph, const Node& node, const Inputs& inputs) {
  TensorData y = *inputs[0];
  y.shape = graph.tensors[node.outputs[0]].shape;
  if (ElementCount(y.shape) != inputs[0]->count()) {
    return absl::InternalError(node.Describe() + ": shape is not inferred");
  }
  return One(std::move(y));
}

absl::Status InferReshape(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(auto wanted, IntsOf(*graph, node, "shape", 1, {}));
  const bool allow_zero = node.IntAttribute("allowzero", 0) != 0;
  Shape shape = wanted;
  int64_t known = 1;
  int unknown = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allow_zero) {
      if (i >= x.shape.size()) {
        return RejectNode(Rejection::kInvalidModel, node, "shape ",
                          ShapeToString(wanted), " copies dimension ", i,
                          " of an input of shape ", ShapeToString(x.shape));
      }
      shape[i] = x.shape[i];
    }
    if (shape[i] == -1 && unknown < 0) {
      unknown = static_cast<int>(i);
    } else if (shape[i] < 0) {
      return RejectNode(Rejection::kInvalidModel, node, "shape ",
                        ShapeToString(wanted),
                        " may have one -1 and no other negative dimension");
    }
  }
  const int64_t count = ElementCount(x.shape);
  if (unknown >= 0) {
    Shape rest = shape;
    rest[unknown] = 1;
    known = ElementCount(rest);
    if (known != 0 && count % known == 0) shape[unknown] = count / known;
  }
  if (ElementCount(shape) != count || (unknown >= 0 && known == 0)) {
    return RejectNode(Rejection::kMismatchingShape, node, "input of shape ",
                      ShapeToString(x.shape), " cannot take shape ",
                      ShapeToString(wanted));
  }
  return SetOutput(graph, node, 0, x.type, shape);
}

absl::Status InferFlatten(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const auto rank = static_cast<int64_t>(x.shape.size());
  int64_t axis = node.IntAttribute("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ",
                      node.IntAttribute("axis", 1),
                      " lies outside an input of rank ", rank);
  }
  const Shape front(x.shape.begin(), x.shape.begin() + axis);
  const Shape back(x.shape.begin() + axis, x.shape.end());
  return SetOutput(graph, node, 0, x.type,
                   {ElementCount(front), ElementCount(back)});
}

// Marks the axes; refuses those outside `rank` and repeated ones.
absl::Status MarkAxes(const Node& node, const std::vector<int64_t>& axes,
                      size_t rank, std::vector<bool>* marked) {
  marked->assign(rank, false);
  for (int64_t axis : axes) {
    size_t normal = 0;
    if (!NormalizeAxis(axis, rank, &normal) || (*marked)[normal]) {
      return RejectNode(Rejection::kInvalidModel, node, "axes ",
                        ShapeToString(axes),
                        " repeat or leave a tensor of rank ", rank);
    }
    (*marked)[normal] = true;
  }
  return absl::OkStatus();
}

absl::Status InferSqueeze(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(auto axes, IntsOf(*graph, node, "axes", 1, {}));
  // An empty list stands for an absent one, as in ONNX Runtime and, of the
  // attribute, in ONNX's reference. ONNX's text names the absent one only; a
  // model that declares the other shape is refused (CheckDeclared).
  const bool all = axes.empty();
  std::vector<bool> marked;
  RETURN_IF_ERROR(MarkAxes(node, axes, x.shape.size(), &marked));
  Shape shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (marked[i] && x.shape[i] != 1) {
      return RejectNode(Rejection::kMismatchingShape, node, "dimension ", i,
                        " of ", ShapeToString(x.shape),
                        " is not 1 and cannot be removed");
    }
    if (!marked[i] && !(all && x.shape[i] == 1)) shape.push_back(x.shape[i]);
  }
  return SetOutput(graph, node, 0, x.type, shape);
}

absl::Status InferUnsqueeze(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(auto axes, IntsOf(*graph, node, "axes", 1, {}));
  std::vector<bool> marked;
  const size_t rank = x.shape.size() + axes.size();
  RETURN_IF_ERROR(MarkAxes(node, axes, rank, &marked));
  Shape shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back(marked[i] ? 1 : x.shape[next++]);
  }
  return SetOutput(graph, node, 0, x.type, shape);
}

Results EvaluateDropout(const Graph&, const Node& node, const Inputs& inputs) {
  std::vector<TensorData> results = One(*inputs[0]);
  if (node.outputs.size() > 1) {
    results.push_back(TensorData::Zeros(DataType::kBool, inputs[0]->shape));
    std::fill(results[1].bytes.begin(), results[1].bytes.end(), 1);
  }
  return results;
}

absl::Status InferDropout(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Shape shape = x.shape;
  RETURN_IF_ERROR(SetOutput(graph, node, 1, DataType::kBool, shape));
  return InferSame(graph, node);
}

bool DropoutIsInference(const Graph& graph, const Node& node, std::string*) {
  if (!HasInput(node, 2)) return true;
  const Tensor& training = InputOf(graph, node, 2);
  return training.is_constant() && training.constant->count() == 1 &&
         training.constant->bytes[0] == 0;
}

// Unused without training, but a model that breaks this is no ONNX.
bool DropoutRatioIsValid(const Graph& graph, const Node& node,
                         std::string* detail) {
  if (!HasInput(node, 1)) return true;
  const Tensor& ratio = InputOf(graph, node, 1);
  *detail = absl::StrCat("its shape is ", ShapeToString(ratio.shape));
  if (!ratio.shape.empty() && ratio.shape != Shape{1}) return false;
  if (!ratio.is_constant() || ratio.type != DataType::kFloat) return true;
  const float value = ratio.constant->as<float>()[0];
  *detail = absl::StrCat("it is ", value);
  return value >= 0 && value < 1;
}

const OperatorRegistration kReshape5(Define("Reshape", 5, 13)
                                         .Inputs(2, 2, kMovable, kInt64s)
                                         .Run(InferReshape, Copy));
const MovingOperator kReshape14(14, 19, [](const MovedTypes& m) {
  OperatorRegistration(Define("Reshape", m.since, m.until)
                           .Inputs(2, 2, m.types, kInt64s)
                           .Attr("allowzero", AttributeKind::kInt)
                           .Run(InferReshape, Copy));
});
const MovingOperator kFlatten(1, 21, [](const MovedTypes& m) {
  OperatorRegistration(Define("Flatten", m.since, m.until)
                           .Inputs(1, 1, m.types)
                           .Attr("axis", AttributeKind::kInt)
                           .Run(InferFlatten, Copy));
});
const OperatorRegistration kSqueeze1(Define("Squeeze", 1, 12)
                                         .Inputs(1, 1, kMovable)
                                         .Attr("axes", AttributeKind::kInts)
                                         .Run(InferSqueeze, Copy));
const MovingOperator kSqueeze13(13, 21, [](const MovedTypes& m) {
  OperatorRegistration(Define("Squeeze", m.since, m.until)
                           .Inputs(1, 2, m.types, kInt64s)
                           .Run(InferSqueeze, Copy));
});
const OperatorRegistration kUnsqueeze1(Define("Unsqueeze", 1, 12)
                                           .Inputs(1, 1, kMovable)
                                           .Attr("axes", AttributeKind::kInts,
                                                 true)
                                           .Run(InferUnsqueeze, Copy));
const MovingOperator kUnsqueeze13(13, 21, [](const MovedTypes& m) {
  OperatorRegistration(Define("Unsqueeze", m.since, m.until)
                           .Inputs(2, 2, m.types, kInt64s)
                           .Run(InferUnsqueeze, Copy));
});
const MovingOperator kIdentity(1, 19, [](const MovedTypes& m) {
  OperatorRegistration(Define("Identity", m.since, m.until)
                           .Inputs(1, 1, m.types)
                           .Run(InferSame, Copy));
});
const OperatorRegistration kDropout7(Define("Dropout", 7, 11)
                                         .Inputs(1, 1, kRealsAndDouble)
                                         .Outputs(2)
                                         .Attr("ratio", AttributeKind::kFloat)
                                         .Run(InferDropout, EvaluateDropout));
const OperatorRegistration kDropout12(
    Define("Dropout", 12, kMaxOpset)
        .Inputs(1, 3, kRealsAndDouble, kRealsAndDouble, Types(DataType::kBool))
        .Outputs(2)
        .Attr("seed", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute,
              "training_mode is absent or the constant false",
              DropoutIsInference)
        .Rule(Rejection::kInvalidModel, "the ratio is a scalar in [0, 1)",
              DropoutRatioIsValid)
        .Run(InferDropout, EvaluateDropout));

}  // namespace
}  // namespace heddle::compiler
