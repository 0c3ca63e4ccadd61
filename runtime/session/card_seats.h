// SPDX-License-Identifier: Apache-2.0
// The cards of a CardPool: their current state, their runs in flight, and the
// loop of the thread that brings back missing cards.
#ifndef HEDDLE_RUNTIME_SESSION_CARD_SEATS_H_
#define HEDDLE_RUNTIME_SESSION_CARD_SEATS_H_

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/session/card_pool.h"
#include "runtime/session/session.h"

namespace heddle::session {

// A package on a card, from its loading to the end of the card.
struct CardSeat {
  CardSeat(size_t card_in, std::shared_ptr<Device> device_in,
           std::shared_ptr<Graph> graph_in)
      : card(card_in),
        device(std::move(device_in)),
        graph(std::move(graph_in)) {}
  const size_t card;

  // The rest belongs to CardSeats, except that who has taken the seat may use
  // the graph until he says that he has started.
  std::shared_ptr<Device> device;
  std::shared_ptr<Graph> graph;
  size_t starting = 0, in_flight = 0;
  bool lost = false;
};

class CardSeats : public std::enable_shared_from_this<CardSeats> {
 public:
  // Opens the card and loads the package; Unavailable if there is no card.
  using Open =
      std::function<absl::StatusOr<std::shared_ptr<CardSeat>>(size_t card)>;

  // Nobody sits anywhere.
  CardSeats(const std::vector<std::string>& ids, absl::Duration look_again,
            Open open);
  CardSeats(const CardSeats&) = delete;
  CardSeats& operator=(const CardSeats&) = delete;

  // Whether this is a child of fork(), where nothing else may be called.
  bool forked() const;

  // Of a card that has none: it is looked after from now on.
  void Put(std::shared_ptr<CardSeat> seat);

  // The seat for a run, which counts as in flight from now on; null: there is
  // none. `wanted`: whose graph may have it. Needs no memory.
  template <typename Wanted>
  std::shared_ptr<CardSeat> Take(const Wanted& wanted) {
    std::lock_guard<std::mutex> lock(mutex_);
    Entry* best = nullptr;
    for (size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[(next_ + i) % entries_.size()];
      if (!entry.usable() || !wanted(*entry.seat)) continue;
      if (best == nullptr || entry.seat->in_flight < best->seat->in_flight) {
        best = &entry;
      }
    }
    if (best == nullptr) return nullptr;
    next_ = best->seat->card + 1;
    ++best->seat->in_flight;
    ++best->seat->starting;
    return best->seat;
  }
  // Behind each Take: whether the card accepted the run. If not, it is not in
  // flight.
  void Started(CardSeat* seat, bool accepted) noexcept;
  // Of a run that was accepted, once. Unavailable: as Lose().
  void Ended(CardSeat* seat, const absl::Status& status) noexcept;
  // The card is gone.
  void Lose(CardSeat* seat) noexcept;

  std::vector<CardPool::Card> Cards() const;

  // What the thread runs, until Stop().
  void Keep() noexcept;
  // False: the thread must not be waited for; it needs nothing of the pool any
  // more.
  bool Stop() noexcept;
  // Destroys the graphs, which wait for their runs.
  void Clear() noexcept;

 private:
  struct Entry {
    explicit Entry(const std::string& id);
    bool usable() const { return seat != nullptr && !seat->lost; }
    const std::string id;
    const absl::Status gone;
    std::shared_ptr<CardSeat> seat;
    absl::Status status;  // why it is not usable
    uint64_t started = 0, lost = 0;
  };
  void LoseLocked(CardSeat* seat) noexcept;
  // One that is lost and that nobody starts a run with.
  Entry* Abandoned();
  bool Missing() const;
  // Destroys what is in it, without the lock.
  void Vacate(Entry* entry, std::unique_lock<std::mutex>* lock) noexcept;
  void LookForCards(std::unique_lock<std::mutex>* lock) noexcept;

  const pid_t process_;
  const absl::Duration look_again_;
  const Open open_;
  const absl::Status no_memory_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  size_t next_ = 0;  // who is asked first
  bool stopping_ = false;
  bool vacating_ = false;  // the thread is
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_CARD_SEATS_H_
