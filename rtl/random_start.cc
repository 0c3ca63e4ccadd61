// SPDX-License-Identifier: Apache-2.0
//
// Linked into a test, lets models that are verilated with --x-initial unique
// start from random state, each model of the process from another one, if they
// are made in the default context; simulator/rtl/verilated_core.h makes
// contexts that do as it does (the card has no such model). HEDDLE_START_SEED
// chooses others.
#include <cstdlib>

#include "verilated.h"

namespace heddle::rtl {
namespace {

[[maybe_unused]] const bool kStartsAtRandom = [] {
  constexpr int kRandom = 2;
  const char* seed = std::getenv("HEDDLE_START_SEED");
  Verilated::randReset(kRandom);
  Verilated::randSeed(seed != nullptr ? std::atoi(seed) : 1);
  return true;
}();

}  // namespace
}  // namespace heddle::rtl
