// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "absl/strings/str_cat.h"

namespace heddle::compiler {

// What the handler knows of a mapping. Slots are never freed, as a signal may
// come at any time.
struct MappedFile::Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> damaged{false};
};

class MappedFile::Slots {
 public:
  // Null if all are taken.
  static Slot* Take() {
    static std::once_flag once;
    std::call_once(once, [] {
      struct sigaction action = {};
      action.sa_sigaction = &Handle;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&action.sa_mask);
      sigaction(SIGBUS, &action, &previous_);
    });
    for (Slot& slot : slots_) {
      if (!slot.taken.exchange(true)) return &slot;
    }
    return nullptr;
  }
  static void Give(Slot* slot) {
    slot->end = slot->begin = 0;
    slot->damaged = false;
    slot->taken = false;
  }

 private:
  // Makes only calls that are allowed in a handler.
  static void Handle(int signal, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    for (Slot& slot : slots_) {
      if (address < slot.begin || address >= slot.end) continue;
      const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
      const uintptr_t from = address / page * page;
      const int error = errno;
      void* const zeros =
          mmap(reinterpret_cast<void*>(from), slot.end - from, PROT_READ,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      errno = error;
      slot.damaged = true;
      if (zeros != MAP_FAILED) return;
    }
    if ((previous_.sa_flags & SA_SIGINFO) != 0) {
      previous_.sa_sigaction(signal, info, context);
    } else if (previous_.sa_handler != SIG_DFL &&
               previous_.sa_handler != SIG_IGN) {
      previous_.sa_handler(signal);
    } else {
      // An access is made again, and does what it would have done.
      sigaction(SIGBUS, &previous_, nullptr);
      if (info->si_code <= 0) raise(signal);  // somebody sent it
    }
  }

  // More than a model has files; what finds none free is read instead.
  static constexpr size_t kSlots = 1024;
  static Slot slots_[kSlots];
  static struct sigaction previous_;
};

MappedFile::Slot MappedFile::Slots::slots_[kSlots];
struct sigaction MappedFile::Slots::previous_;

std::shared_ptr<const MappedFile> MappedFile::Map(int descriptor, size_t size,
                                                  const std::string& name) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->name_ = name;
  file->descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (size == 0 || file->descriptor_ < 0 ||
      fstat(file->descriptor_, &file->facts_) != 0) {
    return nullptr;
  }
  file->slot_ = Slots::Take();
  if (file->slot_ == nullptr) return nullptr;
  void* const at =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor_, 0);
  if (at == MAP_FAILED) return nullptr;
  file->bytes_ = absl::string_view(static_cast<const char*>(at), size);
  file->slot_->begin = reinterpret_cast<uintptr_t>(at);
  file->slot_->end = reinterpret_cast<uintptr_t>(at) + size;
  return file;
}

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(
    const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return absl::NotFoundError(
        absl::StrCat("cannot open '", path, "': ", std::strerror(errno)));
  }
  const std::unique_ptr<const int, void (*)(const int*)> closer(
      &descriptor, [](const int* d) { close(*d); });
  struct stat facts;
  if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode)) {
    auto mapped = Map(descriptor, static_cast<size_t>(facts.st_size), path);
    if (mapped != nullptr) return mapped;
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->name_ = path;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(descriptor, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      return absl::DataLossError(
          absl::StrCat("cannot read '", path, "': ", std::strerror(errno)));
    }
    if (n == 0) break;
    file->read_.append(buffer, static_cast<size_t>(n));
  }
  file->bytes_ = file->read_;
  return file;
}

MappedFile::~MappedFile() {
  if (slot_ != nullptr) {
    if (!bytes_.empty())
      munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    Slots::Give(slot_);
  }
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status MappedFile::Unchanged() const {
  if (descriptor_ < 0) return absl::OkStatus();  // a copy
  struct stat now;
  if (!slot_->damaged && fstat(descriptor_, &now) == 0 &&
      now.st_size == facts_.st_size &&
      now.st_mtim.tv_sec == facts_.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == facts_.st_mtim.tv_nsec) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("'", name_,
                   "' changed, or became unreadable, while in use; try again "
                   "when it is complete"));
}

}  // namespace heddle::compiler
