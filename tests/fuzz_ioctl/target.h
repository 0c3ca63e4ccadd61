// SPDX-License-Identifier: Apache-2.0
// The driver under test, and what can be done to its card.
#ifndef TESTS_FUZZ_IOCTL_TARGET_H_
#define TESTS_FUZZ_IOCTL_TARGET_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/hal/transport.h"
#include "tests/fuzz_ioctl/values.h"

namespace heddle::fuzz {

class Target {
 public:
  virtual ~Target() = default;
  // Opens the card. Null: it is not there now.
  virtual std::unique_ptr<hal::Transport> Open() = 0;

  enum class Effect {
    kWorks,    // no call may say that the card is gone
    kMayGo,    // the driver may give it up at any time from now on
    kRemoved,  // it is gone for the files that are open
  };
  // Called while calls are under way, with a thread of its own: the card
  // misbehaves; `what` says how.
  virtual Effect Disturb(Values*, std::string* /*what*/) {
    return Effect::kWorks;
  }
  // The card is well again, and there.
  virtual void Settle() {}

  // Bytes that must not be left mapped when no file is open, beside what was
  // before; 0 if nobody knows.
  virtual uint64_t MappedBytes() { return 0; }
  // Descriptors of the driver; 0 if nobody knows.
  virtual uint64_t Descriptors() { return 0; }
  // Whether waits for DRM's syncobjs are those of Linux 6.6 and later
  // (generator.h).
  virtual bool WaitsOfLinux66() { return false; }
  // A message that no proper client sends. False: there are no messages.
  virtual bool SendRaw(Values*) { return false; }
};

// A node or a heddle-hosted that is there: "drm[:NODE]", "hosted:SOCKET[#N]".
absl::StatusOr<std::unique_ptr<Target>> MakeTarget(const std::string& device);

// heddle.ko in a guest (tests/guest) with the card of that slot, which
// misbehaves and goes away.
std::unique_ptr<Target> MakeGuest(int slot);

// The driver of heddle-hosted in this process with a card that hangs, faults,
// changes its memory and goes away.
std::unique_ptr<Target> MakeInProcess();

// Sends one malformed message to the heddle-hosted at `socket`.
void SendMalformed(const std::string& socket, Values* values);

}  // namespace heddle::fuzz

#endif  // TESTS_FUZZ_IOCTL_TARGET_H_
