// SPDX-License-Identifier: Apache-2.0
// The only path from the runtime to a driver. Three transports: `hosted` (a
// Unix socket to heddle-hosted), `drm` (a node of heddle.ko), `null` (no card:
// jobs complete at once without effect).
#ifndef HEDDLE_RUNTIME_HAL_TRANSPORT_H_
#define HEDDLE_RUNTIME_HAL_TRANSPORT_H_

#include <cstddef>
#include <cstdint>

namespace heddle::hal {

class Transport {
 public:
  virtual ~Transport() = default;
  // A DRM_IOCTL_* request with its structure. Returns 0 or a negative errno.
  // Safe to call from several threads; a waiting call blocks only its thread.
  virtual int Ioctl(unsigned long request, void* argument) = 0;
  // Maps a HOST buffer. 0 or a negative errno.
  virtual int Map(uint32_t handle, size_t size, void** address) = 0;
  virtual void Unmap(void* address, size_t size) = 0;
  // dma-buf or memfd of a HOST buffer; the caller closes it. Negative errno.
  virtual int Export(uint32_t handle) = 0;
  // A new handle for an exported buffer. Returns 0 or a negative errno.
  virtual int Import(int fd, uint32_t* handle) = 0;
  // Ends all waiting calls, and every later call, with -ENODEV. The driver
  // frees what the open file owned.
  virtual void Shutdown() = 0;
};

// For transports that map through drm_heddle_bo_info: the offset of a HOST
// buffer that has `size` bytes. 0 or a negative errno.
int HostOffset(Transport* transport, uint32_t handle, size_t size,
               uint64_t* offset);

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_TRANSPORT_H_
