// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/control_server.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "simulator/platform/unix_socket.h"

namespace heddle::platform {

ControlServer::ControlServer(Reactor* reactor, std::string path,
                             Handler handler)
    : reactor_(reactor), path_(std::move(path)), handler_(std::move(handler)) {}

ControlServer::~ControlServer() {
  while (!clients_.empty()) Drop(clients_.begin()->first);
  if (listener_ >= 0) {
    reactor_->Forget(listener_);
    close(listener_);
    unlink(path_.c_str());
  }
}

absl::Status ControlServer::Listen() {
  absl::StatusOr<int> fd = ListenUnix(path_);
  if (!fd.ok()) return fd.status();
  listener_ = *fd;
  reactor_->Watch(listener_, [this] { OnConnect(); });
  return absl::OkStatus();
}

void ControlServer::OnConnect() {
  const int fd =
      accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  clients_[fd];
  reactor_->Watch(fd, [this, fd] { OnReadable(fd); });
}

void ControlServer::Drop(int fd) {
  reactor_->Forget(fd);
  clients_.erase(fd);
  close(fd);
}

void ControlServer::OnReadable(int fd) {
  char buffer[kMaxLine];
  const ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    Drop(fd);
    return;
  }
  std::string& text = clients_[fd];
  text.append(buffer, static_cast<size_t>(n));
  for (size_t end; (end = text.find('\n')) != std::string::npos;) {
    const std::string answer =
        handler_(absl::string_view(text).substr(0, end)) + "\n";
    text.erase(0, end + 1);
    if (send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(answer.size())) {
      Drop(fd);
      return;
    }
  }
  if (text.size() > kMaxLine) Drop(fd);
}

}  // namespace heddle::platform
