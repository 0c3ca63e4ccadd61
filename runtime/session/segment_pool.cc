// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/segment_pool.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compiler/base/spread.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/hal/status.h"
#include "runtime/session/thread.h"

namespace heddle::session {
namespace {

// While the card has no room for a part.
constexpr absl::Duration kRetry = absl::Milliseconds(1);
// Tasks that have begun, beside one for each thread: so many wait for the card
// or for their turn, and no more have tensors than must.
constexpr size_t kAhead = 2;

thread_local bool is_of_a_pool = false;

}  // namespace

struct SegmentPool::Shared : public compiler::Crew {
  // Of a node that one of the host's threads computes: who has nothing to do
  // helps.
  int threads() const override { return static_cast<int>(host_threads); }
  void Offer(const std::shared_ptr<compiler::SharedWork>& node) override {
    std::list<std::shared_ptr<compiler::SharedWork>> one = {node};
    const std::lock_guard<std::mutex> lock(mutex);
    nodes.splice(nodes.end(), one);
    work.notify_all();
  }
  void Withdraw(
      const std::shared_ptr<compiler::SharedWork>& node) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex);
    nodes.remove(node);
  }
  // With the lock: one that has work left, or null.
  std::shared_ptr<compiler::SharedWork> Offered() {
    for (const auto& node : nodes) {
      if (!node->IsTaken()) return node;
    }
    return nullptr;
  }

  std::vector<SegmentPart> parts;
  std::vector<std::vector<size_t>> behind;  // the parts that wait for each
  size_t host_threads = 1, most_begun = 0;
  // Made while there is memory: to copy it takes none.
  const absl::Status no_memory = hal::Exhausted(
      hal::Resource::kSystemMemory,
      "the host has not enough memory to run its part of the model");

  std::mutex mutex;
  std::condition_variable work;        // for the host's threads
  std::condition_variable dispatcher;  // for the dispatcher
  std::condition_variable ended;       // a task is
  // Lists: what was prepared moves without memory. Oldest first.
  std::list<std::shared_ptr<SegmentTask>> queue, begun;
  std::list<std::shared_ptr<compiler::SharedWork>> nodes;
  size_t tasks = 0;  // in both, and that which the dispatcher ends
  std::atomic<bool> closing{false};
  bool stopping = false;
  std::vector<std::thread::id> ids;  // never changes once tasks come

  bool Done() const { return stopping && tasks == 0; }
};

absl::Status SegmentPool::WhyEnd(const Shared& shared, SegmentTask* task) {
  if (absl::Status s = task->Alive(); !s.ok()) return s;
  if (task->cancelled_) {
    return absl::CancelledError("the inference was cancelled");
  }
  if (shared.closing) {
    return absl::CancelledError(
        "the model was released before the inference ended");
  }
  if (task->deadline_ != absl::InfiniteFuture() &&
      absl::Now() >= task->deadline_) {
    return absl::DeadlineExceededError(
        "the inference did not end by its deadline (RunOptions.deadline)");
  }
  return absl::OkStatus();
}

absl::Status SegmentPool::WhyStop(const Shared& shared, SegmentTask* task,
                                  size_t part) {
  if (task->failed_ <= part) return absl::CancelledError("");  // nobody sees it
  return WhyEnd(shared, task);
}

void SegmentPool::Record(SegmentTask* task, size_t part,
                         const absl::Status& status) noexcept {
  if (part >= task->failed_) return;
  task->failed_ = part;
  task->status_ = status;
}

void SegmentPool::PartOver(Shared* shared, SegmentTask* task, size_t part,
                           const absl::Status& status) noexcept {
  task->parts_[part].phase = SegmentTask::Phase::kOver;
  --task->running_;
  if (status.ok()) {
    task->Over(part);
    for (size_t next : shared->behind[part]) {
      if (next >= task->parts_.size()) continue;  // spared
      if (--task->parts_[next].missing == 0) {
        task->parts_[next].phase = SegmentTask::Phase::kReady;
      }
    }
  } else {
    Record(task, part, status);
  }
  while (task->first_ < task->parts_.size() &&
         task->parts_[task->first_].phase == SegmentTask::Phase::kOver) {
    ++task->first_;
  }
  shared->work.notify_all();
  shared->dispatcher.notify_all();
}

void SegmentPool::Arrived(Shared* shared, SegmentTask* task,
                          size_t part) noexcept {
  SegmentTask::State& state = task->parts_[part];
  if (--state.pending > 0) return;
  PartOver(shared, task, part, state.status);
}

size_t SegmentPool::Ready(const Shared& shared, const SegmentTask& task,
                          bool host, absl::Time now) {
  const size_t end = std::min<size_t>(task.failed_, task.parts_.size());
  for (size_t p = task.first_; p < end; ++p) {
    const SegmentTask::State& state = task.parts_[p];
    if (state.phase == SegmentTask::Phase::kReady &&
        shared.parts[p].host == host && state.again <= now) {
      return p;
    }
  }
  return SegmentTask::kNone;
}

void SegmentPool::Compute(const std::shared_ptr<Shared>& shared) noexcept {
  std::unique_lock<std::mutex> lock(shared->mutex);
  for (;;) {
    std::shared_ptr<SegmentTask> task;
    size_t part = SegmentTask::kNone;
    for (const auto& candidate : shared->begun) {
      part = Ready(*shared, *candidate, true, absl::InfiniteFuture());
      if (part == SegmentTask::kNone) continue;
      task = candidate;
      break;
    }
    if (task == nullptr) {
      if (std::shared_ptr<compiler::SharedWork> node = shared->Offered()) {
        lock.unlock();
        node->Help();
        node.reset();
        lock.lock();
        continue;
      }
      if (shared->Done()) return;
      shared->work.wait(lock);
      continue;
    }
    task->parts_[part].phase = SegmentTask::Phase::kRunning;
    ++task->running_;
    lock.unlock();
    absl::Status status;
    const absl::Time begin = absl::Now();
    try {
      const std::function<absl::Status()> stop = [&] {
        if (task->host_time_ != absl::InfiniteDuration() &&
            absl::Nanoseconds(task->computed_ns_.load()) + absl::Now() -
                    begin >=
                task->host_time_) {
          return absl::DeadlineExceededError(absl::StrCat(
              "the host computed for ", absl::FormatDuration(task->host_time_),
              " for one inference, reaching the limit "
              "(LoadOptions.host_time)"));
        }
        return WhyStop(*shared, task.get(), part);
      };
      status = stop();
      if (status.ok()) {
        const compiler::CrewScope crew(shared.get(), stop);
        status = task->Compute(part, stop);
      }
    } catch (const std::bad_alloc&) {
      status = shared->no_memory;
    }
    task->computed_ns_ += absl::ToInt64Nanoseconds(absl::Now() - begin);
    lock.lock();
    PartOver(shared.get(), task.get(), part, status);
    // What it holds goes without the lock.
    lock.unlock();
    task.reset();
    lock.lock();
  }
}

// What there is to do for the dispatcher.
struct SegmentPool::Duties {
  std::list<std::shared_ptr<SegmentTask>> over;
  std::shared_ptr<SegmentTask> starting;  // the first with a part of the card
  size_t part = SegmentTask::kNone;       // that can begin
  absl::Time wake = absl::InfiniteFuture();
};

void SegmentPool::TakeFromQueue(Shared* shared) noexcept {
  while (!shared->queue.empty() && shared->begun.size() < shared->most_begun) {
    shared->begun.splice(shared->begun.end(), shared->queue,
                         shared->queue.begin());
    shared->begun.back()->begun_ = true;
    for (SegmentTask::State& part : shared->begun.back()->parts_) {
      if (part.missing == 0) part.phase = SegmentTask::Phase::kReady;
    }
    shared->work.notify_all();
  }
}

void SegmentPool::RecordEnd(const Shared& shared, SegmentTask* task) noexcept {
  if (task->first_ >= std::min<size_t>(task->failed_, task->parts_.size())) {
    return;
  }
  absl::Status status;
  try {
    status = WhyEnd(shared, task);
  } catch (const std::bad_alloc&) {
    status = shared.no_memory;
  }
  if (!status.ok()) Record(task, task->first_, status);
}

SegmentPool::Duties SegmentPool::Survey(Shared* shared) noexcept {
  Duties duties;
  const absl::Time now = absl::Now();
  for (auto* list : {&shared->begun, &shared->queue}) {
    const bool is_begun = list == &shared->begun;
    for (auto it = list->begin(); it != list->end();) {
      const auto current = it++;
      SegmentTask* const task = current->get();
      RecordEnd(*shared, task);
      const size_t end = std::min<size_t>(task->failed_, task->parts_.size());
      for (size_t p = task->first_; p < end; ++p) {
        const SegmentTask::State& state = task->parts_[p];
        if (state.phase == SegmentTask::Phase::kReady &&
            !shared->parts[p].host) {
          duties.wake = std::min(duties.wake, state.again);
        }
      }
      const bool failed = task->failed_ != SegmentTask::kNone;
      if (task->running_ == 0 && task->first_ >= end && (is_begun || failed)) {
        duties.over.splice(duties.over.end(), *list, current);
        continue;
      }
      if (task->first_ < end) {
        duties.wake = std::min(duties.wake, task->deadline_);
      }
      if (!is_begun || duties.starting != nullptr) continue;
      duties.part = Ready(*shared, *task, false, now);
      if (duties.part != SegmentTask::kNone) duties.starting = *current;
    }
  }
  return duties;
}

void SegmentPool::EndTask(Shared* shared, SegmentTask* task) noexcept {
  absl::Status status = task->status_;
  try {
    // One without an error may end with one: the card went behind the last
    // part.
    if (status.ok()) status = task->Alive();
  } catch (const std::bad_alloc&) {
    status = shared->no_memory;
  }
  task->Finish(status);
  {
    std::lock_guard<std::mutex> lock(shared->mutex);
    --shared->tasks;
    shared->ended.notify_all();
    if (shared->Done()) shared->work.notify_all();
  }
  task->Tell(status);
}

void SegmentPool::BeginPart(const std::shared_ptr<Shared>& shared,
                            const std::shared_ptr<SegmentTask>& task,
                            size_t part) noexcept {
  SegmentTask::State& state = task->parts_[part];
  {
    std::lock_guard<std::mutex> lock(shared->mutex);
    state.phase = SegmentTask::Phase::kRunning;
    state.pending = 2;
    ++task->running_;
  }
  absl::StatusOr<bool> began = false;
  try {
    began = task->Begin(part, [shared, task, part](const absl::Status& status) {
      std::lock_guard<std::mutex> lock(shared->mutex);
      task->parts_[part].status = status;
      Arrived(shared.get(), task.get(), part);
    });
  } catch (const std::bad_alloc&) {
    began = shared->no_memory;
  }
  std::lock_guard<std::mutex> lock(shared->mutex);
  if (!began.ok()) {
    PartOver(shared.get(), task.get(), part, began.status());
  } else if (*began) {
    Arrived(shared.get(), task.get(), part);
  } else {
    state.phase = SegmentTask::Phase::kReady;
    state.again = absl::Now() + kRetry;
    --task->running_;
  }
}

void SegmentPool::Dispatch(const std::shared_ptr<Shared>& shared) noexcept {
  std::unique_lock<std::mutex> lock(shared->mutex);
  for (;;) {
    TakeFromQueue(shared.get());
    Duties duties = Survey(shared.get());
    if (!duties.over.empty() || duties.starting != nullptr) {
      lock.unlock();
      if (!duties.over.empty()) {
        for (const auto& task : duties.over) EndTask(shared.get(), task.get());
      } else {
        BeginPart(shared, duties.starting, duties.part);
      }
      duties = Duties();  // what they hold goes without the lock
      lock.lock();
      continue;
    }
    if (shared->Done()) return;
    if (duties.wake == absl::InfiniteFuture()) {
      shared->dispatcher.wait(lock);
    } else {
      shared->dispatcher.wait_until(lock, absl::ToChronoTime(duties.wake));
    }
  }
}

SegmentPool::SegmentPool(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)) {}

absl::StatusOr<std::shared_ptr<SegmentPool>> SegmentPool::Start(
    std::vector<SegmentPart> parts, size_t host_threads) {
  auto shared = std::make_shared<Shared>();
  shared->behind.resize(parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    for (size_t before : parts[p].before) shared->behind[before].push_back(p);
  }
  shared->parts = std::move(parts);
  shared->host_threads = host_threads;
  shared->most_begun = host_threads + kAhead;
  std::shared_ptr<SegmentPool> pool(new SegmentPool(shared));
  pool->threads_.reserve(host_threads + 1);
  shared->ids.reserve(host_threads + 1);
  std::lock_guard<std::mutex> lock(shared->mutex);
  for (size_t i = 0; i <= host_threads; ++i) {
    auto thread = StartThread([shared, i] {
      is_of_a_pool = true;
      if (i == 0) {
        Dispatch(shared);
      } else {
        Compute(shared);
      }
    });
    if (thread == nullptr) {
      return hal::Exhausted(hal::Resource::kSystemResources,
                            "loading a model: the system cannot create another "
                            "thread (ulimit -u)");
    }
    shared->ids.push_back(thread->get_id());
    pool->threads_.push_back(std::move(thread));
  }
  return pool;
}

SegmentPool::~SegmentPool() {
  // Without Close() there is no task: who has one has the pool, too.
  if (shared_ != nullptr) Close(false);
}

bool SegmentPool::Add(std::shared_ptr<SegmentTask> task, size_t most) {
  std::list<std::shared_ptr<SegmentTask>> added;
  task->parts_.resize(shared_->parts.size() - task->spared_);
  for (size_t p = 0; p < task->parts_.size(); ++p) {
    task->parts_[p].missing = shared_->parts[p].before.size();
  }
  for (size_t p : task->held_) ++task->parts_[p].missing;
  added.push_back(std::move(task));
  std::lock_guard<std::mutex> lock(shared_->mutex);
  if (shared_->tasks >= most) return false;
  ++shared_->tasks;
  shared_->queue.splice(shared_->queue.end(), added);
  shared_->dispatcher.notify_all();
  return true;
}

void SegmentPool::Release(SegmentTask* task) noexcept {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  for (size_t p : task->held_) {
    SegmentTask::State& part = task->parts_[p];
    if (--part.missing > 0 || !task->begun_) continue;
    part.phase = SegmentTask::Phase::kReady;
  }
  shared_->work.notify_all();
  shared_->dispatcher.notify_all();
}

void SegmentPool::Cancel(SegmentTask* task) {
  task->cancelled_ = true;
  std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->dispatcher.notify_all();
}

bool SegmentPool::OnThread() const {
  const auto& ids = shared_->ids;
  return std::find(ids.begin(), ids.end(), std::this_thread::get_id()) !=
         ids.end();
}

bool SegmentPool::OnAnyThread() { return is_of_a_pool; }

void SegmentPool::Close(bool needed) {
  if (threads_.empty()) return;
  const bool own = needed || OnThread();
  {
    std::unique_lock<std::mutex> lock(shared_->mutex);
    shared_->closing = true;
    shared_->dispatcher.notify_all();
    if (!own) {
      shared_->ended.wait(lock, [this] { return shared_->tasks == 0; });
    }
    shared_->stopping = true;
    shared_->work.notify_all();
    shared_->dispatcher.notify_all();
  }
  for (std::unique_ptr<std::thread>& thread : threads_) {
    if (own) {
      thread->detach();
    } else {
      thread->join();
    }
  }
  threads_.clear();
}

void SegmentPool::Abandon() noexcept {
  for (std::unique_ptr<std::thread>& thread : threads_) thread.release();
  threads_.clear();
  hal::Abandon(std::move(shared_));  // somebody may have held its lock
}

}  // namespace heddle::session
