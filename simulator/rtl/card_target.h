// SPDX-License-Identifier: Apache-2.0
//
// A whole card, for the self-test: streams are jobs, their cycles those of the
// completion record, from the fetch of the descriptor on.
#ifndef HEDDLE_SIMULATOR_RTL_CARD_TARGET_H_
#define HEDDLE_SIMULATOR_RTL_CARD_TARGET_H_

#include <memory>
#include <utility>

#include "simulator/rtl/card_host.h"
#include "simulator/rtl/self_test.h"

namespace heddle::rtl {

class CardTarget : public SelfTestTarget {
 public:
  // As MakeCard.
  static absl::StatusOr<std::unique_ptr<CardTarget>> Make(
      const isa::Config& config) {
    auto host = CardHost::Make(config, kMemory);
    if (!host.ok()) return host.status();
    return std::unique_ptr<CardTarget>(new CardTarget(std::move(*host)));
  }
  const isa::Config& config() const override {
    return host_->model()->config();
  }
  uint8_t* memory() override { return host_->device().data(); }
  Outcome Run(uint64_t bytes, uint64_t base, uint64_t limit) override {
    desc::Region region;
    region.base = base;
    region.size = kMemory - base;
    region.flags = desc::kRegionFlagsWritableMask;
    host_->FreeAll();
    host_->Queue({host_->Run(0, bytes, {region})});
    desc::Completion record;
    Outcome outcome;
    outcome.ended = host_->Wait(&record, limit);
    outcome.violation = host_->model()->violation();
    if (!outcome.ended) {
      host_->model()->PowerCycle();
      host_->SetUpRings();
      return outcome;
    }
    outcome.status = static_cast<isa::Error>(record.status);
    outcome.fault_offset = record.fault_offset;
    outcome.cycles = record.cycles;
    return outcome;
  }

 private:
  explicit CardTarget(std::unique_ptr<CardHost> host)
      : host_(std::move(host)) {}
  std::unique_ptr<CardHost> host_;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_CARD_TARGET_H_
