// SPDX-License-Identifier: Apache-2.0
//
// The card's end of the bus. Towards the host it is the Card of the front ends:
// config space, and BAR0 as TLM transactions to the register block. Towards the
// card it is the TLM target of all DMA: addresses are host addresses, every
// access is checked against bus mastering, link state and the mapped ranges,
// and fails with TLM_ADDRESS_ERROR_RESPONSE.
#ifndef HEDDLE_SIMULATOR_PLATFORM_HOST_BRIDGE_H_
#define HEDDLE_SIMULATOR_PLATFORM_HOST_BRIDGE_H_

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>

#include "simulator/platform/card.h"
#include "simulator/platform/config_space.h"
#include "simulator/platform/faults.h"
#include "simulator/platform/host_memory.h"
#include "simulator/platform/interrupt_controller.h"

namespace heddle::platform {

class HostBridge : public sc_core::sc_module, public Card {
 public:
  tlm_utils::multi_passthrough_target_socket<HostBridge> dma;
  tlm_utils::simple_initiator_socket<HostBridge> registers;

  // What a reset does to the rest of the card; `power_cycle`: device memory is
  // cleared, too.
  using ResetHook = std::function<void(bool power_cycle)>;

  HostBridge(sc_core::sc_module_name name, ConfigSpace* config, Faults* faults,
             InterruptController* interrupts, ResetHook reset);

  void ConfigRead(uint32_t offset, void* to, size_t bytes) override;
  void ConfigWrite(uint32_t offset, const void* from, size_t bytes) override;
  void BarRead(uint32_t offset, void* to, size_t bytes) override;
  void BarWrite(uint32_t offset, const void* from, size_t bytes) override;
  absl::Status DmaMap(uint64_t iova, uint64_t size, int fd, uint64_t fd_offset,
                      bool readable, bool writable) override;
  absl::Status DmaUnmap(uint64_t iova, uint64_t size) override;
  void DmaUnmapAll() override;
  void SetInterruptSink(InterruptSink* sink) override;
  bool Message(uint32_t vector, MsiMessage* message) override;
  void Reset() override;
  void PowerCycle() override;

  // Removed from its slot: as with the link down, until plugged again.
  void SetPresent(bool present) { present_ = present; }
  bool present() const { return present_; }
  size_t mapped_ranges() const { return memory_.ranges(); }
  // Accesses of the card to host memory that failed, since the process began.
  uint64_t refused_dma() const { return refused_dma_; }

 private:
  void Dma(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool Gone() const { return !present_ || faults_->link_down; }
  bool Answers(uint32_t offset, size_t bytes) const;

  ConfigSpace* config_;
  Faults* faults_;
  InterruptController* interrupts_;
  ResetHook reset_;
  HostMemory memory_;
  bool present_ = true;
  uint64_t refused_dma_ = 0;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_HOST_BRIDGE_H_
