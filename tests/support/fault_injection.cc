// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_injection.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "kmd/hosted/protocol.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEDDLE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEDDLE_SANITIZED 1
#endif
#endif

namespace heddle::tests::faults {
namespace {

std::atomic<bool> armed{false};
std::atomic<Kind> kind{Kind::kAllocation};
std::atomic<long> left{0};  // until the one that fails
std::atomic<long> count{0};
std::atomic<bool> forever{false}, failed{false};
std::atomic<long> live{0};

// Whether the next one of this kind is to fail.
bool Fails(Kind which) {
  if (!armed.load() || kind.load() != which) return false;
  count.fetch_add(1);
  const long before = left.fetch_sub(1);
  if (before > 0 || (before < 0 && !forever.load())) return false;
  failed.store(true);
  return true;
}

// ---- The driver's answers

std::atomic<unsigned long> answered_request{0};
std::atomic<int> answered_error{0};
// Calls of that request whose answers are awaited: {socket, id}.
struct Awaited {
  std::atomic<int> socket{-1};
  std::atomic<uint64_t> id{0};
};
Awaited awaited[64];

void NoteRequest(int socket, const msghdr* message) {
  hosted::MessageHeader header;
  if (answered_error.load() == 0 || message->msg_iovlen == 0 ||
      message->msg_iov[0].iov_len < sizeof(header)) {
    return;
  }
  std::memcpy(&header, message->msg_iov[0].iov_base, sizeof(header));
  if (header.magic != hosted::kMessageMagic || header.type != hosted::kIoctl ||
      header.request != static_cast<uint32_t>(answered_request.load())) {
    return;
  }
  for (Awaited& slot : awaited) {
    int free = -1;
    if (!slot.socket.compare_exchange_strong(free, socket)) continue;
    slot.id = header.id;
    return;
  }
}

void ChangeReply(int socket, const msghdr* message, ssize_t bytes) {
  hosted::MessageHeader header;
  if (bytes != static_cast<ssize_t>(sizeof(header))) return;
  std::memcpy(&header, message->msg_iov[0].iov_base, sizeof(header));
  if (header.magic != hosted::kMessageMagic) return;
  for (Awaited& slot : awaited) {
    if (slot.socket != socket || slot.id != header.id) continue;
    header.result = -answered_error.load();
    std::memcpy(message->msg_iov[0].iov_base, &header, sizeof(header));
    slot.socket = -1;
  }
}

// The driver's answers can be changed only if it is asked: no page of results.
void RefuseResults(const msghdr* message, ssize_t bytes) {
  hosted::MessageHeader header;
  if (bytes < static_cast<ssize_t>(sizeof(header)) || message->msg_iovlen == 0)
    return;
  std::memcpy(&header, message->msg_iov[0].iov_base, sizeof(header));
  if (header.magic != hosted::kMessageMagic || header.type != hosted::kResults)
    return;
  header.result = -EPROTO;
  std::memcpy(message->msg_iov[0].iov_base, &header, sizeof(header));
}

// The kernel drops descriptors of a message for which there is no number.
void DropDescriptors(msghdr* message) {
  for (cmsghdr* c = CMSG_FIRSTHDR(message); c != nullptr;
       c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    if (!Fails(Kind::kDescriptor)) return;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    close(fd);
    message->msg_controllen = 0;
    message->msg_flags |= MSG_CTRUNC;
    return;
  }
}

int NoDescriptor() {
  errno = EMFILE;
  return -1;
}

long Entries(const char* folder) {
  DIR* listing = opendir(folder);
  long entries = 0;
  while (readdir(listing) != nullptr) ++entries;
  closedir(listing);
  return entries - 2;
}

}  // namespace

const char* Name(Kind which) {
  switch (which) {
    case Kind::kAllocation:
      return "allocation";
    case Kind::kThread:
      return "thread";
    case Kind::kDescriptor:
      return "descriptor";
  }
  return "";
}

void Arm(const Plan& plan) {
  kind = plan.kind;
  left = plan.skip;
  forever = plan.forever;
  count = 0;
  failed = false;
  armed = true;
}

Seen Disarm() {
  armed = false;
  return {count.load(), failed.load()};
}

void AnswerIoctl(unsigned long request, int error) {
  answered_error = 0;
  for (Awaited& slot : awaited) slot.socket = -1;
  answered_request = request;
  answered_error = error;
}

bool Sanitized() {
#ifdef HEDDLE_SANITIZED
  return true;
#else
  return false;
#endif
}

Holdings Held() {
  Holdings held;
  if (!Sanitized()) held.allocations = live.load();
  held.descriptors = Entries("/proc/self/fd") - 1;  // without the listing's
  held.threads = Entries("/proc/self/task");
  return held;
}

#ifdef HEDDLE_SANITIZED
void* New(size_t bytes) {
  return Fails(Kind::kAllocation) ? nullptr
                                  : std::malloc(bytes == 0 ? 1 : bytes);
}
#endif

}  // namespace heddle::tests::faults

namespace faults = heddle::tests::faults;
using faults::Kind;

#ifdef HEDDLE_SANITIZED

void* operator new(size_t bytes) {
  void* memory = faults::New(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return faults::New(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return faults::New(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

#else

// The C library's own, by the names under which it keeps them for this.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static void* Counted(void* memory) {
  if (memory != nullptr) faults::live.fetch_add(1);
  return memory;
}
static void* NoMemory() {
  errno = ENOMEM;
  return nullptr;
}

void* malloc(size_t bytes) {
  if (faults::Fails(Kind::kAllocation)) return NoMemory();
  return Counted(__libc_malloc(bytes));
}
void* calloc(size_t count, size_t bytes) {
  if (faults::Fails(Kind::kAllocation)) return NoMemory();
  return Counted(__libc_calloc(count, bytes));
}
void* realloc(void* old, size_t bytes) {
  if (faults::Fails(Kind::kAllocation)) return NoMemory();
  void* memory = __libc_realloc(old, bytes);
  if (old == nullptr && memory != nullptr) faults::live.fetch_add(1);
  if (old != nullptr && bytes == 0) faults::live.fetch_sub(1);
  return memory;
}
void* memalign(size_t alignment, size_t bytes) {
  if (faults::Fails(Kind::kAllocation)) return NoMemory();
  return Counted(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  void* memory = memalign(alignment, bytes);
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}
void free(void* memory) {
  if (memory != nullptr) faults::live.fetch_sub(1);
  __libc_free(memory);
}
}

#endif

extern "C" {

// What a sanitizer puts there, if there is one.
using CreateThread = int(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                         void*);
__attribute__((weak)) CreateThread __interceptor_pthread_create;

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                   void* (*run)(void*), void* argument) {
  static CreateThread* const real =
      __interceptor_pthread_create != nullptr
          ? &__interceptor_pthread_create
          : reinterpret_cast<CreateThread*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (faults::Fails(Kind::kThread)) return EAGAIN;
  return real(thread, attributes, run, argument);
}

int socket(int domain, int type, int protocol) {
  if (faults::Fails(Kind::kDescriptor)) return faults::NoDescriptor();
  return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

static int OpenAt(int folder, const char* path, int flags, mode_t mode) {
  if (faults::Fails(Kind::kDescriptor)) return faults::NoDescriptor();
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

// The mode is there only if a file may be made.
#define HEDDLE_MODE(flags)                                  \
  mode_t mode = 0;                                          \
  if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) {           \
    va_list list;                                           \
    va_start(list, flags);                                  \
    mode = static_cast<mode_t>(va_arg(list, unsigned int)); \
    va_end(list);                                           \
  }

int open(const char* path, int flags, ...) {
  HEDDLE_MODE(flags)
  return OpenAt(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  HEDDLE_MODE(flags)
  return OpenAt(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  HEDDLE_MODE(flags)
  return OpenAt(folder, path, flags, mode);
}

int pipe2(int fds[2], int flags) {
  if (faults::Fails(Kind::kDescriptor)) return faults::NoDescriptor();
  return static_cast<int>(syscall(SYS_pipe2, fds, flags));
}

int memfd_create(const char* name, unsigned int flags) {
  if (faults::Fails(Kind::kDescriptor)) return faults::NoDescriptor();
  return static_cast<int>(syscall(SYS_memfd_create, name, flags));
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  faults::NoteRequest(fd, message);
  return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  const ssize_t bytes = syscall(SYS_recvmsg, fd, message, flags);
  if (bytes < 0) return bytes;
  faults::DropDescriptors(message);
  faults::RefuseResults(message, bytes);
  faults::ChangeReply(fd, message, bytes);
  return bytes;
}

int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  const int error = faults::answered_error.load();
  if (error != 0 && request == faults::answered_request.load()) {
    errno = error;
    return -1;
  }
  return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}

}  // extern "C"
