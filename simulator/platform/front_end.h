// SPDX-License-Identifier: Apache-2.0
//
// What the platform needs from the card's front end (registers, jobs, copies)
// and what is behind it, in either form: C++ units before a functional core
// (UnitsFront) or the verilated card (RtlCard). A host can tell them apart only
// by cycle counts.
#ifndef HEDDLE_SIMULATOR_PLATFORM_FRONT_END_H_
#define HEDDLE_SIMULATOR_PLATFORM_FRONT_END_H_

#include <cstdint>

#include "simulator/platform/dram.h"
#include "simulator/platform/host_bridge.h"

namespace heddle::platform {

struct FrontStatus {
  uint32_t status;    // register STATUS
  uint32_t progress;  // register PROGRESS
  uint64_t running_fence;
  uint32_t jobs;
  uint32_t faults;
  uint32_t resets;
  uint32_t device_error;
  uint32_t sram_corrected;
};

class FrontEnd {
 public:
  virtual ~FrontEnd() = default;
  // `dram` may be nullptr for one that has device memory itself.
  virtual void Bind(HostBridge* bridge, Dram* dram) = 0;
  // Function-level reset or power cycle: at once, and nothing more is written
  // to the host.
  virtual void Reset(bool power_cycle) = 0;
  // The size of device memory has changed.
  virtual void DramResized() = 0;
  virtual FrontStatus status() = 0;
  // Whether it has the fault runaway_dma.
  virtual bool CanRunAway() const { return false; }
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_FRONT_END_H_
