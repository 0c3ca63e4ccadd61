// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/manual_clock.h"

#include <time.h>

#include <atomic>

namespace {

constexpr uint64_t kSecond = 1000000000;

std::atomic<uint64_t> g_held_ns{0};  // 0: the real clock

}  // namespace

extern "C" int __real_clock_gettime(clockid_t id, timespec* t);
extern "C" int __wrap_clock_gettime(clockid_t id, timespec* t) {
  const uint64_t held_ns = g_held_ns.load();
  if (id != CLOCK_MONOTONIC || held_ns == 0) return __real_clock_gettime(id, t);
  t->tv_sec = static_cast<time_t>(held_ns / kSecond);
  t->tv_nsec = static_cast<long>(held_ns % kSecond);
  return 0;
}

namespace heddle::hosted {

ManualClock::ManualClock() {
  timespec t;
  __real_clock_gettime(CLOCK_MONOTONIC, &t);
  g_held_ns = uint64_t(t.tv_sec) * kSecond + t.tv_nsec;
}

ManualClock::~ManualClock() { g_held_ns = 0; }

void ManualClock::Advance(uint64_t ns) { g_held_ns += ns; }

}  // namespace heddle::hosted
