// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "drm.h"

namespace heddle::hosted {
namespace {

// Objects of each kind that one file may have.
constexpr size_t kObjectsMax = 1u << 16;

// Commands of a stream that are validated before others are served again.
constexpr u32 kCommandsPerTurn = 4 * HEDDLE_VALIDATE_CHUNK;

File::Outcome Fail(int error) {
  File::Outcome o;
  o.result = error;
  return o;
}

File::Outcome Done() {
  File::Outcome o;
  o.progressed = true;
  return o;
}

// An element of an array: what the caller knows of it, the rest zero. -E2BIG:
// the caller knows more and uses it.
template <typename T>
int Element(const drm_heddle_array& array, uint32_t i, T* out) {
  const auto* from =
      reinterpret_cast<const uint8_t*>(array.ptr) + uint64_t{i} * array.stride;
  *out = T();
  std::memcpy(out, from, std::min<size_t>(array.stride, sizeof(T)));
  for (size_t b = sizeof(T); b < array.stride; ++b) {
    if (from[b] != 0) return -E2BIG;
  }
  return 0;
}

template <typename T>
void Fill(const drm_heddle_array& array, uint32_t i, const T& value) {
  auto* to = reinterpret_cast<uint8_t*>(array.ptr) + uint64_t{i} * array.stride;
  std::memcpy(to, &value, std::min<size_t>(array.stride, sizeof(T)));
}

// Sleeping until `deadline_ns` (absolute): another look then, or the end of
// patience.
File::Outcome Later(uint64_t deadline_ns, int error_when_over) {
  if (deadline_ns != ~uint64_t{0} && NowNs() >= deadline_ns)
    return Fail(error_when_over);
  File::Outcome o;
  o.pending = true;
  o.deadline_ns = deadline_ns;
  return o;
}

// Another look as soon as all others have had theirs.
File::Outcome Soon() {
  File::Outcome o;
  o.pending = true;
  o.deadline_ns = 0;
  return o;
}

// An id that is free in `map`.
template <typename Map>
uint32_t NewId(const Map& map, uint32_t* next) {
  while (*next == 0 || map.count(*next) != 0) ++*next;
  return (*next)++;
}

constexpr char kName[] = "heddle";
constexpr char kDate[] = "20260101";
constexpr char kDescription[] = "Heddle NPU (hosted)";

}  // namespace

File::File(std::shared_ptr<Device> device, uint64_t client, bool privileged)
    : device_(std::move(device)), client_(client), privileged_(privileged) {}

File::~File() {
  for (auto& [id, context] : contexts_) device_->DestroyContext(context);
}

File::Outcome File::Ioctl(CallFrame* frame, int fd) {
  const uint32_t request = frame->call().request;
  if (request == DRM_IOCTL_PRIME_FD_TO_HANDLE) {
    return PrimeImport(frame->As<drm_prime_handle>(), fd);
  }
  if (fd >= 0) close(fd);
  if (gone() && request != DRM_IOCTL_HEDDLE_EVENTS) return Fail(-ENODEV);
  switch (request) {
    case DRM_IOCTL_HEDDLE_QUERY:
      return Query(frame->As<drm_heddle_query>());
    case DRM_IOCTL_HEDDLE_CONTEXT_CREATE:
      return ContextCreate(frame->As<drm_heddle_context_create>());
    case DRM_IOCTL_HEDDLE_CONTEXT_DESTROY:
      return ContextDestroy(frame->As<drm_heddle_context_destroy>());
    case DRM_IOCTL_HEDDLE_BO_CREATE:
      return BoCreate(frame->As<drm_heddle_bo_create>());
    case DRM_IOCTL_HEDDLE_BO_INFO:
      return BoInfo(frame->As<drm_heddle_bo_info>());
    case DRM_IOCTL_HEDDLE_STREAM_CREATE:
      return StreamCreate(frame->As<drm_heddle_stream_create>());
    case DRM_IOCTL_HEDDLE_STREAM_DESTROY:
      return StreamDestroy(frame->As<drm_heddle_stream_destroy>());
    case DRM_IOCTL_HEDDLE_SUBMIT:
      return Submit(frame->As<drm_heddle_submit>());
    case DRM_IOCTL_HEDDLE_WAIT:
      return Wait(frame->As<drm_heddle_wait>());
    case DRM_IOCTL_HEDDLE_EVENTS:
      return Events(frame->As<drm_heddle_events>());
    case DRM_IOCTL_VERSION:
      return Version(frame->As<drm_version>());
    case DRM_IOCTL_GEM_CLOSE:
      return GemClose(frame->As<drm_gem_close>());
    case DRM_IOCTL_PRIME_HANDLE_TO_FD:
      return PrimeExport(frame->As<drm_prime_handle>());
    case DRM_IOCTL_SYNCOBJ_CREATE:
      return SyncobjCreate(frame->As<drm_syncobj_create>());
    case DRM_IOCTL_SYNCOBJ_DESTROY:
      return SyncobjDestroy(frame->As<drm_syncobj_destroy>());
    case DRM_IOCTL_SYNCOBJ_RESET:
      return SyncobjReset(frame->As<drm_syncobj_array>());
    case DRM_IOCTL_SYNCOBJ_SIGNAL:
      return SyncobjSignal(frame->As<drm_syncobj_array>());
    case DRM_IOCTL_SYNCOBJ_WAIT:
      return SyncobjWait(frame->As<drm_syncobj_wait>());
    case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT:
      return TimelineWait(frame->As<drm_syncobj_timeline_wait>());
    case DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL:
      return TimelineSignal(frame->As<drm_syncobj_timeline_array>());
    case DRM_IOCTL_SYNCOBJ_QUERY:
      return TimelineQuery(frame->As<drm_syncobj_timeline_array>());
  }
  return Fail(-ENOTTY);
}

// ---- Description
// -----------------------------------------------------------------------

File::Outcome File::Query(drm_heddle_query* args) {
  const int err = heddle_check_query(args);
  if (err != 0) return Fail(err);
  args->size = heddle_query_size(args->type);
  if (args->data.count == 0 || args->data.stride == 0) return Done();
  switch (args->type) {
    case DRM_HEDDLE_QUERY_DEVICE:
      Fill(args->data, 0, device_->info());
      break;
    case DRM_HEDDLE_QUERY_MEMORY: {
      drm_heddle_memory_info info = {};
      info.total = device_->memory_total();
      info.used = device_->memory_used();
      for (const auto& [id, bo] : bos_) {
        if (bo->device != nullptr) info.used_here += bo->device->node.size;
      }
      for (const auto& [id, stream] : streams_)
        info.used_here += stream->device->node.size;
      info.generation = device_->memory_generation();
      Fill(args->data, 0, info);
      break;
    }
    case DRM_HEDDLE_QUERY_LIMITS:
      Fill(args->data, 0, device_->limits());
      break;
    default:
      Fill(args->data, 0, device_->counters());
  }
  return Done();
}

File::Outcome File::Version(drm_version* args) {
  args->version_major = 1;
  args->version_minor = 0;
  args->version_patchlevel = 0;
  auto fill = [](char* to, __kernel_size_t* length, const char* text) {
    const size_t n = std::strlen(text);
    if (to != nullptr) std::memcpy(to, text, std::min<size_t>(n, *length));
    *length = n;
  };
  fill(args->name, &args->name_len, kName);
  fill(args->date, &args->date_len, kDate);
  fill(args->desc, &args->desc_len, kDescription);
  return Done();
}

// ---- Contexts
// --------------------------------------------------------------------------

File::Outcome File::ContextCreate(drm_heddle_context_create* args) {
  const int err = heddle_check_context_create(args, privileged_);
  if (err != 0) return Fail(err);
  if (contexts_.size() >= kObjectsMax) return Fail(-ENOMEM);
  auto context = std::make_shared<Context>();
  context->id = NewId(contexts_, &next_id_);
  context->client = client_;
  context->entry.priority = args->priority;
  device_->AddContext(context);
  contexts_[context->id] = context;
  args->context = context->id;
  return Done();
}

File::Outcome File::ContextDestroy(drm_heddle_context_destroy* args) {
  const int err = heddle_check_context_destroy(args);
  if (err != 0) return Fail(err);
  auto it = contexts_.find(args->context);
  if (it == contexts_.end()) return Fail(-ENOENT);
  device_->DestroyContext(it->second);
  contexts_.erase(it);
  return Done();
}

// ---- Buffers
// ---------------------------------------------------------------------------

File::Outcome File::BoCreate(drm_heddle_bo_create* args) {
  int err = heddle_check_bo_create(args);
  if (err != 0) return Fail(err);
  if (bos_.size() >= kObjectsMax) return Fail(-ENOMEM);
  auto bo = std::make_shared<Bo>();
  bo->placement = args->placement;
  if (args->placement == DRM_HEDDLE_DEVICE) {
    err = device_->Allocate(args->size, &bo->device);
    if (err == -EINPROGRESS) return Later(~uint64_t{0}, 0);
    if (err == 0) bo->size = bo->device->node.size;
  } else {
    err = device_->ShareHost(args->size, -1, &bo->host);
    if (err == 0) bo->size = bo->host->size;
  }
  args->available = device_->memory_available();
  if (err != 0) return Fail(err);
  args->handle = NewId(bos_, &next_id_);
  bos_[args->handle] = std::move(bo);
  return Done();
}

File::Outcome File::BoInfo(drm_heddle_bo_info* args) {
  auto it = bos_.find(args->handle);
  if (it == bos_.end()) return Fail(-ENOENT);
  args->placement = it->second->placement;
  args->size = it->second->size;
  args->mmap_offset =
      it->second->host != nullptr ? uint64_t{args->handle} << 32 : 0;
  return Done();
}

File::Outcome File::Mmap(uint64_t offset) {
  if (gone()) return Fail(-ENODEV);
  auto it = bos_.find(static_cast<uint32_t>(offset >> 32));
  if (it == bos_.end() || it->second->host == nullptr ||
      static_cast<uint32_t>(offset) != 0) {
    return Fail(-EINVAL);
  }
  Outcome o = Done();
  o.fd = fcntl(it->second->host->fd, F_DUPFD_CLOEXEC, 0);
  if (o.fd < 0) o.result = -ENOMEM;
  return o;
}

File::Outcome File::GemClose(drm_gem_close* args) {
  if (args->pad != 0) return Fail(-EINVAL);
  return bos_.erase(args->handle) != 0 ? Done() : Fail(-EINVAL);
}

File::Outcome File::PrimeExport(drm_prime_handle* args) {
  if (args->flags & ~static_cast<uint32_t>(DRM_CLOEXEC | DRM_RDWR))
    return Fail(-EINVAL);
  auto it = bos_.find(args->handle);
  if (it == bos_.end()) return Fail(-ENOENT);
  if (it->second->host == nullptr) return Fail(-EOPNOTSUPP);
  args->fd = -1;
  return Mmap(uint64_t{args->handle} << 32);
}

File::Outcome File::PrimeImport(drm_prime_handle* args, int fd) {
  if (fd < 0) return Fail(-EBADF);
  auto fail = [fd](int error) {
    close(fd);
    return Fail(error);
  };
  if (gone()) return fail(-ENODEV);
  struct stat theirs = {};
  if (fstat(fd, &theirs) != 0 || !S_ISREG(theirs.st_mode) ||
      theirs.st_size <= 0) {
    return fail(-EINVAL);
  }
  for (const auto& [handle, bo] : bos_) {
    struct stat ours = {};
    if (bo->host == nullptr || fstat(bo->host->fd, &ours) != 0) continue;
    if (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino) {
      args->handle = handle;
      close(fd);
      return Done();
    }
  }
  // Only memory that cannot be taken away while the card works on it.
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) return fail(-EINVAL);
  if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR) return fail(-EACCES);
  if (theirs.st_size % HEDDLE_PAGE_BYTES != 0 || bos_.size() >= kObjectsMax)
    return fail(-EINVAL);
  auto bo = std::make_shared<Bo>();
  const int err =
      device_->ShareHost(theirs.st_size, fd, &bo->host);  // takes fd over
  if (err != 0) return Fail(err);
  bo->size = bo->host->size;
  args->handle = NewId(bos_, &next_id_);
  bos_[args->handle] = std::move(bo);
  return Done();
}

// ---- Streams
// ---------------------------------------------------------------------------

int File::Validate(const drm_heddle_stream_create* args,
                   StreamInCreation* creation) {
  if (creation->stream == nullptr) {
    creation->stream = std::make_shared<Stream>();
    creation->stream->bytes = args->data.count;
    // args->data leads to a private, 8-byte aligned copy that nobody else can
    // change.
    heddle_validate_begin(&creation->validation, device_->config(),
                          reinterpret_cast<const u32*>(args->data.ptr),
                          args->data.count, &creation->stream->facts);
  }
  return heddle_validate_step(&creation->validation, kCommandsPerTurn);
}

int File::Place(const drm_heddle_stream_create* args, Stream* stream) {
  if (streams_.size() >= kObjectsMax) return -ENOMEM;
  int err = device_->Allocate(stream->bytes, &stream->device);
  if (err != 0) return err;
  err = device_->ShareHost(stream->bytes, -1, &stream->staging);
  if (err != 0) return err;
  const auto* words = reinterpret_cast<const uint8_t*>(args->data.ptr);
  for (size_t done = 0; done < stream->bytes;) {
    const ssize_t n =
        pwrite(stream->staging->fd, words + done, stream->bytes - done, done);
    if (n <= 0) return -ENOMEM;
    done += n;
  }
  return 0;
}

File::Outcome File::StreamCreate(drm_heddle_stream_create* args) {
  int err = heddle_check_stream_create(args);
  if (err != 0) return Fail(err);
  StreamInCreation& creation = creations_[args];
  err = Validate(args, &creation);
  // Others' turn first.
  if (err == -EAGAIN) return Soon();
  const std::shared_ptr<Stream> stream = creation.stream;
  if (err == 0) err = Place(args, stream.get());
  if (err == -EINPROGRESS) return Later(~uint64_t{0}, 0);
  creations_.erase(args);
  if (err == -ENOEXEC) {
    args->error_offset = stream->facts.offset;
    args->error_code = stream->facts.error;
  }
  if (err != 0) return Fail(err);
  args->stream = NewId(streams_, &next_id_);
  streams_[args->stream] = stream;
  return Done();
}

File::Outcome File::StreamDestroy(drm_heddle_stream_destroy* args) {
  const int err = heddle_check_stream_destroy(args);
  if (err != 0) return Fail(err);
  return streams_.erase(args->stream) != 0 ? Done() : Fail(-ENOENT);
}

// ---- Jobs
// ------------------------------------------------------------------------------

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

int File::ResolveStep(const drm_heddle_step& in, Step* step) const {
  int err = heddle_check_step(&in);
  if (err != 0) return err;
  step->type = in.type;
  step->length = in.length;
  step->src_offset = in.src_offset;
  step->dst_offset = in.dst_offset;
  step->fill_value = in.fill_value;
  if (in.type == DRM_HEDDLE_RUN) return ResolveRun(in, step);
  const bool out = in.type == DRM_HEDDLE_COPY_OUT;
  step->dst = FindBo(in.dst, out ? DRM_HEDDLE_HOST : DRM_HEDDLE_DEVICE, &err);
  if (step->dst == nullptr) return err;
  err = heddle_check_range(in.dst_offset, in.length, step->dst->size);
  if (err != 0 || in.type == DRM_HEDDLE_FILL) return err;
  step->src = FindBo(in.src, out ? DRM_HEDDLE_DEVICE : DRM_HEDDLE_HOST, &err);
  if (step->src == nullptr) return err;
  return heddle_check_range(in.src_offset, in.length, step->src->size);
}

File::Outcome File::Submit(drm_heddle_submit* args) {
  int err = heddle_check_submit(args);
  if (err != 0) return Fail(err);
  auto it = contexts_.find(args->context);
  if (it == contexts_.end()) return Fail(-ENOENT);
  const auto& context = it->second;
  if (context->unfinished >= Context::kQueuedMax) return Fail(-EAGAIN);
  auto job = std::make_shared<Job>();
  job->client = client_;
  job->priority = context->entry.priority;
  job->context = context;
  job->timeout_ns = args->timeout_ns;
  job->steps.resize(args->steps.count);
  for (uint32_t i = 0; i < args->steps.count; ++i) {
    drm_heddle_step step;
    err = Element(args->steps, i, &step);
    if (err == 0) err = ResolveStep(step, &job->steps[i]);
    if (err != 0) return Fail(err);
  }
  for (uint32_t i = 0; i < args->in_syncs.count; ++i) {
    drm_heddle_sync sync;
    err = Element(args->in_syncs, i, &sync);
    if (err == 0) err = heddle_check_sync(&sync);
    if (err != 0) return Fail(err);
    Syncobj* object = FindSyncobj(sync.handle);
    if (object == nullptr) return Fail(-ENOENT);
    if (!object->Submitted(sync.point)) return Fail(-EINVAL);
    object->Collect(sync.point, &job->in_fences);
  }
  std::vector<std::pair<Syncobj*, uint64_t>> out;
  for (uint32_t i = 0; i < args->out_syncs.count; ++i) {
    drm_heddle_sync sync;
    err = Element(args->out_syncs, i, &sync);
    if (err == 0) err = heddle_check_sync(&sync);
    if (err != 0) return Fail(err);
    Syncobj* object = FindSyncobj(sync.handle);
    if (object == nullptr) return Fail(-ENOENT);
    out.emplace_back(object, sync.point);
  }
  // Nothing can fail from here on.
  for (const auto& [object, point] : out) {
    if (point == 0) {
      object->Replace(job->fence);
    } else {
      object->Add(point, job->fence);
    }
  }
  job->seqno = context->next_seqno++;
  args->seqno = job->seqno;
  device_->Submit(context, job);
  return Done();
}

File::Outcome File::Wait(drm_heddle_wait* args) {
  const int err = heddle_check_wait(args);
  if (err != 0) return Fail(err);
  auto it = contexts_.find(args->context);
  if (it == contexts_.end()) return Fail(-ENOENT);
  auto job = it->second->jobs.find(args->seqno);
  if (job == it->second->jobs.end()) return Fail(-ENOENT);
  if (!heddle_job_ended(job->second->state))
    return Later(args->deadline_ns, -ETIME);
  if (args->result.count == 1) Fill(args->result, 0, job->second->result);
  return Done();
}

File::Outcome File::Events(drm_heddle_events* args) {
  const int err = heddle_check_events(args);
  if (err != 0) return Fail(err);
  if (events_.empty()) {
    if (gone()) return Fail(-ENODEV);
    return Later(args->deadline_ns, -ETIME);
  }
  args->filled = 0;
  while (args->filled < args->events.count && !events_.empty()) {
    Fill(args->events, args->filled++, events_.front());
    events_.pop_front();
  }
  args->lost = std::exchange(events_lost_, 0);
  return Done();
}

void File::Notify(uint32_t type, uint32_t context, uint64_t client,
                  uint64_t value) {
  drm_heddle_event event = {};
  event.type = type;
  event.time_ns = NowNs();
  event.value = value;
  if (type == DRM_HEDDLE_EVENT_RESET) {
    event.context = client == client_ ? context : 0;
    event.value = client == client_ ? value : 0;
  }
  if (events_.size() >= kEventsKept) {
    events_.pop_front();
    events_lost_++;
  }
  events_.push_back(event);
}

// ---- Synchronisation objects
// -----------------------------------------------------------

Syncobj* File::FindSyncobj(uint32_t handle) {
  auto it = syncobjs_.find(handle);
  return it != syncobjs_.end() ? it->second.get() : nullptr;
}

File::Outcome File::SyncobjCreate(drm_syncobj_create* args) {
  if (args->flags & ~static_cast<uint32_t>(DRM_SYNCOBJ_CREATE_SIGNALED))
    return Fail(-EINVAL);
  if (syncobjs_.size() >= kObjectsMax) return Fail(-ENOMEM);
  args->handle = NewId(syncobjs_, &next_id_);
  auto object = std::make_unique<Syncobj>();
  if (args->flags & DRM_SYNCOBJ_CREATE_SIGNALED)
    object->Replace(Fence::Signalled());
  syncobjs_[args->handle] = std::move(object);
  return Done();
}

File::Outcome File::SyncobjDestroy(drm_syncobj_destroy* args) {
  if (args->pad != 0) return Fail(-EINVAL);
  return syncobjs_.erase(args->handle) != 0 ? Done() : Fail(-EINVAL);
}

File::Outcome File::SyncobjReset(drm_syncobj_array* args) {
  if (args->pad != 0 || args->count_handles == 0) return Fail(-EINVAL);
  const auto* handles = reinterpret_cast<const uint32_t*>(args->handles);
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    if (FindSyncobj(handles[i]) == nullptr) return Fail(-ENOENT);
  }
  for (uint32_t i = 0; i < args->count_handles; ++i)
    FindSyncobj(handles[i])->Reset();
  return Done();
}

File::Outcome File::SyncobjSignal(drm_syncobj_array* args) {
  if (args->pad != 0 || args->count_handles == 0) return Fail(-EINVAL);
  const auto* handles = reinterpret_cast<const uint32_t*>(args->handles);
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    if (FindSyncobj(handles[i]) == nullptr) return Fail(-ENOENT);
  }
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    FindSyncobj(handles[i])->Replace(Fence::Signalled());
  }
  return Done();
}

File::Outcome File::WaitFor(const uint32_t* handles, const uint64_t* points,
                            uint32_t count, int64_t timeout_ns, uint32_t flags,
                            uint32_t* first) {
  constexpr uint32_t kKnown = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL |
                              DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
                              DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
  if (flags & ~kKnown || count == 0) return Fail(-EINVAL);
  const bool all = flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
  const bool available = flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
  uint32_t done = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Syncobj* object = FindSyncobj(handles[i]);
    if (object == nullptr) return Fail(-ENOENT);
    const uint64_t point = points != nullptr ? points[i] : 0;
    const bool submitted = object->Submitted(point);
    if (!submitted && !(flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT) &&
        !available) {
      return Fail(-EINVAL);
    }
    if (submitted && (available || object->Done(point))) {
      if (done++ == 0) *first = i;
    }
  }
  if (all ? done == count : done > 0) return Done();
  // The kernel's times are absolute; negative and zero mean: do not wait.
  return Later(timeout_ns < 0 ? 0 : static_cast<uint64_t>(timeout_ns), -ETIME);
}

File::Outcome File::SyncobjWait(drm_syncobj_wait* args) {
  // As the kernel: only timelines can be waited for to become available.
  constexpr uint32_t kKnown =
      DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  if (args->pad != 0 || args->flags & ~kKnown) return Fail(-EINVAL);
  return WaitFor(reinterpret_cast<const uint32_t*>(args->handles), nullptr,
                 args->count_handles, args->timeout_nsec, args->flags,
                 &args->first_signaled);
}

File::Outcome File::TimelineWait(drm_syncobj_timeline_wait* args) {
  if (args->pad != 0) return Fail(-EINVAL);
  return WaitFor(reinterpret_cast<const uint32_t*>(args->handles),
                 reinterpret_cast<const uint64_t*>(args->points),
                 args->count_handles, args->timeout_nsec, args->flags,
                 &args->first_signaled);
}

File::Outcome File::TimelineSignal(drm_syncobj_timeline_array* args) {
  if (args->flags != 0 || args->count_handles == 0) return Fail(-EINVAL);
  const auto* handles = reinterpret_cast<const uint32_t*>(args->handles);
  const auto* points = reinterpret_cast<const uint64_t*>(args->points);
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    if (FindSyncobj(handles[i]) == nullptr) return Fail(-ENOENT);
  }
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    if (points[i] == 0) {
      FindSyncobj(handles[i])->Replace(Fence::Signalled());
    } else {
      FindSyncobj(handles[i])->Add(points[i], Fence::Signalled());
    }
  }
  return Done();
}

File::Outcome File::TimelineQuery(drm_syncobj_timeline_array* args) {
  if (args->flags != 0 || args->count_handles == 0) return Fail(-EINVAL);
  const auto* handles = reinterpret_cast<const uint32_t*>(args->handles);
  auto* points = reinterpret_cast<uint64_t*>(args->points);
  for (uint32_t i = 0; i < args->count_handles; ++i) {
    Syncobj* object = FindSyncobj(handles[i]);
    if (object == nullptr) return Fail(-ENOENT);
    points[i] = object->Value();
  }
  return Done();
}

}  // namespace heddle::hosted
