// SPDX-License-Identifier: Apache-2.0
// DepthToSpace, SpaceToDepth.
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/move.h"

namespace heddle::compiler {
namespace {

absl::Status LowerSpace(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const bool to_space = node.op == "DepthToSpace";
  const bool crd = node.StringAttribute("mode", "DCR") == "CRD";
  const int64_t b = node.IntAttribute("blocksize", 0);
  // Of the side with the smaller image.
  const Shape& small = l->tensor(to_space ? in : out).shape;
  const int64_t h = small[2], w = small[3], c = small[1] / (b * b);
  // Strides of (n, c, row, y in block, column, x in block) on either side.
  const std::vector<int64_t> deep = {small[1] * h * w,
                                     (crd ? b * b : 1) * h * w,
                                     w,
                                     (crd ? b : b * c) * h * w,
                                     1,
                                     (crd ? 1 : c) * h * w};
  const std::vector<int64_t> wide = {
      c * h * b * w * b, h * b * w * b, b * w * b, w * b, b, 1};
  const int64_t counts[] = {small[0], c, h, b, w, b};
  // In the order in which the dimensions nest in the result.
  static constexpr int kToSpace[] = {0, 1, 2, 3, 4, 5};
  static constexpr int kToDepth[] = {0, 3, 5, 1, 2, 4};
  MoveBox box;
  box.input = 0;
  for (int i : to_space ? kToSpace : kToDepth) {
    box.dims.push_back({counts[i], to_space ? deep[i] : wide[i],
                        to_space ? wide[i] : deep[i]});
  }
  const int value = l->ValueIn(in, Layout::kDense, node);
  const int result = l->NewValue(out, Layout::kDense);
  AddMove(l, node, {value}, {box}, result);
  return absl::OkStatus();
}

const LoweringRegistration kDepth("", "DepthToSpace", LowerSpace, true);
const LoweringRegistration kSpace("", "SpaceToDepth", LowerSpace, true);

}  // namespace
}  // namespace heddle::compiler
