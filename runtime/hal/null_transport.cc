// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/null_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

#include "drm/heddle_drm.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::hal {
namespace {

constexpr uint32_t kResultsKept = 1024;  // of a context, as the uAPI says

// Element i of an array whose elements may be shorter or longer than T.
template <typename T>
int Element(const drm_heddle_array& array, uint32_t i, T* out) {
  if (array.ptr == 0 || array.stride == 0) return -EINVAL;
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
void Fill(const drm_heddle_array& array, const T& value) {
  std::memcpy(reinterpret_cast<void*>(array.ptr), &value,
              std::min<size_t>(array.stride, sizeof(T)));
}

bool Inside(uint64_t offset, uint64_t length, uint64_t size) {
  return length <= size && offset <= size - length;
}

class NullTransport : public Transport {
 public:
  explicit NullTransport(const NullOptions& options)
      : options_(options),
        total_(options.memory_bytes > isa::kDeviceReserveBytes
                   ? options.memory_bytes - isa::kDeviceReserveBytes
                   : 0) {}

  ~NullTransport() override {
    for (const auto& entry : buffers_) {
      if (entry.second.fd >= 0) close(entry.second.fd);
    }
  }

  int Ioctl(unsigned long request, void* argument) override {
    std::unique_lock<std::mutex> lock(mutex_);
    if (request == DRM_IOCTL_HEDDLE_EVENTS) {
      return Events(static_cast<drm_heddle_events*>(argument), &lock);
    }
    if (down_) return -ENODEV;
    switch (request) {
      case DRM_IOCTL_HEDDLE_QUERY:
        return Query(static_cast<drm_heddle_query*>(argument));
      case DRM_IOCTL_HEDDLE_CONTEXT_CREATE:
        return ContextCreate(static_cast<drm_heddle_context_create*>(argument));
      case DRM_IOCTL_HEDDLE_CONTEXT_DESTROY: {
        const auto* args = static_cast<drm_heddle_context_destroy*>(argument);
        if (args->pad != 0) return -EINVAL;
        return contexts_.erase(args->context) != 0 ? 0 : -ENOENT;
      }
      case DRM_IOCTL_HEDDLE_BO_CREATE:
        return BoCreate(static_cast<drm_heddle_bo_create*>(argument));
      case DRM_IOCTL_HEDDLE_BO_INFO:
        return BoInfo(static_cast<drm_heddle_bo_info*>(argument));
      case DRM_IOCTL_GEM_CLOSE:
        return GemClose(static_cast<drm_gem_close*>(argument));
      case DRM_IOCTL_HEDDLE_STREAM_CREATE:
        return StreamCreate(static_cast<drm_heddle_stream_create*>(argument));
      case DRM_IOCTL_HEDDLE_STREAM_DESTROY:
        return StreamDestroy(static_cast<drm_heddle_stream_destroy*>(argument));
      case DRM_IOCTL_HEDDLE_SUBMIT:
        return Submit(static_cast<drm_heddle_submit*>(argument));
      case DRM_IOCTL_HEDDLE_WAIT:
        return Wait(static_cast<drm_heddle_wait*>(argument));
      default:
        return -ENOTTY;
    }
  }

  int Map(uint32_t handle, size_t size, void** address) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = buffers_.find(handle);
    if (down_) return -ENODEV;
    if (it == buffers_.end()) return -ENOENT;
    if (it->second.fd < 0 || size > it->second.size) return -EINVAL;
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                        it->second.fd, 0);
    if (mapped == MAP_FAILED) return -errno;
    *address = mapped;
    return 0;
  }

  void Unmap(void* address, size_t size) override { munmap(address, size); }

  int Export(uint32_t handle) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = buffers_.find(handle);
    if (down_) return -ENODEV;
    if (it == buffers_.end()) return -ENOENT;
    if (it->second.fd < 0) return -EOPNOTSUPP;
    const int fd = fcntl(it->second.fd, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? -errno : fd;
  }

  int Import(int fd, uint32_t* handle) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (down_) return -ENODEV;
    struct stat theirs = {};
    if (fstat(fd, &theirs) != 0) return -EBADF;
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || theirs.st_size <= 0 ||
        theirs.st_size % isa::kPageBytes != 0) {
      return -EINVAL;
    }
    for (const auto& entry : buffers_) {
      struct stat ours = {};
      if (entry.second.fd >= 0 && fstat(entry.second.fd, &ours) == 0 &&
          ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino) {
        *handle = entry.first;
        return 0;
      }
    }
    Buffer buffer;
    buffer.placement = DRM_HEDDLE_HOST;
    buffer.size = static_cast<uint64_t>(theirs.st_size);
    buffer.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (buffer.fd < 0) return -errno;
    *handle = next_id_++;
    buffers_[*handle] = buffer;
    return 0;
  }

  void Shutdown() override {
    std::lock_guard<std::mutex> lock(mutex_);
    down_ = true;
    changed_.notify_all();
  }

 private:
  struct Buffer {
    uint32_t placement = DRM_HEDDLE_HOST;
    uint64_t size = 0;
    int fd = -1;  // HOST
  };

  static bool PageUp(uint64_t size, uint64_t* rounded) {
    if (__builtin_add_overflow(size, uint64_t{isa::kPageBytes - 1}, rounded)) {
      return false;
    }
    *rounded = *rounded / isa::kPageBytes * isa::kPageBytes;
    return true;
  }

  int Query(drm_heddle_query* args) {
    if (args->pad != 0) return -EINVAL;
    if (args->data.stride != 0 && args->data.count != 1) return -EINVAL;
    if (args->data.stride != 0 && args->data.ptr == 0) return -EFAULT;
    drm_heddle_device_info info = {};
    drm_heddle_memory_info memory = {};
    switch (args->type) {
      case DRM_HEDDLE_QUERY_DEVICE:
        info.config = options_.config->id;
        info.hw_version = reg::kVersionReset;
        info.core_kind = static_cast<uint32_t>(isa::CoreKind::kFunctional);
        info.priorities = isa::kRings;
        info.max_stream_bytes = isa::kStreamBytesMax;
        info.max_steps = isa::kStepsMax;
        args->size = sizeof(info);
        if (args->data.stride != 0) Fill(args->data, info);
        return 0;
      case DRM_HEDDLE_QUERY_MEMORY:
        memory.total = total_;
        memory.used = memory.used_here = used_;
        args->size = sizeof(memory);
        if (args->data.stride != 0) Fill(args->data, memory);
        return 0;
      case DRM_HEDDLE_QUERY_COUNTERS:
        args->size = sizeof(counters_);
        if (args->data.stride != 0) Fill(args->data, counters_);
        return 0;
      default:
        return -EINVAL;
    }
  }

  int ContextCreate(drm_heddle_context_create* args) {
    if (args->flags != 0 || args->pad != 0 || args->priority >= isa::kRings) {
      return -EINVAL;
    }
    args->context = next_id_++;
    contexts_[args->context] = 0;
    return 0;
  }

  int BoCreate(drm_heddle_bo_create* args) {
    if (args->size == 0 || args->flags != 0 || args->pad != 0) return -EINVAL;
    Buffer buffer;
    buffer.placement = args->placement;
    const bool fits = PageUp(args->size, &buffer.size);
    args->available = total_ - used_;
    if (args->placement == DRM_HEDDLE_DEVICE) {
      if (!fits || buffer.size > total_ - used_) return -ENOSPC;
      used_ += buffer.size;
      args->available = total_ - used_;
    } else if (args->placement == DRM_HEDDLE_HOST) {
      if (!fits || buffer.size > uint64_t{INT64_MAX}) return -ENOMEM;
      buffer.fd = memfd_create("heddle-null", MFD_CLOEXEC | MFD_ALLOW_SEALING);
      if (buffer.fd < 0) return errno == ENOMEM ? -ENOMEM : -errno;
      if (ftruncate(buffer.fd, static_cast<off_t>(buffer.size)) != 0 ||
          fcntl(buffer.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
        close(buffer.fd);
        return -ENOMEM;
      }
    } else {
      return -EINVAL;
    }
    args->handle = next_id_++;
    buffers_[args->handle] = buffer;
    return 0;
  }

  int BoInfo(drm_heddle_bo_info* args) {
    const auto it = buffers_.find(args->handle);
    if (it == buffers_.end()) return -ENOENT;
    args->placement = it->second.placement;
    args->size = it->second.size;
    args->mmap_offset = it->second.fd >= 0 ? uint64_t{args->handle} << 32 : 0;
    return 0;
  }

  int GemClose(drm_gem_close* args) {
    const auto it = buffers_.find(args->handle);
    if (args->pad != 0 || it == buffers_.end()) return -EINVAL;
    if (it->second.fd >= 0) {
      close(it->second.fd);
    } else {
      used_ -= it->second.size;
    }
    buffers_.erase(it);
    return 0;
  }

  // Writes what is wrong, if anything, to *args.
  int CheckStream(drm_heddle_stream_create* args) {
    const auto* words = reinterpret_cast<const uint32_t*>(args->data.ptr);
    const size_t count = args->data.count / sizeof(uint32_t);
    const auto refuse = [args](size_t at, uint32_t code) {
      args->error_offset = static_cast<uint32_t>(at * sizeof(uint32_t));
      args->error_code = code;
      return -ENOEXEC;
    };
    for (size_t at = 0; at < count;) {
      const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
      if (info == nullptr) return refuse(at, HEDDLE_VALIDATE_OPCODE);
      if (info->words > count - at) {
        return refuse(at, HEDDLE_VALIDATE_TRUNCATED);
      }
      if (!isa::CheckCommand(words + at, count - at).ok()) {
        return refuse(at, HEDDLE_VALIDATE_FIELD);
      }
      const bool last = at + info->words == count;
      if ((info->opcode == isa::Opcode::kEnd) != last) {
        return refuse(at, HEDDLE_VALIDATE_END);
      }
      at += info->words;
    }
    return 0;
  }

  int StreamCreate(drm_heddle_stream_create* args) {
    const uint32_t bytes = args->data.count;
    if (args->flags != 0 || args->data.stride != 1 || bytes == 0 ||
        bytes > isa::kStreamBytesMax || bytes % isa::kWordBytes != 0) {
      return -EINVAL;
    }
    if (args->data.ptr == 0) return -EFAULT;
    if (const int error = CheckStream(args); error != 0) return error;
    uint64_t rounded = 0;
    if (!PageUp(bytes, &rounded) || rounded > total_ - used_) return -ENOSPC;
    used_ += rounded;
    args->stream = next_id_++;
    streams_[args->stream] = rounded;
    return 0;
  }

  int StreamDestroy(drm_heddle_stream_destroy* args) {
    const auto it = streams_.find(args->stream);
    if (args->pad != 0) return -EINVAL;
    if (it == streams_.end()) return -ENOENT;
    used_ -= it->second;
    streams_.erase(it);
    return 0;
  }

  int CheckPlace(uint32_t handle, uint32_t placement, uint64_t offset,
                 uint64_t length) const {
    const auto it = buffers_.find(handle);
    if (it == buffers_.end()) return -ENOENT;
    if (it->second.placement != placement) return -EINVAL;
    return Inside(offset, length, it->second.size) ? 0 : -ERANGE;
  }

  int CheckRun(const drm_heddle_step& step) const {
    if (streams_.count(step.stream) == 0) return -ENOENT;
    if (step.regions.count > isa::kRegions) return -EINVAL;
    uint32_t used = 0;
    for (uint32_t i = 0; i < step.regions.count; ++i) {
      drm_heddle_region region;
      if (const int error = Element(step.regions, i, &region); error != 0) {
        return error;
      }
      if (region.index >= isa::kRegions || (used >> region.index & 1) != 0 ||
          region.size == 0 || region.offset % isa::kRegionAlign != 0 ||
          region.pad != 0 ||
          (region.flags & ~uint32_t{DRM_HEDDLE_REGION_WRITE}) != 0) {
        return -EINVAL;
      }
      used |= 1u << region.index;
      const int error = CheckPlace(region.handle, DRM_HEDDLE_DEVICE,
                                   region.offset, region.size);
      if (error != 0) return error;
    }
    return 0;
  }

  // `joins`: the step before is a run, or may be executed with one.
  int CheckStep(const drm_heddle_step& step, bool joins) const {
    const bool overlap = step.flags == DRM_HEDDLE_STEP_OVERLAP;
    if ((step.flags != 0 && !overlap) ||
        (overlap && (!joins || step.type == DRM_HEDDLE_RUN))) {
      return -EINVAL;
    }
    if (step.type == DRM_HEDDLE_RUN) return CheckRun(step);
    if (step.length == 0 || step.regions.count != 0) return -EINVAL;
    switch (step.type) {
      case DRM_HEDDLE_FILL:
        if (step.length % sizeof(uint32_t) != 0) return -EINVAL;
        return CheckPlace(step.dst, DRM_HEDDLE_DEVICE, step.dst_offset,
                          step.length);
      case DRM_HEDDLE_COPY_IN:
      case DRM_HEDDLE_COPY_OUT:
      case DRM_HEDDLE_STEP_COPY: {
        const bool in = step.type == DRM_HEDDLE_COPY_IN;
        const bool out = step.type == DRM_HEDDLE_COPY_OUT;
        const int error =
            CheckPlace(step.src, in ? DRM_HEDDLE_HOST : DRM_HEDDLE_DEVICE,
                       step.src_offset, step.length);
        if (error != 0) return error;
        return CheckPlace(step.dst, out ? DRM_HEDDLE_HOST : DRM_HEDDLE_DEVICE,
                          step.dst_offset, step.length);
      }
      default:
        return -EINVAL;
    }
  }

  int Submit(drm_heddle_submit* args) {
    const auto context = contexts_.find(args->context);
    if (context == contexts_.end()) return -ENOENT;
    if (args->flags == DRM_HEDDLE_SUBMIT_TRACE) return -EOPNOTSUPP;
    if (args->flags != 0 || args->trace_entries != 0 ||
        args->steps.count == 0 || args->steps.count > isa::kStepsMax ||
        args->in_syncs.count != 0 || args->out_syncs.count != 0) {
      return -EINVAL;
    }
    bool joins = false;
    for (uint32_t i = 0; i < args->steps.count; ++i) {
      drm_heddle_step step;
      int error = Element(args->steps, i, &step);
      if (error == 0) error = CheckStep(step, joins);
      if (error != 0) return error;
      joins = step.type == DRM_HEDDLE_RUN || step.flags != 0;
    }
    args->seqno = ++context->second;
    ++counters_.jobs;
    return 0;
  }

  int Wait(drm_heddle_wait* args) {
    const auto context = contexts_.find(args->context);
    if (args->pad != 0 || args->seqno == 0) return -EINVAL;
    if (context == contexts_.end() || args->seqno > context->second ||
        args->seqno + kResultsKept <= context->second) {
      return -ENOENT;
    }
    if (args->result.count == 1 && args->result.ptr != 0) {
      Fill(args->result, drm_heddle_result{});
    }
    return 0;
  }

  // There are no events: waits until the time is over, or Shutdown.
  int Events(drm_heddle_events* args, std::unique_lock<std::mutex>* lock) {
    args->filled = args->lost = 0;
    const auto down = [this] { return down_; };
    if (args->deadline_ns == ~uint64_t{0}) {
      changed_.wait(*lock, down);
      return -ENODEV;
    }
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t now_ns = static_cast<uint64_t>(now.tv_sec) * 1000000000 +
                            static_cast<uint64_t>(now.tv_nsec);
    const uint64_t left =
        args->deadline_ns > now_ns ? args->deadline_ns - now_ns : 0;
    const auto until =
        std::chrono::system_clock::now() + std::chrono::nanoseconds(left);
    return changed_.wait_until(*lock, until, down) ? -ENODEV : -ETIME;
  }

  const NullOptions options_;
  const uint64_t total_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool down_ = false;
  uint64_t used_ = 0;
  uint32_t next_id_ = 1;
  std::map<uint32_t, Buffer> buffers_;
  std::map<uint32_t, uint64_t> streams_;   // id -> page-rounded bytes
  std::map<uint32_t, uint64_t> contexts_;  // id -> last job
  drm_heddle_counters counters_ = {};
};

}  // namespace

std::unique_ptr<Transport> MakeNullTransport(const NullOptions& options) {
  return std::make_unique<NullTransport>(options);
}

}  // namespace heddle::hal
