// SPDX-License-Identifier: Apache-2.0
// Where Resize and Upsample take their elements. Coordinates are computed in
// fp32 in the order of ONNX Runtime's kernels.
#ifndef HEDDLE_COMPILER_OPS_RESIZE_H_
#define HEDDLE_COMPILER_OPS_RESIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct ResizePlan {
  std::string mode;        // nearest, linear
  std::string coordinate;  // coordinate_transformation_mode
  std::string nearest;     // nearest_mode, or "simple", that of opset 10
  float extrapolation = 0;
  Shape to;
  std::vector<float> scales;      // per axis
  std::vector<float> begin, end;  // roi, per axis
};

// From attributes and constant inputs of any opset.
absl::StatusOr<ResizePlan> ResizePlanOf(const Graph& graph, const Node& node);

// Position in the operand of index `x` of axis `axis`, in fp32.
float ResizeCoordinate(const ResizePlan& plan, const Shape& from, size_t axis,
                       int64_t x);

// One axis of mode linear: element x is (1 - weight) * low + weight * high, or
// the extrapolation value where `low` is -1.
struct LinearAxis {
  std::vector<int64_t> low, high;
  std::vector<float> weight;
};
LinearAxis LinearAxisOf(const ResizePlan& plan, const Shape& from, size_t axis);

// Axes that change, in the order in which they are resized: the last first.
std::vector<size_t> ResizedAxes(const ResizePlan& plan, const Shape& from);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_RESIZE_H_
