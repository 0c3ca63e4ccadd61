// SPDX-License-Identifier: Apache-2.0
// System calls that the transport to heddle.ko needs. Tests substitute their
// own.
#ifndef HEDDLE_RUNTIME_HAL_DRM_SYSTEM_H_
#define HEDDLE_RUNTIME_HAL_DRM_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::hal {

class DrmSystem {
 public:
  virtual ~DrmSystem() = default;
  // Accel nodes, then render nodes, of PCI devices with Heddle's ids. Nothing
  // is opened, so no other device is woken. 0 or a negative errno.
  virtual int Nodes(std::vector<std::string>* nodes) = 0;
  // A descriptor that close() closes, or a negative errno.
  virtual int Open(const std::string& path) = 0;
  // 0 or a negative errno; restarted after signals.
  virtual int Ioctl(int fd, unsigned long request, void* argument) = 0;
  // Null on failure.
  virtual void* Map(int fd, uint64_t offset, size_t size) = 0;

  // The real one, unless a test has put its own there.
  static DrmSystem& Get();
};

// For tests: Get() gives `system` as long as this lives.
class ScopedDrmSystem {
 public:
  explicit ScopedDrmSystem(DrmSystem* system);
  ~ScopedDrmSystem();
  ScopedDrmSystem(const ScopedDrmSystem&) = delete;
  ScopedDrmSystem& operator=(const ScopedDrmSystem&) = delete;

 private:
  DrmSystem* before_;
};

// What Nodes() finds in the sysfs at `sys`: "/dev/accel/accel0" and so on below
// `dev`. Where there is no sysfs, as in a container that has got the node and
// nothing else, all nodes of such names: who opens one is told its driver. Not
// by libdrm, which lists no accel nodes, leaves out what it cannot read, and
// frees what it never had when an allocation fails.
int CardNodes(const std::string& sys, const std::string& dev,
              std::vector<std::string>* nodes);

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_DRM_SYSTEM_H_
