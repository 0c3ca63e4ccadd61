// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/stream_checker.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "kmd/hosted/shared_memory.h"
#include "kmd/hosted/validate_stream.h"

namespace heddle::hosted {
namespace {

// A card's thread goes first where they share a processor.
constexpr int kNice = 10;

}  // namespace

StreamChecker::Check::~Check() {
  if (fd >= 0) close(fd);
}

void StreamChecker::Check::Run() {
  if (!ValidateStream(config, words, bytes, &facts)) {
    result = -ENOEXEC;
    return;
  }
  u64 rounded = 0;
  if (heddle_mem_round(bytes, &rounded) == 0) fd = NewSharedMemory(rounded);
  if (fd < 0) {
    result = -ENOMEM;
    return;
  }
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(fd, reinterpret_cast<const uint8_t*>(words) + done,
                             bytes - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      result = -ENOMEM;
      return;
    }
    done += n;
  }
}

StreamChecker::StreamChecker(int wake)
    : wake_(wake), thread_([this] { Work(); }) {}

StreamChecker::~StreamChecker() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StreamChecker::Add(std::shared_ptr<Check> check) {
  // All that can fail comes first.
  std::list<std::shared_ptr<Check>> one;
  one.push_back(std::move(check));
  const uint64_t client = one.front()->client;
  std::list<Queue> turn;
  turn.push_back({client, {}});
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto queue =
        std::find_if(waiting_.begin(), waiting_.end(),
                     [&](const Queue& q) { return q.client == client; });
    if (queue == waiting_.end()) {
      queue = turn.begin();
      waiting_.splice(waiting_.end(), turn);
    }
    queue->checks.splice(queue->checks.end(), one);
  }
  changed_.notify_one();
}

void StreamChecker::Deliver() {
  std::list<std::shared_ptr<Check>> done;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    done.swap(finished_);
  }
  for (const auto& check : done) {
    check->finished = true;
    check->done.Notify();
  }
}

void StreamChecker::Work() {
  setpriority(PRIO_PROCESS, 0, kNice);  // of this thread
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    // The client's next stream has its turn after the others'.
    std::list<std::shared_ptr<Check>> one;
    Queue& queue = waiting_.front();
    one.splice(one.end(), queue.checks, queue.checks.begin());
    if (queue.checks.empty()) {
      waiting_.pop_front();
    } else {
      waiting_.splice(waiting_.end(), waiting_, waiting_.begin());
    }
    lock.unlock();
    // Nobody waits for it any more: its client is gone.
    if (one.front().use_count() > 1) one.front()->Run();
    lock.lock();
    finished_.splice(finished_.end(), one);
    const uint64_t count = 1;
    (void)!write(wake_, &count, sizeof(count));
  }
}

}  // namespace heddle::hosted
