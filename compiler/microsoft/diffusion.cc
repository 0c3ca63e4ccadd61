// SPDX-License-Identifier: Apache-2.0
// Fused operators of com.microsoft in networks of images and text, made of the
// parts, in fp32, rounded once at the end:
//
//   BiasAdd         x + bias + skip
//   BiasSplitGelu   of x + bias, the left half of rows times Gelu of the right
//   BiasSoftmax     Softmax of x + bias over all dimensions from `axis` on, in
//                   rows. The bias has fewer: each of them is that of so many
//                   rows that follow each other (is_inner_broadcast), or they
//                   serve again and again
//   GroupNorm       GroupNormalization with a factor for each channel, then,
//                   where activation is 1, y * sigmoid(y). Channels come last
//                   unless channels_last is 0
//   SkipGroupNorm   of s = x + skip + bias; s is result 1
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

template <typename... Args>
absl::Status Wrong(const Expansion& e, const Args&... why) {
  return RejectNode(Rejection::kMismatchingShape, e.node(), why...);
}

absl::Status CheckBias(const Expansion& e, size_t i) {
  const Shape &x = e.T(e.In(0)).shape, &bias = e.T(e.In(i)).shape;
  if (!x.empty() && bias == Shape{x.back()}) return absl::OkStatus();
  return Wrong(e, "input ", i, " of ", ShapeToString(bias),
               " is not one number for each of the last dimension of ",
               ShapeToString(x));
}

TensorId Sum(Expansion* e, size_t i, size_t j) {
  return e->Add("Add", {e->Wide(e->In(i)), e->Wide(e->In(j))});
}

absl::Status ExpandBiasAdd(Expansion* e) {
  RETURN_IF_ERROR(CheckBias(*e, 1));
  if (e->T(e->In(2)).shape != e->T(e->In(0)).shape) {
    return Wrong(*e, "skip of ", ShapeToString(e->T(e->In(2)).shape),
                 " does not fit the input of ",
                 ShapeToString(e->T(e->In(0)).shape));
  }
  const DataType type = e->T(e->In(0)).type;
  e->Return(0, e->Add("Add", {Sum(e, 0, 1), e->Wide(e->In(2))}), type);
  return absl::OkStatus();
}

absl::Status ExpandSplitGelu(Expansion* e) {
  RETURN_IF_ERROR(CheckBias(*e, 1));
  const Tensor x = e->T(e->In(0));
  const int64_t half = x.shape.back() / 2;
  if (x.shape.back() % 2 != 0) {
    return Wrong(*e, "rows of ", x.shape.back(), " elements have no halves");
  }
  const TensorId sum = Sum(e, 0, 1);
  const auto part = [&](int64_t from) {
    return e->Add(
        "Slice", {sum, e->Ints({from}), e->Ints({from + half}), e->Ints({-1})});
  };
  const TensorId gate = e->Add("Gelu", {part(half)}, {}, 20);
  e->Return(0, e->Add("Mul", {part(0), gate}), x.type);
  return absl::OkStatus();
}

absl::Status ExpandBiasSoftmax(Expansion* e) {
  const Tensor x = e->T(e->In(0)), bias = e->T(e->In(1));
  size_t axis;
  if (!NormalizeAxis(e->node().IntAttribute("axis", 1), x.shape.size(),
                     &axis)) {
    return RejectNode(Rejection::kInvalidModel, e->node(), "axis ",
                      e->node().IntAttribute("axis", 1),
                      " is not an axis of a tensor of rank ", x.shape.size());
  }
  const int64_t columns =
      ElementCount(Shape(x.shape.begin() + axis, x.shape.end()));
  const int64_t count = ElementCount(x.shape), given = ElementCount(bias.shape);
  if (columns == 0 || given == 0 || given % columns != 0 ||
      count % given != 0) {
    return Wrong(*e, "bias of ", ShapeToString(bias.shape), " for ",
                 columns == 0 ? 0 : count / columns, " rows of ", columns,
                 " elements");
  }
  const int64_t rows = given / columns, times = count / given;
  const bool inner = e->node().IntAttribute("is_inner_broadcast", 0) != 0;
  const TensorId wide =
      e->Reshape(e->Wide(e->In(0)), inner ? Shape{rows, times, columns}
                                          : Shape{times, rows, columns});
  const TensorId added =
      e->Reshape(e->Wide(e->In(1)),
                 inner ? Shape{rows, 1, columns} : Shape{1, rows, columns});
  const TensorId y = e->Add("Softmax", {e->Add("Add", {wide, added})},
                            {{"axis", int64_t{-1}}});
  e->Return(0, e->Reshape(y, x.shape), x.type);
  return absl::OkStatus();
}

// GroupNorm of `x`, of fp32.
absl::StatusOr<TensorId> Normalized(Expansion* e, TensorId x) {
  const Node& node = e->node();
  const bool last = node.IntAttribute("channels_last", 1) != 0;
  const auto turned = [&](TensorId from, std::vector<int64_t> perm) {
    return last ? e->Add("Transpose", {from}, {{"perm", perm}}) : from;
  };
  const Shape shape = e->T(x).shape;
  const int64_t channels = shape[last ? 3 : 1];
  for (size_t i : {1, 2}) {
    if (e->T(e->In(i)).shape == Shape{channels}) continue;
    return Wrong(*e, "input ", i, " of ", ShapeToString(e->T(e->In(i)).shape),
                 " must be of [", channels, "]");
  }
  TensorId y =
      e->Add("GroupNormalization",
             {turned(x, {0, 3, 1, 2}), e->Wide(e->In(1)), e->Wide(e->In(2))},
             {{"num_groups", node.IntAttribute("groups", 0)},
              {"epsilon", node.FloatAttribute("epsilon", 1e-5f)}},
             21);
  y = turned(y, {0, 2, 3, 1});
  if (node.IntAttribute("activation", 0) == 0) return y;
  return e->Add("Mul", {y, e->Add("Sigmoid", {y})});
}

absl::Status ExpandGroupNorm(Expansion* e) {
  const DataType type = e->T(e->In(0)).type;
  ASSIGN_OR_RETURN(const TensorId y, Normalized(e, e->Wide(e->In(0))));
  e->Return(0, y, type);
  return absl::OkStatus();
}

absl::Status ExpandSkipGroupNorm(Expansion* e) {
  const Tensor x = e->T(e->In(0)), skip = e->T(e->In(3));
  const bool last = e->node().IntAttribute("channels_last", 1) != 0;
  const int64_t n = x.shape[0], channels = x.shape[last ? 3 : 1];
  const Shape one = last ? Shape{n, 1, 1, channels} : Shape{n, channels, 1, 1};
  if (skip.shape != x.shape && skip.shape != one &&
      skip.shape != Shape{n, channels}) {
    return Wrong(*e, "skip of ", ShapeToString(skip.shape),
                 " does not fit the input of ", ShapeToString(x.shape));
  }
  TensorId added = e->Wide(e->In(3));
  if (skip.shape != x.shape) added = e->Reshape(added, one);
  TensorId sum = e->Add("Add", {e->Wide(e->In(0)), added});
  if (e->HasIn(4)) {
    if (e->T(e->In(4)).shape != Shape{channels}) {
      return Wrong(*e, "bias of ", ShapeToString(e->T(e->In(4)).shape),
                   " must be of [", channels, "]");
    }
    const Shape wide =
        last ? Shape{1, 1, 1, channels} : Shape{1, channels, 1, 1};
    sum = e->Add("Add", {sum, e->Reshape(e->Wide(e->In(4)), wide)});
  }
  RETURN_IF_ERROR(e->status());
  ASSIGN_OR_RETURN(const TensorId y, Normalized(e, sum));
  e->Return(0, y, x.type);
  e->Return(1, sum, x.type);
  return absl::OkStatus();
}

bool HasFourDimensions(const Graph& graph, const Node& node,
                       std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() == 4;
}
bool ActivationIsKnown(const Graph&, const Node& node, std::string* detail) {
  const int64_t activation = node.IntAttribute("activation", 0);
  *detail = absl::StrCat("it is ", activation);
  return activation == 0 || activation == 1;
}

Define Microsoft(const char* op, int least, int most) {
  Define define(op, 1, 1);
  define.Domain("com.microsoft").Inputs(least, most, kReals);
  return define;
}
Define Group(const char* op, int least, int most) {
  Define define = Microsoft(op, least, most);
  define.Attr("activation", AttributeKind::kInt, true)
      .Attr("channels_last", AttributeKind::kInt)
      .Attr("epsilon", AttributeKind::kFloat)
      .Attr("groups", AttributeKind::kInt, true)
      .Rule(Rejection::kMismatchingShape, "input has rank 4", HasFourDimensions)
      .Rule(Rejection::kUnsupportedAttribute, "activation is 0 or 1",
            ActivationIsKnown);
  return define;
}

const ExpandedOperator kBiasAdd(Microsoft("BiasAdd", 3, 3), ExpandBiasAdd);
const ExpandedOperator kBiasSplitGelu(Microsoft("BiasSplitGelu", 2, 2),
                                      ExpandSplitGelu);
const ExpandedOperator kBiasSoftmax(Microsoft("BiasSoftmax", 2, 2)
                                        .Attr("axis", AttributeKind::kInt)
                                        .Attr("is_inner_broadcast",
                                              AttributeKind::kInt, true),
                                    ExpandBiasSoftmax);
const ExpandedOperator kGroupNorm(Group("GroupNorm", 3, 3), ExpandGroupNorm);
const ExpandedOperator kSkipGroupNorm(Group("SkipGroupNorm", 4, 5).Outputs(2),
                                      ExpandSkipGroupNorm);

}  // namespace
}  // namespace heddle::compiler
