// SPDX-License-Identifier: Apache-2.0
//
// The control socket: any number of clients, lines in, lines out (commands.h).
// A client that sends a line of more than 4096 bytes, or does not read its
// replies, is disconnected.
#ifndef HEDDLE_SIMULATOR_PLATFORM_CONTROL_SERVER_H_
#define HEDDLE_SIMULATOR_PLATFORM_CONTROL_SERVER_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "simulator/platform/reactor.h"

namespace heddle::platform {

class ControlServer {
 public:
  static constexpr size_t kMaxLine = 4096;
  // Gives the answer to a line, without a newline.
  using Handler = std::function<std::string(absl::string_view line)>;

  // `reactor` must outlive it.
  ControlServer(Reactor* reactor, std::string path, Handler handler);
  ~ControlServer();

  // Errors as ListenUnix.
  absl::Status Listen();

 private:
  void OnConnect();
  void OnReadable(int fd);
  void Drop(int fd);

  Reactor* reactor_;
  std::string path_;
  Handler handler_;
  int listener_ = -1;
  std::map<int, std::string>
      clients_;  // descriptor: what came of the next line
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_CONTROL_SERVER_H_
