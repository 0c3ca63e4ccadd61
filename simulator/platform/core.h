// SPDX-License-Identifier: Apache-2.0
//
// What the platform needs from an accelerator core, whatever executes its
// commands (functional model, verilated RTL): start a stream, learn when it has
// ended, watch its progress, stop it. A core is a SystemC module with one TLM
// socket to device memory, which it accesses by b_transport or through a DMI
// pointer. It runs in parallel with the simulation kernel or in slices of it,
// never so long that the kernel could not serve the host.
#ifndef HEDDLE_SIMULATOR_PLATFORM_CORE_H_
#define HEDDLE_SIMULATOR_PLATFORM_CORE_H_

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <systemc>

#include "rtl/spec/generated/isa.h"
#include "simulator/platform/core_request.h"
#include "simulator/platform/faults.h"

namespace heddle::platform {

class Core : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Core> memory;

  // `faults` must outlive the core.
  Core(sc_core::sc_module_name name, Faults* faults)
      : sc_module(name), memory("memory"), faults_(faults) {}

  virtual isa::CoreKind core_kind() const = 0;
  // Starts a stream; the core must be idle. done() is notified at its end.
  virtual void Start(const CoreRequest& request) = 0;
  // The running stream ends with status aborted at the next command boundary.
  virtual void Abort() = 0;
  // Ends what runs, at once and without a result; SRAM and accumulators to
  // zero.
  virtual void Reset() = 0;
  // SRAM and accumulators to zero before the next stream; the core must be
  // idle.
  virtual void ClearSram() = 0;
  virtual bool busy() const = 0;
  // Commands retired since power-up, modulo 2^32; moves while a stream runs.
  virtual uint32_t progress() const = 0;
  // After a change of the size of device memory.
  virtual void DramResized() = 0;
  // Core cycles since power-up; 0 on a core without timing.
  virtual uint64_t cycles() const { return 0; }
  // Of the last stream that ended.
  const CoreResult& result() const { return result_; }
  const sc_core::sc_event& done() const { return done_; }

 protected:
  Faults* faults_;
  CoreResult result_;
  sc_core::sc_event done_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_CORE_H_
