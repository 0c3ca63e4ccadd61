// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/printable.h"

namespace heddle::cli {
namespace {

absl::Status Broken(const char* what, const std::string& path, int error) {
  return absl::DataLossError(
      absl::StrCat("cannot ", what, " '", path, "': ", std::strerror(error)));
}

int WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

// To what cannot be replaced: a device, a pipe.
absl::Status WriteInto(const std::string& path, absl::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return Broken("write", path, errno);
  int error = WriteAll(fd, bytes);
  if (close(fd) != 0 && error == 0) error = errno;
  return error == 0 ? absl::OkStatus() : Broken("write", path, error);
}

// `target` is where `path` leads.
absl::Status Replace(const std::string& path, const std::string& target,
                     absl::string_view bytes) {
  std::string temporary = target + ".XXXXXX";
  const int fd = mkostemp(&temporary[0], O_CLOEXEC);
  if (fd < 0) return Broken("write", path, errno);
  int error = WriteAll(fd, bytes);
  // What mkostemp made is readable by the owner only; files are as usual.
  const mode_t mask = umask(0);
  umask(mask);
  if (error == 0 && fchmod(fd, 0666 & ~mask) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), target.c_str()) != 0) {
    error = errno;
  }
  if (error == 0) return absl::OkStatus();
  unlink(temporary.c_str());
  return Broken("write", path, error);
}

// The ordinary file that is replaced for `path`, whose stat() is `info`.
std::string TargetOf(const std::string& path, const struct stat& info) {
  char target[PATH_MAX];
  if (realpath(path.c_str(), target) != nullptr && S_ISREG(info.st_mode)) {
    return target;
  }
  return path;
}

// A rename would put an ordinary file in place of /dev/null.
bool CannotBeReplaced(const struct stat& info) {
  return !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return absl::NotFoundError(
        absl::StrCat("cannot open '", path, "': ", std::strerror(errno)));
  }
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      close(fd);
      return Broken("read", path, error);
    }
    if (n == 0) break;
    bytes.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return bytes;
}

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  if (path == "-") {
    const int error = WriteAll(STDOUT_FILENO, bytes);
    return error == 0 ? absl::OkStatus() : Broken("write", "stdout", error);
  }
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 && CannotBeReplaced(info)) {
    return WriteInto(path, bytes);
  }
  return Replace(path, TargetOf(path, info), bytes);
}

absl::Status CheckWritable(const std::string& path) {
  if (path == "-") return absl::OkStatus();
  if (path.empty()) return Broken("write", path, ENOENT);
  struct stat info = {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return Broken("write", path, EISDIR);
  if (exists && CannotBeReplaced(info)) {
    // Opening a pipe would wait for its reader.
    return access(path.c_str(), W_OK) == 0 ? absl::OkStatus()
                                           : Broken("write", path, errno);
  }
  std::string temporary = TargetOf(path, info) + ".XXXXXX";
  const int fd = mkostemp(&temporary[0], O_CLOEXEC);
  if (fd < 0) return Broken("write", path, errno);
  close(fd);
  unlink(temporary.c_str());
  return absl::OkStatus();
}

bool SameFile(const std::string& a, const std::string& b) {
  struct stat first = {}, second = {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool IsPackage(absl::string_view bytes) {
  return absl::StartsWith(bytes, "HEDDLEPK") ||
         absl::StartsWith(bytes, "HEDDLEPS");
}

absl::Status OfFile(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  absl::Status named(status.code(), absl::StrCat("'", Printable(path),
                                                 "': ", status.message()));
  status.ForEachPayload(
      [&named](absl::string_view type, const absl::Cord& payload) {
        named.SetPayload(type, payload);
      });
  return named;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace heddle::cli
