// SPDX-License-Identifier: Apache-2.0
// The suite on a node of heddle.ko: HEDDLE_DRM_NODE, or the first whose driver
// says that it is heddle. System calls only; no library between.
//
// With HEDDLE_FAIL_ALLOCATIONS set (a kernel with fail-nth, and rights), each
// ioctl (of very many like it of one file, some) is swept: made with its first
// allocation failing, then with its second, until one is made in which none was
// left to fail. All that fail say -ENOMEM and change nothing, so the cases pass
// as without.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drm.h"
#include "drm/heddle_drm.h"
#include "gtest/gtest.h"
#include "tests/guest/host_request.h"
#include "tests/support/kernel_release.h"
#include "tests/uapi/client.h"
#include "tests/uapi/drm_nodes.h"

namespace heddle::uapi {
namespace {

int Call(int fd, unsigned long request, void* arg) {
  return ioctl(fd, request, arg) == 0 ? 0 : -errno;
}

// Which allocation of this thread's next system calls fails; 0: none any more.
class FailNth {
 public:
  FailNth()
      : fd_(open(("/proc/self/task/" + std::to_string(syscall(SYS_gettid)) +
                  "/fail-nth")
                     .c_str(),
                 O_RDWR | O_CLOEXEC)) {
    // What a call copies must be there: a page that cannot be had is EFAULT.
    mlockall(MCL_CURRENT | MCL_FUTURE);
  }
  ~FailNth() { close(fd_); }
  bool Set(int n) {
    const std::string text = std::to_string(n);
    return pwrite(fd_, text.data(), text.size(), 0) ==
           static_cast<ssize_t>(text.size());
  }
  int Left() {
    char text[16] = {};
    return pread(fd_, text, sizeof(text) - 1, 0) > 0 ? std::atoi(text) : -1;
  }

 private:
  const int fd_;
};

// The bytes of a call's structure; nothing where there are none.
std::string Bytes(const void* arg, size_t size) {
  std::string bytes(size, 0);
  const int fd = memfd_create("bytes", MFD_CLOEXEC);
  const bool there = pwrite(fd, arg, size, 0) == static_cast<ssize_t>(size) &&
                     pread(fd, &bytes[0], size, 0) > 0;
  close(fd);
  return there ? bytes : "";
}

// Takes back what a call has made. False: this one cannot be.
bool Undo(int fd, unsigned long request, const void* arg) {
  switch (request) {
    case DRM_IOCTL_HEDDLE_CONTEXT_CREATE: {
      drm_heddle_context_destroy args = {
          static_cast<const drm_heddle_context_create*>(arg)->context, 0};
      return Call(fd, DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &args) == 0;
    }
    case DRM_IOCTL_HEDDLE_STREAM_CREATE: {
      drm_heddle_stream_destroy args = {
          static_cast<const drm_heddle_stream_create*>(arg)->stream, 0};
      return Call(fd, DRM_IOCTL_HEDDLE_STREAM_DESTROY, &args) == 0;
    }
    case DRM_IOCTL_HEDDLE_BO_CREATE: {
      drm_gem_close args = {
          static_cast<const drm_heddle_bo_create*>(arg)->handle, 0};
      return Call(fd, DRM_IOCTL_GEM_CLOSE, &args) == 0;
    }
    default:
      return false;
  }
}

int SweepAllocations(int fd, unsigned long request, void* arg) {
  // A child has its parent's, which is of no use to it.
  thread_local std::unique_ptr<FailNth> owned;
  thread_local pid_t owner = 0;
  if (owner != static_cast<pid_t>(syscall(SYS_gettid))) {
    owner = static_cast<pid_t>(syscall(SYS_gettid));
    owned = std::make_unique<FailNth>();
  }
  FailNth& fail = *owned;
  const std::string before = Bytes(arg, _IOC_SIZE(request));
  std::vector<int> odd;
  // Of very many (a page each) it is a sample.
  for (int n = 1;; n += n < 64 ? 1 : n / 4) {
    if (!before.empty()) std::memcpy(arg, before.data(), before.size());
    if (!fail.Set(n)) {
      ADD_FAILURE() << "no fail-nth in this kernel, or no right to it";
      return Call(fd, request, arg);
    }
    const int result = Call(fd, request, arg);
    const int left = fail.Left();
    fail.Set(0);
    if (left != 0) {  // none failed: this is the call's answer
      for (int error : odd) {
        EXPECT_EQ(error, result)
            << "ioctl " << _IOC_NR(request) << " without memory";
      }
      return result;
    }
    if (result == 0 && !Undo(fd, request, arg)) return 0;  // it did without
    if (result != 0 && result != -ENOMEM) odd.push_back(result);
  }
}

class NodeClient : public Client {
 public:
  explicit NodeClient(int fd) : fd_(fd) {}
  ~NodeClient() override { close(fd_); }
  int Ioctl(unsigned long request, void* arg) override {
    static const bool sweep = std::getenv("HEDDLE_FAIL_ALLOCATIONS") != nullptr;
    return sweep && IsSwept(request) ? SweepAllocations(fd_, request, arg)
                                     : Call(fd_, request, arg);
  }
  void* Mmap(uint64_t offset, size_t bytes, int* error) override {
    void* p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
    *error = p == MAP_FAILED ? -errno : 0;
    return p == MAP_FAILED ? nullptr : p;
  }

 private:
  // A case that makes thousands of buffers to reach a limit makes the same call
  // again and again: then a sample is swept.
  bool IsSwept(unsigned long request) {
    const std::lock_guard<std::mutex> lock(calls_mutex_);
    const uint64_t call = calls_[request]++;
    return call < 64 || call % 64 == 0;
  }

  const int fd_;
  std::mutex calls_mutex_;
  std::map<unsigned long, uint64_t> calls_;  // by request
};

bool IsHeddle(int fd) {
  char name[16] = {};
  drm_version version = {};
  version.name = name;
  version.name_len = sizeof(name) - 1;
  return ioctl(fd, DRM_IOCTL_VERSION, &version) == 0 &&
         std::strcmp(name, "heddle") == 0;
}

std::string FindNode() {
  if (const char* node = std::getenv("HEDDLE_DRM_NODE")) return node;
  const std::vector<std::string> nodes = DrmNodes();
  return nodes.empty() ? "" : nodes.front();
}

class Drm : public Driver {
 public:
  std::unique_ptr<Client> Open(int* error) override {
    // Another one after a card has come anew.
    return OpenDrmNode(FindNode(), error);
  }
  std::vector<uint64_t> BadPointers() override {
    // Null, not mapped, not user space, the last byte there is.
    return {0, 0x100000, 0xffff888000000000, ~uint64_t{0}};
  }
  bool DropPriority() override {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    if (syscall(SYS_capget, &header, data) != 0) return false;
    for (auto& word : data) {
      const bool high = &word == &data[1];
      for (unsigned cap : {CAP_SYS_NICE, CAP_SYS_ADMIN, CAP_PERFMON}) {
        if (cap / 32 != (high ? 1u : 0u)) continue;
        word.effective &= ~(1u << cap % 32);
        word.permitted &= ~(1u << cap % 32);
      }
    }
    return syscall(SYS_capset, &header, data) == 0;
  }
  bool Control(const std::string& command) override {
    if (!tests::InGuest()) return false;
    const auto answer = tests::HostRequest("ctl 0 " + command);
    EXPECT_TRUE(answer.ok) << answer.text;
    return answer.ok;
  }
  bool WaitsOfLinux66() override { return tests::KernelAtLeast(6, 6); }
};

}  // namespace

std::vector<std::string> DrmNodes() {
  std::vector<std::string> nodes;
  for (const char* prefix : {"/dev/accel/accel", "/dev/dri/renderD"}) {
    const int first = prefix[5] == 'd' ? 128 : 0;
    for (int minor = first; minor < first + 64; ++minor) {
      const std::string node = prefix + std::to_string(minor);
      const int fd = open(node.c_str(), O_RDWR | O_CLOEXEC);
      if (fd < 0) continue;
      if (IsHeddle(fd)) nodes.push_back(node);
      close(fd);
    }
  }
  return nodes;
}

std::unique_ptr<Client> OpenDrmNode(const std::string& node, int* error) {
  const int fd = open(node.c_str(), O_RDWR | O_CLOEXEC);
  *error = fd < 0 ? -errno : 0;
  return fd < 0 ? nullptr : std::make_unique<NodeClient>(fd);
}

Driver& Driver::Get() {
  static auto* const driver = new Drm;
  return *driver;
}

}  // namespace heddle::uapi
