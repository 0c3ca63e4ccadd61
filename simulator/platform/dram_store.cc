// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/dram_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_format.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::platform {

absl::Status DramStore::CheckSize(uint64_t size) {
  if (size < isa::kDramBytesMin || size > isa::kDramBytesMax ||
      size % isa::kPageBytes != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "device memory of %d bytes: give %dM to %dM, in steps of %dK", size,
        isa::kDramBytesMin >> 20, isa::kDramBytesMax >> 20,
        isa::kPageBytes >> 10));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DramStore>> DramStore::Create(uint64_t size) {
  absl::Status status = CheckSize(size);
  if (!status.ok()) return status;
  int fd = memfd_create("heddle-dram", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(isa::kDramBytesMax)) != 0) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return absl::ResourceExhaustedError(
        absl::StrFormat("cannot create device memory: %s", strerror(error)));
  }
  void* data = mmap(nullptr, isa::kDramBytesMax, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (data == MAP_FAILED) {
    const int error = errno;
    close(fd);
    return absl::ResourceExhaustedError(
        absl::StrFormat("cannot map device memory: %s", strerror(error)));
  }
  return std::unique_ptr<DramStore>(
      new DramStore(fd, static_cast<uint8_t*>(data), size));
}

DramStore::~DramStore() {
  munmap(data_, isa::kDramBytesMax);
  close(fd_);
}

void DramStore::Discard(uint64_t from, uint64_t to) {
  if (from >= to) return;
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(from), static_cast<off_t>(to - from)) != 0) {
    std::memset(data_ + from, 0, to - from);
  }
}

absl::Status DramStore::Resize(uint64_t size) {
  absl::Status status = CheckSize(size);
  if (!status.ok()) return status;
  Discard(size, size_);
  size_ = size;
  return absl::OkStatus();
}

void DramStore::Clear() { Discard(0, size_); }

}  // namespace heddle::platform
