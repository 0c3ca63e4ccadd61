// SPDX-License-Identifier: Apache-2.0
// Products of codes on the matrix engine beyond the fused forms: accumulators
// as int32 or fp32 in ONNX's order, weights that are computed, stacks of
// matrices.
//
// A stack of matrices is held in "rows": [matrices, columns, rows, 1] in
// blocked layout, that is, one image per matrix with the columns in the
// channels.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_LOWER_QMATMUL_H_
#define HEDDLE_COMPILER_DEVICE_OPS_LOWER_QMATMUL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/device_ops/lower_codes.h"
#include "compiler/ops/matmul.h"
#include "compiler/ops/window.h"
#include "compiler/stream/pack.h"

namespace heddle::compiler {

// Not to be mixed up with the MatMulSpec of floats (matmul_op.h).
struct QMatMulSpec {
  isa::MatrixMode mode = isa::MatrixMode::kConv;
  Window window;        // over an image of the first operand
  CodeWeights weights;  // no codes: the second operand is computed
  isa::WeightMode w_mode = isa::WeightMode::kPacked;
  std::vector<uint8_t> weight_zero;  // code per output channel
  std::vector<int32_t> bias;         // empty: 0
  std::vector<float> scale;          // empty: 1
  std::vector<float> float_bias;     // of fp32 results; empty: none
  bool in_signed = false, w_signed = false;
  int64_t za = 0, zo = 0;
  isa::OutType out_type = isa::OutType::kI32;
  // Results of 4 bytes are dense: (row, channel) is (h, w), else (channel, row,
  // column) is (c, h, w).
  bool rows_result = false;
  uint64_t macs = 0;
};

// `b` is the computed second operand in rows, or -1.
std::unique_ptr<DeviceOp> MakeProduct(Lowering* l, QMatMulSpec spec, int a,
                                      int b, int to);

// A stack of matrices in rows: matrix i of the result is matrix map[i] of the
// tensor, which is a stack of [rows, columns] (of their transposes).
int RowsOf(Lowering* l, const Node& node, TensorId id, int64_t rows,
           int64_t columns, const std::vector<int64_t>& map, bool transposed);
// Appends the copy of a dense value [matrices, 1, rows, columns] into rows.
void AddRowsCopy(Lowering* l, const Node& node, int from, int to);
// Rows as [matrices, 1, rows, columns] in dense layout.
int DenseOfRows(Lowering* l, const Node& node, int rows_value);

// Weights of a grouped convolution with `together` groups made one: what
// connects groups holds the zero point's code. `group` is a multiple of
// `together`. Rejection: kUnsupportedShape, where they would be beyond all
// measure.
absl::StatusOr<CodeWeights> MergeGroups(const Node& node, const CodeWeights& w,
                                        int64_t group, int64_t together,
                                        const std::vector<uint8_t>& zero);

// One code per output channel, from an absent, scalar or per-channel constant.
std::vector<uint8_t> ZeroCodes(const TensorData* zero, int64_t channels);
// One float per output channel.
std::vector<float> ScalePerChannel(const TensorData& scale, int64_t channels);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_LOWER_QMATMUL_H_
