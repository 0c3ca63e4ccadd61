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

// Whether sysfs says that the device is a card. 0, or a negative errno.
int IsCard(const std::string& device, bool* card) {
  uint32_t vendor = 0, id = 0;
  if (int error = ReadId(device + "/vendor", &vendor)) return error;
  if (int error = ReadId(device + "/device", &id)) return error;
  *card = vendor == reg::kPciVendorId && id == reg::kPciDeviceId;
  return 0;
}

// Adds the nodes below `dev` whose names begin with `prefix` and are entries of
// `folder`: a class of sysfs, of which those of cards, or `dev` itself.
int AddNodes(const std::string& folder, const std::string& prefix,
             const std::string& dev, std::vector<std::string>* nodes) {
  DIR* const listing = opendir(folder.c_str());
  if (listing == nullptr) return errno == ENOENT ? 0 : -errno;
  const absl::Cleanup close_listing = [listing] { closedir(listing); };
  std::vector<std::string> found;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    bool card = true;
    if (folder != dev) {
      const int error = IsCard(folder + "/" + name + "/device", &card);
      if (error != 0) return error;
    }
    if (card) found.push_back(dev + "/" + name);
  }
  SortByNumber(&found);
  nodes->insert(nodes->end(), found.begin(), found.end());
  return 0;
}

class RealSystem : public DrmSystem {
 public:
  int Nodes(std::vector<std::string>* nodes) override {
    return CardNodes("/sys", "/dev", nodes);
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

int CardNodes(const std::string& sys, const std::string& dev,
              std::vector<std::string>* nodes) {
  nodes->clear();
  const std::string accel = dev + "/accel", dri = dev + "/dri";
  const bool sysfs = access((sys + "/class").c_str(), F_OK) == 0;
  int error =
      AddNodes(sysfs ? sys + "/class/accel" : accel, "accel", accel, nodes);
  if (error == 0) {
    error = AddNodes(sysfs ? sys + "/class/drm" : dri, "renderD", dri, nodes);
  }
  return error;
}

DrmSystem& DrmSystem::Get() { return *System(); }

ScopedDrmSystem::ScopedDrmSystem(DrmSystem* system)
    : before_(std::exchange(System(), system)) {}
ScopedDrmSystem::~ScopedDrmSystem() { System() = before_; }

}  // namespace heddle::hal
