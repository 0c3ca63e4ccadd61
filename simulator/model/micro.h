// SPDX-License-Identifier: Apache-2.0
// The operations of the vector engine's micro-instructions on one vector.
#ifndef HEDDLE_SIMULATOR_MODEL_MICRO_H_
#define HEDDLE_SIMULATOR_MODEL_MICRO_H_

#include <array>
#include <cstdint>

#include "rtl/spec/generated/isa.h"

namespace heddle::model {

// 16 lanes of 32 bits without type.
using Lanes = std::array<uint32_t, isa::kVectorLanes>;

// The result of a lane-wise operation in one lane. Not for the h operations,
// nor for pick, which reads SRAM.
uint32_t LaneOp(isa::MicroOp op, uint32_t a, uint32_t b, uint32_t c);

// The result of any operation but pick.
Lanes VectorOp(isa::MicroOp op, const Lanes& a, const Lanes& b, const Lanes& c);

// An element of a stream as the 32 bits that a lane holds, and back. `p` points
// to the element's bytes.
uint32_t LoadElement(isa::ElementType type, const uint8_t* p);
void StoreElement(isa::ElementType type, uint32_t value, uint8_t* p);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_MICRO_H_
