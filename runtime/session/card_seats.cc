// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/card_seats.h"

#include <unistd.h>

#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/hal/status.h"

namespace heddle::session {

CardSeats::Entry::Entry(const std::string& id_in)
    : id(id_in),
      gone(
          absl::UnavailableError(absl::StrCat("the card ", id_in, " is gone"))),
      status(gone) {}

CardSeats::CardSeats(const std::vector<std::string>& ids,
                     absl::Duration look_again, Open open)
    : process_(getpid()),
      look_again_(look_again),
      open_(std::move(open)),
      no_memory_(hal::Exhausted(
          hal::Resource::kSystemMemory,
          "the host has not enough memory to take the card back")) {
  entries_.reserve(ids.size());
  for (const std::string& id : ids) entries_.emplace_back(id);
}

bool CardSeats::forked() const { return getpid() != process_; }

void CardSeats::Put(std::shared_ptr<CardSeat> seat) {
  seat->device->OnRemoved(
      [seats = weak_from_this(), place = std::weak_ptr<CardSeat>(seat)] {
        const auto alive = seats.lock();
        const auto lost = place.lock();
        if (alive != nullptr && lost != nullptr) alive->Lose(lost.get());
      });
  std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = entries_[seat->card];
  entry.seat = std::move(seat);
}

void CardSeats::Started(CardSeat* seat, bool accepted) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  --seat->starting;
  if (accepted) {
    ++entries_[seat->card].started;
  } else {
    --seat->in_flight;
  }
  if (seat->lost) changed_.notify_all();
}

void CardSeats::Ended(CardSeat* seat, const absl::Status& status) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  --seat->in_flight;
  if (!absl::IsUnavailable(status)) return;
  ++entries_[seat->card].lost;
  LoseLocked(seat);
}

void CardSeats::Lose(CardSeat* seat) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  LoseLocked(seat);
}

void CardSeats::LoseLocked(CardSeat* seat) noexcept {
  if (seat->lost) return;
  seat->lost = true;
  entries_[seat->card].status = entries_[seat->card].gone;
  changed_.notify_all();
}

std::vector<CardPool::Card> CardSeats::Cards() const {
  std::vector<CardPool::Card> cards;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Entry& entry : entries_) {
    CardPool::Card card;
    card.id = entry.id;
    card.started = entry.started;
    card.lost = entry.lost;
    if (entry.seat != nullptr) card.in_flight = entry.seat->in_flight;
    if (entry.usable()) {
      card.device = entry.seat->device;
    } else {
      card.status = entry.status;
    }
    cards.push_back(std::move(card));
  }
  return cards;
}

CardSeats::Entry* CardSeats::Abandoned() {
  for (Entry& entry : entries_) {
    if (entry.seat != nullptr && entry.seat->lost &&
        entry.seat->starting == 0) {
      return &entry;
    }
  }
  return nullptr;
}

bool CardSeats::Missing() const {
  for (const Entry& entry : entries_) {
    if (entry.seat == nullptr) return true;
  }
  return false;
}

void CardSeats::Vacate(Entry* entry,
                       std::unique_lock<std::mutex>* lock) noexcept {
  // Runs that are in flight keep the seat, which is empty then.
  std::shared_ptr<Graph> graph = std::move(entry->seat->graph);
  std::shared_ptr<Device> device = std::move(entry->seat->device);
  entry->seat.reset();
  lock->unlock();
  graph.reset();
  device.reset();
  lock->lock();
}

void CardSeats::LookForCards(std::unique_lock<std::mutex>* lock) noexcept {
  for (size_t i = 0; i < entries_.size() && !stopping_; ++i) {
    if (entries_[i].seat != nullptr) continue;
    lock->unlock();
    absl::Status status;
    try {
      auto seat = open_(i);
      status = seat.status();
      if (seat.ok()) Put(*std::move(seat));
    } catch (const std::bad_alloc&) {
      status = no_memory_;
    }
    lock->lock();
    if (status.ok()) continue;
    entries_[i].status =
        absl::IsUnavailable(status) ? entries_[i].gone : std::move(status);
  }
}

void CardSeats::Keep() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (Entry* abandoned = Abandoned()) {
      // A callback that destroys the pool may be what this waits for.
      vacating_ = true;
      Vacate(abandoned, &lock);
      vacating_ = false;
      continue;
    }
    const auto woken = [this] { return stopping_ || Abandoned() != nullptr; };
    if (!Missing() || look_again_ == absl::InfiniteDuration()) {
      changed_.wait(lock, woken);
    } else if (!changed_.wait_for(lock, absl::ToChronoNanoseconds(look_again_),
                                  woken)) {
      LookForCards(&lock);
    }
  }
}

bool CardSeats::Stop() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  return !vacating_;
}

void CardSeats::Clear() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.seat != nullptr) Vacate(&entry, &lock);
  }
}

}  // namespace heddle::session
