// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Synchronisation objects of a file, as the kernel's drm_syncobj ioctls.
#include <errno.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "drm.h"
#include "kmd/hosted/file.h"
#include "kmd/hosted/file_outcome.h"

namespace heddle::hosted {
namespace {

// Objects that one file may have.
constexpr size_t kObjectsMax = 1u << 16;

// Points that one call may wait for: what it holds is not in its request.
constexpr uint32_t kWaitedMax = 4096;

}  // namespace

std::shared_ptr<Syncobj> File::FindSyncobj(uint32_t handle) {
  auto it = syncobjs_.find(handle);
  return it != syncobjs_.end() ? it->second : nullptr;
}

Outcome File::SyncobjCreate(drm_syncobj_create* args) {
  if (args->flags & ~static_cast<uint32_t>(DRM_SYNCOBJ_CREATE_SIGNALED))
    return Ended(-EINVAL);
  if (syncobjs_.size() >= kObjectsMax) return Ended(-ENOMEM);
  auto object = std::make_shared<Syncobj>();
  if (args->flags & DRM_SYNCOBJ_CREATE_SIGNALED)
    object->Replace(Fence::Signalled());
  const uint32_t id = NewId(syncobjs_, &next_id_);
  syncobjs_.emplace(id, std::move(object));
  args->handle = id;
  return Ended(0);
}

Outcome File::SyncobjDestroy(drm_syncobj_destroy* args) {
  if (args->pad != 0) return Ended(-EINVAL);
  return syncobjs_.erase(args->handle) != 0 ? Ended(0) : Ended(-EINVAL);
}

Outcome File::SyncobjReset(drm_syncobj_array* args) {
  if (args->pad != 0 || args->count_handles == 0) return Ended(-EINVAL);
  const auto* handles = reinterpret_cast<const uint32_t*>(args->handles);
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    if (FindSyncobj(handles[i]) == nullptr) return Ended(-ENOENT);
  }
  for (uint32_t i = 0; i < args->count_handles; ++i)
    FindSyncobj(handles[i])->Reset();
  return Ended(0);
}

Outcome File::SyncobjSignal(drm_syncobj_array* args) {
  if (args->pad != 0 || args->count_handles == 0) return Ended(-EINVAL);
  const auto* handles = reinterpret_cast<const uint32_t*>(args->handles);
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    if (FindSyncobj(handles[i]) == nullptr) return Ended(-ENOENT);
  }
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    FindSyncobj(handles[i])->Replace(Fence::Signalled());
  }
  return Ended(0);
}

// Waits for one of some points, or for all. As the kernel's: what it waits for
// is what the handles and the points mean when it begins.
class File::SyncobjsWait : public WaitingCall {
 public:
  // A point, and what is missing before it is done.
  struct Entry {
    std::shared_ptr<Syncobj> object;
    uint64_t point;
    bool submitted = false;
    bool done = false;
    std::vector<std::shared_ptr<Fence>> fences;  // once it is submitted
    WaitLink link;
    Entry(std::shared_ptr<Syncobj> o, uint64_t p, WaitingCall* call, uint32_t i)
        : object(std::move(o)), point(p), link(call, i) {}
  };

  SyncobjsWait(File* file, uint64_t deadline_ns, uint32_t flags,
               uint32_t* first)
      : file_(file),
        deadline_ns_(deadline_ns),
        all_(flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL),
        available_(flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE),
        first_(first) {}
  void Add(std::shared_ptr<Syncobj> object, uint64_t point) {
    entries_.emplace_back(std::move(object), point, this,
                          static_cast<uint32_t>(entries_.size()));
  }

  uint64_t held() const override { return entries_.size() * sizeof(Entry); }
  bool Resume(Outcome* outcome) override {
    outcome->result = 0;
    if (file_->gone()) {
      outcome->result = -ENODEV;
      return true;
    }
    if (!begun_) {
      begun_ = true;
      for (uint32_t i = 0; i < entries_.size(); ++i) Look(i);
    }
    while (WaitLink* fired = TakeFired()) Look(fired->tag());
    if (done_ >= (all_ ? entries_.size() : 1)) {
      *first_ = first_done_;
      return true;
    }
    // The kernel's times are absolute; negative and zero mean: do not wait.
    if (!Over(deadline_ns_)) return false;
    outcome->result = -ETIME;
    return true;
  }

 private:
  // Goes on with entry `i`, up to the next thing that it has to wait for.
  void Look(uint32_t i) {
    Entry& e = entries_[i];
    if (!e.submitted) {
      if (!e.object->Submitted(e.point)) {
        e.object->AwaitSubmission(&e.link);
        return;
      }
      if (!available_) e.object->Collect(e.point, &e.fences);
      e.submitted = true;
    }
    while (!e.fences.empty() && e.fences.back()->signalled())
      e.fences.pop_back();
    if (!e.fences.empty()) {
      e.fences.back()->Await(&e.link);
      return;
    }
    e.done = true;
    first_done_ = done_ == 0 ? i : std::min(first_done_, i);
    done_++;
  }

  File* const file_;
  const uint64_t deadline_ns_;
  const bool all_, available_;
  uint32_t* const first_;
  std::deque<Entry> entries_;  // links stay where they are
  bool begun_ = false;
  size_t done_ = 0;
  uint32_t first_done_ = 0;
};

Outcome File::WaitFor(const uint32_t* handles, const uint64_t* points,
                      uint32_t count, int64_t timeout_ns, uint32_t flags,
                      uint32_t* first) {
  constexpr uint32_t kKnown = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL |
                              DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
                              DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
  if (flags & ~kKnown || count == 0) return Ended(-EINVAL);
  if (count > kWaitedMax) return Ended(-ENOMEM);
  const uint64_t deadline =
      timeout_ns < 0 ? 0 : static_cast<uint64_t>(timeout_ns);
  auto call = std::make_unique<SyncobjsWait>(this, deadline, flags, first);
  for (uint32_t i = 0; i < count; ++i) {
    auto object = FindSyncobj(handles[i]);
    if (object == nullptr) return Ended(-ENOENT);
    const uint64_t point = points != nullptr ? points[i] : 0;
    if (!object->Submitted(point) &&
        !(flags & (DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
                   DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE))) {
      return Ended(-EINVAL);
    }
    call->Add(std::move(object), point);
  }
  return Begin(std::move(call), deadline);
}

Outcome File::SyncobjWait(drm_syncobj_wait* args) {
  // As the kernel: only timelines can be waited for to become available.
  constexpr uint32_t kKnown =
      DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  if (args->pad != 0 || args->flags & ~kKnown) return Ended(-EINVAL);
  return WaitFor(reinterpret_cast<const uint32_t*>(args->handles), nullptr,
                 args->count_handles, args->timeout_nsec, args->flags,
                 &args->first_signaled);
}

Outcome File::TimelineWait(drm_syncobj_timeline_wait* args) {
  if (args->pad != 0) return Ended(-EINVAL);
  return WaitFor(reinterpret_cast<const uint32_t*>(args->handles),
                 reinterpret_cast<const uint64_t*>(args->points),
                 args->count_handles, args->timeout_nsec, args->flags,
                 &args->first_signaled);
}

Outcome File::TimelineSignal(drm_syncobj_timeline_array* args) {
  if (args->flags != 0 || args->count_handles == 0) return Ended(-EINVAL);
  const auto* handles = reinterpret_cast<const uint32_t*>(args->handles);
  const auto* points = reinterpret_cast<const uint64_t*>(args->points);
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    if (FindSyncobj(handles[i]) == nullptr) return Ended(-ENOENT);
  }
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    if (points[i] == 0) {
      FindSyncobj(handles[i])->Replace(Fence::Signalled());
    } else {
      FindSyncobj(handles[i])->Add(points[i], Fence::Signalled());
    }
  }
  return Ended(0);
}

Outcome File::TimelineQuery(drm_syncobj_timeline_array* args) {
  if (args->flags != 0 || args->count_handles == 0) return Ended(-EINVAL);
  const auto* handles = reinterpret_cast<const uint32_t*>(args->handles);
  auto* points = reinterpret_cast<uint64_t*>(args->points);
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    const auto object = FindSyncobj(handles[i]);
    if (object == nullptr) return Ended(-ENOENT);
    points[i] = object->Value();
  }
  return Ended(0);
}

}  // namespace heddle::hosted
