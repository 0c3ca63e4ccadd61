// SPDX-License-Identifier: Apache-2.0
// A crew of threads of its own, for tests and benchmarks of nodes that several
// threads share (compiler/base/spread.h).
#ifndef HEDDLE_COMPILER_TESTING_LENT_THREADS_H_
#define HEDDLE_COMPILER_TESTING_LENT_THREADS_H_

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "compiler/base/spread.h"

namespace heddle::compiler {

class LentThreads : public Crew {
 public:
  // `threads` with the caller's.
  explicit LentThreads(int threads) : threads_(threads) {
    for (int i = 1; i < threads; ++i) {
      running_.emplace_back([this] { Work(); });
    }
  }
  ~LentThreads() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : running_) thread.join();
  }

  int threads() const override { return threads_; }
  void Offer(const std::shared_ptr<SharedWork>& work) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++offers_;
    works_.push_back(work);
    changed_.notify_all();
  }
  void Withdraw(const std::shared_ptr<SharedWork>& work) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    works_.remove(work);
  }
  int offers() const { return offers_; }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopping_) {
      std::shared_ptr<SharedWork> work;
      for (const auto& candidate : works_) {
        if (work == nullptr && !candidate->IsTaken()) work = candidate;
      }
      if (work == nullptr) {
        changed_.wait(lock);
        continue;
      }
      lock.unlock();
      work->Help();
      work.reset();
      lock.lock();
    }
  }

  const int threads_;
  std::atomic<int> offers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::shared_ptr<SharedWork>> works_;
  bool stopping_ = false;
  std::vector<std::thread> running_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_LENT_THREADS_H_
