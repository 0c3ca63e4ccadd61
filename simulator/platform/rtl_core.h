// SPDX-License-Identifier: Apache-2.0
//
// A core with cycles (simulator/rtl) on the card: a SystemC thread advances it
// in quanta of cycles, one nanosecond each. Between two quanta the reactor
// answers the host, so the quantum is what an access may have to wait; cycle
// counts do not depend on it. An idle core is not clocked.
#ifndef HEDDLE_SIMULATOR_PLATFORM_RTL_CORE_H_
#define HEDDLE_SIMULATOR_PLATFORM_RTL_CORE_H_

#include <cstdint>
#include <memory>

#include "simulator/platform/core.h"
#include "simulator/platform/dram_store.h"
#include "simulator/rtl/core_model.h"

namespace heddle::platform {

class RtlCore : public Core {
 public:
  // `dram` and `faults` must outlive the core; quantum > 0.
  RtlCore(sc_core::sc_module_name name, std::unique_ptr<rtl::CoreModel> model,
          const DramStore* dram, uint64_t quantum, Faults* faults);

  isa::CoreKind core_kind() const override { return isa::CoreKind::kRtl; }
  void Start(const CoreRequest& request) override;
  void Abort() override { model_->Abort(); }
  void Reset() override;
  void ClearSram() override { model_->ClearSram(); }
  bool busy() const override { return busy_; }
  uint32_t progress() const override { return model_->progress(); }
  uint64_t cycles() const override { return model_->cycles(); }
  void DramResized() override;

 private:
  void start_of_simulation() override;
  void Loop();
  void Finish();
  void ArmBusError();

  std::unique_ptr<rtl::CoreModel> model_;
  const DramStore* dram_;
  const uint64_t quantum_;
  sc_core::sc_event start_;
  bool busy_ = false;
  uint64_t run_ = 0;  // number of the stream that runs
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_RTL_CORE_H_
