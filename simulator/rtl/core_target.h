// SPDX-License-Identifier: Apache-2.0
//
// A core by itself, for the self-test.
#ifndef HEDDLE_SIMULATOR_RTL_CORE_TARGET_H_
#define HEDDLE_SIMULATOR_RTL_CORE_TARGET_H_

#include <vector>

#include "simulator/rtl/core_model.h"
#include "simulator/rtl/self_test.h"

namespace heddle::rtl {

class CoreTarget : public SelfTestTarget {
 public:
  // Uses the core's memory for itself.
  explicit CoreTarget(CoreModel* core) : core_(core), memory_(kMemory) {
    core_->memory()->Attach(memory_.data(), memory_.size());
  }
  const isa::Config& config() const override { return core_->config(); }
  uint8_t* memory() override { return memory_.data(); }
  Outcome Run(uint64_t bytes, uint64_t base, uint64_t limit) override {
    platform::CoreRequest request;
    request.stream_bytes = bytes;
    request.regions[0] = {base, kMemory - base, true};
    core_->Start(request);
    uint64_t cycles = 0;
    while (core_->busy() && cycles < limit) cycles += core_->Step(1000);
    Outcome outcome;
    outcome.ended = !core_->busy();
    if (!outcome.ended) core_->Reset();
    outcome.status = core_->result().run.status;
    outcome.fault_offset = core_->result().run.fault_offset;
    outcome.cycles = core_->result().cycles;
    outcome.violation = core_->memory()->violation();
    return outcome;
  }

 private:
  CoreModel* core_;
  std::vector<uint8_t> memory_;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_CORE_TARGET_H_
