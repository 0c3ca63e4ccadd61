// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/fork_guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <set>

namespace heddle::hal {
namespace {

struct Guarded {
  std::mutex mutex;
  std::set<int> fds;
};

Guarded& All() {
  static Guarded* const all = [] {
    auto* made = new Guarded;
    pthread_atfork([] { All().mutex.lock(); }, [] { All().mutex.unlock(); },
                   [] {
                     for (int fd : All().fds) {
                       // Without a descriptor left it is closed: what the
                       // child does with its number never reaches the card.
                       if (!DetachDescriptor(fd)) close(fd);
                     }
                     All().mutex.unlock();
                   });
    return made;
  }();
  return *all;
}

}  // namespace

void GuardDescriptor(int fd) {
  Guarded& all = All();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.fds.insert(fd);
}

void CloseGuarded(int fd, const std::function<void()>& close) {
  Guarded& all = All();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.fds.erase(fd);
  close();
}

bool DetachDescriptor(int fd) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return false;
  const bool done = dup3(null, fd, O_CLOEXEC) == fd;
  close(null);
  return done;
}

void PrepareForFork() { All(); }

}  // namespace heddle::hal
