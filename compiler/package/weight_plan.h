// SPDX-License-Identifier: Apache-2.0
// Where weights are when the card's memory does not hold all of them. Region 0
// then holds what is resident, copied there once; the rest stays in host
// memory, and before a stream runs its part of it is copied to a window.
// Streams address the window as region kWindowRegion.
//
// There are one or two windows, taken in turn: stream s reads window s modulo
// their number. With two, what stream s + 1 needs may be copied while stream s
// runs, because that reads the other one, and so did nobody since stream s - 1
// has ended.
#ifndef HEDDLE_COMPILER_PACKAGE_WEIGHT_PLAN_H_
#define HEDDLE_COMPILER_PACKAGE_WEIGHT_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::package {

// Places in weights and region 0 are multiples of this (region_align): whoever
// moves a constant by it changes no burst.
constexpr uint64_t kWeightAlign = 64;

// Beside 0 (resident weights), 1 (scratch) and 2 (packed inputs and outputs).
constexpr uint32_t kWindowRegion = 3;
constexpr uint32_t kWindowsMax = 2;

struct WeightCopy {
  uint32_t stream = 0;  // before which it is copied; 0 of a resident one
  uint64_t from = 0;    // bytes in the package's weights
  uint64_t to = 0;      // bytes in region 0, or in the stream's window
  uint64_t size = 0;    // bytes

  bool operator==(const WeightCopy& o) const {
    return stream == o.stream && from == o.from && to == o.to && size == o.size;
  }
};

struct WeightPlan {
  uint64_t device_bytes = 0;         // region 0
  uint32_t windows = 0;              // 1 or 2; 0: there is no plan
  uint64_t window_bytes = 0;         // of each
  std::vector<WeightCopy> resident;  // by `to`
  std::vector<WeightCopy> copies;    // by stream and `to`

  bool empty() const { return windows == 0; }
  // Where the window of that stream begins, one window behind the other.
  uint64_t window_begin(uint32_t stream) const {
    return windows == 0 ? 0 : stream % windows * window_bytes;
  }
  uint64_t resident_bytes() const;
  uint64_t copied_bytes() const;  // per run
};

// Why the plan of a package with so many bytes of weights and so many streams
// cannot be followed, "" if it can: every copy inside the weights and inside
// region 0 or the window, on no byte of another copy of the same stream, and in
// order.
std::string WhatIsWrong(const WeightPlan& plan, uint64_t weight_bytes,
                        uint64_t streams);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_WEIGHT_PLAN_H_
