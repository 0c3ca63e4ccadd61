// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/unix_socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_format.h"

namespace heddle::platform {
namespace {

absl::StatusOr<sockaddr_un> Address(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("socket path '%s' has %d characters: give 1 to %d",
                        path, path.size(), sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

absl::Status Failure(const char* what, const std::string& path) {
  const int error = errno;
  return absl::UnavailableError(
      absl::StrFormat("cannot %s socket %s: %s", what, path, strerror(error)));
}

}  // namespace

absl::StatusOr<int> ConnectUnix(const std::string& path) {
  absl::StatusOr<sockaddr_un> address = Address(path);
  if (!address.ok()) return address.status();
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failure("create", path);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&*address),
              sizeof(*address)) != 0) {
    absl::Status status = Failure("connect to", path);
    close(fd);
    return status;
  }
  return fd;
}

absl::StatusOr<int> ListenUnix(const std::string& path) {
  absl::StatusOr<sockaddr_un> address = Address(path);
  if (!address.ok()) return address.status();
  struct stat info;
  if (lstat(path.c_str(), &info) == 0) {
    absl::StatusOr<int> other = ConnectUnix(path);
    if (other.ok()) close(*other);
    if (other.ok() || !S_ISSOCK(info.st_mode)) {
      return absl::AlreadyExistsError(
          absl::StrFormat("%s %s: give another path", path,
                          other.ok() ? "is in use by a running program"
                                     : "exists and is not a socket"));
    }
    unlink(path.c_str());
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Failure("create", path);
  const mode_t mask = umask(0077);
  const int bound =
      bind(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address));
  umask(mask);
  if (bound != 0 || listen(fd, 8) != 0) {
    absl::Status status = Failure("listen at", path);
    close(fd);
    return status;
  }
  return fd;
}

}  // namespace heddle::platform
