// SPDX-License-Identifier: Apache-2.0
// MakeCore of builds without verilated models.
#include "absl/strings/str_cat.h"
#include "simulator/rtl/core_model.h"

namespace heddle::rtl {

absl::StatusOr<std::unique_ptr<CoreModel>> MakeCore(const isa::Config& config,
                                                    const MemoryOptions&) {
  return absl::UnimplementedError(absl::StrCat(
      "this build has no RTL core of configuration ", config.name));
}

}  // namespace heddle::rtl
