// SPDX-License-Identifier: Apache-2.0
// Refuses this process memory, threads or descriptors, for a library of any
// vendor: by functions in the place of the C library's, which the program that
// this is linked into must export (-rdynamic). They pass on what they do not
// refuse.
//
// Not with a sanitizer, whose own functions are in the same place. A library
// that calls the kernel itself, or has an allocator of its own inside, gets
// what it asks for; so does fcntl(F_DUPFD).
#ifndef ONNXIFI_CONFORMANCE_SCARCITY_H_
#define ONNXIFI_CONFORMANCE_SCARCITY_H_

#include <cstdint>
#include <string>

namespace heddle::conformance {

// What a word of provoker.h asks of the process.
struct Scarcity {
  enum Kind { kAllocation, kThread, kDescriptor };
  // False: the word is none of these.
  static bool Parse(const std::string& word, Scarcity* scarcity);
  Kind kind = kAllocation;
  bool all_behind = false;
};

// A sanitizer is there: nothing can be refused.
bool Sanitized();
// ThreadSanitizer is there, which has a thread of its own and cannot start any
// in the child of fork.
bool ThreadSanitized();
// What the process has of memory. A sanitizer keeps what is freed for a while,
// so there it is what is allocated.
long MemoryKib();
// From now on, whatever was refused before; `number` counts from 1. Needs no
// memory, as the next.
void Refuse(const Scarcity& scarcity, uint64_t number);
bool Refusing();
// Ends that; whether something was refused.
bool Spare();

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_SCARCITY_H_
