// SPDX-License-Identifier: Apache-2.0
// A package on several cards at once; each inference runs on one of them.
//
//   auto pool = CardPool::Load(devices, package_bytes, owner, {});
//   auto run = (*pool)->Start(inputs, outputs, nullptr);
//
// A pool is a Graph, with these differences:
//
// Choice of card. A run goes to the card with the fewest runs of this pool in
// flight; among equals, in turn. Runs on different cards are not ordered. A run
// that names resident tensors or host buffers (of one card) goes to that card.
//
// Limits. If a card has kMaxRunsInFlight in flight, another one is used. If all
// have, or the card of the resident tensors has, Start returns
// ResourceExhausted (kDeviceResources).
//
// A card that disappears gets no more runs:
//   - Its runs in flight end with Unavailable; those of other cards continue.
//     They are not repeated; that is up to whoever waits for them.
//   - A run not yet accepted when Start finds its card gone goes to another
//     card in the same call, unnoticed by the caller.
//   - Start returns Unavailable only if no card is left, or the card of the
//     resident tensors is gone. Their contents are lost.
//
// A card that returns (a device with the same id can be opened and accepts the
// package) gets runs again. A thread of the pool looks for missing cards, opens
// and loads; no call waits for that. New resident tensors must be created on
// the device that Cards() returns, because the old device stays gone.
//
// As in session.h, failing calls leave nothing behind. All calls are safe from
// several threads and from callbacks of runs. A callback cannot wait for a run
// of the pool on any card: Wait returns FailedPrecondition, and destroying a
// Run does not wait for its end; the run continues.
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
