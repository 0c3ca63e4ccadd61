// SPDX-License-Identifier: Apache-2.0
//
// A runaway copy engine: it keeps writing a pattern to the host addresses of
// its last scatter list, and neither ABORT nor a reset of engine, card or
// function stops it. Only a power cycle does; until then, only a cleared
// bus-master bit or a link that is down keeps it away from memory. For testing
// drivers that must not trust a card to stop.
#ifndef HEDDLE_SIMULATOR_PLATFORM_RUNAWAY_DMA_H_
#define HEDDLE_SIMULATOR_PLATFORM_RUNAWAY_DMA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "rtl/spec/generated/descriptors.h"

namespace heddle::platform {

class RunawayDma {
 public:
  // Writes to host memory. What the bus refuses, it refuses.
  using Write = std::function<void(uint64_t iova, void* data, size_t bytes)>;
  // Calls `what` some milliseconds of real time later.
  using Later = std::function<void(uint32_t ms, std::function<void()> what)>;

  RunawayDma(Write write, Later later)
      : write_(std::move(write)), later_(std::move(later)) {}

  // `list` is not empty and holds no empty range.
  void Start(std::vector<desc::SgEntry> list);
  // A power cycle.
  void Stop() { ++generation_; }

 private:
  void Turn(uint64_t generation);

  const Write write_;
  const Later later_;
  std::vector<desc::SgEntry> list_;
  size_t entry_ = 0;
  uint64_t offset_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_RUNAWAY_DMA_H_
