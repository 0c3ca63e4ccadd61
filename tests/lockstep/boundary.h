// SPDX-License-Identifier: Apache-2.0
// Commands that hit given bins of the coverage model: random ones whose fields
// are changed until they hit the bin and are still legal, inside their places,
// and defined. Work that takes the core a million cycles is refused.
#ifndef HEDDLE_TESTS_LOCKSTEP_BOUNDARY_H_
#define HEDDLE_TESTS_LOCKSTEP_BOUNDARY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/model/random_command.h"
#include "simulator/model/random_stream.h"
#include "tests/lockstep/coverage_model.h"

namespace heddle::lockstep {

// One for each stream; a plain function of (seed, targets).
class Boundary {
 public:
  // Takes its share of `targets`, which goes round with the seed.
  Boundary(const std::vector<Target>* targets, uint64_t seed, size_t share);

  // For RandomStreamOptions::choose: every third command while targets last.
  std::optional<isa::Command> operator()(model::CommandGenerator* generator,
                                         const std::vector<uint8_t>& sram);

  // A command that hits the target, if one was found in so many tries.
  static std::optional<isa::Command> Find(const Target& target, int tries,
                                          model::CommandGenerator* generator,
                                          const std::vector<uint8_t>& sram);

 private:
  const std::vector<Target>* targets_;
  size_t next_, left_;
};

// The streams of random_lockstep_test: what seed `seed` is. Every nth aims at
// targets; 0 = none. With an n that has no common factor with 12, all
// configurations and all four memories of the test get all targets.
const isa::Config& ConfigOf(uint64_t seed);
model::RandomStreamOptions StreamOptions(uint64_t seed,
                                         const isa::Config& config,
                                         uint64_t length, uint64_t nth,
                                         const std::vector<Target>& targets);

// Targets that are worth aiming at: not the header's, nor what nothing hits.
std::vector<Target> TargetsToAimAt(const Unreachable& unreachable);

}  // namespace heddle::lockstep

#endif  // HEDDLE_TESTS_LOCKSTEP_BOUNDARY_H_
