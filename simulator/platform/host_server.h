// SPDX-License-Identifier: Apache-2.0
//
// What the front ends with a Unix socket share: they serve one host at a time.
// A host that connects finds the card as after power-up; when it disconnects,
// its mappings are gone and device memory is cleared, so the next host (a
// re-plug of the host's side) starts from nothing. While a host is connected,
// others are accepted and closed at once.
#ifndef HEDDLE_SIMULATOR_PLATFORM_HOST_SERVER_H_
#define HEDDLE_SIMULATOR_PLATFORM_HOST_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "simulator/platform/card.h"
#include "simulator/platform/message_socket.h"
#include "simulator/platform/reactor.h"

namespace heddle::platform {

class HostServer : public InterruptSink {
 public:
  ~HostServer() override;

  // Creates the socket; a stale one at the path is replaced.
  absl::Status Listen();
  // Drops the host and removes the socket: connects are refused from then on.
  void Close();
  bool connected() const { return peer_ != nullptr; }

 protected:
  // `card` and `reactor` must outlive the server. A derived class calls Close
  // in its destructor.
  HostServer(Card* card, Reactor* reactor, std::string path,
             MessageSocket::Framing framing);

  // Handles the message in peer(). False: cut the host off.
  virtual bool Handle() = 0;
  // Cuts the host off soon, where this cannot be Handle's answer.
  void CutOff();
  // A host has come; one has gone, and peer() with it.
  virtual void Attached() {}
  virtual void Detached() {}

  Card* card() { return card_; }
  Reactor* reactor() { return reactor_; }
  MessageSocket* peer() { return peer_.get(); }

 private:
  void OnConnect();
  void OnMessages();
  void Disconnect();

  Card* card_;
  Reactor* reactor_;
  std::string path_;
  MessageSocket::Framing framing_;
  int listener_ = -1;
  std::unique_ptr<MessageSocket> peer_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_HOST_SERVER_H_
