// SPDX-License-Identifier: Apache-2.0
// MakeCore: the verilated cores, one translation unit per configuration
// (one_core.cc).
#include "absl/strings/str_cat.h"
#include "simulator/rtl/core_model.h"

namespace heddle::rtl {

#define HEDDLE_CORE(NAME)                                               \
  std::unique_ptr<CoreModel> MakeCore_##NAME(const isa::Config& config, \
                                             const MemoryOptions& options);
HEDDLE_CORE(h256)
HEDDLE_CORE(h512)
HEDDLE_CORE(h1024)
#undef HEDDLE_CORE

absl::StatusOr<std::unique_ptr<CoreModel>> MakeCore(
    const isa::Config& config, const MemoryOptions& options) {
  const absl::string_view name = config.name;
  if (name == "h256") return MakeCore_h256(config, options);
  if (name == "h512") return MakeCore_h512(config, options);
  if (name == "h1024") return MakeCore_h1024(config, options);
  return absl::UnimplementedError(
      absl::StrCat("there is no RTL core of configuration ", name));
}

}  // namespace heddle::rtl
