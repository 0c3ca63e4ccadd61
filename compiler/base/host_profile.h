// SPDX-License-Identifier: Apache-2.0
// What work of the host costs, and a crossing from the host to the card: the
// declared figures from which the compiler decides what either side does
// (compiler/partition) and estimates how long the host takes. A package of
// segments holds the profile that it was made with.
//
// The text, of which `./dev bench host` prints that of the machine it runs on;
// every key once, in any order, '#' begins a comment:
//
//   heddle-host-profile 1       # form of the text, first
//   name desk                   # a word
//   node_ns 300                 # for each node that is evaluated
//   byte_ns 0.05                # for each byte that is copied as it lies
//   element_ns 2.9              # an element that is computed by itself
//   instruction_ns 0.11         # an instruction of a function of floats, for
//                               # each element
//   mac_float_ns 0.08           # multiply and add, of floats
//   mac_int_ns 0.14             # the same of integers
//   row_ns 3.5                  # a row of these, however short
//   job_us 70                   # a run of the card, from submission to wake-up
//   transfer_byte_ns 0.25       # for each byte to or from the card
//   threads 1                   # that evaluate one node
//
// A node takes node_ns, and what its work takes (compiler/partition/
// host_work.h) divided by `threads`.
#ifndef HEDDLE_COMPILER_BASE_HOST_PROFILE_H_
#define HEDDLE_COMPILER_BASE_HOST_PROFILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::compiler {

struct HostProfile {
  std::string name;  // a word of at most 64 characters
  // Nanoseconds and microseconds, 0 to 1e9.
  double node_ns = 0, byte_ns = 0, element_ns = 0, instruction_ns = 0;
  double mac_float_ns = 0, mac_int_ns = 0, row_ns = 0;
  double job_us = 0, transfer_byte_ns = 0;
  int threads = 1;  // 1 to 1024
};

// Longest text that is one.
inline constexpr size_t kMostProfileBytes = 4096;

// InvalidArgument: the message names the line, the key and what is expected.
absl::StatusOr<HostProfile> ParseHostProfile(absl::string_view text);

// The text, which gives the same profile when it is parsed.
std::string HostProfileText(const HostProfile& profile);

// Of a virtual core of an AMD EPYC with AVX2, and a card that is simulated
// beside it (FIGURES.md).
const HostProfile& DefaultHostProfile();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_HOST_PROFILE_H_
