// SPDX-License-Identifier: Apache-2.0
// The kernel's uevents, from the moment of construction.
#ifndef TESTS_DRIVER_UEVENTS_H_
#define TESTS_DRIVER_UEVENTS_H_

#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace heddle::tests {

class Uevents {
 public:
  Uevents()
      : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
                   NETLINK_KOBJECT_UEVENT)) {
    sockaddr_nl address = {};
    address.nl_family = AF_NETLINK;
    address.nl_groups = 1;
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
        0) {
      close(fd_);
      fd_ = -1;
    }
  }
  ~Uevents() {
    if (fd_ >= 0) close(fd_);
  }
  Uevents(const Uevents&) = delete;
  Uevents& operator=(const Uevents&) = delete;
  bool ok() const { return fd_ >= 0; }

  // The value of the next `key` of any uevent; empty: none within `ms`, which
  // starts anew with every uevent.
  std::string Next(const std::string& key, int ms) {
    char buffer[8192];
    for (;;) {
      pollfd p = {fd_, POLLIN, 0};
      if (poll(&p, 1, ms) <= 0) return "";
      const ssize_t n = recv(fd_, buffer, sizeof(buffer), 0);
      if (n <= 0) return "";
      const std::string text(buffer, n);  // strings, each with its zero
      const std::string begin = std::string(1, '\0') + key + "=";
      const size_t at = text.find(begin);
      if (at != std::string::npos) return text.c_str() + at + begin.size();
    }
  }

 private:
  int fd_;
};

}  // namespace heddle::tests

#endif  // TESTS_DRIVER_UEVENTS_H_
