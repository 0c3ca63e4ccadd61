// SPDX-License-Identifier: Apache-2.0
// One inference in flight: the part that the completion thread fills in, and
// the handle that the user waits on.
#ifndef HEDDLE_RUNTIME_SESSION_RUN_H_
#define HEDDLE_RUNTIME_SESSION_RUN_H_

#include <condition_variable>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/session/device_core.h"
#include "runtime/session/session.h"
#include "runtime/session/trace.h"

namespace heddle::session {

class RunState {
 public:
  // From now on Wait() waits, until Finish(). Not begun, it counts as ended.
  void Begin() noexcept;
  // `copies`: what the run copied; of the job the driver tells the rest.
  void Finish(const absl::Status& status, const drm_heddle_result& result,
              const RunStatistics& copies) noexcept;
  void Finish(const absl::Status& status,
              const RunStatistics& statistics) noexcept;
  absl::Status Wait(absl::Time deadline);
  bool ended() const;
  RunStatistics statistics() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = true;
  absl::Status status_;
  RunStatistics statistics_;
};

class RunHandle : public Run {
 public:
  // `trace`: of a traced run, or null.
  RunHandle(std::shared_ptr<DeviceCore> core, std::shared_ptr<RunState> state,
            std::unique_ptr<const TraceReader> trace);
  ~RunHandle() override;
  absl::Status Wait(absl::Time deadline) override;
  void Cancel() override {}  // the card has it
  RunStatistics statistics() const override;
  absl::StatusOr<RunTrace> trace() const override;

 private:
  const std::shared_ptr<DeviceCore> core_;
  std::shared_ptr<RunState> state_;
  const std::unique_ptr<const TraceReader> trace_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_RUN_H_
