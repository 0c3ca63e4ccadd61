// SPDX-License-Identifier: Apache-2.0
//
// The verilated front end of the card (rtl/src/hd_front.sv), in plain C++: its
// clock, its registers, and its ports served by calls. Used by the platform
// (simulator/platform, RtlFront) in the place of the units in C++ that do the
// same.
//
// Host memory answers a burst at once, device memory too: the front end's own
// cycles are counted, not the latencies of what surrounds it.
#ifndef HEDDLE_SIMULATOR_RTL_FRONT_MODEL_H_
#define HEDDLE_SIMULATOR_RTL_FRONT_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/platform/core_request.h"

namespace heddle::rtl {

// What the front end reaches. Called from within FrontModel::Cycle and what
// calls it.
class FrontEnvironment {
 public:
  virtual ~FrontEnvironment() = default;
  // False: the access failed.
  virtual bool Host(bool write, uint64_t iova, void* data, size_t bytes) = 0;
  virtual bool Device(bool write, uint64_t address, void* data,
                      size_t bytes) = 0;
  // The core: as platform::Core.
  virtual void StartCore(const platform::CoreRequest& request) = 0;
  virtual void AbortCore() = 0;
  virtual void ResetCore() = 0;
  virtual void ClearSram() = 0;
  virtual uint32_t CoreProgress() = 0;
  // One request for an interrupt.
  virtual void Interrupt(uint32_t vector) = 0;
  // Registers and interrupts were put back to their reset state.
  virtual void Cleared() = 0;
};

class FrontModel {
 public:
  virtual ~FrontModel() = default;

  // One cycle.
  virtual void Cycle() = 0;
  // Cycles would change something. While a stream runs it is false: the core is
  // waited for.
  virtual bool active() const = 0;

  // An access to a register; takes some cycles.
  virtual uint32_t Read(uint32_t offset) = 0;
  virtual void Write(uint32_t offset, uint32_t value) = 0;

  // The stream that StartCore began has ended.
  virtual void CoreDone(const platform::CoreResult& result) = 0;
  virtual void ResizeDram(uint64_t bytes) = 0;
  // Reset of the function, or power-up.
  virtual void Reset(bool power_cycle) = 0;
};

struct FrontOptions {
  uint32_t config;  // its id
  isa::CoreKind kind;
  uint64_t serial;
  uint64_t dram_bytes;
};

// `environment` must outlive the model. UNIMPLEMENTED: this program was built
// without it. The library that is linked decides: //simulator/rtl:front or
// //simulator/rtl:no_front.
absl::StatusOr<std::unique_ptr<FrontModel>> MakeFront(
    const FrontOptions& options, FrontEnvironment* environment);

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_FRONT_MODEL_H_
