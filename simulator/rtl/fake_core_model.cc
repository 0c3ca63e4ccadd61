// SPDX-License-Identifier: Apache-2.0
// MakeCore of programs that test what surrounds the core.
#include "simulator/rtl/core_model.h"
#include "simulator/rtl/fake_core.h"

namespace heddle::rtl {

absl::StatusOr<std::unique_ptr<CoreModel>> MakeCore(
    const isa::Config& config, const MemoryOptions& options) {
  return std::make_unique<FakeCore>(config, options);
}

}  // namespace heddle::rtl
