// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/transport.h"

#include <errno.h>

#include "drm/heddle_drm.h"

namespace heddle::hal {

int HostOffset(Transport* transport, uint32_t handle, size_t size,
               uint64_t* offset) {
  drm_heddle_bo_info info = {};
  info.handle = handle;
  const int error = transport->Ioctl(DRM_IOCTL_HEDDLE_BO_INFO, &info);
  if (error != 0) return error;
  if (info.placement != DRM_HEDDLE_HOST || size > info.size) return -EINVAL;
  *offset = info.mmap_offset;
  return 0;
}

}  // namespace heddle::hal
