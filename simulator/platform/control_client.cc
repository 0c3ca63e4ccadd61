// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/control_client.h"

#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "simulator/platform/unix_socket.h"

namespace heddle::platform {

absl::StatusOr<std::string> SendCommand(const std::string& path,
                                        const std::string& command) {
  absl::StatusOr<int> fd = ConnectUnix(path);
  if (!fd.ok()) return fd.status();
  const std::string line = command + "\n";
  std::string answer;
  if (send(*fd, line.data(), line.size(), MSG_NOSIGNAL) ==
      static_cast<ssize_t>(line.size())) {
    char buffer[4096];
    ssize_t n;
    while (answer.find('\n') == std::string::npos &&
           (n = recv(*fd, buffer, sizeof(buffer), 0)) > 0) {
      answer.append(buffer, static_cast<size_t>(n));
    }
  }
  close(*fd);
  const size_t end = answer.find('\n');
  if (end == std::string::npos) {
    return absl::UnavailableError(absl::StrCat("the simulator at ", path,
                                               " ended before it answered '",
                                               command, "'"));
  }
  answer.resize(end);
  return answer;
}

}  // namespace heddle::platform
