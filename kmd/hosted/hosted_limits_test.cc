// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What clients may take of the process: calls, bytes, connections, descriptors,
// the time of the card's thread.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "drm.h"
#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/hosted_fixture.h"
#include "kmd/hosted/raw_client.h"
#include "kmd/hosted/server.h"
#include "kmd/hosted/test_client.h"

namespace heddle::hosted {
namespace {

std::vector<uint8_t> Bytes(uint32_t type, uint32_t request,
                           const std::vector<uint8_t>& payload) {
  MessageHeader header;
  header.type = type;
  header.request = request;
  header.bytes = static_cast<uint32_t>(payload.size());
  std::vector<uint8_t> bytes(sizeof(header) + payload.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  if (!payload.empty())
    std::memcpy(bytes.data() + sizeof(header), payload.data(), payload.size());
  return bytes;
}

// Waits for ever, and has room for events of `stride` bytes.
drm_heddle_events ForEver(uint32_t count, uint32_t stride) {
  drm_heddle_events events = {};
  events.events = {1, count, stride};
  events.deadline_ns = kForever;
  return events;
}

class LimitsTest : public HostedTest {};

TEST_F(LimitsTest, BoundsTheCallsThatWait) {
  options_.limits.calls = 8;
  Plug();
  StartServer();
  Raw raw(options_.socket);
  ASSERT_TRUE(raw.Open());
  const drm_heddle_events events = ForEver(1, sizeof(drm_heddle_event));
  for (int i = 0; i < 9; ++i)
    ASSERT_TRUE(
        raw.Send(kIoctl, &events, sizeof(events), DRM_IOCTL_HEDDLE_EVENTS));
  Message reply;
  ASSERT_TRUE(raw.Receive(&reply));
  EXPECT_EQ(reply.header.result, -EAGAIN);
  EXPECT_EQ(reply.header.id, 10u) << "the last one, after hello";
}

// Room for replies counts, which costs the client nothing to ask for.
TEST_F(LimitsTest, BoundsTheBytesOfCallsThatWait) {
  Plug();
  StartServer();
  Raw raw(options_.socket);
  ASSERT_TRUE(raw.Open());
  const drm_heddle_events events = ForEver(1024, 4096);  // 4 MiB
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(
        raw.Send(kIoctl, &events, sizeof(events), DRM_IOCTL_HEDDLE_EVENTS));
  Message reply;
  for (int i = 0; i < 92; ++i) {
    ASSERT_TRUE(raw.Receive(&reply)) << i;
    EXPECT_EQ(reply.header.result, -ENOBUFS);
  }
  // It goes on with what is small.
  drm_heddle_context_create create = {};
  create.priority = 2;
  ASSERT_TRUE(raw.Send(kIoctl, &create, sizeof(create),
                       DRM_IOCTL_HEDDLE_CONTEXT_CREATE));
  do {
    ASSERT_TRUE(raw.Receive(&reply));
  } while (reply.header.result == -ENOBUFS);
  EXPECT_EQ(reply.header.result, 0);
}

// A request that is longer than what is left is read, and refused.
TEST_F(LimitsTest, BoundsTheBytesOfARequest) {
  options_.limits.queued_bytes = 1 << 20;
  Plug();
  StartServer();
  auto c = Open();
  uint32_t id = 0;
  std::vector<uint32_t> words((2u << 20) / 4);
  EXPECT_EQ(NewStream(c.get(), words, &id), -ENOBUFS);
  EXPECT_EQ(NewStream(c.get(), EndCommand(), &id), 0);
}

TEST_F(LimitsTest, DoesNotReadFromWhoDoesNotFetch) {
  options_.limits.unread_ns = 2000 * 1000000ull;
  Plug();
  StartServer();
  auto good = Open();
  Raw raw(options_.socket);
  ASSERT_TRUE(raw.Open());
  drm_heddle_query query = {};
  query.type = DRM_HEDDLE_QUERY_DEVICE;
  query.data = {1, 1, 4096};
  std::vector<uint8_t> payload(sizeof(query));
  std::memcpy(payload.data(), &query, sizeof(query));
  constexpr size_t kMost = 200000;
  EXPECT_LT(raw.Flood(Bytes(kIoctl, DRM_IOCTL_HEDDLE_QUERY, payload), kMost),
            kMost);
  EXPECT_EQ(
      Query<drm_heddle_device_info>(good.get(), DRM_HEDDLE_QUERY_DEVICE).unique,
      42u);
  // It has its chance, and then goes.
  const uint64_t limit = InMs(30000);
  while (server_clients() > 1 && Now() < limit) usleep(10000);
  EXPECT_EQ(server_clients(), 1u);
}

TEST_F(LimitsTest, DoesNotReadListsFromWhoDoesNotFetch) {
  Plug();
  StartServer();
  Raw raw(options_.socket);
  constexpr size_t kMost = 200000;
  EXPECT_LT(raw.Flood(Bytes(kList, 0, {}), kMost), kMost);
}

TEST_F(LimitsTest, SilentConnectionsKeepNobodyOut) {
  Plug();
  StartServer();
  std::vector<std::unique_ptr<Raw>> silent;
  for (int i = 0; i < 300; ++i) {
    silent.push_back(std::make_unique<Raw>(options_.socket));
    ASSERT_TRUE(silent.back()->connected());
  }
  for (int i = 0; i < 10; ++i) EXPECT_NE(Open(), nullptr);
}

TEST_F(LimitsTest, ConnectionsMustSayWhatTheyWant) {
  options_.limits.greeting_ns = 50 * 1000000ull;
  Plug();
  StartServer();
  auto c = Open();
  Raw silent(options_.socket), slow(options_.socket);
  MessageHeader half;
  ASSERT_EQ(send(slow.socket(), &half, 10, MSG_NOSIGNAL), 10);
  EXPECT_TRUE(silent.Closed(20000));
  EXPECT_TRUE(slow.Closed(20000));
  usleep(100000);
  EXPECT_EQ(
      Query<drm_heddle_device_info>(c.get(), DRM_HEDDLE_QUERY_DEVICE).unique,
      42u)
      << "who has said it stays";
}

TEST_F(LimitsTest, ConnectionsThatSayTooMuchAreClosed) {
  Plug();
  StartServer();
  Raw raw(options_.socket);
  MessageHeader header;
  header.type = kList;
  header.bytes = kMessageBytesMax;
  ASSERT_EQ(send(raw.socket(), &header, sizeof(header), MSG_NOSIGNAL),
            ssize_t(sizeof(header)));
  EXPECT_TRUE(raw.Closed(4000));
}

TEST_F(LimitsTest, BoundsTheOpenFiles) {
  options_.limits.clients = 4;
  Plug();
  StartServer();
  std::vector<std::unique_ptr<HostedClient>> open;
  for (int i = 0; i < 3; ++i) open.push_back(Open());
  std::unique_ptr<HostedClient> more;
  EXPECT_EQ(HostedClient::Open(options_.socket, 0, &more), -EMFILE)
      << "one user has three quarters";
  open.pop_back();
  EXPECT_NE(OpenSoon(), nullptr);
}

TEST_F(LimitsTest, BoundsTheDescriptorsOfAClient) {
  options_.limits.descriptors = 4;
  Plug();
  StartServer();
  auto a = Open(), b = Open();
  uint32_t handles[5];
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(NewBo(a.get(), kPage, DRM_HEDDLE_HOST, &handles[i]), 0);
  EXPECT_EQ(NewBo(a.get(), kPage, DRM_HEDDLE_HOST, &handles[4]), -EDQUOT);
  uint32_t stream = 0;
  EXPECT_EQ(NewStream(a.get(), EndCommand(), &stream), -EDQUOT);
  EXPECT_EQ(
      Query<drm_heddle_memory_info>(a.get(), DRM_HEDDLE_QUERY_MEMORY).used, 0u)
      << "what failed left nothing";
  EXPECT_EQ(NewBo(b.get(), kPage, DRM_HEDDLE_HOST, &handles[4]), 0);
  Close(a.get(), handles[0]);
  EXPECT_EQ(NewStream(a.get(), EndCommand(), &stream), 0);
  // A stream that is in device memory needs none any more.
  EXPECT_EQ(Do(a.get(), NewContext(a.get()), {RunStream(stream)}), 0u);
  EXPECT_EQ(NewBo(a.get(), kPage, DRM_HEDDLE_HOST, &handles[0]), 0);
}

TEST_F(LimitsTest, RefusesAStartWithoutDescriptors) {
  options_.limits.clients = 1u << 21;
  auto server = Server::Start(options_);
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(server.status().message().find("ulimit"), std::string::npos);
}

TEST_F(LimitsTest, SetsModeAndGroupOfTheSocket) {
  options_.socket_mode = 0620;
  options_.socket_group = getegid();
  StartServer();
  struct stat st = {};
  ASSERT_EQ(stat(options_.socket.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0620u);
  EXPECT_EQ(st.st_gid, getegid());
  StopServer();
  options_.socket_mode = -1;
  StartServer();
  ASSERT_EQ(stat(options_.socket.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0660u) << "a group that may connect";
}

// While a long stream is validated, others are served.
TEST_F(LimitsTest, LongStreamsHoldUpNobody) {
  Plug();
  StartServer();
  auto a = Open(), b = Open();
  std::vector<uint32_t> words((12u << 20) / 4);
  const auto end = EndCommand();
  // Barriers are the cheapest to send, and have to be looked at one by one.
  for (size_t i = 0; i + 4 <= words.size(); i += 4) {
    words[i] = HEDDLE_OP_BARRIER | HEDDLE_HEADER_WORDS << 8;
  }
  std::copy(end.begin(), end.end(), words.end() - 4);
  std::atomic<bool> done{false};
  int err = -1;
  std::thread creator([&] {
    uint32_t id = 0;
    err = 0;
    for (int i = 0; i < 4 && err == 0; ++i)
      err = NewStream(a.get(), words, &id);
    done = true;
  });
  uint64_t longest = 0, count = 0, begin = Now();
  while (!done) {
    const uint64_t before = Now();
    Query<drm_heddle_memory_info>(b.get(), DRM_HEDDLE_QUERY_MEMORY);
    longest = std::max(longest, Now() - before);
    count++;
  }
  const uint64_t all = Now() - begin;
  creator.join();
  EXPECT_EQ(err, 0);
  std::printf("%llu queries in %llu us, the longest %llu us\n",
              static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(all / 1000),
              static_cast<unsigned long long>(longest / 1000));
  EXPECT_GE(count, 100u);
}

// Calls that wait are not carried out anew whenever anything happens.
TEST_F(LimitsTest, WaitingCallsCostTheOthersNothing) {
  options_.timeout_ns = 600 * 1000000000ull;
  Plug();
  StartServer();
  auto a = Open(), b = Open();
  // No gap for 3 MiB, though there are 20 MiB: every other 2 MiB are free.
  std::vector<uint32_t> bos;
  uint32_t bo = 0;
  while (NewBo(a.get(), 2 * kMiB, DRM_HEDDLE_DEVICE, &bo) == 0)
    bos.push_back(bo);
  uint32_t rest = 0;
  while (NewBo(a.get(), kPage, DRM_HEDDLE_DEVICE, &rest) == 0) {
  }
  for (size_t i = 0; i < bos.size(); i += 2) Close(a.get(), bos[i]);
  // A job that does not end keeps the objects where they are.
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(b.get(), EndCommand(), &stream), 0);
  const uint32_t context = NewContext(b.get());
  ASSERT_EQ(Do(b.get(), context, {RunStream(stream)}), 0u);
  FakeCard::Behaviour stuck;
  stuck.hang_runs = true;
  card_->Set(stuck);
  uint64_t seqno = 0;
  ASSERT_EQ(Submit(b.get(), context, {RunStream(stream)}, &seqno), 0);
  while (card_->seen().size() < 3) usleep(1000);

  std::vector<uint32_t> words((3u << 20) / 4);
  for (size_t i = 0; i + 4 <= words.size(); i += 4)
    words[i] = HEDDLE_OP_BARRIER | HEDDLE_HEADER_WORDS << 8;
  const auto end = EndCommand();
  std::copy(end.begin(), end.end(), words.end() - 4);
  std::vector<std::thread> waiting;
  std::atomic<int> ended{0};
  for (int i = 0; i < 8; ++i) {
    waiting.emplace_back([&] {
      uint32_t id = 0;
      NewStream(a.get(), words, &id);
      ended++;
    });
  }
  usleep(500000);
  const uint64_t before = Now();
  for (int i = 0; i < 500; ++i)
    Query<drm_heddle_memory_info>(b.get(), DRM_HEDDLE_QUERY_MEMORY);
  const uint64_t took = Now() - before;
  std::printf("500 queries beside 8 waiting calls: %llu us\n",
              static_cast<unsigned long long>(took / 1000));
  EXPECT_LT(took, 20 * 1000000000ull);
  EXPECT_EQ(ended, 0);
  card_ = nullptr;  // ends all of it
  for (auto& t : waiting) t.join();
}

}  // namespace
}  // namespace heddle::hosted
