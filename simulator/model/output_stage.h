// SPDX-License-Identifier: Apache-2.0
// The output stage behind the accumulators, in the steps of ISA.md.
#ifndef HEDDLE_SIMULATOR_MODEL_OUTPUT_STAGE_H_
#define HEDDLE_SIMULATOR_MODEL_OUTPUT_STAGE_H_

#include <cstdint>

#include "rtl/spec/generated/isa.h"
#include "simulator/model/core.h"

namespace heddle::model {

// Parameters of one block of 16 output channels.
struct BlockParams {
  int32_t bias[kBlock];  // the pattern of an f32 with bias_f32
  float scale[kBlock];
};
BlockParams ReadParams(const isa::Conv& c, int64_t cb, const Core& core);

// Step 1: the 32-bit pattern of an i32 or f32 output.
uint32_t WideOutput(const isa::Conv& c, int32_t acc, int32_t bias, float scale);
// Step 2: requantise to a code of the output type.
int32_t Requantise(const isa::Conv& c, int32_t acc, int32_t bias, float scale);
// Step 3: the table's entry for a code.
int32_t LookUp(const isa::Conv& c, int32_t code, const Core& core);
// Step 4: the residual stage on code x and residual byte r.
int32_t Residual(const isa::Conv& c, int32_t x, uint8_t r);

// A byte as a code of an 8-bit type.
inline int32_t Code(uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<int8_t>(byte) : byte;
}

// Steps 3 to 5 for one row of codes of one channel block: code of pixel ox,
// lane l at codes[ox * 16 + l]. Rows of a block come in increasing oy. `sums`
// are the 16 running sums of average pooling, zero at first; the last row of
// the command writes their result.
void FinishRow(const isa::Conv& c, int64_t cb, uint32_t oy, int32_t* codes,
               int32_t* sums, Core* core);
// Step 5 alone.
void PoolOrWriteRow(const isa::Conv& c, int64_t cb, uint32_t oy,
                    const int32_t* codes, int32_t* sums, Core* core);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_OUTPUT_STAGE_H_
