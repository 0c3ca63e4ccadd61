// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/server.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::hosted {
namespace {

constexpr size_t kFreshMax = 256;

// Whether the peer may use the highest priority: root, and who runs the cards.
bool Privileged(int socket) {
  ucred who = {};
  socklen_t size = sizeof(who);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return false;
  return who.uid == 0 || who.uid == geteuid();
}

bool EndsWithItsWriter(int fd) {
  struct stat st = {};
  return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options) {
  std::unique_ptr<Server> server(new Server(options));
  absl::Status status = server->Listen();
  if (!status.ok()) return status;
  Device::Options device;
  device.timeout_ns = options.timeout_ns;
  for (size_t i = 0; i < options.cards.size(); ++i) {
    server->slots_.push_back(
        std::make_unique<Slot>(i, options.cards[i], device));
    server->slots_.back()->Start();
  }
  return server;
}

absl::Status Server::Listen() {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (options_.socket.empty() ||
      options_.socket.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "socket path '", options_.socket, "' has ", options_.socket.size(),
        " bytes; 1 to ", sizeof(address.sun_path) - 1, " are possible"));
  }
  std::memcpy(address.sun_path, options_.socket.c_str(),
              options_.socket.size() + 1);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listen_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (wake_ < 0 || listen_ < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("socket: ", strerror(errno)));
  }
  auto* a = reinterpret_cast<sockaddr*>(&address);
  auto fail = [this](int err) {
    close(std::exchange(listen_, -1));
    return absl::InternalError(
        absl::StrCat("socket '", options_.socket, "': ", strerror(err)));
  };
  if (bind(listen_, a, sizeof(address)) != 0) {
    if (errno != EADDRINUSE) return fail(errno);
    // Left by a dead server, or somebody's own?
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool alive = probe >= 0 && connect(probe, a, sizeof(address)) == 0;
    if (probe >= 0) close(probe);
    if (alive) {
      close(std::exchange(listen_, -1));
      return absl::AlreadyExistsError(absl::StrCat(
          "socket '", options_.socket, "' is served by another process"));
    }
    unlink(options_.socket.c_str());
    if (bind(listen_, a, sizeof(address)) != 0) return fail(errno);
  }
  if (listen(listen_, 64) != 0) return fail(errno);
  return absl::OkStatus();
}

Server::~Server() {
  slots_.clear();
  if (listen_ >= 0) {
    unlink(options_.socket.c_str());
    close(listen_);
  }
  if (wake_ >= 0) close(wake_);
}

void Server::Stop() {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

// True: the connection has gone to its card, or must be closed.
bool Server::Greet(std::unique_ptr<Connection>* connection) {
  Connection* c = connection->get();
  Message message;
  if (!c->Receive(&message)) return c->broken();
  if (message.fd >= 0) {
    close(message.fd);
    return true;
  }
  if (message.header.type == kList) {
    std::vector<uint8_t> payload(slots_.size() * sizeof(CardEntry));
    for (size_t i = 0; i < slots_.size(); ++i) {
      const CardEntry entry = slots_[i]->Describe();
      std::memcpy(payload.data() + i * sizeof(entry), &entry, sizeof(entry));
    }
    c->Reply(message.header, 0, std::move(payload), -1);
    return c->broken();
  }
  Hello hello;
  if (message.header.type != kHello || message.payload.size() != sizeof(hello))
    return true;
  std::memcpy(&hello, message.payload.data(), sizeof(hello));
  if (hello.version != kProtocolVersion) {
    c->Reply(message.header, -EPROTONOSUPPORT, {}, -1);
    return true;
  }
  if (hello.card >= slots_.size()) {
    c->Reply(message.header, -ENXIO, {}, -1);
    return true;
  }
  const bool privileged = Privileged(c->socket());
  slots_[hello.card]->Adopt(std::move(*connection), message.header, privileged);
  return true;
}

void Server::Run() {
  const bool watch_input =
      options_.idle_exit && EndsWithItsWriter(STDIN_FILENO);
  bool had_client = false;
  for (;;) {
    std::vector<pollfd> fds = {{wake_, POLLIN, 0}, {listen_, POLLIN, 0}};
    fds.push_back({watch_input ? STDIN_FILENO : -1, POLLIN, 0});
    for (const auto& c : fresh_) {
      const int out = c->wants_write() ? POLLOUT : 0;
      fds.push_back({c->socket(), static_cast<short>(POLLIN | out), 0});
    }
    const bool count_clients = options_.idle_exit && !watch_input;
    const int n = poll(fds.data(), fds.size(), count_clients ? 100 : -1);
    if (n < 0 && errno != EINTR) return;
    if (n > 0 && fds[0].revents != 0) return;
    if (n > 0 && fds[2].revents != 0) {
      char buffer[256];
      if (read(STDIN_FILENO, buffer, sizeof(buffer)) <= 0) return;
    }
    if (n > 0) {
      size_t i = 3;
      for (auto it = fresh_.begin(); it != fresh_.end(); ++i) {
        bool done = false;
        if (fds[i].revents & POLLOUT) (*it)->Flush();
        if (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) done = Greet(&*it);
        it = done ? fresh_.erase(it) : std::next(it);
      }
      if (fds[1].revents & POLLIN) {
        const int s =
            accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (s >= 0 && fresh_.size() < kFreshMax) {
          fresh_.push_back(std::make_unique<Connection>(s));
        } else if (s >= 0) {
          close(s);
        } else if (errno == EMFILE || errno == ENFILE) {
          usleep(10000);  // no descriptor to say no with
        }
      }
    }
    if (!count_clients) continue;
    uint32_t clients = fresh_.size();
    for (const auto& slot : slots_) clients += slot->clients();
    had_client |= clients > 0;
    if (had_client && clients == 0) return;
  }
}

}  // namespace heddle::hosted
