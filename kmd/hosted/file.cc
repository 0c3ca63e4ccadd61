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
#include "kmd/hosted/file_outcome.h"

namespace heddle::hosted {
namespace {

constexpr char kName[] = "heddle";
constexpr char kDate[] = "20260101";
constexpr char kDescription[] = "Heddle NPU (hosted)";

}  // namespace

File::File(std::shared_ptr<Device> device, StreamChecker* checker,
           const Owner& owner)
    : device_(std::move(device)),
      checker_(checker),
      state_(device_->AddClient(owner.client)),
      privileged_(owner.privileged),
      descriptors_(owner.descriptors) {}

File::~File() {
  for (auto& [id, context] : contexts_) device_->DestroyContext(context);
  state_->board = nullptr;
}

Outcome File::Ioctl(const std::shared_ptr<CallFrame>& frame, int* fd) {
  const uint32_t request = frame->call().request;
  if (gone() && request != DRM_IOCTL_HEDDLE_EVENTS) return Ended(-ENODEV);
  switch (request) {
    case DRM_IOCTL_HEDDLE_QUERY:
      return Query(frame->As<drm_heddle_query>());
    case DRM_IOCTL_HEDDLE_CONTEXT_CREATE:
      return ContextCreate(frame->As<drm_heddle_context_create>());
    case DRM_IOCTL_HEDDLE_CONTEXT_CONTROL:
      return ContextControl(frame->As<drm_heddle_context_control>());
    case DRM_IOCTL_HEDDLE_CONTEXT_DESTROY:
      return ContextDestroy(frame->As<drm_heddle_context_destroy>());
    case DRM_IOCTL_HEDDLE_BO_CREATE:
      return BoCreate(frame->As<drm_heddle_bo_create>());
    case DRM_IOCTL_HEDDLE_BO_INFO:
      return BoInfo(frame->As<drm_heddle_bo_info>());
    case DRM_IOCTL_HEDDLE_STREAM_CREATE:
      return StreamCreate(frame);
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
    case DRM_IOCTL_PRIME_FD_TO_HANDLE:
      return PrimeImport(frame->As<drm_prime_handle>(), fd);
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
  return Ended(-ENOTTY);
}

// ---- Description
// -----------------------------------------------------------------------

Outcome File::Query(drm_heddle_query* args) {
  const int err = heddle_check_query(args);
  if (err != 0) return Ended(err);
  args->size = heddle_query_size(args->type);
  if (args->data.count == 0 || args->data.stride == 0) return Ended(0);
  switch (args->type) {
    case DRM_HEDDLE_QUERY_DEVICE:
      Fill(args->data, 0, device_->info());
      break;
    case DRM_HEDDLE_QUERY_MEMORY: {
      drm_heddle_memory_info info = {};
      info.total = device_->memory_total();
      info.used = device_->memory_used();
      info.used_here = used_here_;
      info.generation = device_->memory_generation();
      Fill(args->data, 0, info);
      break;
    }
    case DRM_HEDDLE_QUERY_LIMITS:
      Fill(args->data, 0, device_->limits());
      break;
    default:
      Fill(args->data, 0,
           privileged_ ? device_->counters() : device_->counters(*state_));
  }
  return Ended(0);
}

Outcome File::Version(drm_version* args) {
  args->version_major = 1;
  args->version_minor = HEDDLE_REG_VERSION_RESET & HEDDLE_VERSION_MINOR_MASK;
  args->version_patchlevel = 0;
  auto fill = [](char* to, __kernel_size_t* length, const char* text) {
    const size_t n = std::strlen(text);
    if (to != nullptr) std::memcpy(to, text, std::min<size_t>(n, *length));
    *length = n;
  };
  fill(args->name, &args->name_len, kName);
  fill(args->date, &args->date_len, kDate);
  fill(args->desc, &args->desc_len, kDescription);
  return Ended(0);
}

// ---- Contexts
// --------------------------------------------------------------------------

Outcome File::ContextCreate(drm_heddle_context_create* args) {
  int err = heddle_check_context_create(args, privileged_);
  if (err != 0) return Ended(err);
  const drm_heddle_limits& limits = device_->limits();
  if (heddle_usage_banned(&state_->usage, &limits)) return Ended(-EIO);
  auto context = std::make_shared<Context>();
  err = context->charge.Take(state_, limits, HEDDLE_CONTEXTS, 1);
  if (err != 0) return Ended(err);
  context->id = NewId(contexts_, &next_id_);
  context->owner = state_;
  context->turn.priority = args->priority;
  device_->AddContext(context);  // which forgets it when nobody else knows it
  contexts_[context->id] = context;
  args->context = context->id;
  return Ended(0);
}

Outcome File::ContextControl(drm_heddle_context_control* args) {
  const drm_heddle_limits& limits = device_->limits();
  const int err =
      heddle_check_context_control(args, limits.run_cycles, privileged_);
  if (err != 0) return Ended(err);
  auto it = contexts_.find(args->context);
  if (it == contexts_.end()) return Ended(-ENOENT);
  Context* context = it->second.get();
  if (args->flags & DRM_HEDDLE_CONTROL_RUN_CYCLES) {
    context->run_cycles =
        args->run_cycles != 0 ? args->run_cycles : limits.run_cycles;
  }
  args->run_cycles = context->run_cycles;
  args->state = heddle_usage_banned(&state_->usage, &limits)
                    ? DRM_HEDDLE_CONTEXT_BANNED
                    : DRM_HEDDLE_CONTEXT_USABLE;
  args->hangs = context->hangs;
  return Ended(0);
}

Outcome File::ContextDestroy(drm_heddle_context_destroy* args) {
  const int err = heddle_check_pad(args->pad);
  if (err != 0) return Ended(err);
  auto it = contexts_.find(args->context);
  if (it == contexts_.end()) return Ended(-ENOENT);
  device_->DestroyContext(it->second);
  if (state_->board != nullptr) state_->board->Forget(args->context);
  contexts_.erase(it);
  return Ended(0);
}

// ---- Buffers
// ---------------------------------------------------------------------------

// Makes a DEVICE buffer as soon as there is a gap for it.
class File::DeviceBo : public WaitingCall {
 public:
  DeviceBo(File* file, drm_heddle_bo_create* args, std::shared_ptr<Bo> bo)
      : file_(file), args_(args), bo_(std::move(bo)) {}
  bool Resume(Outcome* outcome) override {
    Device* device = file_->device_.get();
    int err = file_->gone()
                  ? -ENODEV
                  : device->Allocate(args_->size, file_->state_, &bo_->device);
    if (err == -EINPROGRESS) {
      device->AwaitMemory(&link_);
      return false;
    }
    if (err == 0) {
      bo_->size = bo_->device->node.size;
      file_->AddBo(bo_, &args_->handle);
    }
    args_->available = device->memory_available();
    outcome->result = err;
    return true;
  }

 private:
  File* const file_;
  drm_heddle_bo_create* const args_;
  const std::shared_ptr<Bo> bo_;
  WaitLink link_{this};
};

void File::AddBo(const std::shared_ptr<Bo>& bo, uint32_t* handle) {
  const uint32_t id = NewId(bos_, &next_id_);
  auto it = bos_.emplace(id, bo).first;
  if (bo->host != nullptr) {
    try {
      by_node_.emplace(std::make_pair(bo->host->device, bo->host->node), id);
    } catch (const std::bad_alloc&) {
      bos_.erase(it);
      throw;
    }
  }
  if (bo->device != nullptr) used_here_ += bo->size;
  *handle = id;
}

int File::ShareHost(uint64_t bytes, int* fd,
                    std::shared_ptr<HostMemory>* memory) {
  ClientPart::Share share;
  int err = descriptors_->Take(&share);
  if (err != 0) return err;
  err = device_->ShareHost(bytes, std::exchange(*fd, -1), memory);
  if (err != 0) return err;
  (*memory)->share = std::move(share);
  return 0;
}

int File::PinHost(uint64_t bytes, int* fd,
                  std::shared_ptr<HostMemory>* memory) {
  u64 rounded = 0;
  // What nobody has is no matter of quotas.
  if (heddle_mem_round(bytes, &rounded) != 0 || rounded > Device::kHostBytesMax)
    return -ENOMEM;
  Charge charge;
  int err =
      charge.Take(state_, device_->limits(), HEDDLE_PINNED_BYTES, rounded);
  if (err == 0) err = ShareHost(bytes, fd, memory);
  if (err != 0) return err;
  (*memory)->charge = std::move(charge);
  return 0;
}

Outcome File::BoCreate(drm_heddle_bo_create* args) {
  int err = heddle_check_bo_create(args);
  if (err != 0) return Ended(err);
  args->available = device_->memory_available();
  auto bo = std::make_shared<Bo>();
  bo->placement = args->placement;
  err = bo->charge.Take(state_, device_->limits(), HEDDLE_BUFFERS, 1);
  if (err != 0) return Ended(err);
  if (args->placement == DRM_HEDDLE_DEVICE)
    return Begin(std::make_unique<DeviceBo>(this, args, std::move(bo)));
  int none = -1;
  err = PinHost(args->size, &none, &bo->host);
  if (err != 0) return Ended(err);
  bo->size = bo->host->size;
  AddBo(bo, &args->handle);
  return Ended(0);
}

Outcome File::BoInfo(drm_heddle_bo_info* args) {
  auto it = bos_.find(args->handle);
  if (it == bos_.end()) return Ended(-ENOENT);
  args->placement = it->second->placement;
  args->size = it->second->size;
  args->mmap_offset =
      it->second->host != nullptr ? uint64_t{args->handle} << 32 : 0;
  return Ended(0);
}

Outcome File::Mmap(uint64_t offset) {
  if (gone()) return Ended(-ENODEV);
  auto it = bos_.find(static_cast<uint32_t>(offset >> 32));
  if (it == bos_.end() || it->second->host == nullptr ||
      static_cast<uint32_t>(offset) != 0) {
    return Ended(-EINVAL);
  }
  Outcome o;
  o.shows = it->second->host;
  return o;
}

Outcome File::Results() {
  if (gone()) return Ended(-ENODEV);
  if (state_->board != nullptr) return Ended(-EBUSY);
  Outcome o;
  auto memory = std::make_shared<HostMemory>();
  o.result = descriptors_->Take(&memory->share);
  if (o.result == 0)
    o.result = ResultsBoard::Create(&state_->board, &memory->fd);
  if (o.result == 0) o.shows = std::move(memory);
  return o;
}

Outcome File::GemClose(drm_gem_close* args) {
  if (args->pad != 0) return Ended(-EINVAL);
  auto it = bos_.find(args->handle);
  if (it == bos_.end()) return Ended(-EINVAL);
  const Bo& bo = *it->second;
  if (bo.device != nullptr) used_here_ -= bo.size;
  if (bo.host != nullptr)
    by_node_.erase(std::make_pair(bo.host->device, bo.host->node));
  bos_.erase(it);
  return Ended(0);
}

Outcome File::PrimeExport(drm_prime_handle* args) {
  if (args->flags & ~static_cast<uint32_t>(DRM_CLOEXEC | DRM_RDWR))
    return Ended(-EINVAL);
  auto it = bos_.find(args->handle);
  if (it == bos_.end()) return Ended(-ENOENT);
  if (it->second->host == nullptr) return Ended(-EOPNOTSUPP);
  args->fd = -1;
  return Mmap(uint64_t{args->handle} << 32);
}

Outcome File::PrimeImport(drm_prime_handle* args, int* fd) {
  if (*fd < 0) return Ended(-EBADF);
  struct stat theirs = {};
  if (fstat(*fd, &theirs) != 0 || !S_ISREG(theirs.st_mode) ||
      theirs.st_size <= 0) {
    return Ended(-EINVAL);
  }
  // One handle for one buffer, however often it comes.
  auto known = by_node_.find(
      std::make_pair(uint64_t{theirs.st_dev}, uint64_t{theirs.st_ino}));
  if (known != by_node_.end()) {
    args->handle = known->second;
    return Ended(0);
  }
  // Only memory that cannot be taken away while the card works on it.
  const int seals = fcntl(*fd, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) return Ended(-EINVAL);
  if ((fcntl(*fd, F_GETFL) & O_ACCMODE) != O_RDWR) return Ended(-EACCES);
  if (theirs.st_size % HEDDLE_PAGE_BYTES != 0) return Ended(-EINVAL);
  auto bo = std::make_shared<Bo>();
  int err = bo->charge.Take(state_, device_->limits(), HEDDLE_BUFFERS, 1);
  if (err == 0) err = PinHost(theirs.st_size, fd, &bo->host);
  if (err != 0) return Ended(err);
  bo->size = bo->host->size;
  AddBo(bo, &args->handle);
  return Ended(0);
}

// ---- Streams
// ---------------------------------------------------------------------------

// Makes a stream: validates it, waits for a gap, keeps it for its upload.
class File::NewStream : public WaitingCall {
 public:
  NewStream(File* file, const std::shared_ptr<CallFrame>& frame,
            std::shared_ptr<Stream> stream)
      : file_(file),
        args_(frame->As<drm_heddle_stream_create>()),
        check_(std::make_shared<StreamChecker::Check>()),
        stream_(std::move(stream)) {
    check_->client = file->state_->id;
    check_->config = file->device_->config();
    // This leads to a private, 8-byte aligned copy that nobody else can change.
    check_->words = reinterpret_cast<const u32*>(args_->data.ptr);
    check_->bytes = args_->data.count;
    check_->keeps = frame;
    stream_->bytes = args_->data.count;
  }
  bool Resume(Outcome* outcome) override {
    if (!started_) Start();
    if (!check_->finished && !file_->gone()) return false;
    outcome->result = Finish();
    if (outcome->result != -EINPROGRESS) return true;
    file_->device_->AwaitMemory(&link_);
    return false;
  }

 private:
  void Start() {
    started_ = true;
    if (check_->bytes <= StreamChecker::kShortBytes) {
      check_->Run();
      check_->finished = true;
      return;
    }
    check_->done.Add(&link_);
    file_->checker_->Add(check_);
  }
  int Finish() {
    if (file_->gone()) return -ENODEV;
    stream_->facts = check_->facts;
    args_->error_offset = check_->result == -ENOEXEC ? check_->facts.offset : 0;
    args_->error_code = check_->result == -ENOEXEC ? check_->facts.error : 0;
    if (check_->result != 0) return check_->result;
    int err = file_->device_->Allocate(stream_->bytes, file_->state_,
                                       &stream_->device);
    if (err != 0) return err;
    err = file_->ShareHost(stream_->bytes, &check_->fd, &stream_->staging);
    if (err != 0) return err;
    const uint32_t id = NewId(file_->streams_, &file_->next_id_);
    file_->streams_.emplace(id, stream_);
    file_->used_here_ += stream_->device->node.size;
    args_->stream = id;
    return 0;
  }

  File* const file_;
  drm_heddle_stream_create* const args_;
  const std::shared_ptr<StreamChecker::Check> check_;
  const std::shared_ptr<Stream> stream_;
  bool started_ = false;
  WaitLink link_{this};
};

Outcome File::StreamCreate(const std::shared_ptr<CallFrame>& frame) {
  int err = heddle_check_stream_create(frame->As<drm_heddle_stream_create>());
  if (err != 0) return Ended(err);
  auto stream = std::make_shared<Stream>();
  err = stream->charge.Take(state_, device_->limits(), HEDDLE_STREAMS, 1);
  if (err != 0) return Ended(err);
  return Begin(std::make_unique<NewStream>(this, frame, std::move(stream)));
}

Outcome File::StreamDestroy(drm_heddle_stream_destroy* args) {
  const int err = heddle_check_pad(args->pad);
  if (err != 0) return Ended(err);
  auto it = streams_.find(args->stream);
  if (it == streams_.end()) return Ended(-ENOENT);
  used_here_ -= it->second->device->node.size;
  streams_.erase(it);
  return Ended(0);
}

}  // namespace heddle::hosted
