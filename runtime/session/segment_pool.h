// SPDX-License-Identifier: Apache-2.0
// Runs of a network shared by host and card. A run is a task of parts; each
// part begins when its predecessors are done. Some threads compute host parts,
// oldest task first. One more thread, the dispatcher, starts card parts, whose
// ends arrive as callbacks, and ends tasks. Host and card thus work in
// parallel, on independent parts and on several tasks. A host thread without a
// part helps with the nodes of others (compiler/base/spread.h).
//
// A task ends with one status: that of its failing part with the lowest number.
// After a failure, later parts do not begin, and running host parts among them
// are stopped; earlier ones continue, since they might fail as well. The status
// is therefore that of sequential execution. Whatever ends a task as a whole
// (SegmentTask::Alive, Cancel, its deadline, Close) counts as an error of the
// first unfinished part.
#ifndef HEDDLE_RUNTIME_SESSION_SEGMENT_POOL_H_
#define HEDDLE_RUNTIME_SESSION_SEGMENT_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace heddle::session {

struct SegmentPart {
  bool host = true;
  std::vector<size_t> before;  // numbers of parts, less than its own
};

class SegmentTask {
 public:
  virtual ~SegmentTask() = default;

 protected:
  SegmentTask(absl::Time deadline, absl::Duration host_time)
      : deadline_(deadline), host_time_(host_time) {}
  // Before it is added: of the pool's last parts it has so many less, which
  // nothing waits for.
  void Spare(size_t last_parts) { spared_ = last_parts; }
  // Before it is added: these parts begin only after SegmentPool::Release, too.
  void Hold(std::vector<size_t> parts) { held_ = std::move(parts); }

  // Not OK: the task must end, with this status. Cheap; of any thread.
  virtual absl::Status Alive() = 0;
  // Of a host thread. `stop` is asked often, also by threads that help; its
  // error is passed on.
  virtual absl::Status Compute(size_t part,
                               const std::function<absl::Status()>& stop) = 0;
  // By the dispatcher. `ended` is called once, from any thread, if this returns
  // true. False: there is no room now, it is asked again.
  virtual absl::StatusOr<bool> Begin(
      size_t part, std::function<void(const absl::Status&)> ended) = 0;
  // The part is over without an error; with the pool's lock.
  virtual void Over(size_t part) noexcept = 0;
  // Once, by the dispatcher, when nothing of the task is executed any more. The
  // pool counts it until this returns.
  virtual void Finish(const absl::Status& status) noexcept = 0;
  // Behind it, when the pool does not count it any more: tells who waits.
  virtual void Tell(const absl::Status& status) noexcept = 0;

 private:
  friend class SegmentPool;
  static constexpr size_t kNone = SIZE_MAX;
  enum class Phase : uint8_t { kWaiting, kReady, kRunning, kOver };
  struct State {
    Phase phase = Phase::kWaiting;
    uint8_t pending = 0;  // of a part of the card: Begin() and `ended`
    size_t missing = 0;   // of those before
    absl::Status status;  // what `ended` said
    absl::Time again;     // not before
  };

  const absl::Time deadline_;
  const absl::Duration host_time_;
  std::atomic<bool> cancelled_{false};
  std::atomic<size_t> failed_{kNone};    // the first part that did
  std::atomic<int64_t> computed_ns_{0};  // of parts of the host that are over
  // With the pool's lock.
  std::vector<State> parts_;
  std::vector<size_t> held_;
  size_t spared_ = 0;
  bool begun_ = false;
  size_t running_ = 0;
  size_t first_ = 0;     // all parts before it are over
  absl::Status status_;  // of the part that failed
};

class SegmentPool {
 public:
  // `host_threads` is at least 1; ResourceExhausted without threads.
  static absl::StatusOr<std::shared_ptr<SegmentPool>> Start(
      std::vector<SegmentPart> parts, size_t host_threads);
  ~SegmentPool();
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  // False if there are `most` tasks already; never waits.
  bool Add(std::shared_ptr<SegmentTask> task, size_t most);
  // Once, of a task that was added, until its Finish returns: the parts that it
  // holds may begin.
  void Release(SegmentTask* task) noexcept;
  // The task ends soon with Cancelled, unless it ends before.
  void Cancel(SegmentTask* task);
  // Whether this is one of the pool's threads, which tasks need.
  bool OnThread() const;
  // Of any pool.
  static bool OnAnyThread();
  // Cancels all tasks, and waits for their ends and that of the threads, unless
  // on a thread that they need: one of the pool, or, as the caller says,
  // another one. Add must not be called any more.
  void Close(bool needed);
  // In a child of fork(), which has none of the threads: leaves them alone.
  void Abandon() noexcept;

 private:
  struct Shared;
  struct Duties;
  explicit SegmentPool(std::shared_ptr<Shared> shared);

  // What the threads run.
  static void Compute(const std::shared_ptr<Shared>& shared) noexcept;
  static void Dispatch(const std::shared_ptr<Shared>& shared) noexcept;
  // The dispatcher's, without the lock:
  static void EndTask(Shared* shared, SegmentTask* task) noexcept;
  static void BeginPart(const std::shared_ptr<Shared>& shared,
                        const std::shared_ptr<SegmentTask>& task,
                        size_t part) noexcept;
  // Why the task must end as a whole, or OK.
  static absl::Status WhyEnd(const Shared& shared, SegmentTask* task);
  // Why a part of it must not go on.
  static absl::Status WhyStop(const Shared& shared, SegmentTask* task,
                              size_t part);
  // With the lock:
  static void TakeFromQueue(Shared* shared) noexcept;
  static void RecordEnd(const Shared& shared, SegmentTask* task) noexcept;
  static Duties Survey(Shared* shared) noexcept;
  static void Record(SegmentTask* task, size_t part,
                     const absl::Status& status) noexcept;
  static void PartOver(Shared* shared, SegmentTask* task, size_t part,
                       const absl::Status& status) noexcept;
  static void Arrived(Shared* shared, SegmentTask* task, size_t part) noexcept;
  static size_t Ready(const Shared& shared, const SegmentTask& task, bool host,
                      absl::Time now);

  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<std::thread>> threads_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_SEGMENT_POOL_H_
