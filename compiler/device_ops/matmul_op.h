// SPDX-License-Identifier: Apache-2.0
// A matrix product on vmac: d[m,n] = initial[m,n] + sum over k of
// a[m,k]*b[k,n], for stacks of matrices.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_MATMUL_OP_H_
#define HEDDLE_COMPILER_DEVICE_OPS_MATMUL_OP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/device_ops/mac.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Operands are values of shape [images, planes, rows, columns] (or of lower
// rank, the leading ones being 1); a is [k,m] with trans_a, b [n,k] with
// trans_b. An operand of one image serves all images.
struct MatMulSpec {
  int64_t m = 1, k = 1, n = 1;
  bool trans_a = false, trans_b = false;
  // Plane of a and of b that plane i of the result multiplies.
  std::vector<int64_t> a_plane = {0}, b_plane = {0};
  DataType type = DataType::kFloat;
};

// Ranges of k and n that one constant group does; k parts of one n in order.
struct MatMulPiece {
  int64_t k0 = 0, k1 = 0, n0 = 0, n1 = 0;
};
struct MatMulCut {
  std::vector<MatMulPiece> pieces;
  bool split = false;  // some chain is in several pieces
};
// `a_planes`, `b_planes`: matrices in one image of the operands.
MatMulCut CutMatMul(const MatMulSpec& spec, bool constant_b, int64_t a_planes,
                    int64_t b_planes, const isa::Config& config);

struct MatMulOperands {
  int a = -1, b = -1;                // values; b -1: `data`
  const TensorData* data = nullptr;  // constant b, one matrix
  int initial = -1;                  // value [rows or 1, columns or 1], or -1
};

// `to` is f32 if the cut splits chains.
std::unique_ptr<DeviceOp> MakeMatMulOp(DeviceGraph* graph,
                                       const MatMulSpec& spec,
                                       const MatMulCut& cut,
                                       const MatMulOperands& operands,
                                       const MacClamp& clamp, int to);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_MATMUL_OP_H_
