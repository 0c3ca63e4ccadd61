// SPDX-License-Identifier: Apache-2.0
//
// Requests of a program in the guest to the host; the words are those of
// inside/heddle-host, e.g. HostRequest("ctl 0 fault stuck_engine").
#ifndef HEDDLE_TESTS_GUEST_HOST_REQUEST_H_
#define HEDDLE_TESTS_GUEST_HOST_REQUEST_H_

#include <string>

namespace heddle::tests {

struct HostAnswer {
  bool ok = false;
  std::string text;  // the answer, or why not
};

// Whether this program runs in a guest.
bool InGuest();

// Returns when it is done, or with !ok after `seconds`.
HostAnswer HostRequest(const std::string& words, double seconds = 60);

}  // namespace heddle::tests

#endif  // HEDDLE_TESTS_GUEST_HOST_REQUEST_H_
