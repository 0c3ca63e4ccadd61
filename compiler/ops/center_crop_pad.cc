// SPDX-License-Identifier: Apache-2.0
// CenterCropPad, made of Pad and Slice: the middle of the input, with zeros
// around where the result is larger. Of an odd difference the smaller half is
// in front.
//
//   shape  of the axes: constant, or the declared result's
#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_moves.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/layout.h"

namespace heddle::compiler {
namespace {

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Shape in = e->T(e->In(0)).shape;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < in.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  axes = node.IntsAttribute("axes", axes);
  Shape out = in;
  std::vector<bool> seen(in.size());
  Shape sizes;
  if (e->T(e->In(1)).is_constant()) {
    ASSIGN_OR_RETURN(sizes, IntsOf(e->graph(), node, "shape", 1, {}));
  } else {
    ASSIGN_OR_RETURN(const Shape result, NeedDeclared(*e, "shape", in.size()));
    for (int64_t axis : axes) {
      size_t normal = 0;
      if (NormalizeAxis(axis, in.size(), &normal)) {
        sizes.push_back(result[normal]);
      }
    }
  }
  if (sizes.size() != axes.size()) {
    return RejectNode(Rejection::kMismatchingShape, node, sizes.size(),
                      " sizes for ", axes.size(), " axes");
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t axis = 0;
    if (!NormalizeAxis(axes[i], in.size(), &axis) || seen[axis]) {
      return RejectNode(Rejection::kInvalidModel, node, "axis ", axes[i],
                        " is out of range for rank ", in.size(),
                        ", or repeated");
    }
    if (sizes[i] < 0) {
      return RejectNode(Rejection::kInvalidModel, node, "size ", sizes[i],
                        " is negative");
    }
    seen[axis] = true;
    out[axis] = sizes[i];
  }
  std::vector<int64_t> pads(2 * in.size()), starts, ends, all;
  bool pad = false, crop = false;
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t more = std::max<int64_t>(out[i] - in[i], 0);
    const int64_t less = std::max<int64_t>(in[i] - out[i], 0);
    pads[i] = more / 2;
    pads[i + in.size()] = more - more / 2;
    starts.push_back(less / 2);
    ends.push_back(less / 2 + out[i]);
    all.push_back(static_cast<int64_t>(i));
    pad = pad || more != 0;
    crop = crop || less != 0;
  }
  TensorId y = e->In(0);
  if (crop) {
    y = e->Add("Slice", {y, e->Ints(starts), e->Ints(ends), e->Ints(all)});
  }
  if (pad) y = e->Add("Pad", {y, e->Ints(pads)});
  if (!pad && !crop) y = e->Add("Identity", {y});
  e->Return(0, y, e->T(e->In(0)).type);
  return absl::OkStatus();
}

const ExpandedOperator kCenterCropPad(Define("CenterCropPad", 18, kMaxOpset)
                                          .Inputs(2, 2, kMovable, kIndices)
                                          .Attr("axes", AttributeKind::kInts),
                                      Expand);

}  // namespace
}  // namespace heddle::compiler
