// SPDX-License-Identifier: Apache-2.0
//
// Unix stream sockets by path, without blocking the caller for long.
#ifndef HEDDLE_SIMULATOR_PLATFORM_UNIX_SOCKET_H_
#define HEDDLE_SIMULATOR_PLATFORM_UNIX_SOCKET_H_

#include <string>

#include "absl/status/statusor.h"

namespace heddle::platform {

// Listens at `path`, for this user only. A socket that nobody listens at any
// more is replaced. ALREADY_EXISTS: someone does, or it is something else than
// a socket; INVALID_ARGUMENT: the path is too long for a socket.
absl::StatusOr<int> ListenUnix(const std::string& path);

// Connects. UNAVAILABLE: nobody listens there.
absl::StatusOr<int> ConnectUnix(const std::string& path);

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_UNIX_SOCKET_H_
