// SPDX-License-Identifier: Apache-2.0
// Operations that compute each element of the result from one element of each
// operand, with numpy's broadcasting, across layouts.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_ELEMENTWISE_H_
#define HEDDLE_COMPILER_DEVICE_OPS_ELEMENTWISE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

class Lowering;

// An operand: a value, or constant data (of which little is held in SRAM as a
// whole, and much is tiled like a value). The result's shape is the broadcast
// of all; an operand value has the result's rank (see Lowering::Alias).
struct Operand {
  int value = -1;
  std::shared_ptr<const TensorData> data;

  static Operand Of(int value) { return {value, nullptr}; }
  static Operand Constant(std::shared_ptr<const TensorData> data) {
    return {-1, std::move(data)};
  }
  // One constant per index of dimension `axis` of a tensor of `rank`. In
  // layouts other than dense, IsChannel(axis, rank) must hold.
  static Operand PerChannel(const TensorData& values, size_t rank, size_t axis);
  // Whether the channels of the blocked and packed layouts are dimension
  // `axis`.
  static bool IsChannel(size_t axis, size_t rank) {
    return axis == (rank <= 2 ? rank - 1 : 1) && rank <= 4;
  }
};

// Input i of `node` towards a dense result of `rank`: a small constant, or a
// value with as many dimensions.
Operand DenseOperand(Lowering* l, const Node& node, size_t i, size_t rank);

// `program` reads operands as streams A, B, C and writes `out`; `arguments` are
// the command's. With a blocked or packed operand or result an operand value
// has the result's rank (at most 4, or the result's shape) and may repeat one
// image, row, column or channel; a constant varies along channels only.
std::unique_ptr<DeviceOp> MakeElementwise(
    DeviceGraph* graph, const Microprogram& program,
    const std::array<uint32_t, 4>& arguments,
    const std::vector<Operand>& operands, int result);

// Appends it for `node`. Where the dimensions that dense operands have or
// repeat make too many loops to be cut into tiles, operands are spread out
// first.
void AddElementwise(Lowering* lowering, const Node& node,
                    const Microprogram& program,
                    const std::array<uint32_t, 4>& arguments,
                    std::vector<Operand> operands, int result);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_ELEMENTWISE_H_
