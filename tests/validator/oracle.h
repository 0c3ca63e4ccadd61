// SPDX-License-Identifier: Apache-2.0
// Does the kernel's validator keep its promise? A stream that it accepts is
// looked at by those who do not trust it:
//
// - the access description of the functional model (simulator/model/access.h)
//   must stay within SRAM and within the extents that the validator computed,
//   and the model's rules must find every command legal;
// - the model, on a memory that records every byte touched, must not touch a
// byte
//   outside those extents, write to no other region, and not fault in a way
//   that the validator excludes.
//
// A stream made by a legal generator must also be accepted.
#ifndef HEDDLE_TESTS_VALIDATOR_ORACLE_H_
#define HEDDLE_TESTS_VALIDATOR_ORACLE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::validator {

struct Verdict {
  bool accepted = false;
  bool executed = false;  // by the model; big ones are only described
  std::string failure;    // empty: the promise was kept
};

// Checks one stream. `execute`: also run it on the model if it is small.
Verdict Check(const isa::Config& config, const std::vector<uint32_t>& words,
              bool execute);

// Changes a stream a little: fields of commands (also to the edges of their
// ranges and beyond), single bits, lengths, order, the end.
void Mutate(std::mt19937_64* random, std::vector<uint32_t>* words);

}  // namespace heddle::validator

#endif  // HEDDLE_TESTS_VALIDATOR_ORACLE_H_
