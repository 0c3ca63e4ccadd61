// SPDX-License-Identifier: Apache-2.0
// The fast implementation: the same effects as engines.h, with the kernels of
// kernels.h, under the same conditions: legal commands, SRAM bounds checked.
// Cases without a gain are passed on to the reference implementation.
#ifndef HEDDLE_SIMULATOR_MODEL_FAST_H_
#define HEDDLE_SIMULATOR_MODEL_FAST_H_

#include "rtl/spec/generated/isa.h"
#include "simulator/model/core.h"
#include "simulator/model/kernels.h"

namespace heddle::model {

// dma_fast.cc.
Fault FastLoad(const isa::Load& c, Core* core);
Fault FastFill(const isa::Fill& c, Core* core);
Fault FastStore(const isa::Store& c, Core* core);

// conv_fast.cc.
Fault FastConv(const isa::Conv& c, const Kernels& kernels, Core* core);

// vrun_fast.cc, vmac_fast.cc.
Fault FastVrun(const isa::Vrun& c, Core* core);
Fault FastVmac(const isa::Vmac& c, const Kernels& kernels, Core* core);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_FAST_H_
