// SPDX-License-Identifier: Apache-2.0
// Declared costs of host work and of crossings between host and card. The
// compiler uses them to place nodes (compiler/partition) and to estimate the
// host's time. A package of segments stores the profile it was compiled with.
//
// The text form, which `./dev bench host` prints for the machine it runs on.
// Every key appears once, in any order; '#' begins a comment:
//
//   heddle-host-profile 1       # version of the form, first
//   name desk                   # a word
//   node_ns 300                 # per evaluated node
//   byte_ns 0.05                # per byte of a contiguous copy
//   element_ns 2.9              # per element computed individually
//   instruction_ns 0.11         # per instruction of a float function and
//                               # element
//   mac_float_ns 0.08           # per multiply-add of floats
//   mac_int_ns 0.14             # per multiply-add of integers
//   row_ns 3.5                  # per row of these, however short
//   job_us 70                   # per card job, from submission to wake-up
//   transfer_byte_ns 0.25       # per byte to or from the card
//   threads 1                   # threads that evaluate one node
//
// A node takes node_ns plus the cost of its work (compiler/partition/
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
