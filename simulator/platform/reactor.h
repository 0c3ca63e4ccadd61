// SPDX-License-Identifier: Apache-2.0
//
// Joins the SystemC kernel and the outside world in one thread: a SystemC
// process that waits for file descriptors. While another process has work, now
// or at a later simulated time, descriptors are polled only between simulation
// steps; when nothing is left to simulate, the whole kernel sleeps in poll()
// and costs nothing. The platform thus needs no locks, behaviour follows from
// the order of events alone, and an access from outside reaches the model
// without a change of threads.
#ifndef HEDDLE_SIMULATOR_PLATFORM_REACTOR_H_
#define HEDDLE_SIMULATOR_PLATFORM_REACTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <systemc>
#include <vector>

namespace heddle::platform {

class Reactor : public sc_core::sc_module {
 public:
  using Callback = std::function<void()>;

  explicit Reactor(sc_core::sc_module_name name);

  // Calls `ready` in the kernel's thread whenever `fd` is readable, closed or
  // in error. The descriptor stays the caller's, who calls Forget before
  // closing it.
  void Watch(int fd, Callback ready);
  // Also when `fd` is writable, while `on`.
  void WatchWritable(int fd, bool on);
  void Forget(int fd);
  // Once, `ms` milliseconds of real time from now.
  void RunAfter(uint32_t ms, Callback what);
  // Ends the simulation.
  void Quit();

  // How often processes that work for long let the reactor look at descriptors
  // is up to them: by any wait().

 private:
  struct Watched {
    Callback ready;
    bool writable = false;
    uint64_t serial = 0;
  };
  void Loop();
  // Handles what is ready; waits for it at most `timeout_ms` (-1: for ever).
  void Poll(int timeout_ms);
  int TimerTimeout() const;
  void RunTimers();

  std::map<int, Watched> watched_;
  std::multimap<uint64_t, Callback> timers_;  // by monotonic milliseconds
  uint64_t serial_ = 0;
  bool quit_ = false;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_REACTOR_H_
