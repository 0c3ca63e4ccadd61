// SPDX-License-Identifier: Apache-2.0
// Threads of the runtime, in a process that belongs to the application.
#ifndef HEDDLE_RUNTIME_SESSION_THREAD_H_
#define HEDDLE_RUNTIME_SESSION_THREAD_H_

#include <signal.h>

#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"

namespace heddle::session {

// Starts a thread that gets no signals: they are the application's. Null if the
// system has no more threads.
template <typename F>
std::unique_ptr<std::thread> StartThread(F run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::Cleanup restore = [&before] {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  };
  try {
    return std::make_unique<std::thread>(std::move(run));
  } catch (const std::system_error&) {
    return nullptr;
  }
}

// A thread that is destroyed by itself cannot wait for itself.
inline void EndThread(std::unique_ptr<std::thread> thread) noexcept {
  if (thread == nullptr) return;
  if (thread->get_id() == std::this_thread::get_id()) {
    thread->detach();
  } else {
    thread->join();
  }
}

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_THREAD_H_
