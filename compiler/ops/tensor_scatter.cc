// SPDX-License-Identifier: Apache-2.0
// TensorScatter: the cache with an update written over a part of it, along
// `axis`, from a place on that each batch has of its own (0 without one). In
// mode circular what goes beyond the end is at the beginning; in mode linear it
// is an error. Made of ScatterElements.
#include <numeric>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/reduce.h"

namespace heddle::compiler {
namespace {

enum Place { kCache, kUpdate, kAt };

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Tensor cache = e->T(e->In(kCache)), update = e->T(e->In(kUpdate));
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", -2), cache.shape.size(),
                     &axis) ||
      axis == 0) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ",
                      node.IntAttribute("axis", -2),
                      " is the batch, or is not an axis of a tensor of rank ",
                      cache.shape.size());
  }
  Shape part = cache.shape;
  if (update.shape.size() == part.size()) part[axis] = update.shape[axis];
  if (update.shape != part || part[axis] > cache.shape[axis]) {
    return RejectNode(Rejection::kMismatchingShape, node, "update of ",
                      ShapeToString(update.shape), " does not fit a cache of ",
                      ShapeToString(cache.shape), " along axis ", axis);
  }
  RETURN_IF_ERROR(CheckTable(node, 1, ElementCount(part)));
  // Where each row goes, [batch, 1, ..., rows, 1, ...].
  Shape line(part.size(), 1);
  line[axis] = part[axis];
  std::vector<int64_t> rows(static_cast<size_t>(part[axis]));
  std::iota(rows.begin(), rows.end(), 0);
  TensorId at = e->Reshape(e->Ints(rows), line), begin = kNoTensor;
  if (e->HasIn(kAt)) {
    const Tensor& first = e->T(e->In(kAt));
    if (first.shape != Shape{part[0]}) {
      return RejectNode(Rejection::kMismatchingShape, node, "write_indices of ",
                        ShapeToString(first.shape),
                        " must have one number for each of ", part[0],
                        " batches");
    }
    Shape batches(part.size(), 1);
    batches[0] = part[0];
    begin = e->Reshape(e->In(kAt), batches);
    at = e->Add("Add", {at, begin});
  }
  const TensorId size =
      e->Scalar(DataType::kInt64, static_cast<double>(cache.shape[axis]));
  if (node.StringAttribute("mode", "linear") == "circular") {
    at = e->Add("Mod", {at, size});
  }
  // ScatterElements counts negative places from the end; here they are none.
  if (begin != kNoTensor) {
    const TensorId negative =
        e->Add("Less", {begin, e->Scalar(DataType::kInt64, 0)});
    at = e->Add("Where", {negative, size, at});
  }
  at = e->Add("Expand", {at, e->Ints(part)});
  e->Return(0,
            e->Add("ScatterElements", {e->In(kCache), at, e->In(kUpdate)},
                   {{"axis", static_cast<int64_t>(axis)}}),
            cache.type);
  return absl::OkStatus();
}

bool ModeIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode = node.StringAttribute("mode", "linear");
  *detail = absl::StrCat("mode = ", mode);
  return mode == "linear" || mode == "circular";
}

const ExpandedOperator kTensorScatter(Define("TensorScatter", 24, kMaxOpset)
                                          .Inputs(2, 3, kMovable, kMovable,
                                                  kInt64s)
                                          .Attr("axis", AttributeKind::kInt)
                                          .Attr("mode", AttributeKind::kString)
                                          .Rule(Rejection::kInvalidModel,
                                                "mode is linear or circular",
                                                ModeIsKnown),
                                      Expand);

}  // namespace
}  // namespace heddle::compiler
