// SPDX-License-Identifier: Apache-2.0
// A private pair of heddle-sim and heddle-hosted for this process.
//
// Both are searched in HEDDLE_BIN_DIR (folders separated by ':'), else beside
// this library or program, or in ../bin from there. wait() does not see them as
// children, they get no signals from the terminal, use a folder of mode 0700,
// and exit, removing the folder, on end-of-file of a pipe when this process
// ends in whatever way. Nothing restarts them.
#ifndef HEDDLE_RUNTIME_SESSION_PRIVATE_CARD_H_
#define HEDDLE_RUNTIME_SESSION_PRIVATE_CARD_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/session/device_spec.h"

namespace heddle::session {

// A descriptor that its owner closes.
class Lifeline {
 public:
  explicit Lifeline(int fd = -1) : fd_(fd) {}
  Lifeline(Lifeline&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lifeline& operator=(Lifeline&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Lifeline();

 private:
  int fd_;
};

struct PrivateCards {
  std::string socket;  // of heddle-hosted
  Lifeline lifeline;   // when no process has it any more, the pair ends
};

// Starts the pair for `spec` (kSim) and waits until its cards are attached.
// Unavailable: a program is missing or does not start; the message says which
// and why. ResourceExhausted: this process has no descriptor or no process
// left; nothing stays behind, and the next call tries again.
absl::StatusOr<PrivateCards> StartPrivateCards(const DeviceSpec& spec);

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_PRIVATE_CARD_H_
