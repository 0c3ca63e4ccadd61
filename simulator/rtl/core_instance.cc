// SPDX-License-Identifier: Apache-2.0
// The core of one configuration: the build gives HEDDLE_CONFIG, and the
// generated class has the same name everywhere but for it.
#include "simulator/rtl/verilated_core.h"

#define HEDDLE_PASTE2(A, B) A##B
#define HEDDLE_PASTE(A, B) HEDDLE_PASTE2(A, B)
#define HEDDLE_TEXT2(A) #A
#define HEDDLE_TEXT(A) HEDDLE_TEXT2(A)
#define HEDDLE_MODEL HEDDLE_PASTE(Vhd_core_, HEDDLE_CONFIG)

#include HEDDLE_TEXT(HEDDLE_MODEL.h)

namespace heddle::rtl {

std::unique_ptr<CoreModel> HEDDLE_PASTE(MakeCore_, HEDDLE_CONFIG)(
    const isa::Config& config, const MemoryOptions& options) {
  return std::make_unique<VerilatedCore<HEDDLE_MODEL>>(config, options);
}

}  // namespace heddle::rtl
