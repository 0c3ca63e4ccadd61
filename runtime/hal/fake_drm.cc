// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/fake_drm.h"

#include <errno.h>

#include <cstdlib>
#include <memory>

namespace heddle::hal {
namespace {

constexpr char kPrefix[] = "fake/renderD";

}  // namespace

int FakeDrm::Nodes(std::vector<std::string>* nodes) {
  std::vector<hosted::CardEntry> cards;
  nodes->clear();
  const int error = hosted::HostedClient::List(socket_, &cards);
  if (error != 0) return error == -ENOMEM || error == -EMFILE ? error : 0;
  for (size_t i = 0; i < cards.size(); ++i) {
    if (cards[i].present) nodes->push_back(kPrefix + std::to_string(i));
  }
  return 0;
}

int FakeDrm::Open(const std::string& path) {
  if (path.rfind(kPrefix, 0) != 0) return -ENOENT;
  const int card = std::atoi(path.c_str() + sizeof(kPrefix) - 1);
  std::unique_ptr<hosted::HostedClient> client;
  const int error =
      hosted::HostedClient::Open(socket_, static_cast<uint32_t>(card), &client);
  if (error != 0) return error;
  static auto* const kept = new std::vector<hosted::HostedClient*>;
  std::lock_guard<std::mutex> lock(mutex_);
  const int fd = client->fd();
  kept->push_back(client.release());
  files_[fd] = kept->back();
  return fd;
}

hosted::HostedClient* FakeDrm::Find(int fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = files_.find(fd);
  return it != files_.end() ? it->second : nullptr;
}

int FakeDrm::Ioctl(int fd, unsigned long request, void* argument) {
  hosted::HostedClient* client = Find(fd);
  return client != nullptr ? client->Ioctl(request, argument) : -EBADF;
}

void* FakeDrm::Map(int fd, uint64_t offset, size_t size) {
  hosted::HostedClient* client = Find(fd);
  int error = 0;
  return client != nullptr ? client->Mmap(offset, size, &error) : nullptr;
}

}  // namespace heddle::hal
