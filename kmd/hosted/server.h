// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The listening socket of heddle-hosted, and its cards.
#ifndef HEDDLE_KMD_HOSTED_SERVER_H_
#define HEDDLE_KMD_HOSTED_SERVER_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kmd/hosted/accounts.h"
#include "kmd/hosted/connection.h"
#include "kmd/hosted/limits.h"
#include "kmd/hosted/slot.h"

namespace heddle::hosted {

class Server {
 public:
  struct Options {
    std::string socket;              // path to listen at
    std::vector<std::string> cards;  // vfio-user sockets
    uint64_t timeout_ns = 0;         // Device::Options
    uint64_t run_cycles = 0;         // Device::Options
    // End when standard input reaches end-of-file, or, when it is neither a
    // pipe nor a socket, when the last client has gone.
    bool idle_exit = false;
    ServiceLimits limits;
    // Of the socket; -1: as the umask says. Set before anybody can connect.
    int socket_mode = -1;
    int64_t socket_group = -1;  // gid; -1: the process's
  };

  // Listens and starts the cards. ALREADY_EXISTS: somebody serves that path.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options);
  ~Server();

  // Serves until Stop() or until idle. Call once.
  void Run();
  // From any thread or signal handler.
  void Stop();
  // Of all users, now. From any thread.
  uint64_t open_files() const { return clients_->used(); }

 private:
  explicit Server(const Options& options) : options_(options) {}
  absl::Status Listen();
  // A connection that has not said hello.
  struct Newcomer {
    std::unique_ptr<Connection> connection;
    uint64_t limit_ns;  // when it has to go
  };
  absl::Status Bind();
  bool Greet(Newcomer* newcomer);
  // False: it is refused with this reply, or cannot be told.
  bool Admit(Newcomer* newcomer, const MessageHeader& request,
             const Hello& hello);
  void Answer(Newcomer* newcomer, const MessageHeader& request, int result,
              std::vector<uint8_t> payload);
  void Accept();
  // Makes room for one more.
  void EndOldest();
  bool Turn(bool* had_client);

  const Options options_;
  int listen_ = -1;
  int wake_ = -1;   // eventfd
  int spare_ = -1;  // a descriptor to say no with
  std::shared_ptr<Account> clients_, descriptors_;
  std::list<Newcomer> fresh_;  // the oldest first
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_SERVER_H_
