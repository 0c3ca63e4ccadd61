// SPDX-License-Identifier: Apache-2.0
//
// The front end in C++: register block, job engine and copy engine.
#ifndef HEDDLE_SIMULATOR_PLATFORM_UNITS_FRONT_H_
#define HEDDLE_SIMULATOR_PLATFORM_UNITS_FRONT_H_

#include "simulator/platform/copy_engine.h"
#include "simulator/platform/core.h"
#include "simulator/platform/front_end.h"
#include "simulator/platform/interrupt_controller.h"
#include "simulator/platform/job_engine.h"
#include "simulator/platform/register_block.h"

namespace heddle::platform {

class UnitsFront : public FrontEnd {
 public:
  UnitsFront(const isa::Config& config, uint64_t serial, DramStore* store,
             Core* core, InterruptController* interrupts, Faults* faults,
             RunawayDma::Later later)
      : interrupts_(interrupts),
        copy_("copy", store, faults, std::move(later)),
        jobs_("jobs", store, core, &copy_, interrupts),
        registers_("registers", config, core->core_kind(), serial, store,
                   &jobs_, interrupts, faults) {}

  void Bind(HostBridge* bridge, Dram* dram) override {
    bridge->registers.bind(registers_.port);
    copy_.host.bind(bridge->dma);
    jobs_.host.bind(bridge->dma);
    copy_.dram.bind(dram->port);
  }
  void Reset(bool power_cycle) override {
    jobs_.Silence(power_cycle);
    if (power_cycle) copy_.PowerCycle();
    registers_.Reset();
  }
  void DramResized() override { interrupts_->Raise(reg::kIntStatusMemoryMask); }
  bool CanRunAway() const override { return true; }
  void ShowVersion(uint32_t version) { registers_.ShowVersion(version); }
  FrontStatus status() override {
    return {jobs_.status(),       jobs_.progress(),      jobs_.running_fence(),
            jobs_.jobs(),         jobs_.faults(),        jobs_.resets(),
            jobs_.device_error(), jobs_.sram_corrected()};
  }

 private:
  InterruptController* interrupts_;
  CopyEngine copy_;
  JobEngine jobs_;
  RegisterBlock registers_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_UNITS_FRONT_H_
