// SPDX-License-Identifier: Apache-2.0
//
// The functional model as a core: values without cycles. It runs in a process
// of its own (core_process.h), so registers answer at once while it works, and
// Reset ends even a command that would take hours.
#ifndef HEDDLE_SIMULATOR_PLATFORM_FUNCTIONAL_CORE_H_
#define HEDDLE_SIMULATOR_PLATFORM_FUNCTIONAL_CORE_H_

#include <sys/types.h>

#include "simulator/platform/core.h"
#include "simulator/platform/core_process.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/reactor.h"

namespace heddle::platform {

class FunctionalCore : public Core {
 public:
  // All must outlive the core. Reads of device memory's size follow `dram`.
  FunctionalCore(sc_core::sc_module_name name, const isa::Config& config,
                 const model::Options& options, const DramStore* dram,
                 Reactor* reactor, Faults* faults);
  ~FunctionalCore() override;

  isa::CoreKind core_kind() const override {
    return isa::CoreKind::kFunctional;
  }
  void Start(const CoreRequest& request) override;
  void Abort() override;
  void Reset() override;
  void ClearSram() override { clear_sram_ = true; }
  bool busy() const override { return busy_; }
  uint32_t progress() const override { return shared_->progress.load(); }
  void DramResized() override;

 private:
  void start_of_simulation() override;
  void Spawn();
  void Kill();
  void OnAnswer();

  const isa::Config& config_;
  model::Options options_;
  const DramStore* dram_;
  uint8_t* bytes_ = nullptr;  // device memory, by DMI
  Reactor* reactor_;
  CoreShared* shared_;
  desc::TraceEntry* trace_;  // written by the core, of the last stream
  pid_t child_ = -1;
  int requests_ = -1, answers_ = -1;  // of the child
  bool busy_ = false;
  bool clear_sram_ = false;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_FUNCTIONAL_CORE_H_
