// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/qtest_channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_format.h"

namespace heddle::platform {
namespace {
// Messages that may wait; a guest that takes none loses further ones.
constexpr size_t kMaxWaiting = 4096;
}  // namespace

QtestChannel::QtestChannel(int fd, Reactor* reactor)
    : fd_(fd), reactor_(reactor) {
  if (fd_ >= 0) reactor_->Watch(fd_, [this] { OnReady(); });
}

QtestChannel::~QtestChannel() { Close(); }

void QtestChannel::Close() {
  if (fd_ < 0) return;
  reactor_->Forget(fd_);
  close(std::exchange(fd_, -1));
}

void QtestChannel::Send(const MsiMessage& message) {
  if (fd_ < 0 || waiting_.size() >= kMaxWaiting) return;
  waiting_.push_back(
      absl::StrFormat("writel 0x%x 0x%x\n", message.address, message.data));
  Flush();
}

void QtestChannel::Flush() {
  while (fd_ >= 0 && !waiting_.empty()) {
    const std::string& line = waiting_.front();
    // The flags are per call: other processes share the descriptor's own.
    const ssize_t n =
        send(fd_, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n < 0) return Close();
    waiting_.pop_front();
  }
  reactor_->WatchWritable(fd_, !waiting_.empty());
}

void QtestChannel::OnReady() {
  char answers[4096];
  const ssize_t n = recv(fd_, answers, sizeof(answers), MSG_DONTWAIT);
  if (n == 0 ||
      (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
    return Close();
  }
  Flush();
}

}  // namespace heddle::platform
