// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Clients, contexts and cards beside each other on fake cards, and what breaks.
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "drm.h"
#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/client_list.h"
#include "kmd/hosted/core.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/hosted_fixture.h"
#include "kmd/hosted/server.h"
#include "kmd/hosted/test_client.h"
#include "spdlog/spdlog.h"

namespace heddle::hosted {
namespace {

TEST_F(HostedTest, NoticesACardThatReadsAllOnes) {
  Plug();
  StartServer();
  auto c = Open();
  FakeCard::Behaviour b;
  b.gone = true;
  card_->Set(b);
  drm_heddle_event event = {};
  drm_heddle_events events = {};
  events.events = {reinterpret_cast<uint64_t>(&event), 1, sizeof(event)};
  events.deadline_ns = InMs(1000);
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events), 0);
  EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_REMOVED + 0u);
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events), -ENODEV);
}

TEST_F(HostedTest, TellsWhoUsesACard) {
  Plug();
  StartServer();
  auto first = Open(), second = Open();
  drm_heddle_bo_create bo = {};
  bo.size = 64 << 10;
  bo.placement = DRM_HEDDLE_DEVICE;
  ASSERT_EQ(second->Ioctl(DRM_IOCTL_HEDDLE_BO_CREATE, &bo), 0);
  ClientList list;
  ASSERT_EQ(ListClients(options_.socket, 0, &list), 0);
  ASSERT_EQ(list.clients.size(), 2u) << "who asks is no client";
  EXPECT_EQ(list.hidden, 0u);
  uint64_t most = 0;
  for (const ClientEntry& entry : list.clients) {
    EXPECT_EQ(entry.pid, static_cast<uint32_t>(getpid()));
    EXPECT_EQ(entry.user, getuid());
    EXPECT_EQ(entry.jobs, 0u);
    most = std::max(most, entry.device_bytes);
  }
  EXPECT_NE(list.clients[0].client, list.clients[1].client);
  EXPECT_EQ(most, uint64_t{64} << 10);
  second = nullptr;
  for (const uint64_t limit = InMs(5000);
       Now() < limit && list.clients.size() != 1; usleep(1000)) {
    ASSERT_EQ(ListClients(options_.socket, 0, &list), 0);
  }
  EXPECT_EQ(list.clients.size(), 1u);
  EXPECT_EQ(ListClients(options_.socket, 7, &list), -ENXIO);
  EXPECT_EQ(ListClients(options_.socket + "x", 0, &list), -ENOENT);
}

TEST_F(HostedTest, WithoutACardNobodyUsesIt) {
  StartServer();
  ClientList list;
  ASSERT_EQ(ListClients(options_.socket, 0, &list), 0);
  EXPECT_TRUE(list.clients.empty());
}

TEST_F(HostedTest, FollowsTheSizeOfDeviceMemory) {
  Plug();
  StartServer();
  auto c = Open();
  const auto before =
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY);
  card_->Resize(128 * kMiB);
  drm_heddle_event event = {};
  drm_heddle_events events = {};
  events.events = {reinterpret_cast<uint64_t>(&event), 1, sizeof(event)};
  events.deadline_ns = InMs(2000);
  ASSERT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events), 0);
  EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_MEMORY + 0u);
  EXPECT_EQ(event.value, 128 * kMiB - HEDDLE_DEVICE_RESERVE_BYTES);
  const auto after =
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY);
  EXPECT_EQ(after.total, event.value);
  EXPECT_GT(after.generation, before.generation);
  events.deadline_ns = InMs(10);
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events), -ETIME);
}

TEST_F(HostedTest, OrdersJobsByTimelines) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t first = NewContext(c.get()), second = NewContext(c.get());
  const uint32_t gate = NewSyncobj(c.get()), done = NewSyncobj(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  uint64_t a, b;
  // Nothing will ever signal this point: not accepted.
  EXPECT_EQ(Submit(c.get(), second, {RunStream(stream)}, &b, {{done, 0, 5}}),
            -EINVAL);
  FakeCard::Behaviour slow;
  slow.run_ms = 30;
  card_->Set(slow);
  ASSERT_EQ(Submit(c.get(), first, {RunStream(stream)}, &a, {}, {{gate, 0, 1}}),
            0);
  ASSERT_EQ(Submit(c.get(), second, {RunStream(stream)}, &b, {{gate, 0, 1}},
                   {{done, 0, 5}}),
            0);
  EXPECT_EQ(WaitPoint(c.get(), done, 5, 0), -ETIME);
  EXPECT_EQ(WaitPoint(c.get(), done, 5, InMs(5000)), 0);
  drm_heddle_result result;
  EXPECT_EQ(Wait(c.get(), first, a, &result, 0), 0);
  uint64_t point = 0;
  drm_syncobj_timeline_array query = {};
  query.handles = reinterpret_cast<uint64_t>(&done);
  query.points = reinterpret_cast<uint64_t>(&point);
  query.count_handles = 1;
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_SYNCOBJ_QUERY, &query), 0);
  EXPECT_EQ(point, 5u);
  // The host signals a point itself.
  const uint32_t mine = NewSyncobj(c.get());
  point = 3;
  query.handles = reinterpret_cast<uint64_t>(&mine);
  EXPECT_EQ(WaitPoint(c.get(), mine, 3, 0, 0), -EINVAL);
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &query), 0);
  EXPECT_EQ(WaitPoint(c.get(), mine, 3, 0, 0), 0);
  // Only timelines have points to become available, as in the kernel.
  drm_syncobj_wait binary = {};
  binary.handles = reinterpret_cast<uint64_t>(&mine);
  binary.count_handles = 1;
  binary.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &binary), -EINVAL);
  binary.flags = 0;
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &binary), 0);
}

TEST_F(HostedTest, CancelsJobsOfADestroyedContext) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  FakeCard::Behaviour slow;
  slow.run_ms = 50;
  card_->Set(slow);
  const uint32_t syncobj = NewSyncobj(c.get());
  uint64_t seqno;
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_EQ(Submit(c.get(), context, {RunStream(stream)}, &seqno, {},
                     {{syncobj, 0, i + 1}}),
              0);
  }
  drm_heddle_context_destroy destroy = {context, 0};
  const uint64_t before = Now();
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &destroy), 0);
  EXPECT_EQ(WaitPoint(c.get(), syncobj, 10, InMs(5000)), 0);
  EXPECT_LT(Now() - before, 400 * 1000000u);  // ten would take 500 ms
  drm_heddle_result result;
  EXPECT_EQ(Wait(c.get(), context, seqno, &result), -ENOENT);
}

TEST_F(HostedTest, LimitsTheJobsOfAContext) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  FakeCard::Behaviour b;
  b.hang_runs = true;
  card_->Set(b);
  uint64_t seqno;
  int err = 0, accepted = 0;
  while (accepted < 10000 &&
         (err = Submit(c.get(), context, {RunStream(stream)}, &seqno, {}, {},
                       kForever / 2)) == 0) {
    ++accepted;
  }
  EXPECT_EQ(err, -EAGAIN);
  EXPECT_EQ(accepted, 256);
}

TEST_F(HostedTest, SharesHostBuffersAsDescriptors) {
  Plug();
  StartServer();
  auto a = Open(), b = Open();
  auto host = NewHost(a.get(), 2 * kPage);
  std::memset(host->data, 3, host->size);
  const int fd = a->ExportFd(host->handle);
  ASSERT_GE(fd, 0);
  uint32_t handle = 0;
  EXPECT_EQ(a->ImportFd(fd, &handle), 0);
  EXPECT_EQ(handle, host->handle);
  ASSERT_EQ(b->ImportFd(fd, &handle), 0);
  EXPECT_NE(ftruncate(fd, 0), 0);
  close(fd);
  const uint32_t context = NewContext(b.get());
  const uint32_t bo = NewDevice(b.get(), 2 * kPage);
  EXPECT_LT(b->ExportFd(bo), 0);
  auto out = NewHost(b.get(), 2 * kPage);
  EXPECT_EQ(
      Do(b.get(), context,
         {CopyIn(handle, bo, 2 * kPage), CopyOut(bo, out->handle, 2 * kPage)}),
      0u);
  EXPECT_EQ(out->data[2 * kPage - 1], 3);
  // Memory that its owner can take away is not accepted.
  const int loose = memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(loose, kPage), 0);
  EXPECT_EQ(b->ImportFd(loose, &handle), -EINVAL);
  close(loose);
  EXPECT_EQ(b->ImportFd(-1, &handle), -EBADF);
}

TEST_F(HostedTest, GivesBackWhatAClientLeaves) {
  Plug();
  StartServer();
  auto watcher = Open();
  const uint64_t mapped = card_->mapped_bytes();
  {
    auto c = Open();
    NewDevice(c.get(), 5 * kPage);
    auto host = NewHost(c.get(), 5 * kPage);
    uint32_t stream = 0;
    ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
    EXPECT_EQ(Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY)
                  .used_here,
              6 * kPage);
    EXPECT_GT(card_->mapped_bytes(), mapped);
  }
  for (uint64_t limit = InMs(2000);
       Now() < limit && card_->mapped_bytes() != mapped;)
    usleep(1000);
  EXPECT_EQ(card_->mapped_bytes(), mapped);
  EXPECT_EQ(
      Query<drm_heddle_memory_info>(watcher.get(), DRM_HEDDLE_QUERY_MEMORY)
          .used,
      0u);
}

TEST_F(HostedTest, ServesTwoCardsIndependently) {
  options_.cards = {card_path_, card2_path_};
  Plug();
  FakeCard other(card2_path_, 64 * kMiB, 43);
  StartServer();
  auto a = Open(0), b = Open(1);
  EXPECT_EQ(
      Query<drm_heddle_device_info>(b.get(), DRM_HEDDLE_QUERY_DEVICE).unique,
      43u);
  card_ = nullptr;
  const uint32_t context = NewContext(b.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(b.get(), EndCommand(), &stream), 0);
  EXPECT_EQ(Do(b.get(), context, {RunStream(stream)}), 0u);
  std::unique_ptr<HostedClient> c;
  EXPECT_EQ(HostedClient::Open(options_.socket, 2, &c), -ENXIO);
}

TEST_F(HostedTest, ManyClientsAtOnce) {
  Plug();
  StartServer();
  std::vector<std::thread> threads;
  std::vector<int> good(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto c = Open();
      if (c == nullptr) return;
      const uint32_t context = NewContext(c.get(), 1 + t % 3);
      auto in = NewHost(c.get(), kPage), out = NewHost(c.get(), kPage);
      const uint32_t bo = NewDevice(c.get(), kPage);
      uint32_t stream = 0;
      if (NewStream(c.get(), EndCommand(), &stream) != 0) return;
      for (int i = 0; i < 50; ++i) {
        std::memset(in->data, t * 16 + i % 16, kPage);
        if (Do(c.get(), context,
               {CopyIn(in->handle, bo, kPage), RunStream(stream),
                CopyOut(bo, out->handle, kPage)}) == 0 &&
            std::memcmp(in->data, out->data, kPage) == 0) {
          good[t]++;
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(good, std::vector<int>(8, 50));
}

// The longest stream there is, and behind it a call that takes no time.
TEST_F(HostedTest, ServesOthersWhileAStreamIsValidated) {
  Plug();
  StartServer();
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, options_.socket.c_str(),
              options_.socket.size() + 1);
  ASSERT_EQ(connect(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  Hello hello;
  MessageHeader header;
  header.type = kHello;
  header.bytes = sizeof(hello);
  ASSERT_EQ(SendMessage(s, header, &hello, -1), 0);
  Message reply;
  ASSERT_EQ(ReceiveMessage(s, &reply), 0);

  // (Without its end, so that it is refused where it stops.)
  std::vector<uint32_t> words(HEDDLE_STREAM_BYTES_MAX / sizeof(uint32_t));
  for (size_t at = 0; at < words.size(); at += HEDDLE_HEADER_WORDS) {
    words[at] = HEDDLE_OP_NOP | HEDDLE_HEADER_WORDS << 8;
  }
  drm_heddle_stream_create create = {};
  create.data.ptr = reinterpret_cast<uintptr_t>(words.data());
  create.data.count = HEDDLE_STREAM_BYTES_MAX;
  create.data.stride = 1;
  drm_heddle_context_create context = {};
  context.priority = 1;
  std::vector<uint8_t> bytes;
  const auto add = [&](uint64_t id, uint32_t request, const void* args) {
    MessageBytes payload;
    size_t reply_bytes = 0;
    ASSERT_EQ(PackRequest(*FindCall(request), args, &payload, &reply_bytes), 0);
    MessageHeader call;
    call.type = kIoctl;
    call.request = request;
    call.id = id;
    call.bytes = static_cast<uint32_t>(payload.size());
    const auto* h = reinterpret_cast<const uint8_t*>(&call);
    bytes.insert(bytes.end(), h, h + sizeof(call));
    bytes.insert(bytes.end(), payload.data(), payload.data() + payload.size());
  };
  add(1, DRM_IOCTL_HEDDLE_STREAM_CREATE, &create);
  add(2, DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &context);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        send(s, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    ASSERT_GT(n, 0);
    done += n;
  }
  Message first, second;
  ASSERT_EQ(ReceiveMessage(s, &first), 0);
  ASSERT_EQ(ReceiveMessage(s, &second), 0);
  EXPECT_EQ(first.header.id, 2u);
  EXPECT_EQ(first.header.result, 0);
  EXPECT_EQ(second.header.id, 1u);
  EXPECT_EQ(second.header.result, -ENOEXEC);
  drm_heddle_stream_create verdict = {};
  ASSERT_EQ(UnpackReply(*FindCall(DRM_IOCTL_HEDDLE_STREAM_CREATE),
                        second.header.result, second.payload.data(),
                        second.payload.size(), &verdict),
            0);
  EXPECT_EQ(verdict.error_code, HEDDLE_VALIDATE_END + 0u);
  EXPECT_EQ(verdict.error_offset, HEDDLE_STREAM_BYTES_MAX - 16);
  close(s);
}

TEST_F(HostedTest, WaitsForACardThatIsStillStarting) {
  StartServer();
  std::thread late([this] {
    usleep(300000);
    Plug();
  });
  auto c = Open();
  EXPECT_NE(c, nullptr);
  late.join();
}

// Whatever a client sends, the others and the server stay well.
TEST_F(HostedTest, SurvivesMalformedMessages) {
  Plug();
  StartServer();
  auto good = Open();
  const uint32_t context = NewContext(good.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(good.get(), EndCommand(), &stream), 0);
  std::mt19937 random(5);
  for (int round = 0; round < 1500; ++round) {
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, options_.socket.c_str(),
                options_.socket.size() + 1);
    ASSERT_EQ(
        connect(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    timeval limit = {2, 0};
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    Hello hello;
    MessageHeader header;
    header.type = kHello;
    header.bytes = sizeof(hello);
    if (round % 10 != 0) {
      ASSERT_EQ(SendMessage(s, header, &hello, -1), 0);
      MessageHeader reply;
      HelloReply answer;
      int fd = -1;
      ASSERT_EQ(ReceiveHeader(s, &reply, &fd), 0);
      ASSERT_EQ(reply.bytes, sizeof(answer));
      ASSERT_EQ(ReceivePayload(s, &answer, sizeof(answer)), 0);
    }
    for (int i = 0; i < 4; ++i) {
      const Call& call = Calls()[random() % Calls().size()];
      std::vector<uint8_t> payload(call.size() + 8 * (random() % 16));
      for (auto& b : payload) b = random() % 4 == 0 ? random() : random() % 3;
      header = MessageHeader();
      header.type = random() % 8 == 0 ? static_cast<uint32_t>(random() % 6)
                                      : uint32_t{kIoctl};
      header.request = random() % 16 == 0 ? random() : call.request;
      header.bytes = random() % 16 == 0 ? random() % 4096 : payload.size();
      if (random() % 32 == 0) header.bytes = ~0u;
      if (random() % 32 == 0) header.magic++;
      payload.resize(std::min<size_t>(header.bytes, 4096));
      MessageHeader sent = header;
      std::vector<uint8_t> bytes(sizeof(sent) + payload.size());
      std::memcpy(bytes.data(), &sent, sizeof(sent));
      if (!payload.empty()) {
        std::memcpy(bytes.data() + sizeof(sent), payload.data(),
                    payload.size());
      }
      if (random() % 16 == 0) bytes.resize(random() % bytes.size());
      if (send(s, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) break;
    }
    close(s);
  }
  EXPECT_EQ(Do(good.get(), context, {RunStream(stream)}), 0u);
  for (uint64_t end = InMs(3000);
       Now() < end &&
       Query<drm_heddle_memory_info>(good.get(), DRM_HEDDLE_QUERY_MEMORY)
               .used != kPage;) {
    usleep(10000);
  }
  EXPECT_EQ(
      Query<drm_heddle_memory_info>(good.get(), DRM_HEDDLE_QUERY_MEMORY).used,
      kPage)
      << "what the others made is gone with them";
}

}  // namespace
}  // namespace heddle::hosted
