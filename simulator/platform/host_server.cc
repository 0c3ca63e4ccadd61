// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/host_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "simulator/platform/unix_socket.h"

namespace heddle::platform {
namespace {

// Messages handled before descriptors of others get their turn.
constexpr int kMessagesPerTurn = 64;

}  // namespace

HostServer::HostServer(Card* card, Reactor* reactor, std::string path,
                       MessageSocket::Framing framing)
    : card_(card),
      reactor_(reactor),
      path_(std::move(path)),
      framing_(framing) {
  card_->SetInterruptSink(this);
}

HostServer::~HostServer() { card_->SetInterruptSink(nullptr); }

absl::Status HostServer::Listen() {
  if (listener_ >= 0) return absl::OkStatus();
  absl::StatusOr<int> fd = ListenUnix(path_);
  if (!fd.ok()) return fd.status();
  listener_ = *fd;
  reactor_->Watch(listener_, [this] { OnConnect(); });
  return absl::OkStatus();
}

void HostServer::Close() {
  if (listener_ >= 0) {
    reactor_->Forget(listener_);
    close(std::exchange(listener_, -1));
    unlink(path_.c_str());
  }
  Disconnect();
}

void HostServer::OnConnect() {
  const int fd =
      accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  // A host that has just closed its end must not block its successor.
  if (peer_) OnMessages();
  if (peer_) {
    close(fd);
    return;
  }
  card_->PowerCycle();
  peer_ = std::make_unique<MessageSocket>(fd, framing_);
  reactor_->Watch(fd, [this] { OnMessages(); });
  Attached();
}

void HostServer::Disconnect() {
  if (!peer_) return;
  reactor_->Forget(peer_->fd());
  peer_.reset();
  Detached();
  card_->PowerCycle();
}

void HostServer::CutOff() {
  // What is ready then is the end of the connection.
  if (peer_) shutdown(peer_->fd(), SHUT_RDWR);
}

void HostServer::OnMessages() {
  bool alive = peer_->Flush();
  for (int i = 0; alive && i < kMessagesPerTurn; ++i) {
    const MessageSocket::Result result = peer_->Receive();
    if (result == MessageSocket::Result::kNothing) break;
    alive = result == MessageSocket::Result::kMessage && Handle();
    // A doorbell: what is to be done comes before a look for more.
    if (sc_core::sc_pending_activity_at_current_time()) break;
  }
  if (alive) {
    reactor_->WatchWritable(peer_->fd(), peer_->sending());
  } else {
    Disconnect();
  }
}

}  // namespace heddle::platform
