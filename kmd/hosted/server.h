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
#include "kmd/hosted/connection.h"
#include "kmd/hosted/slot.h"

namespace heddle::hosted {

class Server {
 public:
  struct Options {
    std::string socket;              // path to listen at
    std::vector<std::string> cards;  // vfio-user sockets
    uint64_t timeout_ns = 0;         // Device::Options
    // End when standard input reaches end-of-file, or, when it is neither a
    // pipe nor a socket, when the last client has gone.
    bool idle_exit = false;
  };

  // Listens and starts the cards. ALREADY_EXISTS: somebody serves that path.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options);
  ~Server();

  // Serves until Stop() or until idle. Call once.
  void Run();
  // From any thread or signal handler.
  void Stop();

 private:
  explicit Server(const Options& options) : options_(options) {}
  absl::Status Listen();
  bool Greet(std::unique_ptr<Connection>* connection);

  const Options options_;
  int listen_ = -1;
  int wake_ = -1;                                 // eventfd
  std::list<std::unique_ptr<Connection>> fresh_;  // have not said hello
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_SERVER_H_
