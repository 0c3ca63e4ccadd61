// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Jobs of a file, their ends, and its events.
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "kmd/hosted/file.h"
#include "kmd/hosted/file_outcome.h"

namespace heddle::hosted {
namespace {

// Fences that one job may wait for.
constexpr size_t kInFencesMax = 1u << 16;

void MakeUnique(std::vector<std::shared_ptr<Fence>>* fences) {
  std::sort(fences->begin(), fences->end());
  fences->erase(std::unique(fences->begin(), fences->end()), fences->end());
}

// What WAIT says of the commands of a job that has ended.
int FillTrace(const Job& job, drm_heddle_wait* args) {
  if (args->trace.count > job.trace_entries) return -EINVAL;
  std::vector<heddle_trace_entry> from(args->trace.count);
  const size_t bytes = from.size() * sizeof(from[0]);
  for (size_t done = 0; done < bytes;) {
    const ssize_t n =
        pread(job.trace->fd, reinterpret_cast<uint8_t*>(from.data()) + done,
              bytes - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return -ENOMEM;
    done += n;
  }
  // The card's steps are those of the submission.
  uint8_t step_of[HEDDLE_STEPS_MAX];
  std::iota(std::begin(step_of), std::end(step_of), uint8_t{0});
  for (uint32_t i = 0; i < args->trace.count; ++i) {
    drm_heddle_trace_entry entry;
    heddle_trace_tell(&entry, &from[i], step_of);
    Fill(args->trace, i, entry);
  }
  args->trace_count = job.trace_count;
  return 0;
}

}  // namespace

std::shared_ptr<Bo> File::FindBo(uint32_t handle, uint32_t placement,
                                 int* error) const {
  auto it = bos_.find(handle);
  if (it == bos_.end()) {
    *error = -ENOENT;
    return nullptr;
  }
  if (it->second->placement != placement) {
    *error = -EINVAL;
    return nullptr;
  }
  return it->second;
}

int File::ResolveRun(const drm_heddle_step& in, Step* step) const {
  auto it = streams_.find(in.stream);
  if (it == streams_.end()) return -ENOENT;
  step->stream = it->second;
  u64 sizes[HEDDLE_REGIONS] = {};
  uint32_t used = 0, writable = 0;
  for (uint32_t i = 0; i < in.regions.count; ++i) {
    drm_heddle_region region;
    int err = Element(in.regions, i, &region);
    if (err == 0) err = heddle_check_region(&region, &used);
    if (err != 0) return err;
    auto bo = FindBo(region.handle, DRM_HEDDLE_DEVICE, &err);
    if (bo == nullptr) return err;
    err = heddle_check_range(region.offset, region.size, bo->size);
    if (err != 0) return err;
    BoundRegion& bound = step->regions[region.index];
    bound = {std::move(bo), region.offset, region.size,
             (region.flags & DRM_HEDDLE_REGION_WRITE) != 0};
    sizes[region.index] = region.size;
    if (bound.writable) writable |= 1u << region.index;
  }
  return heddle_validate_binding(&step->stream->facts, sizes, writable);
}

int File::ResolveStep(const drm_heddle_step& in, const Step* run,
                      Step* step) const {
  int err = heddle_check_step(&in, run != nullptr);
  if (err != 0) return err;
  step->type = in.type;
  step->flags = in.flags;
  step->length = in.length;
  step->src_offset = in.src_offset;
  step->dst_offset = in.dst_offset;
  step->fill_value = in.fill_value;
  if (in.type == DRM_HEDDLE_RUN) return ResolveRun(in, step);
  const bool from_host = in.type == DRM_HEDDLE_COPY_IN;
  const bool to_host = in.type == DRM_HEDDLE_COPY_OUT;
  step->dst =
      FindBo(in.dst, to_host ? DRM_HEDDLE_HOST : DRM_HEDDLE_DEVICE, &err);
  if (step->dst == nullptr) return err;
  err = heddle_check_range(in.dst_offset, in.length, step->dst->size);
  if (err == 0 && in.type != DRM_HEDDLE_FILL) {
    step->src =
        FindBo(in.src, from_host ? DRM_HEDDLE_HOST : DRM_HEDDLE_DEVICE, &err);
    if (step->src == nullptr) return err;
    err = heddle_check_range(in.src_offset, in.length, step->src->size);
  }
  return err != 0 || step->flags == 0 ? err : CheckOverlap(*run, *step);
}

int File::CheckOverlap(const Step& run, const Step& step) {
  for (const BoundRegion& bound : run.regions) {
    if (bound.bo == nullptr) continue;
    drm_heddle_region region = {};
    region.offset = bound.offset;
    region.size = bound.size;
    region.flags = bound.writable ? DRM_HEDDLE_REGION_WRITE : 0;
    int err = 0;
    if (bound.bo == step.dst) {
      err = heddle_check_overlap(&region, step.dst_offset, step.length, true);
    }
    if (err == 0 && bound.bo == step.src) {
      err = heddle_check_overlap(&region, step.src_offset, step.length, false);
    }
    if (err != 0) return err;
  }
  return 0;
}

uint64_t File::CyclesOf(const Step& step) {
  return step.type == DRM_HEDDLE_RUN ? step.stream->facts.max_cycles
                                     : heddle_copy_cycles(step.length);
}

Outcome File::Submit(drm_heddle_submit* args) {
  int err = heddle_check_submit(args, device_->info().hw_version);
  if (err != 0) return Ended(err);
  auto it = contexts_.find(args->context);
  if (it == contexts_.end()) return Ended(-ENOENT);
  const auto& context = it->second;
  auto job = std::make_shared<Job>();
  job->owner = state_;
  job->priority = context->turn.priority;
  job->context = context;
  job->timeout_ns = args->timeout_ns;
  job->run_cycles = context->run_cycles;
  uint64_t cycles = 0;
  job->steps.resize(args->steps.count);
  const Step* run = nullptr;  // that the next step may overlap
  for (uint32_t i = 0; i < args->steps.count; ++i) {
    drm_heddle_step step;
    err = Element(args->steps, i, &step);
    if (err == 0) err = ResolveStep(step, run, &job->steps[i]);
    if (err != 0) return Ended(err);
    cycles = heddle_cycles_add(cycles, CyclesOf(job->steps[i]));
    if (step.type == DRM_HEDDLE_RUN) {
      run = &job->steps[i];
    } else if (step.flags == 0) {
      run = nullptr;
    }
  }
  if (cycles > context->run_cycles) return Ended(-EFBIG);
  for (uint32_t i = 0; i < args->in_syncs.count; ++i) {
    drm_heddle_sync sync;
    err = Element(args->in_syncs, i, &sync);
    if (err == 0) err = heddle_check_pad(sync.pad);
    if (err != 0) return Ended(err);
    const auto object = FindSyncobj(sync.handle);
    if (object == nullptr) return Ended(-ENOENT);
    if (!object->Submitted(sync.point)) return Ended(-EINVAL);
    object->Collect(sync.point, &job->in_fences);
    if (job->in_fences.size() > kInFencesMax) {
      MakeUnique(&job->in_fences);
      if (job->in_fences.size() > kInFencesMax) return Ended(-ENOMEM);
    }
  }
  MakeUnique(&job->in_fences);
  std::vector<std::pair<std::shared_ptr<Syncobj>, uint64_t>> out;
  for (uint32_t i = 0; i < args->out_syncs.count; ++i) {
    drm_heddle_sync sync;
    err = Element(args->out_syncs, i, &sync);
    if (err == 0) err = heddle_check_pad(sync.pad);
    if (err != 0) return Ended(err);
    const auto object = FindSyncobj(sync.handle);
    if (object == nullptr) return Ended(-ENOENT);
    out.emplace_back(object, sync.point);
  }
  if (heddle_usage_banned(&state_->usage, &device_->limits()))
    return Ended(-EIO);
  if (context->unfinished >= Context::kQueuedMax) return Ended(-EAGAIN);
  err = job->charge.Take(state_, device_->limits(), HEDDLE_JOBS, 1);
  if (err != 0) return Ended(err);
  job->trace_entries = args->trace_entries;
  if (args->trace_entries != 0) {
    int none = -1;
    err = PinHost(args->trace_entries * sizeof(heddle_trace_entry), &none,
                  &job->trace);
    if (err != 0) return Ended(err);
  }
  // The points before the job, because they may fail for want of memory: it
  // would then stay without a number, and they are signalled at once.
  struct SignalUnlessQueued {
    Fence* fence;
    ~SignalUnlessQueued() {
      if (fence != nullptr) fence->Signal();
    }
  } guard = {job->fence.get()};
  for (const auto& [object, point] : out) {
    if (point == 0) {
      object->Replace(job->fence);
    } else {
      object->Add(point, job->fence);
    }
  }
  job->seqno = context->next_seqno;
  device_->Submit(context, job);
  guard.fence = nullptr;
  args->seqno = context->next_seqno++;
  return Ended(0);
}

class File::JobWait : public WaitingCall {
 public:
  JobWait(File* file, std::shared_ptr<Job> job, drm_heddle_wait* args)
      : file_(file), job_(std::move(job)), args_(args) {
    job_->fence->Await(&link_);
  }
  bool Resume(Outcome* outcome) override {
    outcome->result = 0;
    if (file_->gone()) {
      outcome->result = -ENODEV;
    } else if (heddle_job_ended(job_->state)) {
      if (args_->result.count == 1) Fill(args_->result, 0, job_->result);
      if (args_->trace.count != 0) outcome->result = FillTrace(*job_, args_);
    } else if (Over(args_->deadline_ns)) {
      outcome->result = -ETIME;
    } else {
      return false;
    }
    return true;
  }

 private:
  File* const file_;
  const std::shared_ptr<Job> job_;  // also when its context is destroyed
  drm_heddle_wait* const args_;
  WaitLink link_{this};
};

Outcome File::Wait(drm_heddle_wait* args) {
  const int err = heddle_check_wait(args);
  if (err != 0) return Ended(err);
  auto it = contexts_.find(args->context);
  if (it == contexts_.end()) return Ended(-ENOENT);
  auto job = it->second->jobs.find(args->seqno);
  if (job == it->second->jobs.end()) return Ended(-ENOENT);
  return Begin(std::make_unique<JobWait>(this, job->second, args),
               args->deadline_ns);
}

class File::EventWait : public WaitingCall {
 public:
  EventWait(File* file, drm_heddle_events* args) : file_(file), args_(args) {}
  bool Resume(Outcome* outcome) override {
    outcome->result = 0;
    if (!file_->events_.empty()) {
      file_->TakeEvents(args_);
    } else if (file_->gone()) {
      outcome->result = -ENODEV;
    } else if (Over(args_->deadline_ns)) {
      outcome->result = -ETIME;
    } else {
      file_->event_waiters_.Add(&link_);
      return false;
    }
    return true;
  }

 private:
  File* const file_;
  drm_heddle_events* const args_;
  WaitLink link_{this};
};

Outcome File::Events(drm_heddle_events* args) {
  const int err = heddle_check_events(args);
  if (err != 0) return Ended(err);
  return Begin(std::make_unique<EventWait>(this, args), args->deadline_ns);
}

void File::TakeEvents(drm_heddle_events* args) {
  args->filled = 0;
  while (args->filled < args->events.count && !events_.empty()) {
    Fill(args->events, args->filled++, events_.front());
    events_.pop_front();
  }
  args->lost = std::exchange(events_lost_, 0);
}

void File::Notify(uint32_t type, uint32_t context, uint64_t client,
                  uint64_t value) noexcept {
  drm_heddle_event event = {};
  event.type = type;
  event.time_ns = NowNs();
  event.value = value;
  if (type == DRM_HEDDLE_EVENT_RESET) {
    event.context = client == state_->id ? context : 0;
    event.value = client == state_->id ? value : 0;
  }
  if (events_.size() >= kEventsKept) {
    events_.pop_front();
    events_lost_++;
  }
  try {
    events_.push_back(event);
  } catch (const std::bad_alloc&) {
    events_lost_++;
  }
  event_waiters_.Notify();
}

}  // namespace heddle::hosted
