// SPDX-License-Identifier: Apache-2.0
//
// BAR0 as a TLM target: connects each register of registers.toml to the unit
// that it belongs to, and the MSI-X table to the interrupt controller.
// Addresses are offsets in the BAR; transactions are one aligned 32-bit word.
#ifndef HEDDLE_SIMULATOR_PLATFORM_REGISTER_BLOCK_H_
#define HEDDLE_SIMULATOR_PLATFORM_REGISTER_BLOCK_H_

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>

#include "rtl/spec/generated/isa.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/faults.h"
#include "simulator/platform/interrupt_controller.h"
#include "simulator/platform/job_engine.h"
#include "simulator/platform/register_file.h"

namespace heddle::platform {

class RegisterBlock : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<RegisterBlock> port;

  RegisterBlock(sc_core::sc_module_name name, const isa::Config& config,
                isa::CoreKind kind, uint64_t serial, const DramStore* store,
                JobEngine* jobs, InterruptController* interrupts,
                Faults* faults);

  // What VERSION reads from now on.
  void ShowVersion(uint32_t version);

  // Everything to its reset value.
  void Reset();

 private:
  void Transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void ConnectIdentity(const isa::Config& config, isa::CoreKind kind,
                       uint64_t serial);
  void ConnectJobs();
  void ConnectInterrupts();
  // A 64-bit counter whose high half is latched when the low half is read.
  void Counter(uint32_t low, uint32_t high, std::function<uint64_t()> value);

  RegisterFile file_;
  const DramStore* store_;
  JobEngine* jobs_;
  InterruptController* interrupts_;
  Faults* faults_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_REGISTER_BLOCK_H_
