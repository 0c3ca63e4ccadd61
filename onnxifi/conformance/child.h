// SPDX-License-Identifier: Apache-2.0
// Child processes with a time limit whose output is kept.
#ifndef ONNXIFI_CONFORMANCE_CHILD_H_
#define ONNXIFI_CONFORMANCE_CHILD_H_

#include <functional>
#include <string>

namespace heddle::conformance {

struct ChildEnd {
  bool timed_out = false;
  int signal = 0;       // that killed it, or 0
  int exit_code = 0;    // else
  int left_behind = 0;  // processes of its own that outlived it
  double seconds = 0;
  std::string output;  // stdout, at most 64 KiB
  std::string errors;  // the last 8 KiB of stderr
};

// Runs `body` in a fork of this process, which has one thread; the child ends
// with code 0 when `body` returns. Its processes are killed with it.
ChildEnd RunChild(double timeout_seconds, const std::function<void()>& body);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_CHILD_H_
