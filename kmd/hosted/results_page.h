// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A page in which heddle-hosted publishes the results of one client's jobs, so
// that the client need not ask (kResults in protocol.h). Part of the wire
// format: both sides map the same memory, the client read-only.
//
// An entry is what WAIT would return. A missing entry means that the job has
// not ended, if fewer than kPlaces results were published since before it was
// submitted (each replaces the oldest one); otherwise it means nothing. The
// first word counts the results and is a futex.
#ifndef HEDDLE_KMD_HOSTED_RESULTS_PAGE_H_
#define HEDDLE_KMD_HOSTED_RESULTS_PAGE_H_

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kmd/include/uapi/drm/heddle_drm.h"

namespace heddle::hosted {

// Begins as zeros. One thread writes, through a ResultsBoard.
class ResultsPage {
 public:
  static constexpr size_t kBytes = 4096;
  static constexpr uint32_t kPlaces = 32;

  // ---- The server

  void Publish(uint32_t context, uint64_t seqno,
               const drm_heddle_result& result) noexcept {
    Place* const p =
        &places_[changes_.load(std::memory_order_relaxed) % kPlaces];
    uint64_t words[kWords];
    std::memcpy(words, &result, sizeof(words));
    const uint32_t turn = p->turn.load(std::memory_order_relaxed);
    p->turn.store(turn + 1, std::memory_order_relaxed);
    // Releases, so that who sees one of them sees that the place is in work.
    p->context.store(context, std::memory_order_release);
    p->seqno.store(seqno, std::memory_order_release);
    for (size_t i = 0; i < kWords; ++i)
      p->result[i].store(words[i], std::memory_order_release);
    p->turn.store(turn + 2, std::memory_order_release);
    changes_.fetch_add(1, std::memory_order_release);
  }
  // The context is gone, and its jobs with it.
  void Forget(uint32_t context) noexcept {
    for (Place& p : places_) {
      if (p.context.load(std::memory_order_relaxed) != context) continue;
      const uint32_t turn = p.turn.load(std::memory_order_relaxed);
      p.turn.store(turn + 1, std::memory_order_relaxed);
      p.context.store(0, std::memory_order_release);
      p.turn.store(turn + 2, std::memory_order_release);
    }
  }
  // For good: WAIT answers something else from here on.
  void Withdraw() noexcept {
    withdrawn_.store(1, std::memory_order_release);
    changes_.fetch_add(1, std::memory_order_release);
  }
  // Those who sleep look again.
  void Wake() noexcept {
    syscall(SYS_futex, &changes_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

  // ---- The client

  // False: it is not there. The newest are found first.
  bool Find(uint32_t context, uint64_t seqno,
            drm_heddle_result* result) const noexcept {
    const uint32_t newest = changes() - 1;
    for (uint32_t i = 0; i < kPlaces; ++i) {
      if (Read(places_[(newest - i) % kPlaces], context, seqno, result))
        return !withdrawn();
    }
    return false;
  }
  bool withdrawn() const noexcept {
    return withdrawn_.load(std::memory_order_acquire) != 0;
  }
  uint32_t changes() const noexcept {
    return changes_.load(std::memory_order_acquire);
  }
  // Sleeps while the page is as it was when changes() was `seen`, at most
  // until `limit_ns` (CLOCK_MONOTONIC). A server that dies wakes nobody.
  void Sleep(uint32_t seen, uint64_t limit_ns) const noexcept {
    const timespec limit = {static_cast<time_t>(limit_ns / 1000000000),
                            static_cast<long>(limit_ns % 1000000000)};
    syscall(SYS_futex, &changes_, FUTEX_WAIT_BITSET, seen, &limit, nullptr,
            FUTEX_BITSET_MATCH_ANY);
  }

 private:
  static constexpr size_t kWords = sizeof(drm_heddle_result) / 8;
  static_assert(sizeof(drm_heddle_result) == 96, "wire format");

  struct Place {
    std::atomic<uint32_t> turn;  // odd while it is written
    std::atomic<uint32_t> context;
    std::atomic<uint64_t> seqno;
    std::atomic<uint64_t> result[kWords];
  };

  static bool Read(const Place& p, uint32_t context, uint64_t seqno,
                   drm_heddle_result* result) noexcept {
    const uint32_t turn = p.turn.load(std::memory_order_acquire);
    if (turn % 2 != 0 || context == 0 ||
        p.context.load(std::memory_order_acquire) != context ||
        p.seqno.load(std::memory_order_acquire) != seqno)
      return false;
    uint64_t words[kWords];
    for (size_t i = 0; i < kWords; ++i)
      words[i] = p.result[i].load(std::memory_order_acquire);
    if (p.turn.load(std::memory_order_acquire) != turn) return false;
    std::memcpy(result, words, sizeof(words));
    return true;
  }

  static_assert((kPlaces & (kPlaces - 1)) == 0, "changes_ may wrap");

  std::atomic<uint32_t> changes_;
  std::atomic<uint32_t> withdrawn_;
  alignas(512) Place places_[kPlaces];
};
static_assert(sizeof(ResultsPage) == ResultsPage::kBytes, "wire format");
static_assert(std::atomic<uint64_t>::is_always_lock_free,
              "shared between processes");

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_RESULTS_PAGE_H_
