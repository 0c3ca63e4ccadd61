// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/test_card.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace heddle::session {

std::string Control(const std::string& path, const std::string& line) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
      0) {
    const std::string text = line + "\n";
    EXPECT_EQ(write(fd, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    char buffer[4096];
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n > 0) answer.assign(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

std::shared_ptr<Device> OpenSim(const std::string& options) {
  auto device = OpenDevice("sim" + (options.empty() ? "" : ":" + options));
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *device : nullptr;
}

}  // namespace heddle::session
