// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace heddle::compiler {
namespace {

int Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(threads == 0 ? Processors() : std::max(1, threads)) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  for (std::thread& other : others_) other.join();
}

void ThreadPool::Start() {
  started_ = true;
  others_.reserve(threads_ - 1);
  try {
    for (int i = 1; i < threads_; ++i) {
      others_.emplace_back([this] { Serve(); });
    }
  } catch (const std::system_error&) {
    // Those that there are do it.
  }
}

void ThreadPool::Serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return end_ || next_ < count_; });
    if (end_) return;
    Work(&lock);
  }
}

void ThreadPool::Work(std::unique_lock<std::mutex>* lock) {
  while (next_ < count_) {
    const size_t index = next_++;
    ++busy_;
    const auto& body = *body_;
    lock->unlock();
    std::exception_ptr failure;
    try {
      body(index);
    } catch (...) {
      failure = std::current_exception();
    }
    lock->lock();
    if (failure != nullptr) {
      failure_ = std::move(failure);
      next_ = count_;  // the rest is of no use
    }
    if (--busy_ == 0 && next_ == count_) changed_.notify_all();
  }
}

void ThreadPool::For(size_t count, const std::function<void(size_t)>& body) {
  if (count < 2 || threads_ == 1) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  if (!started_) Start();
  std::unique_lock<std::mutex> lock(mutex_);
  body_ = &body;
  next_ = 0;
  count_ = count;
  changed_.notify_all();
  Work(&lock);
  changed_.wait(lock, [this] { return busy_ == 0; });
  next_ = count_ = 0;
  body_ = nullptr;
  if (failure_ == nullptr) return;
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace heddle::compiler
