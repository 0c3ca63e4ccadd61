// SPDX-License-Identifier: Apache-2.0
// MaxUnpool, made of ScatterElements: the values of a MaxPool go back to the
// places that it has found them at, everything else is 0. Indices count the
// elements of what the pooling had, as its window tells; those beyond it end
// the job. An output_shape that is larger has zeros behind it along each axis.
#include <string>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/layout.h"

namespace heddle::compiler {
namespace {

// What a pooling of these attributes made the input of.
absl::StatusOr<Shape> ShapeBefore(const Node& node, const Shape& x) {
  const size_t rank = x.size() - 2;
  const auto kernel = node.IntsAttribute("kernel_shape", {});
  const auto strides =
      node.IntsAttribute("strides", std::vector<int64_t>(rank, 1));
  const auto pads =
      node.IntsAttribute("pads", std::vector<int64_t>(2 * rank, 0));
  if (kernel.size() != rank || strides.size() != rank ||
      pads.size() != 2 * rank) {
    return RejectNode(Rejection::kInvalidModel, node, "kernel_shape of ",
                      kernel.size(), ", strides of ", strides.size(),
                      " and pads of ", pads.size(),
                      " numbers do not fit an input of ", ShapeToString(x));
  }
  constexpr int64_t kMost = 1 << 30;
  Shape y = {x[0], x[1]};
  for (size_t i = 0; i < rank; ++i) {
    for (int64_t v : {kernel[i], strides[i], pads[i] + 1, pads[rank + i] + 1}) {
      if (v >= 1 && v <= kMost) continue;
      return RejectNode(Rejection::kInvalidModel, node,
                        "kernel_shape, strides or pads have the value ", v,
                        ", which no window can have");
    }
    y.push_back((x[2 + i] - 1) * strides[i] + kernel[i] - pads[i] -
                pads[rank + i]);
    if (y.back() >= 1 && y.back() <= kMost) continue;
    return RejectNode(Rejection::kUnsupportedShape, node, "the result has ",
                      y.back(), " elements along an axis");
  }
  return y;
}

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape, places = e->T(e->In(1)).shape;
  const DataType type = e->T(e->In(0)).type;
  if (places != x) {
    return RejectNode(Rejection::kMismatchingShape, node, "indices of ",
                      ShapeToString(places), " for values of ",
                      ShapeToString(x));
  }
  ASSIGN_OR_RETURN(const Shape y, ShapeBefore(node, x));
  std::vector<int64_t> behind(2 * y.size(), 0);
  if (e->HasIn(2)) {
    ASSIGN_OR_RETURN(const auto given,
                     IntsOf(e->graph(), node, "output_shape", 2, {}));
    bool fits = given.size() == y.size();
    for (size_t i = 0; fits && i < y.size(); ++i) {
      behind[y.size() + i] = given[i] - y[i];
      fits = i < 2 ? given[i] == y[i] : given[i] >= y[i];
    }
    if (!fits) {
      return RejectNode(Rejection::kUnsupportedShape, node, "output_shape ",
                        ShapeToString(given), " is too small for the result ",
                        ShapeToString(y));
    }
  }
  int64_t count = 1;
  for (int64_t d : y) {
    RETURN_IF_ERROR(CheckTable(node, count, d));
    count *= d;
  }
  const int64_t values = ElementCount(x);
  const TensorId zeros =
      e->Add("Expand", {e->Scalar(type, 0), e->Ints({count})});
  TensorId all = e->Reshape(e->Add("ScatterElements",
                                   {zeros, e->Reshape(e->In(1), {values}),
                                    e->Reshape(e->In(0), {values})},
                                   {{"axis", int64_t{0}}}),
                            y);
  if (behind != std::vector<int64_t>(behind.size(), 0)) {
    all = e->Add("Pad", {all, e->Ints(behind)});
  }
  e->Return(0, all, type);
  return absl::OkStatus();
}

bool HasWindows(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= 3;
}

Define MaxUnpool(int since, int until) {
  Define define("MaxUnpool", since, until);
  define.Inputs(2, 3, kRealsAndDouble, kInt64s, kInt64s)
      .Attr("kernel_shape", AttributeKind::kInts, true)
      .Attr("pads", AttributeKind::kInts)
      .Attr("strides", AttributeKind::kInts)
      .Rule(Rejection::kInvalidModel, "the input has rank 3 or more",
            HasWindows);
  return define;
}
const ExpandedOperator kMaxUnpool(MaxUnpool(9, kMaxOpset), Expand);

}  // namespace
}  // namespace heddle::compiler
