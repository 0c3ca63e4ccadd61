// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Looks after the card: jobs that must be ended, resets, a card that is gone.
#include <algorithm>

#include "kmd/hosted/device.h"
#include "kmd/hosted/log.h"

namespace heddle::hosted {
namespace {

constexpr uint64_t kMs = 1000000;

// How long a job may take to end when it is told to.
constexpr uint64_t kAbortGraceNs = 500 * kMs;
constexpr uint64_t kResetGraceNs = 10000 * kMs;
constexpr uint64_t kCheckBusyNs = 50 * kMs;
constexpr uint64_t kCheckIdleNs = 250 * kMs;
constexpr uint64_t kCheckResetNs = 5 * kMs;

}  // namespace

void Device::StartReset() {
  heddle_device_step(&state_, HEDDLE_DEVICE_STUCK);
  ready_seen_ = false;
  deadline_ns_ = NowNs() + kResetGraceNs;
  Count(guilty_->owner.get(), [](drm_heddle_counters* c) { c->resets++; });
  link_->Write(HEDDLE_REG_RESET, HEDDLE_RESET_ENGINE_MASK);
}

// Drives abort and reset.
void Device::WatchEnding(uint32_t status, uint64_t now) {
  if (state_ == HEDDLE_DEVICE_ABORTING) {
    const bool ended = heddle_job_ended(guilty_->state);
    const bool halted = status & HEDDLE_STATUS_HALTED_MASK;
    if (ended && !halted) {
      heddle_device_step(&state_, HEDDLE_DEVICE_ABORTED);
      guilty_ = nullptr;
    } else if (halted || now >= deadline_ns_) {
      StartReset();
    }
    return;  // `status` was read before the reset
  }
  if (state_ != HEDDLE_DEVICE_RESETTING) return;
  ready_seen_ |= (status & HEDDLE_STATUS_READY_MASK) != 0;
  Reap();
  if (state_ != HEDDLE_DEVICE_RESETTING) return;  // Reap found the card gone
  if (ready_seen_ && heddle_job_ended(guilty_->state)) {
    sram_owner_ = 0;
    heddle_watch_idle(&watch_);
    heddle_device_step(&state_, HEDDLE_DEVICE_RESET_DONE);
    const auto context = guilty_->context.lock();
    sink_(DRM_HEDDLE_EVENT_RESET, context != nullptr ? context->id : 0,
          guilty_->owner->id, guilty_->seqno);
    guilty_ = nullptr;
  } else if (now >= deadline_ns_) {
    Lose("its engine cannot be reset");
  }
}

// Whether the job that runs has taken more cycles than it may, since it was
// first seen to run. On a core without timing that is for SUBMIT alone.
bool Device::RunsTooLong(const Job& job) {
  if (info_.core_kind == HEDDLE_CORE_KIND_FUNCTIONAL || job.run_cycles == 0)
    return false;
  const uint64_t cycles =
      link_->Read64(HEDDLE_REG_COUNTER_CYCLES_LO, HEDDLE_REG_COUNTER_CYCLES_HI);
  if (watched_fence_ != job.hw_fence || cycles < watched_cycles_) {
    watched_fence_ = job.hw_fence;
    watched_cycles_ = cycles;
  }
  return cycles != ~uint64_t{0} && cycles - watched_cycles_ > job.run_cycles;
}

// Looks for a job that must be ended.
void Device::Watch(uint32_t status, uint64_t now) {
  WatchEnding(status, now);
  if (in_flight_.empty() || gone()) return;
  if (state_ != HEDDLE_DEVICE_READY && state_ != HEDDLE_DEVICE_COMPACTING)
    return;
  const uint64_t fence =
      link_->Read64(HEDDLE_REG_RUNNING_LO, HEDDLE_REG_RUNNING_HI);
  const uint32_t progress = link_->Read(HEDDLE_REG_PROGRESS);
  std::shared_ptr<Job> suspect = in_flight_.front();
  for (const auto& job : in_flight_) {
    if (job->hw_fence == fence) suspect = job;
  }
  const bool runs = suspect->hw_fence == fence;
  const bool stuck = heddle_watch_stuck(&watch_, suspect->hw_fence, progress,
                                        now, TimeoutOf(*suspect));
  const bool hung = (runs && RunsTooLong(*suspect)) || stuck;
  if (!hung && !(runs && suspect->cancelled)) return;
  if (state_ == HEDDLE_DEVICE_COMPACTING) {
    Lose(
        "compaction makes no progress; the contents of device memory are "
        "unknown");
    return;
  }
  if (hung) {
    Log(spdlog::level::warn, "card {}: job {} of client {} {}: aborting it",
        index_, suspect->seqno, suspect->owner->id,
        stuck ? "makes no progress" : "exceeds its cycle limit");
  }
  guilty_ = suspect;
  guilty_event_ = hung ? HEDDLE_JOB_HANG : HEDDLE_JOB_CANCEL;
  heddle_device_step(&state_, HEDDLE_DEVICE_HANG);
  deadline_ns_ = now + kAbortGraceNs;
  link_->Write(HEDDLE_REG_ABORT, static_cast<uint32_t>(suspect->hw_fence));
}

uint64_t Device::Poll() {
  if (gone()) return UINT64_MAX;
  if (!link_->up()) {
    Lose("the link broke");
    return UINT64_MAX;
  }
  Reap();  // an interrupt may have been lost
  const uint64_t now = NowNs();
  const bool ending =
      state_ == HEDDLE_DEVICE_ABORTING || state_ == HEDDLE_DEVICE_RESETTING;
  if (now >= next_check_ns_ || ending) {
    // In this order: if the card answers afterwards, the status was its own.
    const uint32_t status = link_->Read(HEDDLE_REG_STATUS);
    if (LinkLost()) {
      Lose("it does not answer");
      return UINT64_MAX;
    }
    Watch(status, now);
    const bool cancelled =
        std::any_of(in_flight_.begin(), in_flight_.end(),
                    [](const auto& job) { return job->cancelled; });
    next_check_ns_ = now + (cancelled            ? kCheckResetNs
                            : in_flight_.empty() ? kCheckIdleNs
                                                 : kCheckBusyNs);
  }
  // The rest of a compaction, or its end.
  if (state_ == HEDDLE_DEVICE_COMPACTING && in_flight_.empty())
    StartCompaction();
  if (!gone()) Schedule();
  if (gone()) return UINT64_MAX;
  if (state_ == HEDDLE_DEVICE_ABORTING || state_ == HEDDLE_DEVICE_RESETTING)
    return kCheckResetNs;
  const uint64_t limit =
      now + (in_flight_.empty() ? kCheckIdleNs : kCheckBusyNs);
  next_check_ns_ = std::min(next_check_ns_, limit);
  const uint64_t next = std::min(next_check_ns_, next_start_ns_);
  return next > now ? next - now : 0;
}

}  // namespace heddle::hosted
