// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/slot.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "spdlog/spdlog.h"

namespace heddle::hosted {
namespace {

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kAttachPeriodNs = 100 * kMs;
// Whoever opens a card this soon after the start waits for it.
constexpr uint64_t kFirstAttachNs = 5000 * kMs;

// Never used twice in a process: SRAM is cleared between different clients.
std::atomic<uint64_t> g_next_client{1};

}  // namespace

Slot::Slot(uint32_t index, std::string path, const Device::Options& options)
    : index_(index),
      path_(std::move(path)),
      options_(options),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Slot::~Slot() {
  stop_ = true;
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
  close(wake_);
}

void Slot::Start() {
  thread_ = std::thread([this] { Run(); });
}

CardEntry Slot::Describe() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entry_;
}

void Slot::Adopt(std::unique_ptr<Connection> connection,
                 const MessageHeader& hello, bool privileged) {
  Client client;
  client.connection = std::move(connection);
  client.hello = hello;
  client.privileged = privileged;
  clients_++;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    newcomers_.push_back(std::move(client));
  }
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

void Slot::TakeNewcomers() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Client& c : newcomers_) served_.push_back(std::move(c));
  newcomers_.clear();
}

void Slot::Publish() {
  CardEntry entry;
  if (device_ != nullptr && !device_->gone()) {
    entry.present = 1;
    entry.config = device_->info().config;
    entry.core_kind = device_->info().core_kind;
    entry.unique = device_->info().unique;
  }
  entry.generation = generation_;
  std::lock_guard<std::mutex> lock(mutex_);
  entry_ = entry;
}

void Slot::TryAttach(uint64_t now) {
  if ((device_ != nullptr && !device_->gone()) || now < next_attach_ns_) return;
  next_attach_ns_ = now + kAttachPeriodNs;
  auto link = Link::Connect(path_);
  absl::Status status = link.status();
  if (status.ok()) {
    auto sink = [this](uint32_t type, uint32_t context, uint64_t client,
                       uint64_t value) {
      for (Client& c : served_) {
        // Only files of the device that speaks: the others' are gone already.
        if (c.file != nullptr && c.device == device_) {
          c.file->Notify(type, context, client, value);
        }
      }
      if (type == DRM_HEDDLE_EVENT_REMOVED) Publish();
    };
    auto device = Device::Attach(std::move(*link), options_, sink);
    status = device.status();
    if (status.ok()) device_ = *std::move(device);
  }
  if (!status.ok()) {
    // Said once per reason, not five times a second; a missing card is normal.
    const std::string text(status.message());
    if (status.code() != absl::StatusCode::kUnavailable &&
        text != last_complaint_) {
      spdlog::error("card {}: {}", index_, text);
      last_complaint_ = text;
    }
    return;
  }
  last_complaint_.clear();
  generation_++;
  Publish();
  spdlog::info("card {}: {} with {} MiB of device memory, serial {:x}", index_,
               device_->config()->name, device_->memory_total() >> 20,
               device_->info().unique);
}

void Slot::Welcome(uint64_t now) {
  const bool present = device_ != nullptr && !device_->gone();
  const bool may_come = generation_ == 0 && now < first_attach_limit_ns_;
  for (Client& c : served_) {
    if (c.file != nullptr || c.connection->broken() || (!present && may_come))
      continue;
    if (!present) {
      c.connection->Reply(c.hello, -ENXIO, {}, -1);
      // It gets end-of-file once the reply is out.
      c.hello.type = 0;
      continue;
    }
    c.device = device_;
    c.file = std::make_unique<File>(device_, g_next_client++, c.privileged);
    HelloReply reply;
    reply.card = index_;
    reply.generation = generation_;
    std::vector<uint8_t> payload(sizeof(reply));
    std::memcpy(payload.data(), &reply, sizeof(reply));
    c.connection->Reply(c.hello, 0, std::move(payload), -1);
  }
}

void Slot::Answer(Client* client, const MessageHeader& header, CallFrame* frame,
                  const File::Outcome& outcome) {
  std::vector<uint8_t> payload;
  if (frame != nullptr) payload = frame->PackReply(outcome.result);
  client->connection->Reply(header, outcome.result, std::move(payload),
                            outcome.fd);
}

void Slot::Serve(Client* client) {
  Message message;
  if (!client->connection->Receive(&message)) return;
  const MessageHeader& header = message.header;
  auto refuse = [&](int error) {
    if (message.fd >= 0) close(message.fd);
    client->connection->Reply(header, error, {}, -1);
  };
  if (client->file == nullptr) return refuse(-EPROTO);
  if (header.type == kMmap) {
    MmapRequest request;
    if (message.payload.size() != sizeof(request)) return refuse(-EPROTO);
    std::memcpy(&request, message.payload.data(), sizeof(request));
    if (message.fd >= 0) close(message.fd);
    Answer(client, header, nullptr, client->file->Mmap(request.offset));
    return;
  }
  const Call* call = header.type == kIoctl ? FindCall(header.request) : nullptr;
  if (call == nullptr) return refuse(header.type == kIoctl ? -ENOTTY : -EPROTO);
  if (client->pending.size() >= kPendingMax) return refuse(-EAGAIN);
  auto frame = std::make_unique<CallFrame>();
  const int err = frame->Unpack(*call, std::move(message.payload));
  if (err != 0) return refuse(err);
  const File::Outcome outcome = client->file->Ioctl(frame.get(), message.fd);
  if (outcome.pending) {
    client->pending.push_back({header, std::move(frame), outcome.deadline_ns});
    return;
  }
  Answer(client, header, frame.get(), outcome);
}

void Slot::Retry(Client* client) {
  for (auto it = client->pending.begin(); it != client->pending.end();) {
    const File::Outcome outcome = client->file->Ioctl(it->frame.get(), -1);
    if (outcome.pending) {
      it->deadline_ns = outcome.deadline_ns;
      ++it;
      continue;
    }
    Answer(client, it->header, it->frame.get(), outcome);
    it = client->pending.erase(it);
  }
}

void Slot::Run() {
  first_attach_limit_ns_ = NowNs() + kFirstAttachNs;
  while (!stop_) {
    uint64_t now = NowNs();
    TakeNewcomers();
    TryAttach(now);
    Welcome(now);

    // Whatever is due, then everything that waits gets another look; that can
    // give the device new work.
    uint64_t sleep_ns = kAttachPeriodNs;
    if (device_ != nullptr && !device_->gone()) {
      device_->Poll();
      for (Client& c : served_) {
        if (c.file != nullptr) Retry(&c);
      }
      sleep_ns = device_->Poll();
    } else {
      for (Client& c : served_) {
        if (c.file != nullptr) Retry(&c);
      }
    }
    served_.remove_if([this](const Client& c) {
      const bool refused = c.hello.type == 0 && !c.connection->wants_write();
      if (!c.connection->broken() && !refused) return false;
      clients_--;
      return true;
    });
    if (device_ == nullptr || device_->gone()) sleep_ns = kAttachPeriodNs;
    now = NowNs();
    for (const Client& c : served_) {
      for (const Pending& p : c.pending) {
        sleep_ns =
            std::min(sleep_ns, p.deadline_ns > now ? p.deadline_ns - now : 0);
      }
    }

    std::vector<pollfd> fds = {{wake_, POLLIN, 0}};
    std::shared_ptr<Device> device = device_;
    size_t vectors = 0;
    if (device != nullptr && !device->gone()) {
      vectors = device->vectors().size();
      for (int fd : device->vectors()) fds.push_back({fd, POLLIN, 0});
      fds.push_back({device->socket(), POLLRDHUP, 0});
    }
    const size_t first_client = fds.size();
    for (const Client& c : served_) {
      const int out = c.connection->wants_write() ? POLLOUT : 0;
      // Who does not fetch its replies is not read from.
      const int in = c.connection->wants_write() ? 0 : POLLIN;
      fds.push_back({c.connection->socket(), static_cast<short>(in | out), 0});
    }
    timespec sleep = {static_cast<time_t>(sleep_ns / (1000 * kMs)),
                      static_cast<long>(sleep_ns % (1000 * kMs))};
    if (ppoll(fds.data(), fds.size(), &sleep, nullptr) <= 0) continue;

    if (fds[0].revents != 0) {
      uint64_t count;
      (void)!read(wake_, &count, sizeof(count));
    }
    for (size_t v = 0; v < vectors; ++v) {
      if (fds[1 + v].revents & POLLIN) device->OnInterrupt(v);
    }
    if (vectors > 0 && fds[1 + vectors].revents != 0) device->OnHangUp();
    size_t i = first_client;
    for (Client& c : served_) {
      const short events = fds[i++].revents;
      if (events & POLLOUT) c.connection->Flush();
      if (events & (POLLIN | POLLHUP | POLLERR)) Serve(&c);
    }
  }
  served_.clear();
  device_ = nullptr;
}

}  // namespace heddle::hosted
