// SPDX-License-Identifier: Apache-2.0
#include "compiler/cache/file_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/sha256.h"

namespace heddle::compiler {
namespace {

constexpr char kMagic[] = "HEDDLECE";
constexpr uint32_t kVersion = 1;
constexpr size_t kVersionAt = 8, kReservedAt = 12, kSizeAt = 16, kKeyAt = 24,
                 kDigestAt = 56, kHeaderBytes = 88;
constexpr char kEntrySuffix[] = ".entry", kTemporary[] = "new-";
// What a process that died has left behind.
constexpr time_t kStaleSeconds = 3600;

template <typename T>
T Load(absl::string_view file, size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof(value));
  return value;
}

Sha256Digest DigestOf(absl::string_view header, absl::string_view bytes) {
  static constexpr char kZeros[kHeaderBytes - kDigestAt] = {};
  Sha256 hash;
  hash.Update(header.substr(0, kDigestAt));
  hash.Update(absl::string_view(kZeros, sizeof(kZeros)));
  hash.Update(bytes);
  return hash.Finish();
}

std::string HeaderOf(const CacheKey& key, absl::string_view bytes) {
  std::string header(kHeaderBytes, '\0');
  std::memcpy(&header[0], kMagic, 8);
  std::memcpy(&header[kVersionAt], &kVersion, sizeof(kVersion));
  const uint64_t size = kHeaderBytes + bytes.size();
  std::memcpy(&header[kSizeAt], &size, sizeof(size));
  std::memcpy(&header[kKeyAt], key.data(), key.size());
  const Sha256Digest digest = DigestOf(header, bytes);
  std::memcpy(&header[kDigestAt], digest.data(), digest.size());
  return header;
}

absl::Status Cannot(const char* what, const std::string& path, int error) {
  const std::string text = absl::StrCat("the cache cannot ", what, " '", path,
                                        "': ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(text)
         : error == ENOSPC || error == EDQUOT || error == EFBIG
             ? absl::ResourceExhaustedError(text)
             : absl::FailedPreconditionError(text);
}

absl::Status MakeFolders(const std::string& folder) {
  for (size_t at = 1; at <= folder.size(); ++at) {
    if (at < folder.size() && folder[at] != '/') continue;
    const std::string part = folder.substr(0, at);
    if (mkdir(part.c_str(), 0700) == 0 || errno == EEXIST) continue;
    const int error = errno;
    struct stat facts;
    if (stat(part.c_str(), &facts) == 0) continue;  // of a read-only system
    return absl::InvalidArgumentError(
        std::string(Cannot("make the folder", part, error).message()));
  }
  return absl::OkStatus();
}

// While it lives, writing beyond the process's limit (ulimit -f) is an error of
// the call; the signal that would end the process is gone when it ends.
class WithoutSizeSignal {
 public:
  WithoutSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutSizeSignal() {
    const timespec at_once = {0, 0};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSizeSignal(const WithoutSizeSignal&) = delete;
  WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

bool WriteAll(int fd, absl::string_view bytes) {
  const WithoutSizeSignal without_signal;
  while (!bytes.empty()) {
    const ssize_t n =
        write(fd, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = ENOSPC;
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

struct Found {
  std::string name;
  uint64_t bytes = 0;
  struct timespec used = {};
};

bool Older(const Found& a, const Found& b) {
  return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                        : a.used.tv_nsec < b.used.tv_nsec;
}

}  // namespace

std::string PackCacheEntry(const CacheKey& key, absl::string_view bytes) {
  return absl::StrCat(HeaderOf(key, bytes), bytes);
}

absl::StatusOr<absl::string_view> UnpackCacheEntry(const CacheKey& key,
                                                   absl::string_view file) {
  const auto wrong = [](const char* why) { return absl::DataLossError(why); };
  if (file.size() < kHeaderBytes) return wrong("it is shorter than its header");
  if (std::memcmp(file.data(), kMagic, 8) != 0)
    return wrong("it is not a cache entry");
  if (Load<uint32_t>(file, kVersionAt) != kVersion ||
      Load<uint32_t>(file, kReservedAt) != 0) {
    return wrong("it has a different format");
  }
  if (Load<uint64_t>(file, kSizeAt) != file.size()) {
    return wrong("its size differs from its header");
  }
  if (Load<CacheKey>(file, kKeyAt) != key)
    return wrong("it has a different key");
  const absl::string_view bytes = file.substr(kHeaderBytes);
  if (Load<Sha256Digest>(file, kDigestAt) != DigestOf(file, bytes)) {
    return wrong("its checksum is wrong");
  }
  return bytes;
}

absl::StatusOr<FileCache> FileCache::Open(const std::string& folder,
                                          uint64_t most_bytes) {
  if (folder.empty()) {
    return absl::InvalidArgumentError("the cache folder has no name");
  }
  if (absl::Status s = MakeFolders(folder); !s.ok()) return s;
  struct stat facts;
  if (stat(folder.c_str(), &facts) != 0) {
    return absl::InvalidArgumentError(
        std::string(Cannot("open", folder, errno).message()));
  }
  if (!S_ISDIR(facts.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the cache '", folder, "' is not a folder"));
  }
  // Who can change an entry chooses what the card computes.
  if (facts.st_uid != geteuid() || (facts.st_mode & 022) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the cache '", folder,
                     "' must belong to you and not be writable by anyone else: "
                     "run chmod go-w on it, or use another folder"));
  }
  return FileCache(folder, most_bytes);
}

std::string FileCache::PathOf(const CacheKey& key) const {
  return absl::StrCat(
      folder_, "/",
      absl::BytesToHexString(absl::string_view(
          reinterpret_cast<const char*>(key.data()), key.size())),
      kEntrySuffix);
}

absl::StatusOr<std::string> FileCache::Find(const CacheKey& key) const {
  const std::string path = PathOf(key);
  // No waiting for who writes to a pipe.
  const int fd =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return Cannot("open", path, errno);
  const absl::Cleanup close_file = [fd] { close(fd); };
  const auto damaged = [&path](absl::string_view why) {
    unlink(path.c_str());
    return absl::DataLossError(
        absl::StrCat("the cache's entry '", path, "' is damaged: ", why));
  };
  struct stat facts;
  if (fstat(fd, &facts) != 0) return Cannot("read", path, errno);
  if (!S_ISREG(facts.st_mode)) return damaged("it is not a file");
  const auto size = static_cast<uint64_t>(facts.st_size);
  if (size > most_bytes_) return damaged("it is larger than the cache");
  // Who it belongs to, and for what, before there is memory for all of it.
  std::string file(std::min<uint64_t>(size, kHeaderBytes), '\0');
  const auto read_from = [&](size_t at) {
    while (at < file.size()) {
      const ssize_t n =
          pread(fd, &file[at], file.size() - at, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += static_cast<size_t>(n);
    }
    return true;
  };
  if (!read_from(0)) return damaged("it cannot be read");
  if (file.size() < kHeaderBytes || std::memcmp(file.data(), kMagic, 8) != 0 ||
      Load<uint64_t>(file, kSizeAt) != size) {
    return damaged("it is truncated or not a cache entry");
  }
  file.resize(size);
  if (!read_from(kHeaderBytes)) return damaged("it cannot be read");
  const auto bytes = UnpackCacheEntry(key, file);
  if (!bytes.ok()) return damaged(bytes.status().message());
  // Used now; a folder that cannot be written stays as it is.
  futimens(fd, nullptr);
  file.erase(0, kHeaderBytes);
  return file;
}

absl::Status FileCache::Store(const CacheKey& key,
                              absl::string_view bytes) const {
  const uint64_t size = kHeaderBytes + bytes.size();
  if (size > most_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the cache '", folder_, "' takes ", most_bytes_,
                     " bytes, an entry would have ", size));
  }
  Evict(size);
  std::string temporary = absl::StrCat(folder_, "/", kTemporary, "XXXXXX");
  const int fd = mkostemp(&temporary[0], O_CLOEXEC);
  if (fd < 0) return Cannot("make a file in", folder_, errno);
  const std::string path = PathOf(key);
  const bool written = WriteAll(fd, HeaderOf(key, bytes)) &&
                       WriteAll(fd, bytes) && fsync(fd) == 0 &&
                       rename(temporary.c_str(), path.c_str()) == 0;
  const int error = errno;
  close(fd);
  if (!written) {
    unlink(temporary.c_str());
    return Cannot("write", path, error);
  }
  const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return absl::OkStatus();
}

void FileCache::Evict(uint64_t room) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(folder_.c_str()),
                                                   closedir);
  if (folder == nullptr) return;
  std::vector<Found> entries;
  uint64_t sum = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string name = entry->d_name;
    const bool temporary = absl::StartsWith(name, kTemporary);
    // Whatever else is there is not ours.
    if (!temporary && !absl::EndsWith(name, kEntrySuffix)) continue;
    struct stat facts;
    if (fstatat(dirfd(folder.get()), name.c_str(), &facts,
                AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode)) {
      continue;
    }
    if (temporary) {
      if (facts.st_mtim.tv_sec + kStaleSeconds < time(nullptr)) {
        unlinkat(dirfd(folder.get()), name.c_str(), 0);
      }
      continue;
    }
    sum += static_cast<uint64_t>(facts.st_size);
    entries.push_back(
        {name, static_cast<uint64_t>(facts.st_size), facts.st_mtim});
  }
  std::sort(entries.begin(), entries.end(), Older);
  for (const Found& entry : entries) {
    if (sum + room <= most_bytes_) return;
    unlinkat(dirfd(folder.get()), entry.name.c_str(), 0);
    sum -= entry.bytes;
  }
}

}  // namespace heddle::compiler
