// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample. Nearest is an index map; linear takes the two neighbours
// of every element as index maps and blends them, axis by axis.
#include <cstring>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/take.h"
#include "compiler/ops/define.h"
#include "compiler/ops/resize.h"

namespace heddle::compiler {
namespace {

absl::Status LowerResize(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  ASSIGN_OR_RETURN(auto plan, ResizePlanOf(l->graph(), node));
  if (plan.mode == "nearest") {
    ASSIGN_OR_RETURN(auto map, ResizeMap(l->graph(), node, 0));
    LowerIndexMap(l, node, std::move(map), out);
    return absl::OkStatus();
  }
  int value = l->ValueIn(in, Layout::kDense, node);
  const Shape from = l->tensor(in).shape;
  Shape shape = from;
  for (size_t axis : ResizedAxes(plan, from)) {
    const LinearAxis taps = LinearAxisOf(plan, from, axis);
    IndexMap map = IdentityMap(shape);
    map.constant.resize(4);
    std::memcpy(map.constant.data(), &plan.extrapolation, 4);
    shape[axis] = plan.to[axis];
    map.axes[axis] = taps.low;
    const int low = TakeValue(l, node, value, map);
    map.axes[axis] = taps.high;
    const int high = TakeValue(l, node, value, map);
    // Seen as [before, 1, axis, after], or [before, axis]: cut into tiles along
    // the axis or before it.
    const int64_t before =
        ElementCount(Shape(shape.begin(), shape.begin() + axis));
    const int64_t after =
        ElementCount(Shape(shape.begin() + axis + 1, shape.end()));
    const bool last = after == 1;
    const Shape view = last ? Shape{before, shape[axis]}
                            : Shape{before, 1, shape[axis], after};
    auto weights = std::make_shared<TensorData>(TensorData::Zeros(
        DataType::kFloat,
        last ? Shape{1, shape[axis]} : Shape{1, 1, shape[axis], 1}));
    for (int64_t i = 0; i < shape[axis]; ++i) {
      weights->as<float>()[i] = taps.weight[i];
    }
    value = l->NewTemporary(l->tensor(out).name, DataType::kFloat, shape,
                            Layout::kDense);
    l->Add(MakeElementwise(&l->device(), InterpolateProgram(), {},
                           {Operand::Of(l->Reshaped(low, view)),
                            Operand::Of(l->Reshaped(high, view)),
                            Operand::Constant(weights)},
                           l->Reshaped(value, view)),
           node);
  }
  l->Bind(out, value);
  return absl::OkStatus();
}

const LoweringRegistration kResize("", "Resize", LowerResize, true);
const LoweringRegistration kUpsample("", "Upsample", LowerResize, true);

}  // namespace
}  // namespace heddle::compiler
