// SPDX-License-Identifier: Apache-2.0
// com.microsoft's NhwcMaxPool: MaxPool of codes whose channels come last.
#include <cstdint>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

absl::Status Expand(Expansion* e) {
  const Tensor x = e->T(e->In(0));
  const auto rank = static_cast<int64_t>(x.shape.size());
  std::vector<int64_t> first = {0, rank - 1}, last = {0};
  for (int64_t d = 1; d < rank - 1; ++d) first.push_back(d);
  for (int64_t d = 2; d < rank; ++d) last.push_back(d);
  last.push_back(1);
  const TensorId turned = e->Add("Transpose", {e->In(0)}, {{"perm", first}});
  const TensorId y = e->Add("MaxPool", {turned}, e->node().attributes);
  e->Return(0, e->Add("Transpose", {y}, {{"perm", last}}), x.type);
  return absl::OkStatus();
}

bool HasChannels(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= 3;
}

const ExpandedOperator kNhwcMaxPool(
    Define("NhwcMaxPool", 1, 1)
        .Domain("com.microsoft")
        .Inputs(1, 1, kQuantizedValues)
        .Attr("auto_pad", AttributeKind::kString)
        .Attr("ceil_mode", AttributeKind::kInt)
        .Attr("dilations", AttributeKind::kInts)
        .Attr("kernel_shape", AttributeKind::kInts, true)
        .Attr("pads", AttributeKind::kInts)
        .Attr("strides", AttributeKind::kInts)
        .Rule(Rejection::kMismatchingShape, "input has rank 3 or more",
              HasChannels),
    Expand);

}  // namespace
}  // namespace heddle::compiler
