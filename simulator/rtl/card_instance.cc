// SPDX-License-Identifier: Apache-2.0
// The card of one configuration: the build gives HEDDLE_CONFIG, and the
// generated class has the same name everywhere but for it.
#include "simulator/rtl/verilated_card.h"

#define HEDDLE_PASTE2(A, B) A##B
#define HEDDLE_PASTE(A, B) HEDDLE_PASTE2(A, B)
#define HEDDLE_TEXT2(A) #A
#define HEDDLE_TEXT(A) HEDDLE_TEXT2(A)
#define HEDDLE_MODEL HEDDLE_PASTE(Vhd_card_, HEDDLE_CONFIG)

#include HEDDLE_TEXT(HEDDLE_MODEL.h)

namespace heddle::rtl {

std::unique_ptr<CardModel> HEDDLE_PASTE(MakeCard_, HEDDLE_CONFIG)(
    const isa::Config& config, const CardOptions& options,
    CardEnvironment* environment) {
  return std::make_unique<VerilatedCard<HEDDLE_MODEL>>(config, options,
                                                       environment);
}

}  // namespace heddle::rtl
