// SPDX-License-Identifier: Apache-2.0
//
// The whole card in RTL (simulator/rtl/card_model.h) on the platform: a SystemC
// thread clocks it while it has work, in quanta of cycles of one nanosecond
// each. The reactor serves the host between quanta, so the quantum is the
// longest wait of an access; cycle counts do not depend on it. A register
// access clocks the card for as long as it needs; an idle card is not clocked.
//
// The interrupt controller handles the MSI-X table and interrupt requests.
#ifndef HEDDLE_SIMULATOR_PLATFORM_RTL_CARD_H_
#define HEDDLE_SIMULATOR_PLATFORM_RTL_CARD_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <systemc>

#include "absl/status/statusor.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/faults.h"
#include "simulator/platform/front_end.h"
#include "simulator/platform/interrupt_controller.h"
#include "simulator/rtl/card_model.h"

namespace heddle::platform {

class RtlCard : public sc_core::sc_module,
                public FrontEnd,
                private rtl::CardEnvironment {
 public:
  // All must outlive it; quantum > 0.
  RtlCard(sc_core::sc_module_name name, DramStore* store, Faults* faults,
          InterruptController* interrupts, uint64_t quantum);

  // Before anything else. UNIMPLEMENTED: this program was built without it.
  absl::Status Make(const isa::Config& config, const rtl::CardOptions& options);
  rtl::CardModel* model() { return model_.get(); }

  void Bind(HostBridge* bridge, Dram* dram) override;
  void Reset(bool power_cycle) override;
  void DramResized() override;
  FrontStatus status() override;

 private:
  void Loop();
  void Transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  // Lets `what` clock the card, with the faults that are armed now.
  template <typename What>
  void Clock(What what);

  bool Host(bool write, uint64_t iova, void* data, size_t bytes) override;
  void Interrupt(uint32_t vector) override { interrupts_->Spurious(vector); }
  void Cleared() override { interrupts_->Reset(); }
  void StreamStarts(const rtl::StreamStart& stream) override;

  tlm_utils::simple_target_socket<RtlCard> registers_;
  tlm_utils::simple_initiator_socket<RtlCard> host_;
  DramStore* store_;
  Faults* faults_;
  InterruptController* interrupts_;
  const uint64_t quantum_;
  std::unique_ptr<rtl::CardModel> model_;
  sc_core::sc_event work_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_RTL_CARD_H_
