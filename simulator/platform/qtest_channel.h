// SPDX-License-Identifier: Apache-2.0
//
// Sends interrupt messages into a QEMU guest through QEMU's qtest protocol: a
// message is a 32-bit write to guest-physical memory, a line "writel ADDRESS
// DATA". QEMU has one such channel; the cards of a guest share one connected
// stream socket, each through an inherited descriptor. No further process is
// needed: a line is sent as a whole or not at all, and QEMU's replies ("OK")
// carry no information, so whoever reads them first drops them.
#ifndef HEDDLE_SIMULATOR_PLATFORM_QTEST_CHANNEL_H_
#define HEDDLE_SIMULATOR_PLATFORM_QTEST_CHANNEL_H_

#include <deque>
#include <string>

#include "simulator/platform/card.h"
#include "simulator/platform/reactor.h"

namespace heddle::platform {

class QtestChannel {
 public:
  // Takes `fd`; with -1 everything is lost. `reactor` must outlive the channel.
  QtestChannel(int fd, Reactor* reactor);
  ~QtestChannel();
  QtestChannel(const QtestChannel&) = delete;
  QtestChannel& operator=(const QtestChannel&) = delete;

  // Sends now, or as soon as the socket takes it. Lost when QEMU is gone.
  void Send(const MsiMessage& message);

 private:
  void OnReady();
  void Flush();
  void Close();

  int fd_;
  Reactor* reactor_;
  std::deque<std::string> waiting_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_QTEST_CHANNEL_H_
