// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/arg.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {

absl::StatusOr<ArgSearch> ResolveArg(const Node& node, const Shape& x) {
  const int64_t axis = node.IntAttribute("axis", 0);
  size_t at = 0;
  if (!NormalizeAxis(axis, x.size(), &at)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ", axis,
                      " lies outside an input of rank ", x.size());
  }
  ArgSearch s;
  s.stage.outer = ElementCount(Shape(x.begin(), x.begin() + at));
  s.stage.count = x[at];
  s.stage.inner = ElementCount(Shape(x.begin() + at + 1, x.end()));
  if (s.stage.count < 1) {
    return RejectNode(Rejection::kUnsupportedShape, node, "dimension ", at,
                      " of ", ShapeToString(x), " has no element to find");
  }
  s.shape = x;
  if (node.IntAttribute("keepdims", 1) != 0) {
    s.shape[at] = 1;
  } else {
    s.shape.erase(s.shape.begin() + at);
  }
  s.largest = node.op == "ArgMax";
  s.last = node.IntAttribute("select_last_index", 0) != 0;
  return s;
}

}  // namespace heddle::compiler
