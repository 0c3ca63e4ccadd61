// SPDX-License-Identifier: Apache-2.0
// Addresses of a matrix command's data: ISA.md's "Layouts", in one place for
// all users. Addresses are SRAM bytes in 64 bits; nothing here checks bounds.
#ifndef HEDDLE_SIMULATOR_MODEL_GEOMETRY_H_
#define HEDDLE_SIMULATOR_MODEL_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "simulator/model/core.h"

namespace heddle::model {

// Row slot of absolute row y in a buffer that starts at row0 or rolls.
inline int64_t Slot(int64_t y, uint32_t row0, uint32_t wrap) {
  return wrap != 0 ? y % wrap : y - row0;
}

// Byte address of the input word (cb, iy, ix); modes other than fold.
inline int64_t InputAddress(const isa::Conv& c, int64_t cb, int64_t iy,
                            int64_t ix) {
  return (c.in_addr + cb * c.in_plane +
          Slot(iy, c.in_row0, c.in_wrap) * c.in_pitch + ix * c.in_xstep) *
         isa::kWordBytes;
}
// Byte address of packed pixel (iy, ix); mode fold.
inline int64_t FoldAddress(const isa::Conv& c, int64_t iy, int64_t ix) {
  return (c.in_addr + Slot(iy, c.in_row0, c.in_wrap) * c.in_pitch) *
             isa::kWordBytes +
         ix * c.fold_channels;
}
// Byte address of output pixel (cb, slot row, column).
inline int64_t OutputAddress(const isa::Conv& c, int64_t cb, int64_t row,
                             int64_t x) {
  return (c.out_addr + cb * c.out_plane + row * c.out_pitch + x * c.out_xstep) *
         isa::kWordBytes;
}
// Byte address of the residual word of output pixel (cb, oy, ox).
inline int64_t ResidualAddress(const isa::Conv& c, int64_t cb, int64_t oy,
                               int64_t ox) {
  return (c.res_addr + cb * c.res_plane +
          Slot(oy, c.out_row0, c.res_wrap) * c.res_pitch + ox) *
         isa::kWordBytes;
}

inline bool IsWide(const isa::Conv& c) {
  return c.out_type == isa::OutType::kI32 || c.out_type == isa::OutType::kF32;
}
// The codes that leave the output stage are int8.
inline bool OutSigned(const isa::Conv& c) {
  return c.out_type == isa::OutType::kS8;
}

// Blocks of 16 output channels: what is written.
inline uint32_t OutBlocks(const isa::Conv& c) { return CeilDiv(c.co, kBlock); }
inline uint32_t InBlocks(const isa::Conv& c) { return CeilDiv(c.ci, kBlock); }
// Blocks of K output channels.
inline uint32_t CellBlocks(const isa::Conv& c, const isa::Config& config) {
  return CeilDiv(c.co, config.lanes_out);
}

// Words of the parameters of 16 output channels.
inline uint32_t ParamWords(const isa::Conv& c) { return c.zw_channel ? 9 : 8; }
// Byte addresses of bias, scale and weight zero points of block cb.
inline int64_t BiasAddress(const isa::Conv& c, int64_t cb) {
  return (c.param_addr + cb * ParamWords(c)) * isa::kWordBytes;
}
inline int64_t ScaleAddress(const isa::Conv& c, int64_t cb) {
  return BiasAddress(c, cb) + 4 * isa::kWordBytes;
}
inline int64_t ZeroAddress(const isa::Conv& c, int64_t cb) {
  return BiasAddress(c, cb) + 8 * isa::kWordBytes;
}

// One piece of a fold vector: lanes lane .. lane+n-1 take bytes q .. q+n-1 of
// kernel row r (bytes counted from tap kx = 0: q = kx*channels + channel).
struct FoldPiece {
  uint32_t vector;
  uint32_t lane;
  uint32_t r;
  uint32_t q;
  uint32_t n;
};
struct FoldPlan {
  uint32_t vectors = 0;
  std::vector<FoldPiece> pieces;
};
FoldPlan PlanFold(const isa::Conv& c, const isa::Config& config);

// Bytes of packed weights from w_addr on.
uint64_t PackedWeightBytes(const isa::Conv& c, const isa::Config& config);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_GEOMETRY_H_
