// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which job the card gets next, and what has to be done before it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kmd/hosted/arena.h"
#include "kmd/hosted/device.h"
#include "kmd/hosted/log.h"
#include "kmd/hosted/rivals.h"

namespace heddle::hosted {
namespace {

// In the place of a client, for what the driver does for itself.
constexpr uint64_t kOwnClient = 0;

}  // namespace

void Device::MeetClients(Rivals* rivals) {
  for (auto it = clients_.begin(); it != clients_.end();) {
    auto client = it->lock();
    if (client == nullptr) {
      it = clients_.erase(it);
      continue;
    }
    rivals->Meet(*client);
    ++it;
  }
}

void Device::Schedule() {
  next_start_ns_ = ~uint64_t{0};
  if (!heddle_device_accepts_jobs(state_)) return;
  if (wanted_ > 0) {
    const uint64_t now = NowNs();
    Rivals users(now);
    MeetClients(&users);
    const heddle_fair_rivals all = users.All();
    const uint64_t at = heddle_fair_compact_at(&fair_, &all, now);
    if (at <= now) {
      if (wanted_since_ns_ == 0) wanted_since_ns_ = now;
      if (in_flight_.empty()) StartCompaction();
      return;  // the jobs with the card end first
    }
    next_start_ns_ = at;
  }
  for (;;) {
    const uint64_t now = NowNs();
    Rivals rivals(now);
    MeetClients(&rivals);
    std::vector<std::shared_ptr<Context>> contexts;
    std::vector<Turn> turns;
    for (auto it = contexts_.begin(); it != contexts_.end();) {
      auto context = it->lock();
      if (context == nullptr) {
        it = contexts_.erase(it);
        continue;
      }
      ++it;
      Turn turn = context->turn;
      turn.ready = false;
      if (!context->queue.empty()) {
        Job* job = context->queue.front().get();
        // Each is looked at until it is signalled, and never again.
        while (!job->in_fences.empty() && job->in_fences.back()->signalled())
          job->in_fences.pop_back();
        turn.ready = !job->preparing && job->in_fences.empty();
        if (turn.ready) {
          const heddle_fair_rivals mine = rivals.Of(*context->owner);
          const uint64_t at =
              heddle_fair_start_at(&context->owner->fair, &mine, now);
          turn.ready = at <= now;
          if (!turn.ready) next_start_ns_ = std::min(next_start_ns_, at);
        }
      }
      contexts.push_back(std::move(context));
      turns.push_back(turn);
    }
    const int chosen = turns_.Pick(turns);
    if (chosen < 0) return;
    if (!StartUserJob(contexts[chosen].get())) return;
    if (gone()) return;
  }
}

// Objects of the job that are not ready to be used yet go to `prepare`.
bool Device::NeedsPreparation(const std::shared_ptr<Job>& job,
                              Job* prepare) const {
  auto add = [&](const std::shared_ptr<Allocation>& a) {
    if (a == nullptr || a->prepared ||
        prepare->prepares.size() >= HEDDLE_STEPS_MAX)
      return false;
    for (const auto& p : prepare->prepares) {
      if (p == a) return false;
    }
    prepare->prepares.push_back(a);
    return true;
  };
  for (const Step& step : job->steps) {
    if (step.src != nullptr) add(step.src->device);
    if (step.dst != nullptr) add(step.dst->device);
    for (const BoundRegion& r : step.regions) {
      if (r.bo != nullptr) add(r.bo->device);
    }
    if (step.stream != nullptr && add(step.stream->device)) {
      prepare->uploads.push_back(step.stream);
    }
  }
  return !prepare->prepares.empty();
}

bool Device::StartUserJob(Context* context) {
  std::shared_ptr<Job> job = context->queue.front();
  auto prepare = std::make_shared<Job>();
  if (NeedsPreparation(job, prepare.get())) {
    prepare->kind = Job::Kind::kPrepare;
    prepare->owner = job->owner;
    prepare->priority = job->priority;
    prepare->beneficiary = job;
    prepare->timeout_ns = 0;
    std::list<std::shared_ptr<Job>> given{std::move(prepare)};
    job->preparing = true;
    Turn turn = context->turn;  // it stays the job's
    Launch(&given, &turn);
    return true;
  }
  std::list<std::shared_ptr<Job>> given{std::move(job)};
  context->queue.pop_front();
  Launch(&given, &context->turn);
  return true;
}

void Device::StartCompaction() {
  std::list<std::shared_ptr<Job>> given{std::make_shared<Job>()};
  Job* const job = given.front().get();
  job->kind = Job::Kind::kCompact;
  job->moves.resize(HEDDLE_STEPS_MAX);
  const int n = heddle_mem_plan(memory_.get(), wanted_, job->moves.data(),
                                HEDDLE_STEPS_MAX);
  if (n <= 0) {  // done, or no longer possible: who asked will see
    wanted_ = 0;
    if (wanted_since_ns_ != 0) {
      const uint64_t now = NowNs();
      heddle_fair_compacted(&fair_, now - wanted_since_ns_, now);
      wanted_since_ns_ = 0;
    }
    if (state_ == HEDDLE_DEVICE_COMPACTING)
      heddle_device_step(&state_, HEDDLE_DEVICE_COMPACTED);
    memory_waiters_.Notify();
    return;
  }
  job->moves.resize(n);
  if (state_ != HEDDLE_DEVICE_COMPACTING) {
    if (heddle_device_step(&state_, HEDDLE_DEVICE_COMPACT) != 0) {
      heddle_mem_settle(memory_.get());  // the moves go with the job
      return;
    }
    counters_.compactions++;
  }
  Turn turn;
  Launch(&given, &turn);
}

void Device::Launch(std::list<std::shared_ptr<Job>>* given, Turn* turn) {
  Job* const job = given->front().get();
  uint32_t index = 0;
  heddle_ring* ring = &rings_[job->priority];
  if (heddle_ring_push(ring, &index) != 0 || free_slots_ == 0) {
    // Depth is limited far below this; only a card that loses records gets
    // here.
    // The job counts as given, and is lost with the card.
    heddle_job_step(&job->state, HEDDLE_JOB_START);
    if (job->owner != nullptr) heddle_fair_start(&job->owner->fair);
    in_flight_.splice(in_flight_.end(), *given);
    Lose("completion records are missing");
    return;
  }
  job->slot = __builtin_ctz(free_slots_);
  free_slots_ &= ~(1u << job->slot);
  job->hw_fence = next_fence_++;

  bool uses_sram = false;
  for (const Step& step : job->steps) uses_sram |= step.type == DRM_HEDDLE_RUN;
  turns_.Start(turn);
  const bool clear = heddle_sram_take(
      &sram_owner_, job->owner != nullptr ? job->owner->id : kOwnClient,
      uses_sram);

  heddle_job_descriptor d = {};
  d.fence = job->hw_fence;
  d.steps_iova =
      arena_->address + kSlotsAt + job->slot * kSlotBytes + kSlotSteps;
  d.step_count = job->kind == Job::Kind::kUser ? WriteUserSteps(*job, job->slot)
                                               : WriteOwnSteps(*job, job->slot);
  d.flags = HEDDLE_JOB_DESCRIPTOR_FLAGS_INTERRUPT_MASK |
            (clear ? HEDDLE_JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_MASK : 0);
  d.context_id = static_cast<uint32_t>(job->owner != nullptr ? job->owner->id
                                                             : kOwnClient);
  if (job->trace != nullptr) {
    d.flags |= HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_MASK;
    d.trace_iova = job->trace->address;
    d.trace_entries = job->trace_entries;
  }
  std::memcpy(
      arena_data_ + kRingsAt + job->priority * kRingBytes + index * sizeof(d),
      &d, sizeof(d));
  heddle_job_step(&job->state, HEDDLE_JOB_START);
  if (in_flight_.empty()) held_since_ns_ = NowNs();
  if (job->owner != nullptr) heddle_fair_start(&job->owner->fair);
  in_flight_.splice(in_flight_.end(), *given);
  // The doorbell is a message to another process: everything before it is
  // visible there.
  link_->Write(HEDDLE_REG_RING_HEAD(job->priority), ring->head);
  if (!link_->up()) Lose("the link broke");
}

}  // namespace heddle::hosted
