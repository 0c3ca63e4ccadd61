// SPDX-License-Identifier: Apache-2.0
// A package on several cards at once: each inference runs on one of them.
//
//   auto pool = CardPool::Load(devices, package_bytes, owner, {});
//   auto run = (*pool)->Start(inputs, outputs, nullptr);
//
// It is a Graph, and what a Graph says holds, with these differences:
//
// Which card. A run is given to the card with the fewest runs of this pool in
// flight; of several such, in turn. Runs of different cards have no order. One
// that names resident tensors or host buffers (of one card) runs on their card.
//
// How many. Where a card has kMaxRunsInFlight in flight, another is taken;
// ResourceExhausted (kDeviceResources) when all have, or the card of the
// resident tensors.
//
// A card that goes gets no more runs:
//   - Its runs in flight end with Unavailable, and the others' go on. They are
//     not started again: whoever waits for one starts it again, or does not.
//   - A run that it had not accepted when Start found it gone is given to
//     another card in the same call, and its caller sees nothing of it.
//   - Start returns Unavailable only when no card is left, or the card of the
//     resident tensors is gone. What was in them is gone, too.
//
// A card that comes back (a device with the same id can be opened, and takes
// the package) gets runs again. A thread of the pool looks for cards that are
// gone, opens and loads; no call waits for that. Resident tensors are then made
// with the device that Cards() gives, since that which went stays gone.
//
// Calls that fail leave nothing behind, as in session.h. All may be made from
// several threads and from callbacks of runs. There no run of the pool can be
// waited for, on whichever card it is: Wait gives FailedPrecondition, and a Run
// that is destroyed does not wait for its end, but goes on.
#ifndef HEDDLE_RUNTIME_SESSION_CARD_POOL_H_
#define HEDDLE_RUNTIME_SESSION_CARD_POOL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "compiler/package/package.h"
#include "runtime/session/session.h"

namespace heddle::session {

class CardSeats;  // card_seats.h

struct CardPoolOptions {
  LoadOptions load;  // on each card
  OpenOptions open;  // of a card that comes back
  // How long after another cards that are gone are looked for;
  // InfiniteDuration: never.
  absl::Duration look_again = absl::Milliseconds(250);
};

class CardPool : public Graph {
 public:
  using Graph::Start;

  // `owner` keeps the bytes, which are read again for a card that comes back;
  // the configuration of all cards is the package's. A device that is gone
  // already may come back. Unavailable: all are. InvalidArgument: no device, or
  // two of one card. What else a card refuses fails the call, and names it.
  static absl::StatusOr<std::shared_ptr<CardPool>> Load(
      const std::vector<std::shared_ptr<Device>>& devices,
      absl::string_view package_bytes, std::shared_ptr<const void> owner,
      const CardPoolOptions& options);
  // As ~Graph.
  ~CardPool() override;

  const package::Package& package() const override { return package_; }
  uint64_t device_bytes() const override { return device_bytes_; }  // of each
  uint64_t BoundedAxes(const std::string& output) const override;
  absl::StatusOr<std::shared_ptr<Run>> Start(
      const std::vector<TensorBuffer>& inputs,
      const std::vector<TensorBuffer>& outputs,
      std::function<void(const absl::Status&)> done,
      const RunOptions& options) override;

  struct Card {
    std::string id;
    std::shared_ptr<Device> device;  // null: it gets no runs
    // Why it gets none: it is gone, or what came back does not take the
    // package.
    absl::Status status;
    size_t in_flight = 0;
    // Since Load, of all cards with this id: runs that it accepted, and those
    // among them that ended with Unavailable.
    uint64_t started = 0, lost = 0;
  };
  // In the order of the devices. Empty in a child of fork().
  std::vector<Card> Cards() const;

 private:
  class Ticket;
  class Handle;

  CardPool() = default;

  std::shared_ptr<CardSeats> seats_;
  package::Package package_;  // of one of the cards
  uint64_t device_bytes_ = 0;
  std::map<std::string, uint64_t> bounded_;  // outputs that are
  std::unique_ptr<std::thread> keeper_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_CARD_POOL_H_
