// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/drm_system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::hal {
namespace {

// renderD99 before renderD128.
void SortByNumber(std::vector<std::string>* nodes) {
  std::sort(nodes->begin(), nodes->end(),
            [](const std::string& a, const std::string& b) {
              return a.size() != b.size() ? a.size() < b.size() : a < b;
            });
}

// The number in a file of sysfs, "0x1234": 0, or a negative errno. *id is 0
// when there is no such file or no number in it.
int ReadId(const std::string& path, uint32_t* id) {
  *id = 0;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
  char text[32] = {};
  if (read(fd, text, sizeof(text) - 1) > 0) {
    *id = static_cast<uint32_t>(std::strtoul(text, nullptr, 16));
  }
  close(fd);
  return 0;
}

// Adds the nodes of a class of sysfs whose names begin with `prefix`.
int AddNodes(const std::string& folder, const std::string& prefix,
             const std::string& dev, std::vector<std::string>* nodes) {
  DIR* const listing = opendir(folder.c_str());
  if (listing == nullptr) return errno == ENOENT ? 0 : -errno;
  const absl::Cleanup close_listing = [listing] { closedir(listing); };
  std::vector<std::string> found;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string device = folder + "/" + name + "/device/";
    uint32_t vendor = 0, id = 0;
    if (int error = ReadId(device + "vendor", &vendor)) return error;
    if (int error = ReadId(device + "device", &id)) return error;
    if (vendor == reg::kPciVendorId && id == reg::kPciDeviceId) {
      found.push_back(dev + name);
    }
  }
  SortByNumber(&found);
  nodes->insert(nodes->end(), found.begin(), found.end());
  return 0;
}

class RealSystem : public DrmSystem {
 public:
  int Nodes(std::vector<std::string>* nodes) override {
    return CardNodes("/sys", nodes);
  }

  int Open(const std::string& path) override {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
  }

  int Ioctl(int fd, unsigned long request, void* argument) override {
    // Not drmIoctl: it repeats after EAGAIN, too, which SUBMIT returns for a
    // full queue.
    int result;
    do {
      result = ioctl(fd, request, argument);
    } while (result != 0 && errno == EINTR);
    return result >= 0 ? 0 : -errno;
  }

  void* Map(int fd, uint64_t offset, size_t size) override {
    void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                         static_cast<off_t>(offset));
    return address != MAP_FAILED ? address : nullptr;
  }
};

DrmSystem*& System() {
  static DrmSystem* const real = new RealSystem;
  static DrmSystem* system = real;
  return system;
}

}  // namespace

int CardNodes(const std::string& sys, std::vector<std::string>* nodes) {
  nodes->clear();
  int error = AddNodes(sys + "/class/accel", "accel", "/dev/accel/", nodes);
  if (error == 0) {
    error = AddNodes(sys + "/class/drm", "renderD", "/dev/dri/", nodes);
  }
  return error;
}

DrmSystem& DrmSystem::Get() { return *System(); }

ScopedDrmSystem::ScopedDrmSystem(DrmSystem* system)
    : before_(std::exchange(System(), system)) {}
ScopedDrmSystem::~ScopedDrmSystem() { System() = before_; }

}  // namespace heddle::hal
