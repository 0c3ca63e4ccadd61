// SPDX-License-Identifier: Apache-2.0
// Threads for parallel loops. The result must not depend on which thread does
// which part, or when.
#ifndef HEDDLE_COMPILER_BASE_THREAD_POOL_H_
#define HEDDLE_COMPILER_BASE_THREAD_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace heddle::compiler {

class ThreadPool {
 public:
  // `threads` work, that of the caller among them; 0: as many as there are
  // processors for this process. The others begin with the first loop; if the
  // system has fewer, it is fewer.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // body(0) to body(count - 1), in any order, each once; returns when all are
  // done. What they throw is thrown here, once. One loop at a time, from one
  // thread.
  void For(size_t count, const std::function<void(size_t)>& body);

 private:
  void Start();
  void Serve();
  // Takes indices until there are none. Called with `mutex_` held.
  void Work(std::unique_lock<std::mutex>* lock);

  const int threads_;
  bool started_ = false;
  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // The loop that runs.
  const std::function<void(size_t)>* body_ = nullptr;
  size_t next_ = 0, count_ = 0;
  size_t busy_ = 0;  // indices that are being worked on
  std::exception_ptr failure_;
  bool end_ = false;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_THREAD_POOL_H_
