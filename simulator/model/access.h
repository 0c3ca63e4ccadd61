// SPDX-License-Identifier: Apache-2.0
// The accesses of a command as strided boxes: the one description behind the
// SRAM bounds check, the race detector and the generator of race-free streams.
#ifndef HEDDLE_SIMULATOR_MODEL_ACCESS_H_
#define HEDDLE_SIMULATOR_MODEL_ACCESS_H_

#include <cstdint>
#include <functional>

#include "rtl/spec/generated/isa.h"

namespace heddle::model {

enum class Space { kSram, kDram, kAccumulators };

// Runs of `bytes` bytes at base + sum of i_d * stride_d, for all i_d < n_d.
// SRAM and DRAM: bytes (DRAM relative to the region). Accumulators: entries.
struct Access {
  static constexpr int kMaxDims = 8;
  struct Dim {
    uint64_t n;
    int64_t stride;
  };

  // Adds a dimension; one step or stride 0 adds nothing to what is touched.
  Access& Along(uint64_t n, int64_t stride) {
    if (n == 0) empty = true;
    if (n > 1 && stride != 0) dims[num_dims++] = {n, stride};
    return *this;
  }
  int64_t Lowest() const;
  int64_t Highest() const;  // the last byte
  // Calls f(address, bytes) for every run; neighbouring runs may be merged.
  void ForEachRun(const std::function<void(int64_t, uint64_t)>& f) const;

  Space space = Space::kSram;
  bool write = false;
  bool empty = false;
  bool maybe = false;   // a part of it at most: which one the program computes
  uint32_t region = 0;  // kDram
  int64_t base = 0;
  uint64_t bytes = 0;
  int num_dims = 0;
  Dim dims[kMaxDims];
};

// Calls f for everything that a legal command may touch. Without `sram`,
// accesses that depend on SRAM contents are what is possible at most (every
// index below the bound; every enabled stream); this is what the bounds check
// takes. With the SRAM's contents before the command, they are exact, with one
// access per index (of `pick` all that an index may choose, with `maybe`); all
// SRAM addresses must have passed the bounds check then.
// Bytes of an input word at and beyond ci are not among them: in modes
// depthwise and maxpool, lanes of the output at and beyond co depend on them,
// and only those.
void ForEachAccess(const isa::Config& config, const isa::Command& command,
                   const uint8_t* sram,
                   const std::function<void(const Access&)>& f);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_ACCESS_H_
