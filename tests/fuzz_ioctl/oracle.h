// SPDX-License-Identifier: Apache-2.0
// What the driver may answer, as the uAPI header says.
#ifndef TESTS_FUZZ_IOCTL_ORACLE_H_
#define TESTS_FUZZ_IOCTL_ORACLE_H_

#include <cstdint>
#include <string>

namespace heddle::fuzz {

struct Verdict {
  unsigned long request;
  // The structure alone (a reserved field, an unknown flag, a value out of its
  // range) obliges the driver to refuse the call.
  bool must_fail = false;
  // The card may be gone.
  bool may_be_gone = false;
};

// Empty, or why `result` (0 or a negative errno) is not allowed.
std::string Judge(const Verdict& verdict, int result);

// "SUBMIT" of a request; its number if it has no name.
std::string NameOf(unsigned long request);

}  // namespace heddle::fuzz

#endif  // TESTS_FUZZ_IOCTL_ORACLE_H_
