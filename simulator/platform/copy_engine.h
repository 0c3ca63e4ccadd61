// SPDX-License-Identifier: Apache-2.0
//
// The copy engine: moves bytes between host and device memory along scatter
// lists, and copies and fills device memory. It moves pieces of at most 4 KiB,
// counts each (PROGRESS), and lets the rest of the simulation run every few
// dozen pieces, so a long copy can be watched and stopped.
//
// Everything in host memory is checked when it is read, and read only as often
// as the checks allow for: a list that changes meanwhile can make a copy fail
// or move other bytes, never leave the checked range of device memory.
#ifndef HEDDLE_SIMULATOR_PLATFORM_COPY_ENGINE_H_
#define HEDDLE_SIMULATOR_PLATFORM_COPY_ENGINE_H_

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>

#include "rtl/spec/generated/descriptors.h"
#include "simulator/platform/core.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/faults.h"
#include "simulator/platform/runaway_dma.h"

namespace heddle::platform {

// How a step ended. kAborted: `stopped` said so.
struct StepOutcome {
  Status status = Status::kOk;
  uint64_t fault_address = 0;
  uint64_t bytes_copied = 0;  // between host and device memory
};

class CopyEngine : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<CopyEngine> host;
  tlm_utils::simple_initiator_socket<CopyEngine> dram;

  CopyEngine(sc_core::sc_module_name name, const DramStore* store,
             Faults* faults, RunawayDma::Later later);

  // Runs a copy_in, copy_out, copy or fill step. Called from an SC_THREAD,
  // waits in it. `stopped` is asked between pieces.
  StepOutcome Run(const desc::Step& step, const std::function<bool()>& stopped);

  // Pieces moved since power-up, modulo 2^32.
  uint32_t pieces() const { return pieces_; }

  // Ends what nothing else does.
  void PowerCycle();

 private:
  StepOutcome HostCopy(const desc::Step& step, bool to_device,
                       const std::function<bool()>& stopped);
  StepOutcome CheckList(const desc::Step& step,
                        const std::function<bool()>& stopped);
  StepOutcome DeviceCopy(const desc::Step& step,
                         const std::function<bool()>& stopped);
  StepOutcome Fill(const desc::Step& step,
                   const std::function<bool()>& stopped);
  // The fault runaway_dma: returns after a power cycle.
  StepOutcome RunAway(const desc::Step& step);
  // After each piece. False: stop.
  bool Breathe(const std::function<bool()>& stopped);
  bool Host(bool write, uint64_t iova, void* data, size_t bytes,
            StepOutcome* outcome);
  bool Device(bool write, uint64_t address, void* data, size_t bytes,
              StepOutcome* outcome);

  const DramStore* store_;
  Faults* faults_;
  RunawayDma runaway_;
  sc_core::sc_event power_cycled_;
  sc_core::sc_time delay_;
  uint32_t pieces_ = 0;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_COPY_ENGINE_H_
