// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/reactor.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace heddle::platform {
namespace {

// Steps of the simulation between two looks at descriptors, and the longest
// time that they may take: each look is a system call, which costs as much as
// several steps of a card that does little.
constexpr int kStepsPerLook = 8;
constexpr uint64_t kLookNs = 20000;

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 +
         static_cast<uint64_t>(now.tv_nsec);
}
uint64_t NowMs() { return NowNs() / 1000000; }

}  // namespace

Reactor::Reactor(sc_core::sc_module_name name) : sc_module(name) {
  SC_HAS_PROCESS(Reactor);
  SC_THREAD(Loop);
  set_stack_size(1 << 20);
}

void Reactor::Watch(int fd, Callback ready) {
  watched_[fd] = {std::move(ready), false, ++serial_};
}

void Reactor::WatchWritable(int fd, bool on) {
  auto it = watched_.find(fd);
  if (it != watched_.end()) it->second.writable = on;
}

void Reactor::Forget(int fd) { watched_.erase(fd); }

void Reactor::RunAfter(uint32_t ms, Callback what) {
  timers_.emplace(NowMs() + ms, std::move(what));
}

void Reactor::Quit() { quit_ = true; }

int Reactor::TimerTimeout() const {
  if (timers_.empty()) return -1;
  const uint64_t now = NowMs();
  const uint64_t due = timers_.begin()->first;
  return due <= now ? 0
                    : static_cast<int>(std::min<uint64_t>(due - now, INT_MAX));
}

void Reactor::RunTimers() {
  while (!timers_.empty() && timers_.begin()->first <= NowMs()) {
    Callback what = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    what();
  }
}

void Reactor::Poll(int timeout_ms) {
  std::vector<pollfd> fds;
  std::vector<uint64_t> serials;
  fds.reserve(watched_.size());
  for (const auto& [fd, watched] : watched_) {
    fds.push_back(
        {fd, static_cast<short>(POLLIN | (watched.writable ? POLLOUT : 0)), 0});
    serials.push_back(watched.serial);
  }
  if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return;
  for (size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents == 0) continue;
    // An earlier callback may have closed this one, and its number may be in
    // use again.
    auto it = watched_.find(fds[i].fd);
    if (it == watched_.end() || it->second.serial != serials[i]) continue;
    Callback ready = it->second.ready;
    ready();
  }
}

void Reactor::Loop() {
  int steps = 0;
  uint64_t looked = 0;
  while (!quit_) {
    const bool busy = sc_core::sc_pending_activity_at_current_time() ||
                      sc_core::sc_pending_activity_at_future_time();
    if (!busy || ++steps == kStepsPerLook || NowNs() - looked >= kLookNs) {
      Poll(busy ? 0 : TimerTimeout());
      RunTimers();
      if (quit_) break;
      steps = 0;
      looked = NowNs();
    }
    if (sc_core::sc_pending_activity_at_current_time()) {
      wait(sc_core::SC_ZERO_TIME);
    } else if (sc_core::sc_pending_activity_at_future_time()) {
      wait(sc_core::sc_time_to_pending_activity());
    }
  }
  sc_core::sc_stop();
}

}  // namespace heddle::platform
