// SPDX-License-Identifier: Apache-2.0
//
// The card: all units, bound to each other. One per process, because SystemC
// has one kernel per process. Built before simulation starts; used by front
// ends through card(), and by the control socket through the rest.
#ifndef HEDDLE_SIMULATOR_PLATFORM_PLATFORM_H_
#define HEDDLE_SIMULATOR_PLATFORM_PLATFORM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/spec/generated/registers.h"
#include "simulator/model/model.h"
#include "simulator/platform/card.h"
#include "simulator/platform/faults.h"
#include "simulator/platform/reactor.h"
#include "simulator/rtl/card_model.h"

namespace heddle::platform {

struct PlatformOptions {
  const isa::Config* config = &isa::kConfigs[0];
  uint64_t dram_bytes = isa::kDramBytesDefault;
  uint64_t serial = 1;
  // What register VERSION reads; what the card executes is this build's. Not
  // of the RTL.
  uint32_t hw_version = reg::kVersionReset;
  model::Implementation implementation = model::Implementation::kFast;
  // The whole card in RTL in the place of units in C++ and functional model.
  bool rtl = false;
  // Of the RTL: cycles between two looks at the host.
  uint64_t quantum = 100;
  // And cycles from an access to host memory to its answer.
  uint32_t host_latency = rtl::CardOptions().host_latency;
  // And its waveforms: a file for cycles [trace_from, trace_to); empty: none.
  std::string trace_file;
  uint64_t trace_from = 0;
  uint64_t trace_to = UINT64_MAX;
};

// What `status` tells.
struct PlatformStatus {
  bool present;
  uint64_t dram_bytes;
  uint32_t status;    // register STATUS
  uint32_t progress;  // register PROGRESS
  uint64_t running_fence;
  uint32_t jobs;
  uint32_t faults;
  uint32_t resets;
  uint32_t device_error;
  uint32_t sram_corrected;
  uint64_t interrupts_sent;
  size_t mapped_ranges;
  uint64_t refused_dma;  // accesses to host memory that failed
};

class Platform {
 public:
  // UNIMPLEMENTED: this program was built without the RTL.
  static absl::StatusOr<std::unique_ptr<Platform>> Create(
      const PlatformOptions& options);
  ~Platform();

  Card* card();
  Reactor* reactor();
  Faults* faults();
  // Whether the card has the fault runaway_dma.
  bool CanRunAway() const;

  // Takes the card out of its slot (Card then reads ones) and puts it back, as
  // after power-up.
  void SetPresent(bool present);
  // Changes the size of device memory and raises the memory interrupt. What
  // lies beyond the new size is lost; jobs that use it fault.
  absl::Status ResizeMemory(uint64_t bytes);
  // Sends an interrupt message without a cause.
  void SpuriousInterrupt(uint32_t vector);
  PlatformStatus status() const;

 private:
  struct Units;
  explicit Platform(std::unique_ptr<Units> units);
  std::unique_ptr<Units> units_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_PLATFORM_H_
