// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "drm.h"

namespace heddle::hosted {
namespace {

int Connect(const std::string& path, int* out) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return -ENAMETOOLONG;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -errno;
  if (connect(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    const int err = -errno;
    close(s);
    return err;
  }
  *out = s;
  return 0;
}

}  // namespace

int HostedClient::List(const std::string& path, std::vector<CardEntry>* cards) {
  int s = -1;
  int err = Connect(path, &s);
  if (err != 0) return err;
  HostedClient client(s);
  MessageHeader header;
  header.type = kList;
  Message reply;
  err = client.Exchange(header, nullptr, -1, &reply);
  if (err != 0) return err;
  if (reply.payload.size() % sizeof(CardEntry) != 0) return -EPROTO;
  cards->resize(reply.payload.size() / sizeof(CardEntry));
  if (!cards->empty())
    std::memcpy(cards->data(), reply.payload.data(), reply.payload.size());
  return 0;
}

int HostedClient::Open(const std::string& path, uint32_t card,
                       std::unique_ptr<HostedClient>* client) {
  int s = -1;
  int err = Connect(path, &s);
  if (err != 0) return err;
  std::unique_ptr<HostedClient> c(new HostedClient(s));
  Hello hello;
  hello.card = card;
  MessageHeader header;
  header.type = kHello;
  header.bytes = sizeof(hello);
  Message reply;
  err = c->Exchange(header, &hello, -1, &reply);
  if (err != 0) return err;
  HelloReply answer;
  if (reply.payload.size() != sizeof(answer)) return -EPROTO;
  std::memcpy(&answer, reply.payload.data(), sizeof(answer));
  c->generation_ = answer.generation;
  *client = std::move(c);
  return 0;
}

HostedClient::~HostedClient() { close(socket_); }

int HostedClient::Exchange(MessageHeader header, const void* payload, int fd,
                           Message* reply) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (broken_ != 0) return broken_;
    header.id = next_id_++;
    replies_[header.id] = nullptr;
  }
  int err;
  {
    std::lock_guard<std::mutex> lock(send_mutex_);
    err = SendMessage(socket_, header, payload, fd);
  }
  std::unique_lock<std::mutex> lock(mutex_);
  if (err != 0) {
    replies_.erase(header.id);
    broken_ = err;
    changed_.notify_all();
    return err;
  }
  for (;;) {
    auto mine = replies_.find(header.id);
    if (mine->second != nullptr) {
      *reply = std::move(*mine->second);
      replies_.erase(mine);
      return reply->header.result;
    }
    if (broken_ != 0) {
      replies_.erase(mine);
      return broken_;
    }
    if (reading_) {
      changed_.wait(lock);
      continue;
    }
    reading_ = true;
    lock.unlock();
    auto message = std::make_unique<Message>();
    err = ReceiveMessage(socket_, message.get());
    lock.lock();
    reading_ = false;
    auto whose = err == 0 ? replies_.find(message->header.id) : replies_.end();
    if (err != 0) {
      broken_ = err;
    } else if (whose != replies_.end()) {
      whose->second = std::move(message);
    } else {
      broken_ = -EPROTO;
    }
    if (message != nullptr && message->fd >= 0) close(message->fd);
    changed_.notify_all();
  }
}

int HostedClient::Ioctl(unsigned long request, void* arg) {
  const Call* call = FindCall(static_cast<uint32_t>(request));
  if (call == nullptr) return -ENOTTY;
  if (arg == nullptr) return -EFAULT;
  std::vector<uint8_t> payload;
  int err = PackRequest(*call, arg, &payload);
  if (err != 0) return err;
  int fd = -1;
  if (call->fd_in >= 0) {
    std::memcpy(&fd, static_cast<uint8_t*>(arg) + call->fd_in, sizeof(fd));
    if (fd < 0 || fcntl(fd, F_GETFD) < 0) return -EBADF;
  }
  MessageHeader header;
  header.type = kIoctl;
  header.request = call->request;
  header.bytes = static_cast<uint32_t>(payload.size());
  Message reply;
  const int result = Exchange(header, payload.data(), fd, &reply);
  if (!reply.payload.empty()) {
    err = UnpackReply(*call, reply.payload, arg);
    if (err != 0) {
      if (reply.fd >= 0) close(reply.fd);
      return err;
    }
  }
  if (call->fd_out >= 0 && result == 0) {
    if (reply.fd < 0) return -EPROTO;
    std::memcpy(static_cast<uint8_t*>(arg) + call->fd_out, &reply.fd,
                sizeof(reply.fd));
  } else if (reply.fd >= 0) {
    close(reply.fd);
  }
  return result;
}

void* HostedClient::Mmap(uint64_t offset, size_t bytes, int* error) {
  MmapRequest request;
  request.offset = offset;
  MessageHeader header;
  header.type = kMmap;
  header.bytes = sizeof(request);
  Message reply;
  *error = Exchange(header, &request, -1, &reply);
  if (*error == 0 && reply.fd < 0) *error = -EPROTO;
  if (*error != 0) {
    if (reply.fd >= 0) close(reply.fd);
    return nullptr;
  }
  struct stat buffer = {};
  if (fstat(reply.fd, &buffer) != 0 ||
      bytes > static_cast<uint64_t>(buffer.st_size)) {
    *error = -EINVAL;
    close(reply.fd);
    return nullptr;
  }
  void* p =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reply.fd, 0);
  if (p == MAP_FAILED) {
    *error = -errno;
    p = nullptr;
  }
  close(reply.fd);
  return p;
}

int HostedClient::ExportFd(uint32_t handle) {
  drm_prime_handle prime = {};
  prime.handle = handle;
  prime.flags = DRM_CLOEXEC | DRM_RDWR;
  const int err = Ioctl(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
  return err != 0 ? err : prime.fd;
}

int HostedClient::ImportFd(int fd, uint32_t* handle) {
  drm_prime_handle prime = {};
  prime.fd = fd;
  const int err = Ioctl(DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
  if (err == 0) *handle = prime.handle;
  return err;
}

}  // namespace heddle::hosted
