// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/vhost_user_calls.h"

#include <cstring>
#include <optional>

#include "simulator/platform/vhost_user.h"

namespace heddle::platform {
namespace {

// Answers to calls, which nobody asked for: read and forgotten.
std::optional<size_t> PayloadSize(const void* bytes) {
  vhost::Header header;
  std::memcpy(&header, bytes, sizeof(header));
  if (header.size > vhost::kMaxPayload) return {};
  return header.size;
}

// Answers that are read before others have their turn.
constexpr int kAnswersPerTurn = 64;

}  // namespace

VhostUserCalls::VhostUserCalls(int fd, Reactor* reactor)
    : socket_(fd, {sizeof(vhost::Header), PayloadSize}), reactor_(reactor) {
  reactor_->Watch(socket_.fd(), [this] { OnReady(); });
}

VhostUserCalls::~VhostUserCalls() {
  if (open_) reactor_->Forget(socket_.fd());
}

void VhostUserCalls::Call(uint32_t queue) {
  due_ |= 1u << queue;
  SendDue();
}

void VhostUserCalls::SendDue() {
  for (uint32_t q = 0; open_ && due_ != 0 && !socket_.sending(); ++q) {
    if (!(due_ & (1u << q))) continue;
    due_ &= ~(1u << q);
    const vhost::VringState state = {q, 0};
    const vhost::Header header = {vhost::kVringCall, vhost::kVersion,
                                  sizeof(state)};
    open_ = socket_.Send(header, &state, sizeof(state));
    if (!open_) reactor_->Forget(socket_.fd());
  }
  if (open_) reactor_->WatchWritable(socket_.fd(), socket_.sending());
}

void VhostUserCalls::OnReady() {
  bool alive = socket_.Flush();
  for (int i = 0; alive && i < kAnswersPerTurn; ++i) {
    const MessageSocket::Result result = socket_.Receive();
    if (result == MessageSocket::Result::kNothing) break;
    alive = result != MessageSocket::Result::kClosed;
  }
  if (alive) return SendDue();
  open_ = false;
  reactor_->Forget(socket_.fd());
}

}  // namespace heddle::platform
