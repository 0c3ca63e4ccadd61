// SPDX-License-Identifier: Apache-2.0
// A transport without a card: objects are created, checked and accounted for as
// in the driver, device memory is limited, and jobs complete at once without
// effect on any buffer and without a trace. For tests of the layers above, and
// for measuring the runtime's own cost.
//
// Streams must consist of whole, legal commands with one `end` at the end;
// their accesses are not computed.
#ifndef HEDDLE_RUNTIME_HAL_NULL_TRANSPORT_H_
#define HEDDLE_RUNTIME_HAL_NULL_TRANSPORT_H_

#include <cstdint>
#include <memory>

#include "rtl/spec/generated/isa.h"
#include "runtime/hal/transport.h"

namespace heddle::hal {

struct NullOptions {
  const isa::Config* config = &isa::kConfigs[0];
  uint64_t memory_bytes = isa::kDramBytesDefault;  // of the card
};

std::unique_ptr<Transport> MakeNullTransport(const NullOptions& options);

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_NULL_TRANSPORT_H_
