// SPDX-License-Identifier: Apache-2.0
// The engines of the functional model, the reference implementation: straight
// from ISA.md, one loop per sentence. A command given to them is legal, and all
// of its SRAM accesses are within bounds (model.cc checks both).
#ifndef HEDDLE_SIMULATOR_MODEL_ENGINES_H_
#define HEDDLE_SIMULATOR_MODEL_ENGINES_H_

#include "rtl/spec/generated/isa.h"
#include "simulator/model/core.h"

namespace heddle::model {

// dma.cc. Regions are checked here unless Options::check_regions is off.
Fault RunLoad(const isa::Load& c, Core* core);
Fault RunFill(const isa::Fill& c, Core* core);
Fault RunLoadGather(const isa::LoadGather& c, Core* core);
Fault RunStore(const isa::Store& c, Core* core);
Fault RunStoreScatter(const isa::StoreScatter& c, Core* core);

// matrix.cc, output_stage.cc.
Fault RunConv(const isa::Conv& c, Core* core);

// vector.cc.
Fault RunVrun(const isa::Vrun& c, Core* core);
Fault RunVmac(const isa::Vmac& c, Core* core);

// The index range and region check of a transfer that reaches the bytes
// [first, last] of a region. kOk when Options::check_regions is off.
Fault CheckRegion(const Core& core, uint32_t region, uint64_t last, bool write);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_ENGINES_H_
