// SPDX-License-Identifier: Apache-2.0
// What a load or store command requires of the engine and of device memory
// (rtl/src/hd_dma_walk.sv, hd_load_place.sv, hd_store_pack.sv).
#ifndef HEDDLE_SIMULATOR_TIMING_TRANSFER_COST_H_
#define HEDDLE_SIMULATOR_TIMING_TRANSFER_COST_H_

#include <cstdint>

#include "rtl/spec/generated/isa.h"
#include "simulator/timing/calibration.h"

namespace heddle::timing {

struct TransferCost {
  uint64_t beats = 0;   // of device memory
  uint64_t cycles = 0;  // that the engine needs with the memory alone
  uint64_t words = 0;   // cycles in which it reaches SRAM
};

TransferCost CostOf(const isa::Load& command, const isa::Config& config);
TransferCost CostOf(const isa::Store& command, const Calibration& calibration);
TransferCost CostOf(const isa::Fill& command, const Calibration& calibration);
TransferCost CostOf(const isa::LoadGather& command,
                    const Calibration& calibration);
TransferCost CostOf(const isa::StoreScatter& command,
                    const Calibration& calibration);

}  // namespace heddle::timing

#endif  // HEDDLE_SIMULATOR_TIMING_TRANSFER_COST_H_
