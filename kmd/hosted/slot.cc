// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/slot.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "kmd/hosted/client_list.h"
#include "kmd/hosted/log.h"
#include "spdlog/spdlog.h"

namespace heddle::hosted {
namespace {

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kAttachPeriodNs = 100 * kMs;
// Whoever opens a card this soon after the start waits for it.
constexpr uint64_t kFirstAttachNs = 5000 * kMs;

// How long a request is looked for when the card has become idle, before the
// thread sleeps: who fetches a result often has the next job.
constexpr uint64_t kRequestNs = 40000;

// How long the card waits for clients' calls before it is looked after.
constexpr uint64_t kTurnNs = kMs;

constexpr char kThreadName[] = "heddle-card";

// Never used twice in a process: SRAM is cleared between different clients.
std::atomic<uint64_t> g_next_client{1};

}  // namespace

Slot::Slot(uint32_t index, std::string path, const Device::Options& options,
           const ServiceLimits& limits, std::shared_ptr<Account> descriptors)
    : index_(index),
      path_(std::move(path)),
      options_(options),
      limits_(limits),
      descriptors_(std::move(descriptors)),
      checker_(wake_.fd),
      for_requests_(sysconf(_SC_NPROCESSORS_ONLN), kRequestNs) {
  options_.index = index;
}

Slot::~Slot() {
  stop_ = true;
  const uint64_t one = 1;
  (void)!write(wake_.fd, &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
}

void Slot::Start() {
  thread_ = std::thread([this] { Run(); });
}

CardEntry Slot::Describe() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entry_;
}

void Slot::Adopt(std::unique_ptr<Connection>* connection, Account::Share* share,
                 const MessageHeader& hello, bool privileged) {
  std::list<Client> one(1);
  Client& client = one.front();
  client.connection = std::move(*connection);
  client.share = std::move(*share);
  client.hello = hello;
  client.privileged = privileged;
  clients_++;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    newcomers_.splice(newcomers_.end(), one);
  }
  const uint64_t count = 1;
  (void)!write(wake_.fd, &count, sizeof(count));
}

void Slot::TakeNewcomers() {
  std::lock_guard<std::mutex> lock(mutex_);
  served_.splice(served_.end(), newcomers_);
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
      OnEvent(type, context, client, value);
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
  Log(spdlog::level::info,
      "card {}: {} with {} MiB of device memory, serial {}", index_,
      device_->config()->name, device_->memory_total() >> 20,
      device_->info().unique);
}

void Slot::OnEvent(uint32_t type, uint32_t context, uint64_t client,
                   uint64_t value) {
  for (Client& c : served_) {
    // Only files of the device that speaks: the others' are gone already.
    if (c.file == nullptr || c.device != device_) continue;
    c.file->Notify(type, context, client, value);
    if (type != DRM_HEDDLE_EVENT_REMOVED) continue;
    for (Pending& p : c.pending) p.rest->Poke();
  }
  if (type == DRM_HEDDLE_EVENT_REMOVED) Publish();
}

void Slot::Welcome(uint64_t now) {
  const bool present = device_ != nullptr && !device_->gone();
  const bool may_come = generation_ == 0 && now < first_attach_limit_ns_;
  for (Client& c : served_) {
    if (c.file != nullptr || c.refused || c.connection->broken()) continue;
    if (c.hello.type == kClients) {
      TellClients(&c);
      continue;
    }
    if (!present && may_come) continue;
    if (present) {
      OpenFile(&c);
      continue;
    }
    Connection::Slip reply(1);
    reply.front().header = c.hello;
    reply.front().header.result = -ENXIO;
    c.connection->Reply(&reply);
    c.refused = true;
  }
}

void Slot::OpenFile(Client* c) {
  Connection::Slip reply(1);
  HelloReply answer;
  answer.card = index_;
  answer.generation = generation_;
  reply.front().header = c->hello;
  reply.front().header.result = 0;
  reply.front().payload.resize(sizeof(answer));
  std::memcpy(reply.front().payload.data(), &answer, sizeof(answer));
  File::Owner owner;
  owner.client = g_next_client++;
  owner.privileged = c->privileged;
  owner.descriptors = std::make_shared<ClientPart>(
      descriptors_, c->connection->user(), limits_.descriptors);
  c->file = std::make_unique<File>(device_, &checker_, owner);
  c->device = device_;
  c->connection->set_message_max(kMessageBytesMax);
  c->connection->Reply(&reply);
}

void Slot::TellClients(Client* asker) {
  ClientsHeader header;
  std::vector<ClientEntry> entries;
  for (const Client& c : served_) {
    // Files of a card that has gone use nothing.
    if (c.file == nullptr || c.device != device_) continue;
    if (!asker->privileged &&
        c.connection->user() != asker->connection->user()) {
      ++header.hidden;
      continue;
    }
    const ClientState& state = c.file->state();
    ClientEntry entry;
    entry.client = state.id;
    entry.pid = static_cast<uint32_t>(c.connection->process());
    entry.user = c.connection->user();
    entry.engine_ns = state.held_ns;
    entry.jobs = state.counters.jobs;
    entry.device_bytes = state.usage.used[HEDDLE_DEVICE_BYTES];
    entry.host_bytes = state.usage.used[HEDDLE_PINNED_BYTES];
    entries.push_back(entry);
  }
  Connection::Slip reply(1);
  reply.front().header = asker->hello;
  reply.front().header.result = 0;
  std::vector<uint8_t>& payload = reply.front().payload;
  payload.resize(sizeof(header) + entries.size() * sizeof(ClientEntry));
  std::memcpy(payload.data(), &header, sizeof(header));
  if (!entries.empty()) {
    std::memcpy(payload.data() + sizeof(header), entries.data(),
                entries.size() * sizeof(ClientEntry));
  }
  asker->connection->Reply(&reply);
  asker->refused = true;  // nothing follows
}

void Slot::DropClients(uint64_t now) {
  for (auto it = served_.begin(); it != served_.end();) {
    Client& c = *it++;
    const bool unread = c.connection->wants_write();
    bool drop = c.connection->broken() || (c.refused && !unread);
    if (!drop && unread &&
        now - c.connection->idle_since_ns() >= limits_.unread_ns) {
      Log(spdlog::level::warn,
          "card {}: disconnected a client of user {} that does not read its "
          "replies",
          index_, c.connection->user());
      drop = true;
    }
    if (!drop) continue;
    for (Pending& p : c.pending) {
      if (p.timer != timers_.end()) timers_.erase(p.timer);
    }
    served_.erase(std::prev(it));
    clients_--;
  }
}

void Slot::Reject(Client* client, const MessageHeader& header, int error) {
  client->spare.front().header = header;
  client->spare.front().header.result = error;
  client->connection->Reply(&client->spare);
}

void Slot::Serve(Client* client) {
  // Whatever comes gets a reply.
  if (client->spare.empty()) client->spare.emplace_back();
  Message message;
  int error = 0;
  const uint64_t room = limits_.queued_bytes > client->held
                            ? limits_.queued_bytes - client->held
                            : 0;
  switch (client->connection->Receive(room, &message, &error)) {
    case Connection::Received::kNothing:
      return;
    case Connection::Received::kRefused:
      Reject(client, message.header, error);
      break;
    case Connection::Received::kMessage:
      try {
        StartCall(client, &message, room);
      } catch (const std::bad_alloc&) {
        Reject(client, message.header, -ENOMEM);
      }
  }
  if (message.fd >= 0) close(message.fd);
}

void Slot::StartCall(Client* client, Message* message, uint64_t room) {
  const MessageHeader& header = message->header;
  auto refuse = [&](int error) { Reject(client, header, error); };
  if (client->file == nullptr) return refuse(-EPROTO);
  std::list<Pending> call(1);
  Pending& p = call.front();
  p.client = client;
  p.header = header;
  p.reply.emplace_back();
  p.timer = timers_.end();
  if (header.type == kMmap) {
    MmapRequest request;
    if (message->payload.size() != sizeof(request)) return refuse(-EPROTO);
    std::memcpy(&request, message->payload.data(), sizeof(request));
    return End(&call, client->file->Mmap(request.offset));
  }
  if (header.type == kResults) {
    if (!message->payload.empty()) return refuse(-EPROTO);
    return End(&call, client->file->Results());
  }
  const Call* known =
      header.type == kIoctl ? FindCall(header.request) : nullptr;
  if (known == nullptr)
    return refuse(header.type == kIoctl ? -ENOTTY : -EPROTO);
  if (client->pending.size() >= limits_.calls) return refuse(-EAGAIN);
  p.frame = std::make_shared<CallFrame>();
  const int err = p.frame->Unpack(*known, std::move(message->payload), room);
  if (err != 0) return refuse(err);
  p.reply.front().payload.reserve(p.frame->reply_bytes_max());
  Outcome outcome = client->file->Ioctl(p.frame, &message->fd);
  // An idle card begins before the client hears of it and takes the CPU.
  if (known->request == uint32_t{DRM_IOCTL_HEDDLE_SUBMIT})
    client->device->Start();
  if (outcome.rest == nullptr) return End(&call, std::move(outcome));
  if (outcome.deadline_ns != ~uint64_t{0})
    p.timer = timers_.emplace(outcome.deadline_ns, &p);
  p.rest = std::move(outcome.rest);
  p.held =
      p.frame->held() + p.reply.front().payload.capacity() + p.rest->held();
  client->held += p.held;
  client->pending.splice(client->pending.end(), call);
  p.self = std::prev(client->pending.end());
  p.rest->Attach(&client->ready, &p);
}

void Slot::End(std::list<Pending>* call, Outcome outcome) {
  Pending& p = call->front();
  Connection::Outgoing& reply = p.reply.front();
  reply.header = p.header;
  reply.header.result = outcome.result;
  reply.shows = std::move(outcome.shows);
  if (p.frame != nullptr) p.frame->PackReply(outcome.result, &reply.payload);
  p.client->connection->Reply(&p.reply);
}

void Slot::Resume() {
  const uint64_t now = NowNs();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Pending* p = timers_.begin()->second;
    timers_.erase(timers_.begin());
    p->timer = timers_.end();
    p->rest->Poke();
  }
  // One client's many calls hold up neither the others' nor the card.
  for (bool any = true; any;) {
    any = false;
    for (auto c = served_.begin(); c != served_.end();) {
      WaitingCall* rest = c++->ready.Take();
      if (rest == nullptr) continue;
      any = true;
      ResumeOne(rest);
      if (NowNs() - now < kTurnNs) continue;
      // Whoever was not reached is first the next time.
      served_.splice(served_.end(), served_, served_.begin(), c);
      return;
    }
  }
}

void Slot::ResumeOne(WaitingCall* rest) {
  auto* p = static_cast<Pending*>(rest->owner());
  Outcome outcome;
  try {
    if (!rest->Resume(&outcome)) return;
  } catch (const std::bad_alloc&) {
    outcome = Outcome();
    outcome.result = -ENOMEM;
  }
  if (p->timer != timers_.end()) timers_.erase(p->timer);
  Client* client = p->client;
  client->held -= p->held;
  std::list<Pending> call;
  call.splice(call.end(), client->pending, p->self);
  End(&call, std::move(outcome));
}

uint64_t Slot::SleepFor(uint64_t now, uint64_t device_ns) {
  uint64_t sleep_ns = device_ns;
  auto until = [&](uint64_t when) {
    sleep_ns = std::min(sleep_ns, when > now ? when - now : 0);
  };
  if (!timers_.empty()) until(timers_.begin()->first);
  for (const Client& c : served_) {
    if (!c.ready.empty()) return 0;
    if (c.connection->wants_write())
      until(c.connection->idle_since_ns() + limits_.unread_ns);
  }
  return sleep_ns;
}

bool Slot::Sleep(uint64_t sleep_ns, bool card_idle) {
  const auto came = [&] { return poll(polled_.data(), polled_.size(), 0) > 0; };
  if (card_idle && sleep_ns > kRequestNs && for_requests_.Look(came))
    return true;
  const timespec sleep = {static_cast<time_t>(sleep_ns / (1000 * kMs)),
                          static_cast<long>(sleep_ns % (1000 * kMs))};
  return ppoll(polled_.data(), polled_.size(), &sleep, nullptr) > 0;
}

// Whatever is due, then everything that can go on, which can give the device
// new work; then sleeps until something happens, and takes in what it was.
void Slot::Turn() {
  const uint64_t now = NowNs();
  TakeNewcomers();
  TryAttach(now);
  Welcome(now);
  checker_.Deliver();
  uint64_t sleep_ns = kAttachPeriodNs;
  if (device_ != nullptr && !device_->gone()) {
    device_->Poll();
    Resume();
    sleep_ns = device_->Poll();
  }
  Resume();
  DropClients(now);
  if (device_ == nullptr || device_->gone()) sleep_ns = kAttachPeriodNs;

  polled_.clear();
  polled_.push_back({wake_.fd, POLLIN, 0});
  const std::shared_ptr<Device> device = device_;
  size_t vectors = 0;
  if (device != nullptr && !device->gone()) {
    vectors = device->vectors().size();
    for (int fd : device->vectors()) polled_.push_back({fd, POLLIN, 0});
    polled_.push_back({device->socket(), POLLRDHUP, 0});
  }
  // Everybody is first in turn.
  if (!served_.empty()) served_.splice(served_.end(), served_, served_.begin());
  const size_t first_client = polled_.size();
  for (const Client& c : served_) {
    // Who does not fetch its replies is not read from.
    polled_.push_back(
        {c.connection->socket(),
         static_cast<short>(c.connection->wants_write() ? POLLOUT : POLLIN),
         0});
  }
  const bool card_idle = device != nullptr && device->TakeIdle();
  if (!Sleep(SleepFor(NowNs(), sleep_ns), card_idle)) return;

  if (polled_[0].revents != 0) {
    uint64_t count;
    (void)!read(wake_.fd, &count, sizeof(count));
  }
  for (size_t v = 0; v < vectors; ++v) {
    if (polled_[1 + v].revents & POLLIN) device->OnInterrupt(v);
  }
  if (vectors > 0 && polled_[1 + vectors].revents != 0) device->OnHangUp();
  size_t i = first_client;
  uint64_t looked = NowNs();
  for (Client& c : served_) {
    const short events = polled_[i++].revents;
    if (events & POLLOUT) c.connection->Flush();
    if (events & (POLLIN | POLLHUP | POLLERR)) Serve(&c);
    // However many clients want something, the card does not wait long.
    if (vectors > 0 && events != 0 && NowNs() - looked >= kTurnNs) {
      device->Poll();
      looked = NowNs();
    }
  }
}

void Slot::Run() {
  pthread_setname_np(pthread_self(), kThreadName);
  first_attach_limit_ns_ = NowNs() + kFirstAttachNs;
  while (!stop_) {
    try {
      Turn();
    } catch (const std::bad_alloc&) {
      // Whatever it was is still to be done.
      usleep(1000);
    }
  }
  timers_.clear();
  if (device_ != nullptr) device_->Quiet();
  served_.clear();
  device_ = nullptr;
}

}  // namespace heddle::hosted
