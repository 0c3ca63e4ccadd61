// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Whether to poll for a short while before sleeping. Polling is faster if the
// awaited event comes soon and the other side has a CPU of its own, since
// waking a sleeper on an idle CPU takes as long as an empty job; otherwise it
// only takes the CPU from others. So polling is tried, and after each failure
// skipped for twice as many calls.
//
// Any thread; simultaneous reports may get lost.
#ifndef HEDDLE_KMD_HOSTED_PATIENCE_H_
#define HEDDLE_KMD_HOSTED_PATIENCE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kmd/hosted/clock.h"

namespace heddle::hosted {

class Patience {
 public:
  // Most calls that go to sleep at once before it is tried again.
  static constexpr uint32_t kSkippedMax = 1023;

  // `cpus` of the machine; with one of them it never pays. Looks for at most
  // `limit_ns`.
  Patience(long cpus, uint64_t limit_ns) : limit_ns_(cpus > 1 ? limit_ns : 0) {}

  // True: `done` came true. False: sleep.
  template <typename Done>
  bool Look(const Done& done) {
    if (limit_ns_ == 0) return false;
    const uint32_t skip = skip_.load(std::memory_order_relaxed);
    if (skip > 0) {
      skip_.store(skip - 1, std::memory_order_relaxed);
      return false;
    }
    const uint64_t limit = NowNs() + limit_ns_;
    bool came;
    do {
      for (int i = 0; i < kPauses; ++i) Pause();
      came = done();
    } while (!came && NowNs() < limit);
    const uint32_t vain = vain_.load(std::memory_order_relaxed);
    const uint32_t next = came ? 0 : std::min(2 * vain + 1, kSkippedMax);
    vain_.store(next, std::memory_order_relaxed);
    skip_.store(next, std::memory_order_relaxed);
    return came;
  }

 private:
  // Between two looks; so the line that is looked at is mostly its writer's.
  static constexpr int kPauses = 4;

  static void Pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  const uint64_t limit_ns_;
  std::atomic<uint32_t> skip_{0};  // calls that do not look
  std::atomic<uint32_t> vain_{0};  // of the last time
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_PATIENCE_H_
