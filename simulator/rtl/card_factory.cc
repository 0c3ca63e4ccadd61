// SPDX-License-Identifier: Apache-2.0
// MakeCard of the verilated cards, each in a translation unit of its own
// (card_instance.cc). The build says which there are: HEDDLE_CARDS is a list of
// HEDDLE_CARD(name).
#include "absl/strings/str_cat.h"
#include "simulator/rtl/card_model.h"

namespace heddle::rtl {

#define HEDDLE_CARD(NAME)                                                \
  std::unique_ptr<CardModel> MakeCard_##NAME(const isa::Config& config,  \
                                             const CardOptions& options, \
                                             CardEnvironment* environment);
HEDDLE_CARDS
#undef HEDDLE_CARD

absl::StatusOr<std::unique_ptr<CardModel>> MakeCard(
    const isa::Config& config, [[maybe_unused]] const CardOptions& options,
    [[maybe_unused]] CardEnvironment* environment) {
#define HEDDLE_CARD(NAME)                                 \
  if (absl::string_view(config.name) == #NAME) {          \
    return MakeCard_##NAME(config, options, environment); \
  }
  HEDDLE_CARDS
#undef HEDDLE_CARD
  return absl::UnimplementedError(absl::StrCat(
      "this build has no RTL card of configuration ", config.name));
}

}  // namespace heddle::rtl
