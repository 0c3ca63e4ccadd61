// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/scarcity.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <fstream>

#ifdef __SANITIZE_THREAD__
#define ONNXIFI_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ONNXIFI_THREAD_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ONNXIFI_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ONNXIFI_SANITIZED 1
#endif
#endif

#ifdef ONNXIFI_SANITIZED
extern "C" size_t __sanitizer_get_current_allocated_bytes();
// A child ends without what ThreadSanitizer says at the end of a program, so a
// race is the end of the child: the library has ended the process.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "halt_on_error=1"; }
#endif

namespace heddle::conformance {
namespace {

// Constants before anything runs: the first allocation comes early.
std::atomic<bool> refusing{false};
std::atomic<int> kind{0};
std::atomic<bool> all_behind{false};
std::atomic<int64_t> left{0};  // until the one that is refused
std::atomic<bool> refused{false};

#ifndef ONNXIFI_SANITIZED
// Whether this request is to fail.
bool Refused(Scarcity::Kind which) {
  if (!refusing.load() || kind.load() != which) return false;
  const int64_t now = left.fetch_sub(1);
  if (now > 1 || (now < 1 && !all_behind.load())) return false;
  refused.store(true);
  return true;
}
#endif

}  // namespace

bool Scarcity::Parse(const std::string& word, Scarcity* scarcity) {
  constexpr const char* kWords[] = {"allocation", "thread", "descriptor"};
  for (int k = 0; k < 3; ++k) {
    const size_t size = std::strlen(kWords[k]);
    if (word.compare(0, size, kWords[k]) != 0) continue;
    scarcity->kind = static_cast<Kind>(k);
    scarcity->all_behind = word.size() > size;
    return word.size() == size || word.compare(size, word.npos, "s") == 0;
  }
  return false;
}

bool Sanitized() {
#ifdef ONNXIFI_SANITIZED
  return true;
#else
  return false;
#endif
}

bool ThreadSanitized() {
#ifdef ONNXIFI_THREAD_SANITIZED
  return true;
#else
  return false;
#endif
}

long MemoryKib() {
#ifdef ONNXIFI_SANITIZED
  return static_cast<long>(__sanitizer_get_current_allocated_bytes() >> 10);
#else
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
#endif
}

void Refuse(const Scarcity& scarcity, uint64_t number) {
  refusing = false;
  kind = scarcity.kind;
  all_behind = scarcity.all_behind;
  left = static_cast<int64_t>(number);
  refused = false;
  refusing = true;
}

bool Refusing() { return refusing; }

bool Spare() {
  refusing = false;
  return refused;
}

}  // namespace heddle::conformance

#ifndef ONNXIFI_SANITIZED

namespace {

using heddle::conformance::Refused;
using heddle::conformance::Scarcity;

bool NoMemory() {
  if (!Refused(Scarcity::kAllocation)) return false;
  errno = ENOMEM;
  return true;
}

bool NoDescriptor() {
  if (!Refused(Scarcity::kDescriptor)) return false;
  errno = EMFILE;
  return true;
}

// The function that this one stands before.
template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define ONNXIFI_NEXT(name) \
  static auto* const next = Next<decltype(::name)>(#name)

}  // namespace

extern "C" {

// ---- Memory: the C library's own, by the names that it keeps for this
// --------

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  return NoMemory() ? nullptr : __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  return NoMemory() ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  return NoMemory() ? nullptr : __libc_realloc(old, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  return NoMemory() ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (Refused(Scarcity::kAllocation)) return ENOMEM;
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  void* const made = __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

// ---- Threads
// -----------------------------------------------------------------

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                   void* (*run)(void*), void* argument) {
  ONNXIFI_NEXT(pthread_create);
  if (Refused(Scarcity::kThread)) return EAGAIN;
  return next(thread, attributes, run, argument);
}

// ---- Descriptors
// -------------------------------------------------------------

// The mode is there only if a file may be made.
#define ONNXIFI_MODE(flags)                                 \
  mode_t mode = 0;                                          \
  if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) {           \
    va_list list;                                           \
    va_start(list, flags);                                  \
    mode = static_cast<mode_t>(va_arg(list, unsigned int)); \
    va_end(list);                                           \
  }

int open(const char* path, int flags, ...) {
  ONNXIFI_NEXT(open);
  ONNXIFI_MODE(flags)
  return NoDescriptor() ? -1 : next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  ONNXIFI_NEXT(open64);
  ONNXIFI_MODE(flags)
  return NoDescriptor() ? -1 : next(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  ONNXIFI_NEXT(openat);
  ONNXIFI_MODE(flags)
  return NoDescriptor() ? -1 : next(folder, path, flags, mode);
}
// What open becomes of a caller who was compiled with _FORTIFY_SOURCE.
int __open_2(const char* path, int flags) { return open(path, flags); }
int __open64_2(const char* path, int flags) { return open64(path, flags); }
int __openat_2(int folder, const char* path, int flags) {
  return openat(folder, path, flags);
}
FILE* fopen(const char* path, const char* mode) {
  ONNXIFI_NEXT(fopen);
  return NoDescriptor() ? nullptr : next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  ONNXIFI_NEXT(fopen64);
  return NoDescriptor() ? nullptr : next(path, mode);
}

// Functions of fixed arguments that return one descriptor, or two in an array.
#define ONNXIFI_DESCRIPTORS(name, parameters, arguments)   \
  int name parameters {                                    \
    static auto* const next = Next<int parameters>(#name); \
    return NoDescriptor() ? -1 : next arguments;           \
  }
ONNXIFI_DESCRIPTORS(socket, (int domain, int type, int protocol),
                    (domain, type, protocol))
ONNXIFI_DESCRIPTORS(socketpair,
                    (int domain, int type, int protocol, int fds[2]),
                    (domain, type, protocol, fds))
ONNXIFI_DESCRIPTORS(pipe, (int fds[2]), (fds))
ONNXIFI_DESCRIPTORS(pipe2, (int fds[2], int flags), (fds, flags))
ONNXIFI_DESCRIPTORS(dup, (int fd), (fd))
ONNXIFI_DESCRIPTORS(eventfd, (unsigned int value, int flags), (value, flags))
ONNXIFI_DESCRIPTORS(epoll_create1, (int flags), (flags))
ONNXIFI_DESCRIPTORS(timerfd_create, (int clock, int flags), (clock, flags))
ONNXIFI_DESCRIPTORS(inotify_init1, (int flags), (flags))
ONNXIFI_DESCRIPTORS(memfd_create, (const char* name, unsigned int flags),
                    (name, flags))

// The kernel drops descriptors of a message for which there is no number.
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  ONNXIFI_NEXT(recvmsg);
  const ssize_t bytes = next(fd, message, flags);
  if (bytes < 0) return bytes;
  cmsghdr* const c = CMSG_FIRSTHDR(message);
  if (c == nullptr || c->cmsg_level != SOL_SOCKET ||
      c->cmsg_type != SCM_RIGHTS || !Refused(Scarcity::kDescriptor)) {
    return bytes;
  }
  for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len;
       at += sizeof(int)) {
    int brought = -1;
    std::memcpy(&brought, reinterpret_cast<const char*>(c) + at,
                sizeof(brought));
    close(brought);
  }
  message->msg_controllen = 0;
  message->msg_flags |= MSG_CTRUNC;
  return bytes;
}

}  // extern "C"

#endif
