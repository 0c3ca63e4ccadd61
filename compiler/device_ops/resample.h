// SPDX-License-Identifier: Apache-2.0
// Planes whose rows and columns are read at other places: an enlarged image.
// Columns are picked by an index in SRAM, rows are streams with strides of
// their own, so that neither goes through device memory element by element.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_RESAMPLE_H_
#define HEDDLE_COMPILER_DEVICE_OPS_RESAMPLE_H_

#include <cstdint>
#include <vector>

#include "compiler/device_ops/lowering.h"

namespace heddle::compiler {

// Element i of an axis is, the columns before the rows,
//   kTake    x[low[i]]
//   kBlend   fma(x[high], weight[i], f32(x[low[i]] * f32(1 - weight[i]))),
//            high = min(low[i] + 1, from - 1)
//   kFilter  the chain acc = fma(x[low[i] + t], weight[i*taps + t], acc), t =
//   0,
//            1, ..., from +0
// and the latter two are of fp32.
struct ResampledAxis {
  enum Kind { kTake, kBlend, kFilter };
  Kind kind = kTake;
  int64_t from = 1;
  std::vector<int64_t> low;
  std::vector<float> weight;
  int64_t taps = 1;  // kFilter

  int64_t to() const { return static_cast<int64_t>(low.size()); }
  bool is_identity() const;
};
ResampledAxis IdentityAxis(int64_t size);

// Whether AddResample takes them: every index within the operand, and some rows
// fit SRAM.
bool CanResample(const ResampledAxis& rows, const ResampledAxis& columns,
                 int64_t element_bytes, uint64_t sram_bytes);

// The dense value `value` of [..., rows.from, columns.from] becomes `result` of
// [..., rows.to(), columns.to()]. Both axes are of one kind, or one is the
// identity.
void AddResample(Lowering* lowering, const Node& node, int value,
                 ResampledAxis rows, ResampledAxis columns, int result);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_RESAMPLE_H_
