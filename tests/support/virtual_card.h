// SPDX-License-Identifier: Apache-2.0
// Virtual cards and a driver that serves them, as processes of a test:
//
//   TempFolder folder;
//   VirtualCard card(folder / "card0", {.config = "h512"});
//   HostedDriver driver(folder / "driver", {folder / "card0"});
//   setenv("HEDDLE_DEVICE", driver.device().c_str(), 1);
//
// Constructors return when the card or the driver is ready, and fail the test
// if it is not within 20 s.
#ifndef TESTS_SUPPORT_VIRTUAL_CARD_H_
#define TESTS_SUPPORT_VIRTUAL_CARD_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace heddle::tests {

struct CardOptions {
  std::string config = "h256";
  std::string memory = "512M";
  int serial = 1;
};

class VirtualCard {
 public:
  VirtualCard(const std::string& socket, const CardOptions& options);

  // kill -9: the surprise removal of the card. Returns when it is dead.
  void Kill();
  // A command of `heddle-sim ctl`; the line of JSON that it answers.
  std::string Control(const std::string& command) const;

 private:
  std::string control_;
  std::unique_ptr<Process> process_;
};

class HostedDriver {
 public:
  // `options`: more of heddle-hosted's.
  HostedDriver(const std::string& socket, const std::vector<std::string>& cards,
               const std::vector<std::string>& options = {});

  std::string device() const { return "hosted:" + socket_; }
  // Number of cards that are attached now.
  size_t Cards() const;
  // Polls until so many are; false after 20 s.
  bool WaitForCards(size_t count) const;
  bool alive() { return !process_->Wait(absl::ZeroDuration()).has_value(); }

 private:
  std::string socket_;
  std::unique_ptr<Process> process_;
};

// Polls `condition` every few milliseconds; false after `limit`.
template <typename Condition>
bool Eventually(const Condition& condition,
                absl::Duration limit = absl::Seconds(20)) {
  const absl::Time until = absl::Now() + limit * TimeFactor();
  while (!condition()) {
    if (absl::Now() > until) return false;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return true;
}

}  // namespace heddle::tests

#endif  // TESTS_SUPPORT_VIRTUAL_CARD_H_
