// SPDX-License-Identifier: Apache-2.0
// Resize, Upsample and heddle.Filter: planes that are resampled
// (device_ops/resample.h), linear ones axis by axis, the last two together.
// What that does not take (elements from outside, codes in blocks, rows longer
// than SRAM) is an index map, for linear of the two neighbours of every
// element.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/move_layout.h"
#include "compiler/device_ops/resample.h"
#include "compiler/device_ops/take.h"
#include "compiler/ops/define.h"
#include "compiler/ops/resize.h"
#include "compiler/ops/resize_filter.h"

namespace heddle::compiler {
namespace {

// Of [before, axis, after]: one of the two is the axis.
struct ResampledPlane {
  ResampledAxis rows, columns;
};

ResampledPlane PlaneOf(ResampledAxis axis, int64_t after) {
  if (after == 1) return {IdentityAxis(1), std::move(axis)};
  return {std::move(axis), IdentityAxis(after)};
}

// Nearest, where the rows change at most.
bool LowerNearest(Lowering* l, const Node& node, const IndexMap& map) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const size_t rank = map.from.size();
  if (rank == 0 || MoveLayout(l, {in}, {in, out}) != Layout::kDense) {
    return false;
  }
  const IndexMap same = IdentityMap(map.from);
  // Whole rows are moved as they are.
  if (map.axes[rank - 1] == same.axes[rank - 1]) return false;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (map.axes[i] != same.axes[i]) return false;
  }
  const auto taken = [&](size_t axis) {
    ResampledAxis a;
    a.from = map.from[axis];
    a.low = map.axes[axis];
    return a;
  };
  ResampledPlane plane{IdentityAxis(1), taken(rank - 1)};
  if (rank > 1) plane.rows = taken(rank - 2);
  const int value = l->ValueIn(in, Layout::kDense, node);
  if (!CanResample(plane.rows, plane.columns,
                   ElementBytes(l->device().StorageOf(value).type),
                   l->config().sram_bytes)) {
    return false;
  }
  AddResample(l, node, value, plane.rows, plane.columns,
              l->NewValue(out, Layout::kDense));
  return true;
}

// One axis of mode linear, as index maps.
int Interpolated(Lowering* l, const Node& node, int value, Shape shape,
                 size_t axis, const LinearAxis& taps, float extrapolation) {
  IndexMap map = IdentityMap(shape);
  map.constant.resize(4);
  std::memcpy(map.constant.data(), &extrapolation, 4);
  shape[axis] = static_cast<int64_t>(taps.low.size());
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
  const Shape view =
      last ? Shape{before, shape[axis]} : Shape{before, 1, shape[axis], after};
  auto weights = std::make_shared<TensorData>(
      TensorData::Zeros(DataType::kFloat, last ? Shape{1, shape[axis]}
                                               : Shape{1, 1, shape[axis], 1}));
  std::copy(taps.weight.begin(), taps.weight.end(), weights->as<float>());
  const int result = l->NewTemporary(l->tensor(node.outputs[0]).name,
                                     DataType::kFloat, shape, Layout::kDense);
  l->Add(MakeElementwise(
             &l->device(), InterpolateProgram(), {},
             {Operand::Of(l->Reshaped(low, view)),
              Operand::Of(l->Reshaped(high, view)), Operand::Constant(weights)},
             l->Reshaped(result, view)),
         node);
  return result;
}

int LowerLinear(Lowering* l, const Node& node, const ResizePlan& plan) {
  int value = l->ValueIn(node.inputs[0], Layout::kDense, node);
  Shape shape = l->tensor(node.inputs[0]).shape;
  const uint64_t sram = l->config().sram_bytes;
  const auto taps_of = [&](size_t axis) {
    return LinearAxisOf(plan, l->tensor(node.inputs[0]).shape, axis);
  };
  const auto resampled = [&](size_t axis) {
    LinearAxis taps = taps_of(axis);
    ResampledAxis a;
    a.kind = ResampledAxis::kBlend;
    a.from = shape[axis];
    a.low = std::move(taps.low);
    a.weight = std::move(taps.weight);
    return a;
  };
  const std::vector<size_t> axes = ResizedAxes(plan, shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = axes[i];
    const int64_t after =
        ElementCount(Shape(shape.begin() + axis + 1, shape.end()));
    ResampledPlane plane = PlaneOf(resampled(axis), after);
    size_t done = 1;
    if (after == 1 && i + 1 < axes.size() && axes[i + 1] + 1 == axis) {
      plane.rows = resampled(axes[i + 1]);
      done = 2;
      if (!CanResample(plane.rows, plane.columns, sizeof(float), sram)) {
        plane.rows = IdentityAxis(1);
        done = 1;
      }
    }
    if (CanResample(plane.rows, plane.columns, sizeof(float), sram)) {
      for (size_t k = i; k < i + done; ++k) shape[axes[k]] = plan.to[axes[k]];
      const int from = value;
      value = l->NewTemporary(l->tensor(node.outputs[0]).name, DataType::kFloat,
                              shape, Layout::kDense);
      AddResample(l, node, from, std::move(plane.rows),
                  std::move(plane.columns), value);
      i += done - 1;
      continue;
    }
    value = Interpolated(l, node, value, shape, axis, taps_of(axis),
                         plan.extrapolation);
    shape[axis] = plan.to[axis];
  }
  return value;
}

absl::Status LowerResize(Lowering* l, const Node& node) {
  const TensorId out = node.outputs[0];
  ASSIGN_OR_RETURN(auto plan, ResizePlanOf(l->graph(), node));
  if (plan.mode != "nearest") {
    l->Bind(out, LowerLinear(l, node, plan));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(auto map, ResizeMap(l->graph(), node, 0));
  if (!LowerNearest(l, node, map)) LowerIndexMap(l, node, std::move(map), out);
  return absl::OkStatus();
}

absl::Status LowerFilter(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  FilterPlan plan = FilterPlanOf(l->graph(), node);
  const Shape& shape = l->tensor(in).shape;
  const auto resampled = [](FilteredAxis axis, int64_t size) {
    if (axis.start.empty()) return IdentityAxis(size);
    ResampledAxis a;
    a.kind = ResampledAxis::kFilter;
    a.from = size;
    a.taps = axis.taps;
    a.low = std::move(axis.start);
    a.weight = std::move(axis.weight);
    return a;
  };
  ResampledPlane plane{resampled(std::move(plan.rows), shape[shape.size() - 2]),
                       resampled(std::move(plan.columns), shape.back())};
  if (!CanResample(plane.rows, plane.columns, sizeof(float),
                   l->config().sram_bytes)) {
    return RejectNode(Rejection::kUnsupportedShape, node, "rows of ",
                      ShapeToString(shape), " do not fit SRAM");
  }
  const int value = l->ValueIn(in, Layout::kDense, node);
  AddResample(l, node, value, std::move(plane.rows), std::move(plane.columns),
              l->NewValue(out, Layout::kDense));
  return absl::OkStatus();
}

const LoweringRegistration kFilter(kInternalDomain, "Filter", LowerFilter);
const LoweringRegistration kResize("", "Resize", LowerResize, true);
const LoweringRegistration kUpsample("", "Upsample", LowerResize, true);

}  // namespace
}  // namespace heddle::compiler
