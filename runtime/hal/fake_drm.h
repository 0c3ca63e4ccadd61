// SPDX-License-Identifier: Apache-2.0
// Render nodes backed by heddle-hosted, to test the transport to a render node
// without a kernel module. Node n, "fake/renderD<n>", is card n of the
// heddle-hosted at `socket`.
#ifndef HEDDLE_RUNTIME_HAL_FAKE_DRM_H_
#define HEDDLE_RUNTIME_HAL_FAKE_DRM_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "kmd/hosted/client.h"
#include "runtime/hal/drm_system.h"

namespace heddle::hal {

class FakeDrm : public DrmSystem {
 public:
  explicit FakeDrm(std::string socket) : socket_(std::move(socket)) {}

  int Nodes(std::vector<std::string>* nodes) override;
  int Open(const std::string& path) override;
  int Ioctl(int fd, unsigned long request, void* argument) override;
  void* Map(int fd, uint64_t offset, size_t size) override;

 private:
  hosted::HostedClient* Find(int fd);

  const std::string socket_;
  std::mutex mutex_;
  // The transport closes their sockets, as it closes a node; so they are never
  // destroyed.
  std::map<int, hosted::HostedClient*> files_;
};

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_FAKE_DRM_H_
