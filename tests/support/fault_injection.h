// SPDX-License-Identifier: Apache-2.0
// Makes an allocation, a thread or a descriptor of this process fail, or the
// driver answer a call with an error: by functions of the C library (and, with
// a sanitizer, of C++) that this library replaces in the program it is linked
// into and in every shared library that the program loads. Needs -rdynamic.
//
//   faults::Arm({faults::Kind::kAllocation, 3});
//   status = onnxRunGraph(...);
//   const faults::Seen seen = faults::Disarm();  // seen.failed: it had a
//   fourth
#ifndef TESTS_SUPPORT_FAULT_INJECTION_H_
#define TESTS_SUPPORT_FAULT_INJECTION_H_

#include <cstddef>

namespace heddle::tests::faults {

enum class Kind {
  kAllocation,  // malloc, calloc, realloc, aligned_alloc, new: ENOMEM
  kThread,      // pthread_create: EAGAIN
  kDescriptor,  // open, socket, pipe2, memfd_create and what recvmsg brings:
                // EMFILE
};
constexpr int kKinds = 3;
const char* Name(Kind kind);

struct Plan {
  Kind kind;
  long skip = 0;         // that many succeed, of all threads together
  bool forever = false;  // all after it fail too, not only one
};

struct Seen {
  long count = 0;       // of that kind, while armed
  bool failed = false;  // one of them was made to fail
};

void Arm(const Plan& plan);
Seen Disarm();

// The driver's answer to ioctls of this number is -error, whatever it did; 0:
// the driver's own. For the hosted transport and for /dev/dri.
void AnswerIoctl(unsigned long request, int error);

// Whether a sanitizer is there, which needs descriptors and memory of its own.
bool Sanitized();

// What the process has now.
struct Holdings {
  long allocations = -1;  // -1: not known (sanitizers count their own way)
  long descriptors = 0;
  long threads = 0;
};
Holdings Held();

}  // namespace heddle::tests::faults

#endif  // TESTS_SUPPORT_FAULT_INJECTION_H_
