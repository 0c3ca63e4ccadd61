// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kmd/hosted/client_list.h"
#include "kmd/hosted/clock.h"
#include "kmd/hosted/log.h"

namespace heddle::hosted {
namespace {

// Connections accepted before those that are there have their turn.
constexpr int kAcceptedPerTurn = 16;

// Descriptors of the process itself, and of each card.
constexpr uint64_t kOwnDescriptors = 32;
constexpr uint64_t kCardDescriptors = 16;

// Whether the user may do what a system's administrator may: root, and who runs
// the cards.
bool Privileged(uid_t user) { return user == 0 || user == geteuid(); }

bool EndsWithItsWriter(int fd) {
  struct stat st = {};
  return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options) {
  std::unique_ptr<Server> server(new Server(options));
  const ServiceLimits& limits = options.limits;
  const uint64_t own = kOwnDescriptors +
                       kCardDescriptors * options.cards.size() +
                       limits.newcomers + limits.clients;
  const uint64_t left = ClaimDescriptors(own);
  if (left < kOwnDescriptors) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the limit of open files (ulimit -Hn) leaves ", left, " of them for ",
        "buffers after ", own, " for ", limits.clients, " clients and ",
        options.cards.size(), " cards; raise it, or serve fewer clients"));
  }
  server->clients_ = std::make_shared<Account>(limits.clients);
  server->descriptors_ = std::make_shared<Account>(left);
  absl::Status status = server->Listen();
  if (!status.ok()) return status;
  Device::Options device;
  device.timeout_ns = options.timeout_ns;
  device.run_cycles = options.run_cycles;
  for (size_t i = 0; i < options.cards.size(); ++i) {
    server->slots_.push_back(std::make_unique<Slot>(
        i, options.cards[i], device, limits, server->descriptors_));
    server->slots_.back()->Start();
  }
  return server;
}

absl::Status Server::Bind() {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, options_.socket.c_str(),
              options_.socket.size() + 1);
  auto* a = reinterpret_cast<sockaddr*>(&address);
  auto fail = [this](int err) {
    return absl::InternalError(
        absl::StrCat("socket '", options_.socket, "': ", strerror(err)));
  };
  const bool chosen = options_.socket_mode >= 0 || options_.socket_group >= 0;
  // The path appears with the rights of the descriptor: nobody connects before
  // owner and mode are what was asked for.
  if (chosen && fchmod(listen_, 0600) != 0) return fail(errno);
  if (bind(listen_, a, sizeof(address)) != 0) {
    if (errno != EADDRINUSE) return fail(errno);
    // Left by a dead server, or somebody's own?
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool alive = probe >= 0 && connect(probe, a, sizeof(address)) == 0;
    if (probe >= 0) close(probe);
    if (alive) {
      return absl::AlreadyExistsError(absl::StrCat(
          "socket '", options_.socket, "' is in use by another process"));
    }
    unlink(options_.socket.c_str());
    if (bind(listen_, a, sizeof(address)) != 0) return fail(errno);
  }
  auto refused = [this](const std::string& what, int err) {
    unlink(options_.socket.c_str());
    return absl::PermissionDeniedError(absl::StrCat(
        "socket '", options_.socket, "': ", what, ": ", strerror(err)));
  };
  if (options_.socket_group >= 0 &&
      chown(options_.socket.c_str(), static_cast<uid_t>(-1),
            static_cast<gid_t>(options_.socket_group)) != 0) {
    return refused(absl::StrCat("group ", options_.socket_group), errno);
  }
  const int mode = options_.socket_mode >= 0 ? options_.socket_mode : 0660;
  if (chosen && chmod(options_.socket.c_str(), mode) != 0)
    return refused(absl::StrCat("mode ", absl::Hex(mode)), errno);
  return absl::OkStatus();
}

absl::Status Server::Listen() {
  if (options_.socket.empty() ||
      options_.socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "socket path '", options_.socket, "' has ", options_.socket.size(),
        " bytes; 1 to ", sizeof(sockaddr_un::sun_path) - 1, " are possible"));
  }
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listen_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  absl::Status status;
  if (wake_ < 0 || listen_ < 0) {
    status =
        absl::ResourceExhaustedError(absl::StrCat("socket: ", strerror(errno)));
  } else {
    status = Bind();
    if (status.ok() && listen(listen_, 64) != 0) {
      unlink(options_.socket.c_str());
      status = absl::InternalError(
          absl::StrCat("socket '", options_.socket, "': ", strerror(errno)));
    }
  }
  // Without it the path is somebody else's.
  if (!status.ok() && listen_ >= 0) close(std::exchange(listen_, -1));
  return status;
}

Server::~Server() {
  slots_.clear();
  if (listen_ >= 0) {
    unlink(options_.socket.c_str());
    close(listen_);
  }
  if (wake_ >= 0) close(wake_);
  if (spare_ >= 0) close(spare_);
}

void Server::Stop() {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

void Server::Answer(Newcomer* newcomer, const MessageHeader& request,
                    int result, std::vector<uint8_t> payload) {
  Connection::Slip reply(1);
  reply.front().header = request;
  reply.front().header.result = result;
  reply.front().payload = std::move(payload);
  newcomer->connection->Reply(&reply);
}

bool Server::Admit(Newcomer* newcomer, const MessageHeader& request,
                   const Hello& hello) {
  int error = 0;
  if (hello.version != kProtocolVersion) {
    error = -EPROTONOSUPPORT;
    Log(spdlog::level::warn,
        "user {}: the library speaks protocol version {}, heddle-hosted {}: "
        "install both from the same release",
        newcomer->connection->user(), hello.version, kProtocolVersion);
  } else if (hello.card >= slots_.size()) {
    error = -ENXIO;
  }
  Account::Share share;
  const uid_t user = newcomer->connection->user();
  if (error == 0) {
    switch (clients_->Take(user, &share)) {
      case Account::Taken::kOk:
        slots_[hello.card]->Adopt(&newcomer->connection, &share, request,
                                  Privileged(user));
        return true;
      case Account::Taken::kUserHasMost:
        error = -EMFILE;
        Log(spdlog::level::warn,
            "user {} has all its {} of {} open files (--max-clients)", user,
            clients_->per_user(), clients_->total());
        break;
      case Account::Taken::kNoneLeft:
        error = -ENFILE;
        Log(spdlog::level::warn, "all {} files are open (--max-clients)",
            clients_->total());
    }
  }
  Answer(newcomer, request, error, {});
  return false;
}

// True: the connection has gone to its card, or must be closed.
bool Server::Greet(Newcomer* newcomer) {
  Connection* c = newcomer->connection.get();
  Message message;
  int error = 0;
  if (c->Receive(sizeof(Hello), &message, &error) !=
      Connection::Received::kMessage)
    return c->broken() || error != 0;
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
    Answer(newcomer, message.header, 0, std::move(payload));
    newcomer->limit_ns = NowNs() + options_.limits.greeting_ns;
    return c->broken();
  }
  Hello hello;
  const uint32_t type = message.header.type;
  if ((type != kHello && type != kClients) ||
      message.payload.size() != sizeof(hello))
    return true;
  std::memcpy(&hello, message.payload.data(), sizeof(hello));
  Admit(newcomer, message.header, hello);
  return true;
}

void Server::EndOldest() {
  std::map<uid_t, size_t> count;
  uid_t most = fresh_.front().connection->user();
  for (const Newcomer& n : fresh_) {
    const uid_t user = n.connection->user();
    if (++count[user] > count[most]) most = user;
  }
  fresh_.erase(std::find_if(
      fresh_.begin(), fresh_.end(),
      [&](const Newcomer& n) { return n.connection->user() == most; }));
}

void Server::Accept() {
  for (int i = 0; i < kAcceptedPerTurn; ++i) {
    const int s =
        accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (s < 0 && (errno == EMFILE || errno == ENFILE) && spare_ >= 0) {
      // It gets an end of file instead of waiting for ever.
      close(spare_);
      const int refused = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC);
      if (refused >= 0) close(refused);
      spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
      continue;
    }
    if (s < 0) return;
    std::list<Newcomer> one;
    try {
      one.emplace_back();
      one.front().connection = std::make_unique<Connection>(s);
    } catch (const std::bad_alloc&) {
      close(s);
      throw;
    }
    Newcomer& newcomer = one.front();
    newcomer.connection->set_message_max(sizeof(Hello));
    newcomer.limit_ns = NowNs() + options_.limits.greeting_ns;
    if (fresh_.size() >= options_.limits.newcomers) EndOldest();
    fresh_.splice(fresh_.end(), one);
  }
}

// False: it is time to end.
bool Server::Turn(bool* had_client) {
  const bool watch_input =
      options_.idle_exit && EndsWithItsWriter(STDIN_FILENO);
  std::vector<pollfd> fds = {{wake_, POLLIN, 0}, {listen_, POLLIN, 0}};
  fds.push_back({watch_input ? STDIN_FILENO : -1, POLLIN, 0});
  const bool count_clients = options_.idle_exit && !watch_input;
  int timeout_ms = count_clients ? 100 : -1;
  const uint64_t now = NowNs();
  for (const Newcomer& n : fresh_) {
    // Who does not fetch its replies is not read from.
    const bool unread = n.connection->wants_write();
    fds.push_back({n.connection->socket(),
                   static_cast<short>(unread ? POLLOUT : POLLIN), 0});
    const uint64_t left = n.limit_ns > now ? n.limit_ns - now : 0;
    const int left_ms =
        static_cast<int>(std::min<uint64_t>(left / 1000000 + 1, 1u << 30));
    timeout_ms = timeout_ms < 0 ? left_ms : std::min(timeout_ms, left_ms);
  }
  const int n = poll(fds.data(), fds.size(), timeout_ms);
  if (n < 0 && errno != EINTR) return false;
  if (n > 0 && fds[0].revents != 0) return false;
  if (n > 0 && fds[2].revents != 0) {
    char buffer[256];
    if (read(STDIN_FILENO, buffer, sizeof(buffer)) <= 0) return false;
  }
  size_t i = 3;
  for (auto it = fresh_.begin(); it != fresh_.end(); ++i) {
    const short events = n > 0 ? fds[i].revents : 0;
    bool done = NowNs() >= it->limit_ns;
    if (events & POLLOUT) it->connection->Flush();
    if (events & (POLLIN | POLLHUP | POLLERR)) done |= Greet(&*it);
    it = done ? fresh_.erase(it) : std::next(it);
  }
  if (n > 0 && fds[1].revents & POLLIN) Accept();
  if (!count_clients) return true;
  uint32_t clients = fresh_.size();
  for (const auto& slot : slots_) clients += slot->clients();
  *had_client |= clients > 0;
  return !*had_client || clients > 0;
}

void Server::Run() {
  bool had_client = false;
  for (;;) {
    try {
      if (!Turn(&had_client)) return;
    } catch (const std::bad_alloc&) {
      usleep(1000);  // whatever it was is still to be done
    }
  }
}

}  // namespace heddle::hosted
