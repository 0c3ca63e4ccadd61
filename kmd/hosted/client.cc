// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "drm.h"
#include "kmd/include/uapi/drm/heddle_drm.h"

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

// Cards that a server may offer.
constexpr size_t kCardsMax = 256;

}  // namespace

int HostedClient::List(const std::string& path,
                       std::vector<CardEntry>* cards) noexcept {
  MessageBytes bytes;
  if (!bytes.Resize(kCardsMax * sizeof(CardEntry))) return -ENOMEM;
  int s = -1;
  int err = Connect(path, &s);
  if (err != 0) return err;
  HostedClient client(s);
  MessageHeader header;
  header.type = kList;
  Waiter list;
  list.payload = bytes.data();
  list.capacity = bytes.size();
  err = client.Exchange(header, nullptr, -1, &list);
  if (list.fd >= 0) close(list.fd);
  if (err != 0) return err;
  if (list.reply.bytes % sizeof(CardEntry) != 0) return -EPROTO;
  try {
    cards->resize(list.reply.bytes / sizeof(CardEntry));
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
  if (!cards->empty())
    std::memcpy(cards->data(), bytes.data(), list.reply.bytes);
  return 0;
}

int HostedClient::Open(const std::string& path, uint32_t card,
                       std::unique_ptr<HostedClient>* client) noexcept {
  int s = -1;
  int err = Connect(path, &s);
  if (err != 0) return err;
  std::unique_ptr<HostedClient> c(new (std::nothrow) HostedClient(s));
  if (c == nullptr) {
    close(s);
    return -ENOMEM;
  }
  Hello hello;
  hello.card = card;
  MessageHeader header;
  header.type = kHello;
  header.bytes = sizeof(hello);
  HelloReply answer;
  Waiter waiter;
  waiter.payload = reinterpret_cast<uint8_t*>(&answer);
  waiter.capacity = sizeof(answer);
  err = c->Exchange(header, &hello, -1, &waiter);
  if (waiter.fd >= 0) close(waiter.fd);
  if (err != 0) return err;
  if (waiter.reply.bytes != sizeof(answer)) return -EPROTO;
  c->generation_ = answer.generation;
  c->MapResults();
  *client = std::move(c);
  return 0;
}

HostedClient::HostedClient(int socket)
    : socket_(socket),
      for_jobs_(sysconf(_SC_NPROCESSORS_ONLN), kJobNs),
      for_replies_(sysconf(_SC_NPROCESSORS_ONLN), kReplyNs) {}

void HostedClient::MapResults() noexcept {
  MessageHeader header;
  header.type = kResults;
  Waiter waiter;
  const int err = Exchange(header, nullptr, -1, &waiter);
  if (waiter.fd < 0) return;
  struct stat page = {};
  if (err == 0 && fstat(waiter.fd, &page) == 0 &&
      page.st_size >= static_cast<off_t>(ResultsPage::kBytes)) {
    void* p =
        mmap(nullptr, ResultsPage::kBytes, PROT_READ, MAP_SHARED, waiter.fd, 0);
    if (p != MAP_FAILED) results_ = static_cast<const ResultsPage*>(p);
  }
  close(waiter.fd);
}

HostedClient::~HostedClient() {
  if (results_ != nullptr)
    munmap(const_cast<ResultsPage*>(results_), ResultsPage::kBytes);
  close(socket_);
}

void HostedClient::Remove(Waiter* waiter) noexcept {
  Waiter** link = &waiters_;
  while (*link != waiter) link = &(*link)->next;
  *link = waiter->next;
}

HostedClient::Waiter* HostedClient::NextReader() noexcept {
  Waiter* waiter = waiters_;
  while (waiter != nullptr && (waiter->answered || !waiter->sleeps))
    waiter = waiter->next;
  return waiter;
}

int HostedClient::Exchange(MessageHeader header, const void* payload, int fd,
                           Waiter* waiter) noexcept {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (broken_ != 0) return broken_;
    header.id = next_id_++;
    waiter->reply.id = header.id;
    waiter->next = waiters_;
    waiters_ = waiter;
  }
  int err;
  {
    std::lock_guard<std::mutex> lock(send_mutex_);
    err = SendMessage(socket_, header, payload, fd);
  }
  const bool soon = header.type == kIoctl &&
                    header.request == uint32_t{DRM_IOCTL_HEDDLE_SUBMIT};
  std::unique_lock<std::mutex> lock(mutex_);
  if (err != 0) Break(err);
  while (!waiter->answered && (broken_ == 0 || filling_ == waiter)) {
    if (reading_) {
      waiter->sleeps = true;
      waiter->changed.wait(lock);
      waiter->sleeps = false;
    } else {
      ReadOne(&lock, soon);
    }
  }
  Remove(waiter);
  if (!reading_) {
    if (Waiter* next = NextReader()) next->changed.notify_one();
  }
  if (!waiter->answered) return broken_;
  // The kernel drops a descriptor for which there is no number left.
  if (waiter->reply.fds != 0 && waiter->fd < 0) return -EMFILE;
  return waiter->reply.result;
}

// The first error is the cause: once it is known the others leave, and a reply
// that still comes for one of them says nothing about the server.
void HostedClient::Break(int err) noexcept {
  if (broken_ == 0) broken_ = err;
  for (Waiter* w = waiters_; w != nullptr; w = w->next) w->changed.notify_one();
}

void HostedClient::AwaitReply(bool soon) noexcept {
  pollfd readable = {socket_, POLLIN, 0};
  if (soon && for_replies_.Look([&] { return poll(&readable, 1, 0) != 0; }))
    return;
  // Who sleeps in recv() is woken also when the server takes the request;
  // poll() sleeps through that.
  while (poll(&readable, 1, -1) < 0 && errno == EINTR) {
  }
}

void HostedClient::ReadOne(std::unique_lock<std::mutex>* lock,
                           bool soon) noexcept {
  reading_ = true;
  lock->unlock();
  AwaitReply(soon);
  MessageHeader reply;
  int fd = -1;
  int err = ReceiveHeader(socket_, &reply, &fd);
  lock->lock();
  Waiter* whose = err == 0 ? waiters_ : nullptr;
  while (whose != nullptr && whose->reply.id != reply.id) whose = whose->next;
  if (err == 0 &&
      (whose == nullptr || whose->answered || reply.bytes > whose->capacity)) {
    err = -EPROTO;
  }
  if (err == 0) {
    filling_ = whose;
    lock->unlock();
    err = ReceivePayload(socket_, whose->payload, reply.bytes);
    lock->lock();
    filling_ = nullptr;
  }
  if (err == 0) {
    whose->reply = reply;
    whose->fd = fd;
    whose->answered = true;
    whose->changed.notify_one();
  } else {
    Break(err);
    if (fd >= 0) close(fd);
  }
  reading_ = false;
}

bool HostedClient::AwaitResult(const drm_heddle_wait& args,
                               drm_heddle_result* result) noexcept {
  uint32_t before = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (broken_ != 0) return false;
    // The page may have had others, and have them no more.
    if (args.context != last_.context || args.seqno != last_.seqno)
      return results_->Find(args.context, args.seqno, result);
    before = last_.changes;
  }
  uint32_t seen = results_->changes();
  const auto find = [&] {
    return results_->Find(args.context, args.seqno, result);
  };
  if (find()) return true;
  if (args.deadline_ns == 0) return false;
  const auto came = [&] {
    const uint32_t now = results_->changes();
    if (now == seen) return false;
    seen = now;
    return find();
  };
  if (for_jobs_.Look(came)) return true;
  const uint64_t limit =
      std::min<uint64_t>(NowNs() + kSleepNs, args.deadline_ns);
  while (!results_->withdrawn() && seen - before < ResultsPage::kPlaces &&
         NowNs() < limit) {
    results_->Sleep(seen, limit);
    if (came()) return true;
  }
  return false;
}

bool HostedClient::FindResult(const drm_heddle_wait& args) noexcept {
  // What is not as usual is for the driver to judge.
  const drm_heddle_array& out = args.result;
  if (results_ == nullptr || args.pad != 0 || args.reserved != 0 ||
      args.trace.count != 0 || out.count != 1 ||
      out.stride != sizeof(drm_heddle_result) || out.ptr == 0)
    return false;
  drm_heddle_result result;
  if (!AwaitResult(args, &result)) return false;
  std::memcpy(reinterpret_cast<void*>(out.ptr), &result, sizeof(result));
  return true;
}

int HostedClient::Ioctl(unsigned long request, void* arg) noexcept {
  const Call* call = FindCall(static_cast<uint32_t>(request));
  if (call == nullptr) return -ENOTTY;
  if (arg == nullptr) return -EFAULT;
  if (request == DRM_IOCTL_HEDDLE_WAIT &&
      FindResult(*static_cast<const drm_heddle_wait*>(arg)))
    return 0;
  MessageBytes payload, reply;
  size_t reply_bytes = 0;
  int err = PackRequest(*call, arg, &payload, &reply_bytes);
  if (err != 0) return err;
  if (!reply.Resize(reply_bytes)) return -ENOMEM;
  int fd = -1;
  if (call->fd_in >= 0) {
    std::memcpy(&fd, static_cast<uint8_t*>(arg) + call->fd_in, sizeof(fd));
    if (fd < 0 || fcntl(fd, F_GETFD) < 0) return -EBADF;
  }
  MessageHeader header;
  header.type = kIoctl;
  header.request = call->request;
  header.bytes = static_cast<uint32_t>(payload.size());
  Waiter waiter;
  waiter.payload = reply.data();
  waiter.capacity = reply.size();
  const uint32_t changes = results_ != nullptr ? results_->changes() : 0;
  int result = Exchange(header, payload.data(), fd, &waiter);
  if (waiter.answered && waiter.reply.bytes > 0) {
    err = UnpackReply(*call, result, reply.data(), waiter.reply.bytes, arg);
    if (err != 0) result = err;
  }
  if (request == DRM_IOCTL_HEDDLE_SUBMIT && result == 0) {
    const auto* submit = static_cast<const drm_heddle_submit*>(arg);
    std::lock_guard<std::mutex> lock(mutex_);
    last_ = {submit->context, submit->seqno, changes};
  }
  if (call->fd_out >= 0 && result == 0 && waiter.fd < 0) result = -EPROTO;
  if (call->fd_out >= 0 && result == 0) {
    std::memcpy(static_cast<uint8_t*>(arg) + call->fd_out, &waiter.fd,
                sizeof(waiter.fd));
  } else if (waiter.fd >= 0) {
    close(waiter.fd);
  }
  return result;
}

void* HostedClient::Mmap(uint64_t offset, size_t bytes, int* error) noexcept {
  MmapRequest request;
  request.offset = offset;
  MessageHeader header;
  header.type = kMmap;
  header.bytes = sizeof(request);
  Waiter waiter;
  *error = Exchange(header, &request, -1, &waiter);
  if (*error == 0 && waiter.fd < 0) *error = -EPROTO;
  if (*error != 0) {
    if (waiter.fd >= 0) close(waiter.fd);
    return nullptr;
  }
  struct stat buffer = {};
  if (fstat(waiter.fd, &buffer) != 0 ||
      bytes > static_cast<uint64_t>(buffer.st_size)) {
    *error = -EINVAL;
    close(waiter.fd);
    return nullptr;
  }
  void* p =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, waiter.fd, 0);
  if (p == MAP_FAILED) {
    *error = -errno;
    p = nullptr;
  }
  close(waiter.fd);
  return p;
}

int HostedClient::ExportFd(uint32_t handle) noexcept {
  drm_prime_handle prime = {};
  prime.handle = handle;
  prime.flags = DRM_CLOEXEC | DRM_RDWR;
  const int err = Ioctl(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
  return err != 0 ? err : prime.fd;
}

int HostedClient::ImportFd(int fd, uint32_t* handle) noexcept {
  drm_prime_handle prime = {};
  prime.fd = fd;
  const int err = Ioctl(DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
  if (err == 0) *handle = prime.handle;
  return err;
}

}  // namespace heddle::hosted
