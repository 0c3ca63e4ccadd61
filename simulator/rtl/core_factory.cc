// SPDX-License-Identifier: Apache-2.0
// MakeCore of the verilated cores, each in a translation unit of its own
// (core_instance.cc). The build says which there are: HEDDLE_CORES is a list of
// HEDDLE_CORE(name).
#include "absl/strings/str_cat.h"
#include "simulator/rtl/core_model.h"

namespace heddle::rtl {

#define HEDDLE_CORE(NAME)                                               \
  std::unique_ptr<CoreModel> MakeCore_##NAME(const isa::Config& config, \
                                             const MemoryOptions& options);
HEDDLE_CORES
#undef HEDDLE_CORE

absl::StatusOr<std::unique_ptr<CoreModel>> MakeCore(
    const isa::Config& config, const MemoryOptions& options) {
#define HEDDLE_CORE(NAME)                        \
  if (absl::string_view(config.name) == #NAME) { \
    return MakeCore_##NAME(config, options);     \
  }
  HEDDLE_CORES
#undef HEDDLE_CORE
  return absl::UnimplementedError(absl::StrCat(
      "this build has no RTL core of configuration ", config.name));
}

}  // namespace heddle::rtl
