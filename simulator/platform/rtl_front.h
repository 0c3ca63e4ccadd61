// SPDX-License-Identifier: Apache-2.0
//
// The front end in RTL (simulator/rtl/front_model.h) on the card, before any
// core: a SystemC thread clocks it while it has work, in quanta between which
// the reactor answers the host. It sleeps while a stream runs or nothing does;
// a register access gives it the cycles that it needs. The MSI-X table and what
// becomes of an interrupt request are the interrupt controller's, as on a card.
#ifndef HEDDLE_SIMULATOR_PLATFORM_RTL_FRONT_H_
#define HEDDLE_SIMULATOR_PLATFORM_RTL_FRONT_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <systemc>

#include "absl/status/status.h"
#include "simulator/platform/core.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/front_end.h"
#include "simulator/platform/interrupt_controller.h"
#include "simulator/rtl/front_model.h"

namespace heddle::platform {

class RtlFront : public sc_core::sc_module,
                 public FrontEnd,
                 private rtl::FrontEnvironment {
 public:
  RtlFront(sc_core::sc_module_name name, const DramStore* store, Core* core,
           InterruptController* interrupts);

  // Before anything else. UNIMPLEMENTED: this program was built without it.
  absl::Status Make(const rtl::FrontOptions& options);
  void Bind(HostBridge* bridge, Dram* dram) override;
  void Reset(bool power_cycle) override;
  void DramResized() override;
  FrontStatus status() override;

 private:
  void Loop();
  void Transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  bool Host(bool write, uint64_t iova, void* data, size_t bytes) override;
  bool Device(bool write, uint64_t address, void* data, size_t bytes) override;
  void StartCore(const CoreRequest& request) override;
  void AbortCore() override { core_->Abort(); }
  void ResetCore() override { core_->Reset(); }
  void ClearSram() override { core_->ClearSram(); }
  uint32_t CoreProgress() override { return core_->progress(); }
  void Interrupt(uint32_t vector) override { interrupts_->Spurious(vector); }
  void Cleared() override { interrupts_->Reset(); }

  tlm_utils::simple_target_socket<RtlFront> registers_;
  tlm_utils::simple_initiator_socket<RtlFront> host_;
  tlm_utils::simple_initiator_socket<RtlFront> dram_;
  const DramStore* store_;
  Core* core_;
  InterruptController* interrupts_;
  std::unique_ptr<rtl::FrontModel> model_;
  sc_core::sc_event work_;
  sc_core::sc_time delay_;  // of accesses to host and device memory
  bool streaming_ = false;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_RTL_FRONT_H_
