// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/drm_system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::hal {
namespace {

class RealSystem : public DrmSystem {
 public:
  int RenderNodes(std::vector<std::string>* nodes) override {
    nodes->clear();
    // libdrm leaves out what it cannot read, also for want of a descriptor.
    const int spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (spare < 0) return -errno;
    close(spare);
    // Flags 0: reading the revision would wake sleeping devices.
    const int count = drmGetDevices2(0, nullptr, 0);
    if (count <= 0) return count == -ENOENT ? 0 : count;
    std::vector<drmDevicePtr> devices(static_cast<size_t>(count));
    const int got = drmGetDevices2(0, devices.data(), count);
    if (got <= 0) return got;
    devices.resize(static_cast<size_t>(std::min(got, count)));
    absl::Cleanup free_devices = [&devices] {
      drmFreeDevices(devices.data(), static_cast<int>(devices.size()));
    };
    for (const drmDevice* device : devices) {
      if (!(device->available_nodes & 1 << DRM_NODE_RENDER) ||
          device->bustype != DRM_BUS_PCI ||
          device->deviceinfo.pci->vendor_id != reg::kPciVendorId ||
          device->deviceinfo.pci->device_id != reg::kPciDeviceId) {
        continue;
      }
      nodes->push_back(device->nodes[DRM_NODE_RENDER]);
    }
    // renderD99 before renderD128.
    std::sort(nodes->begin(), nodes->end(),
              [](const std::string& a, const std::string& b) {
                return a.size() != b.size() ? a.size() < b.size() : a < b;
              });
    return 0;
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
  static DrmSystem* system = new RealSystem;
  return system;
}

}  // namespace

DrmSystem& DrmSystem::Get() { return *System(); }

void DrmSystem::SetForTest(DrmSystem* system) { System() = system; }

}  // namespace heddle::hal
