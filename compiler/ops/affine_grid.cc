// SPDX-License-Identifier: Apache-2.0
// AffineGrid, made of MatMul in fp32 or double, rounded once at the end: the
// places of an image, -1 to 1 along each axis, the last axis' coordinate first,
// and 1, times theta transposed.
//
//   theta  [images, rank, rank + 1]
//   size   images, channels, sizes...: constant, or the declared result's
//   y      [images, sizes..., rank]
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_moves.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/layout.h"

namespace heddle::compiler {
namespace {

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Shape theta = e->T(e->In(0)).shape;
  const auto rank = static_cast<size_t>(theta.size() == 3 ? theta[1] : 0);
  Shape sizes;
  if (e->T(e->In(1)).is_constant()) {
    ASSIGN_OR_RETURN(const Shape size, IntsOf(e->graph(), node, "size", 1, {}));
    if (size.size() > 2) {
      sizes.assign(size.begin() + 2, size.end());
      if (theta.size() == 3 && size[0] != theta[0]) {
        return RejectNode(Rejection::kMismatchingShape, node, "size[0] is ",
                          size[0], ", theta has ", theta[0], " images");
      }
    }
  } else {
    ASSIGN_OR_RETURN(const Shape result, NeedDeclared(*e, "size", rank + 2));
    sizes.assign(result.begin() + 1, result.end() - 1);
  }
  if ((rank != 2 && rank != 3) || theta[2] != theta[1] + 1 ||
      sizes.size() != rank) {
    return RejectNode(Rejection::kMismatchingShape, node, "theta of ",
                      ShapeToString(theta), " and ", sizes.size(),
                      " sizes; must be of [images, rank, rank + 1] and rank, "
                      "which is 2 or 3");
  }
  int64_t count = 1;
  for (int64_t d : sizes) {
    if (d < 1) {
      return RejectNode(Rejection::kUnsupportedShape, node, "sizes ",
                        ShapeToString(sizes), " have no elements");
    }
    RETURN_IF_ERROR(CheckTable(node, count, d * 4));
    count *= d;
  }
  const bool aligned = node.IntAttribute("align_corners", 0) != 0;
  const auto columns = static_cast<int64_t>(rank) + 1;
  std::vector<double> base(static_cast<size_t>(count * columns), 1);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t axis = rank; axis-- > 0;) {
      const auto place = static_cast<double>(rest % sizes[axis]);
      const auto size = static_cast<double>(sizes[axis]);
      rest /= sizes[axis];
      // An axis of one place is seen in its middle: ONNX leaves it open, other
      // implementations have either end.
      const double x = !aligned   ? (2 * place + 1) / size - 1
                       : size > 1 ? 2 * place / (size - 1) - 1
                                  : 0;
      base[i * columns + static_cast<int64_t>(rank - 1 - axis)] = x;
    }
  }
  const TensorId turned = e->Add("Transpose", {e->Wide(e->In(0))},
                                 {{"perm", std::vector<int64_t>{0, 2, 1}}});
  const TensorId y =
      e->Add("MatMul", {e->Numbers({count, columns}, base), turned});
  Shape result = {theta[0]};
  result.insert(result.end(), sizes.begin(), sizes.end());
  result.push_back(static_cast<int64_t>(rank));
  e->Return(0, e->Reshape(y, result), e->T(e->In(0)).type);
  return absl::OkStatus();
}

const ExpandedOperator kAffineGrid(Define("AffineGrid", 20, kMaxOpset)
                                       .Inputs(2, 2, kRealsAndDouble, kInt64s)
                                       .Attr("align_corners",
                                             AttributeKind::kInt),
                                   Expand);

}  // namespace
}  // namespace heddle::compiler
