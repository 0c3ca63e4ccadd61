// SPDX-License-Identifier: Apache-2.0
// The suite on a render node: HEDDLE_DRM_NODE, or the first whose driver says
// that it is heddle. System calls only; no library between.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "drm.h"
#include "gtest/gtest.h"
#include "tests/guest/host_request.h"
#include "tests/uapi/client.h"

namespace heddle::uapi {
namespace {

class RenderNode : public Client {
 public:
  explicit RenderNode(int fd) : fd_(fd) {}
  ~RenderNode() override { close(fd_); }
  int Ioctl(unsigned long request, void* arg) override {
    return ioctl(fd_, request, arg) == 0 ? 0 : -errno;
  }
  void* Mmap(uint64_t offset, size_t bytes, int* error) override {
    void* p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
    *error = p == MAP_FAILED ? -errno : 0;
    return p == MAP_FAILED ? nullptr : p;
  }

 private:
  const int fd_;
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
  for (int minor = 128; minor < 192; ++minor) {
    const std::string node = "/dev/dri/renderD" + std::to_string(minor);
    const int fd = open(node.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    const bool ours = IsHeddle(fd);
    close(fd);
    if (ours) return node;
  }
  return "";
}

class Drm : public Driver {
 public:
  std::unique_ptr<Client> Open(int* error) override {
    const int fd = open(node_.c_str(), O_RDWR | O_CLOEXEC);
    *error = fd < 0 ? -errno : 0;
    return fd < 0 ? nullptr : std::make_unique<RenderNode>(fd);
  }
  std::vector<uint64_t> BadPointers() override {
    // Null, not mapped, not user space, the last byte there is.
    return {0, 0x100000, 0xffff888000000000, ~uint64_t{0}};
  }
  bool DropPriority() override {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    if (syscall(SYS_capget, &header, data) != 0) return false;
    for (auto* set : {&data[0].effective, &data[0].permitted}) {
      *set &= ~(1u << CAP_SYS_NICE);
    }
    return syscall(SYS_capset, &header, data) == 0;
  }
  bool Control(const std::string& command) override {
    if (!tests::InGuest()) return false;
    const auto answer = tests::HostRequest("ctl 0 " + command);
    EXPECT_TRUE(answer.ok) << answer.text;
    return answer.ok;
  }

 private:
  const std::string node_ = FindNode();
};

}  // namespace

Driver& Driver::Get() {
  static auto* const driver = new Drm;
  return *driver;
}

}  // namespace heddle::uapi
