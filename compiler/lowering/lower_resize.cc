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

// [before, 1, axis, after], or [before, axis]: cut into tiles along the axis or
// before it.
Shape ViewAbout(const Shape& shape, size_t axis) {
  const int64_t before =
      ElementCount(Shape(shape.begin(), shape.begin() + axis));
  const int64_t after =
      ElementCount(Shape(shape.begin() + axis + 1, shape.end()));
  return after == 1 ? Shape{before, shape[axis]}
                    : Shape{before, 1, shape[axis], after};
}

// A number for each element of the axis, as an operand of that view.
Operand AlongAxis(const Shape& view, const std::vector<float>& numbers) {
  Shape shape(view.size(), 1);
  shape[view.size() == 2 ? 1 : 2] = static_cast<int64_t>(numbers.size());
  auto data = std::make_shared<TensorData>(
      TensorData::Zeros(DataType::kFloat, std::move(shape)));
  std::copy(numbers.begin(), numbers.end(), data->as<float>());
  return Operand::Constant(std::move(data));
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
  const Shape view = ViewAbout(shape, axis);
  const int result = l->NewTemporary(l->tensor(node.outputs[0]).name,
                                     DataType::kFloat, shape, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), InterpolateProgram(), {},
                         {Operand::Of(l->Reshaped(low, view)),
                          Operand::Of(l->Reshaped(high, view)),
                          AlongAxis(view, taps.weight)},
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

// One axis of a filter, as an index map and a pass for each tap.
absl::StatusOr<int> FilteredInPasses(Lowering* l, const Node& node, int value,
                                     Shape shape, size_t axis,
                                     const FilteredAxis& filter) {
  ProgramBuilder from_zero, on;
  from_zero.Out(from_zero.Fma(ProgramBuilder::A(), ProgramBuilder::B(),
                              ProgramBuilder::Imm(0)));
  on.Out(on.Fma(ProgramBuilder::A(), ProgramBuilder::B(), ProgramBuilder::C()));
  ASSIGN_OR_RETURN(const auto first, from_zero.Finish());
  ASSIGN_OR_RETURN(const auto next, on.Finish());
  IndexMap map = IdentityMap(shape);
  shape[axis] = static_cast<int64_t>(filter.start.size());
  const Shape view = ViewAbout(shape, axis);
  int sum = -1;
  for (int64_t t = 0; t < filter.taps; ++t) {
    map.axes[axis] = filter.start;
    std::vector<float> weights;
    for (size_t i = 0; i < filter.start.size(); ++i) {
      map.axes[axis][i] += t;
      weights.push_back(filter.weight[i * static_cast<size_t>(filter.taps) +
                                      static_cast<size_t>(t)]);
    }
    const int taken = TakeValue(l, node, value, map);
    std::vector<Operand> operands = {Operand::Of(l->Reshaped(taken, view)),
                                     AlongAxis(view, weights)};
    if (t > 0) operands.push_back(Operand::Of(l->Reshaped(sum, view)));
    const int result = l->NewTemporary(l->tensor(node.outputs[0]).name,
                                       DataType::kFloat, shape, Layout::kDense);
    l->Add(MakeElementwise(&l->device(), t == 0 ? first : next, {}, operands,
                           l->Reshaped(result, view)),
           node);
    sum = result;
  }
  return sum;
}

absl::Status LowerFilter(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const FilterPlan plan = FilterPlanOf(l->graph(), node);
  Shape shape = l->tensor(in).shape;
  const auto resampled = [](const FilteredAxis& axis, int64_t size) {
    if (axis.start.empty()) return IdentityAxis(size);
    ResampledAxis a;
    a.kind = ResampledAxis::kFilter;
    a.from = size;
    a.taps = axis.taps;
    a.low = axis.start;
    a.weight = axis.weight;
    return a;
  };
  ResampledPlane plane{resampled(plan.rows, shape[shape.size() - 2]),
                       resampled(plan.columns, shape.back())};
  int value = l->ValueIn(in, Layout::kDense, node);
  if (CanResample(plane.rows, plane.columns, sizeof(float),
                  l->config().sram_bytes)) {
    AddResample(l, node, value, std::move(plane.rows), std::move(plane.columns),
                l->NewValue(out, Layout::kDense));
    return absl::OkStatus();
  }
  // Rows that SRAM does not hold.
  for (const bool columns : {true, false}) {
    const FilteredAxis& axis = columns ? plan.columns : plan.rows;
    if (axis.start.empty()) continue;
    const size_t at = shape.size() - (columns ? 1 : 2);
    ASSIGN_OR_RETURN(value, FilteredInPasses(l, node, value, shape, at, axis));
    shape[at] = static_cast<int64_t>(axis.start.size());
  }
  l->Bind(out, value);
  return absl::OkStatus();
}

const LoweringRegistration kFilter(kInternalDomain, "Filter", LowerFilter);
const LoweringRegistration kResize("", "Resize", LowerResize, true);
const LoweringRegistration kUpsample("", "Upsample", LowerResize, true);

}  // namespace
}  // namespace heddle::compiler
