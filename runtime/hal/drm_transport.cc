// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/drm_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "drm/heddle_drm.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/hal/status.h"

namespace heddle::hal {
namespace {

constexpr char kDriver[] = "heddle";
constexpr int kVersionMajor = 1;

// Nothing but its own event wakes an ioctl, so a long wait is cut: this is how
// long Shutdown() can take.
constexpr uint64_t kSliceNs = 50 * 1000000;

uint64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 +
         static_cast<uint64_t>(now.tv_nsec);
}

// The absolute time at which a waiting ioctl gives up. Null: it does not wait.
// Syncobj waits have it signed, and do not wait if it is not positive.
uint64_t* DeadlineOf(unsigned long request, void* argument) {
  int64_t* signed_ns = nullptr;
  switch (request) {
    case DRM_IOCTL_HEDDLE_WAIT: {
      auto* wait = static_cast<drm_heddle_wait*>(argument);
      return reinterpret_cast<uint64_t*>(&wait->deadline_ns);
    }
    case DRM_IOCTL_HEDDLE_EVENTS: {
      auto* events = static_cast<drm_heddle_events*>(argument);
      return reinterpret_cast<uint64_t*>(&events->deadline_ns);
    }
    case DRM_IOCTL_SYNCOBJ_WAIT:
      signed_ns = reinterpret_cast<int64_t*>(
          &static_cast<drm_syncobj_wait*>(argument)->timeout_nsec);
      break;
    case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT:
      signed_ns = reinterpret_cast<int64_t*>(
          &static_cast<drm_syncobj_timeline_wait*>(argument)->timeout_nsec);
      break;
    default:
      break;
  }
  if (signed_ns == nullptr || *signed_ns <= 0) return nullptr;
  return reinterpret_cast<uint64_t*>(signed_ns);
}

class DrmTransport : public Transport {
 public:
  DrmTransport(int fd, DrmSystem& system)
      : fd_(fd), process_(getpid()), system_(system) {
    GuardDescriptor(fd_);
  }

  ~DrmTransport() override {
    CloseGuarded(fd_, [this] { close(fd_); });
  }

  int Ioctl(unsigned long request, void* argument) override {
    if (argument == nullptr) return -EFAULT;
    uint64_t* deadline = DeadlineOf(request, argument);
    if (deadline == nullptr) return Once(request, argument);
    const uint64_t wanted = *deadline;
    for (;;) {
      *deadline = std::min(wanted, NowNs() + kSliceNs);
      const bool last = *deadline == wanted;
      const int result = Once(request, argument);
      *deadline = wanted;
      if (result != -ETIME || last) return result;
    }
  }

  int Map(uint32_t handle, size_t size, void** address) override {
    uint64_t offset = 0;
    const int error = HostOffset(this, handle, size, &offset);
    if (error != 0) return error;
    errno = 0;
    *address = system_.Map(fd_, offset, size);
    if (*address == nullptr) return errno != 0 ? -errno : -ENOMEM;
    // A child's copy of the mapping would keep the parent's open file.
    madvise(*address, size, MADV_DONTFORK);
    return 0;
  }

  void Unmap(void* address, size_t size) override {
    if (getpid() == process_) munmap(address, size);
  }

  int Export(uint32_t handle) override {
    drm_prime_handle prime = {};
    prime.handle = handle;
    prime.flags = DRM_CLOEXEC | DRM_RDWR;
    const int error = Once(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
    return error != 0 ? error : prime.fd;
  }

  int Import(int fd, uint32_t* handle) override {
    drm_prime_handle prime = {};
    prime.fd = fd;
    const int error = Once(DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
    if (error == 0) *handle = prime.handle;
    return error;
  }

  // The open file goes when its last waiting call and its last mapping have.
  void Shutdown() override {
    if (!ended_.exchange(true)) DetachDescriptor(fd_);
  }

 private:
  int Once(unsigned long request, void* argument) {
    if (ended_) return -ENODEV;
    const int result = system_.Ioctl(fd_, request, argument);
    return result != 0 && ended_ ? -ENODEV : result;
  }

  const int fd_;
  const pid_t process_;
  DrmSystem& system_;
  std::atomic<bool> ended_{false};
};

absl::Status NoPermission(const std::string& node) {
  return absl::PermissionDeniedError(
      absl::StrCat("'", node,
                   "': permission denied; add the user to the node's group "
                   "(sudo usermod -aG render USER, then log in again)"));
}

absl::Status CheckVersion(const std::string& node, int fd, DrmSystem& system) {
  char name[32] = {};
  drm_version version = {};
  version.name = name;
  version.name_len = sizeof(name) - 1;
  const int error = system.Ioctl(fd, DRM_IOCTL_VERSION, &version);
  if (error == -ENOTTY || error == -EINVAL) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", node, "' is not a node of a DRM driver"));
  }
  if (error != 0) {
    return FromErrno(absl::StrCat("asking '", node, "' for its driver"), error);
  }
  if (std::strcmp(name, kDriver) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", node, "' belongs to the driver '", name, "', not '",
                     kDriver, "'"));
  }
  if (version.version_major != kVersionMajor) {
    return absl::FailedPreconditionError(
        absl::StrCat("the driver of '", node, "' has interface version ",
                     version.version_major, ".", version.version_minor,
                     ", this build speaks ", kVersionMajor,
                     ".x; install module and library of the same release"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListDrm(DrmSystem& system) {
  std::vector<std::string> nodes;
  absl::Status denied, unknown;
  std::vector<std::string> candidates;
  if (const int error = system.Nodes(&candidates); error != 0) {
    return FromErrno("looking for cards of heddle.ko", error);
  }
  for (const std::string& node : candidates) {
    const auto transport = OpenDrm(node, system);
    if (transport.ok()) {
      nodes.push_back(node);
    } else if (absl::IsPermissionDenied(transport.status())) {
      denied.Update(transport.status());
    } else if (absl::IsResourceExhausted(transport.status())) {
      return transport.status();
    } else if (absl::IsFailedPrecondition(transport.status())) {
      unknown.Update(transport.status());
    }
    // Anything else: another driver, or it has just gone.
  }
  if (nodes.empty() && !unknown.ok()) return unknown;
  if (nodes.empty() && !denied.ok()) return denied;
  return nodes;
}

absl::StatusOr<std::string> FindDrm(uint64_t serial, DrmSystem& system) {
  const auto nodes = ListDrm(system);
  if (!nodes.ok()) return nodes.status();
  for (const std::string& node : *nodes) {
    const auto transport = OpenDrm(node, system);
    if (absl::IsResourceExhausted(transport.status())) {
      return transport.status();
    }
    if (!transport.ok()) continue;  // it has just gone
    drm_heddle_device_info info = {};
    drm_heddle_query query = {};
    query.type = DRM_HEDDLE_QUERY_DEVICE;
    query.data.ptr = reinterpret_cast<uintptr_t>(&info);
    query.data.count = 1;
    query.data.stride = sizeof(info);
    if ((*transport)->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &query) == 0 &&
        info.unique == serial) {
      return node;
    }
  }
  return absl::UnavailableError(
      absl::StrCat("no card of heddle.ko has the serial number ", serial));
}

absl::StatusOr<std::unique_ptr<Transport>> OpenDrm(const std::string& node,
                                                   DrmSystem& system) {
  const int fd = system.Open(node);
  switch (fd < 0 ? -fd : 0) {
    case 0:
      break;
    case ENOENT:
    case ENXIO:
    case ENODEV:
      return absl::UnavailableError(
          absl::StrCat("no card at '", node, "' (", std::strerror(-fd),
                       "); heddle-smi lists the cards, heddle-smi doctor finds "
                       "out what is missing"));
    case EACCES:
    case EPERM:
      return NoPermission(node);
    default:
      return FromErrno(absl::StrCat("opening '", node, "'"), fd);
  }
  absl::Cleanup close_fd = [fd] { close(fd); };
  auto transport = std::make_unique<DrmTransport>(fd, system);
  std::move(close_fd).Cancel();
  absl::Status status = CheckVersion(node, fd, system);
  if (!status.ok()) return status;
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace heddle::hal
