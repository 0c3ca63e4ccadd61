// SPDX-License-Identifier: Apache-2.0
// One operation for everything that only moves elements: the result is covered
// by boxes, each of which is a strided box of one operand or a constant.
//
// Operands are read where they lie (AxisNeed::kDirect): from SRAM by the vector
// engine, from device memory by strided loads straight into the result's tile.
// So operand and result may have any size.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_MOVE_H_
#define HEDDLE_COMPILER_DEVICE_OPS_MOVE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/device_ops/lowering.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Positions and strides count elements in row-major order; in blocked tensors
// an element is a word of 16 channels and the order [n][block][y][x].
struct MoveDim {
  int64_t count = 1;
  int64_t source = 0;  // stride in the operand: any sign, 0 repeats
  int64_t result = 0;  // stride in the result, > 0
};

struct MoveBox {
  int input = -1;      // index of the operand; -1 = the constant `value`
  uint32_t value = 0;  // the element's bits
  int64_t source = 0, result = 0;  // positions of the first element
  // Outermost first. In the result they nest: a stride is at least the span of
  // all dimensions after it.
  std::vector<MoveDim> dims;
};

// Row-major strides of `shape`, in elements.
std::vector<int64_t> RowMajor(const Shape& shape);

// A box with the dimensions of `shape` in order, at row-major places of a
// result of that shape; `source` strides, from position `from` of the operand.
MoveBox WholeBox(int input, const Shape& shape,
                 const std::vector<int64_t>& source, int64_t from = 0);

// The parts of `box` at result positions [begin, end).
void ClipBox(const MoveBox& box, int64_t begin, int64_t end,
             std::vector<MoveBox>* parts);

// `shape` as rows of at most 4 KiB: the view in which a dense tensor of any
// shape is cut into tiles of any size.
Shape FlatShape(const Shape& shape, int64_t element_bytes);

// Appends the operation that fills `result` for `node`. Operands are values of
// the result's element type and layout: dense, or blocked with whole blocks.
// The boxes cover the result and do not overlap.
void AddMove(Lowering* lowering, const Node& node,
             const std::vector<int>& operands, std::vector<MoveBox> boxes,
             int result);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_MOVE_H_
