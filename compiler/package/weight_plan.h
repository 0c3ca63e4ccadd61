// SPDX-License-Identifier: Apache-2.0
// Where weights are when the card's memory does not hold all of them. Region 0
// then is smaller than the package's weights: what is resident is copied there
// once, the rest stays in host memory, and before a stream runs its part of it
// is copied to a window behind the resident part. Streams address region 0 as
// it is when they run.
//
// Copies and streams are steps of one job, one after another. Nothing in the
// format asks for that: copies to bytes that the stream in front does not use
// (two windows) may run beside it where the hardware can.
#ifndef HEDDLE_COMPILER_PACKAGE_WEIGHT_PLAN_H_
#define HEDDLE_COMPILER_PACKAGE_WEIGHT_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::package {

// Places in weights and region 0 are multiples of this (region_align): whoever
// moves a constant by it changes no burst.
constexpr uint64_t kWeightAlign = 64;

struct WeightCopy {
  uint32_t stream = 0;  // before which it is copied; 0 of a resident one
  uint64_t from = 0;    // bytes in the package's weights
  uint64_t to = 0;      // bytes in region 0
  uint64_t size = 0;    // bytes

  bool operator==(const WeightCopy& o) const {
    return stream == o.stream && from == o.from && to == o.to && size == o.size;
  }
};

struct WeightPlan {
  uint64_t device_bytes = 0;         // region 0; 0: there is no plan
  std::vector<WeightCopy> resident;  // by `to`
  std::vector<WeightCopy> copies;    // by stream and `to`

  bool empty() const { return device_bytes == 0; }
  uint64_t resident_bytes() const;
  uint64_t copied_bytes() const;  // per run
};

// Why the plan of a package with so many bytes of weights and so many streams
// cannot be followed, "" if it can: every copy inside the weights and inside
// region 0, on no byte that is resident or another copy's of the same stream,
// and in order.
std::string WhatIsWrong(const WeightPlan& plan, uint64_t weight_bytes,
                        uint64_t streams);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_WEIGHT_PLAN_H_
