// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/drm_system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ios>
#include <system_error>

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

// 0 or a negative errno.
int RenderNodes(std::vector<std::string>* nodes) {
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
  SortByNumber(nodes);
  return 0;
}

// The number in a file of sysfs, "0x1234"; 0 when there is none.
uint32_t ReadId(const std::filesystem::path& path) {
  std::ifstream file(path);
  uint32_t id = 0;
  file >> std::hex >> id;
  return file ? id : 0;
}

class RealSystem : public DrmSystem {
 public:
  int Nodes(std::vector<std::string>* nodes) override {
    *nodes = AccelNodes();
    std::vector<std::string> render;
    const int error = RenderNodes(&render);
    nodes->insert(nodes->end(), render.begin(), render.end());
    return error;
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

std::vector<std::string> AccelNodes(const std::string& sys) {
  std::vector<std::string> nodes;
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(sys + "/class/accel", error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::filesystem::path device = entry->path() / "device";
    if (ReadId(device / "vendor") == reg::kPciVendorId &&
        ReadId(device / "device") == reg::kPciDeviceId) {
      nodes.push_back("/dev/accel/" + entry->path().filename().string());
    }
  }
  SortByNumber(&nodes);
  return nodes;
}

DrmSystem& DrmSystem::Get() { return *System(); }

void DrmSystem::SetForTest(DrmSystem* system) { System() = system; }

}  // namespace heddle::hal
