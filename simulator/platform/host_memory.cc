// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/host_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>

#include "absl/strings/str_format.h"

namespace heddle::platform {
namespace {

// Set while GuardedCopy runs; the handler jumps back to it. Volatile and
// fenced: to the compiler, memcpy neither reads this nor can it be interrupted.
thread_local sigjmp_buf* volatile recovery = nullptr;

// Whether the jump restores the mask of signals. Nothing is blocked in the
// handler, and saving it is a system call; ThreadSanitizer's own handler blocks
// all of them.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_SAVE_SIGNAL_MASK 1
#endif
#endif
#ifndef HEDDLE_SAVE_SIGNAL_MASK
#define HEDDLE_SAVE_SIGNAL_MASK 0
#endif

void OnSigbus(int signal) {
  if (recovery != nullptr) siglongjmp(*recovery, 1);
  // Not ours: die as without a handler.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);
}

// Runs an access that survives a vanished backing. False when it met one.
template <typename Touch>
[[gnu::noinline]] bool Guarded(const Touch& touch) {
  sigjmp_buf here;
  if (sigsetjmp(here, HEDDLE_SAVE_SIGNAL_MASK) != 0) {
    recovery = nullptr;
    return false;
  }
  recovery = &here;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  touch();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  recovery = nullptr;
  return true;
}

bool GuardedCopy(void* to, const void* from, size_t bytes) {
  return Guarded([&] { std::memcpy(to, from, bytes); });
}

}  // namespace

HostMemory::HostMemory() {
  struct sigaction action = {};
  action.sa_handler = OnSigbus;
  // The mask is not restored by the jump, so the signal must not be blocked.
  action.sa_flags = SA_NODEFER;
  sigaction(SIGBUS, &action, nullptr);
}

HostMemory::~HostMemory() { UnmapAll(); }

absl::Status HostMemory::Map(uint64_t iova, uint64_t size, int fd,
                             uint64_t fd_offset, bool readable, bool writable) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (size == 0 || iova + size < iova || fd_offset + size < fd_offset ||
      fd_offset + size > static_cast<uint64_t>(INT64_MAX) ||
      fd_offset % page != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("host range %#x+%#x at file offset %#x is empty, wraps "
                        "or is not page-aligned",
                        iova, size, fd_offset));
  }
  if (!readable && !writable) {
    return absl::InvalidArgumentError(
        "host range is neither readable nor writable");
  }
  if (ranges_.size() >= kMaxRanges) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%d host ranges are mapped, the limit", ranges_.size()));
  }
  auto next = ranges_.lower_bound(iova);
  if ((next != ranges_.end() && next->first < iova + size) ||
      (next != ranges_.begin() &&
       std::prev(next)->first + std::prev(next)->second.size > iova)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "host range %#x+%#x overlaps one that is mapped", iova, size));
  }
  struct stat info;
  if (fstat(fd, &info) != 0) {
    return absl::InvalidArgumentError(
        "host range has no usable file descriptor");
  }
  if (S_ISREG(info.st_mode) &&
      static_cast<uint64_t>(info.st_size) < fd_offset + size) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "host range %#x+%#x reaches beyond its file of %d bytes", iova, size,
        static_cast<int64_t>(info.st_size)));
  }
  int protection = (readable ? PROT_READ : 0) | (writable ? PROT_WRITE : 0);
  void* data = mmap(nullptr, size, protection, MAP_SHARED, fd,
                    static_cast<off_t>(fd_offset));
  if (data == MAP_FAILED) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "cannot map host range %#x+%#x: %s", iova, size, strerror(errno)));
  }
  // The core's process has no business with host memory.
  madvise(data, size, MADV_DONTFORK);
  ranges_[iova] = {size, static_cast<uint8_t*>(data), readable, writable};
  return absl::OkStatus();
}

absl::Status HostMemory::Unmap(uint64_t iova, uint64_t size) {
  auto it = ranges_.find(iova);
  if (it == ranges_.end() || it->second.size != size) {
    return absl::NotFoundError(
        absl::StrFormat("no host range %#x+%#x is mapped", iova, size));
  }
  munmap(it->second.data, it->second.size);
  ranges_.erase(it);
  return absl::OkStatus();
}

void HostMemory::UnmapAll() {
  for (auto& [iova, range] : ranges_) munmap(range.data, range.size);
  ranges_.clear();
}

bool HostMemory::Access(uint64_t iova, uint8_t* buffer, size_t bytes,
                        bool write) const {
  if (iova + bytes < iova) return false;
  while (bytes > 0) {
    auto it = ranges_.upper_bound(iova);
    if (it == ranges_.begin()) return false;
    --it;
    const Range& range = it->second;
    const uint64_t offset = iova - it->first;
    if (offset >= range.size || !(write ? range.writable : range.readable))
      return false;
    const size_t piece =
        static_cast<size_t>(std::min<uint64_t>(bytes, range.size - offset));
    const bool ok = write ? GuardedCopy(range.data + offset, buffer, piece)
                          : GuardedCopy(buffer, range.data + offset, piece);
    if (!ok) return false;
    iova += piece;
    buffer += piece;
    bytes -= piece;
  }
  return true;
}

uint16_t* HostMemory::Word(uint64_t iova, bool write) const {
  auto it = ranges_.upper_bound(iova);
  if (it == ranges_.begin()) return nullptr;
  --it;
  const Range& range = it->second;
  const uint64_t offset = iova - it->first;
  if (offset >= range.size || range.size - offset < sizeof(uint16_t) ||
      offset % sizeof(uint16_t) != 0 ||
      !(write ? range.writable : range.readable)) {
    return nullptr;
  }
  return reinterpret_cast<uint16_t*>(range.data + offset);
}

bool HostMemory::Load16(uint64_t iova, uint16_t* value) const {
  const uint16_t* word = Word(iova, false);
  return word != nullptr &&
         Guarded([&] { *value = __atomic_load_n(word, __ATOMIC_ACQUIRE); });
}

bool HostMemory::Store16(uint64_t iova, uint16_t value) const {
  uint16_t* word = Word(iova, true);
  return word != nullptr &&
         Guarded([&] { __atomic_store_n(word, value, __ATOMIC_RELEASE); });
}

bool HostMemory::Read(uint64_t iova, void* to, size_t bytes) const {
  return Access(iova, static_cast<uint8_t*>(to), bytes, false);
}

bool HostMemory::Write(uint64_t iova, const void* from, size_t bytes) const {
  return Access(iova, static_cast<uint8_t*>(const_cast<void*>(from)), bytes,
                true);
}

}  // namespace heddle::platform
