// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/hosted_transport.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "drm/heddle_drm.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/protocol.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/hal/status.h"

namespace heddle::hal {
namespace {

class HostedTransport : public Transport {
 public:
  explicit HostedTransport(std::unique_ptr<hosted::HostedClient> client)
      : client_(std::move(client)) {
    GuardDescriptor(client_->fd());
  }

  ~HostedTransport() override {
    CloseGuarded(client_->fd(), [this] { client_.reset(); });
  }

  int Ioctl(unsigned long request, void* argument) override {
    return client_->Ioctl(request, argument);
  }

  int Map(uint32_t handle, size_t size, void** address) override {
    uint64_t offset = 0;
    int error = HostOffset(this, handle, size, &offset);
    if (error == 0) *address = client_->Mmap(offset, size, &error);
    return error;
  }

  void Unmap(void* address, size_t size) override { munmap(address, size); }

  int Export(uint32_t handle) override { return client_->ExportFd(handle); }

  int Import(int fd, uint32_t* handle) override {
    return client_->ImportFd(fd, handle);
  }

  void Shutdown() override { shutdown(client_->fd(), SHUT_RDWR); }

 private:
  std::unique_ptr<hosted::HostedClient> client_;
};

absl::Status OpenError(const std::string& socket, absl::string_view what,
                       int error) {
  switch (-error) {
    case ENOENT:
    case ECONNREFUSED:
    case ENOTSOCK:
      return absl::UnavailableError(absl::StrCat(
          "no heddle-hosted listens at '", socket, "' (", std::strerror(-error),
          "); start it or correct the path"));
    case ENXIO:
      return absl::UnavailableError(
          absl::StrCat(what, " of '", socket, "' is not plugged in"));
    case EPROTONOSUPPORT:
      return absl::FailedPreconditionError(
          absl::StrCat("the heddle-hosted at '", socket,
                       "' is from another release: this build speaks version ",
                       hosted::kProtocolVersion,
                       " of its protocol; install heddle-hosted and library of "
                       "the same release, and restart heddle-hosted"));
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(
          absl::StrCat("'", socket, "' is empty or too long for a socket"));
    default:
      return FromErrno(absl::StrCat("opening ", what, " of '", socket, "'"),
                       error);
  }
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> ListHosted(const std::string& socket) {
  std::vector<hosted::CardEntry> cards;
  const int error = hosted::HostedClient::List(socket, &cards);
  if (error != 0) return OpenError(socket, "the list", error);
  std::vector<uint32_t> present;
  for (size_t i = 0; i < cards.size(); ++i) {
    if (cards[i].present) present.push_back(static_cast<uint32_t>(i));
  }
  return present;
}

absl::StatusOr<std::unique_ptr<Transport>> OpenHosted(const std::string& socket,
                                                      uint32_t card) {
  std::unique_ptr<hosted::HostedClient> client;
  const int error = hosted::HostedClient::Open(socket, card, &client);
  if (error != 0) {
    return OpenError(socket, absl::StrCat("card ", card), error);
  }
  return std::unique_ptr<Transport>(
      std::make_unique<HostedTransport>(std::move(client)));
}

}  // namespace heddle::hal
