// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::hosted {

int NewSharedMemory(uint64_t bytes) {
  const int fd = memfd_create("heddle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

}  // namespace heddle::hosted
