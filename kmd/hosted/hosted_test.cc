// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One client and its jobs on a fake card: description, jobs, memory, faults,
// removal.
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
#include "kmd/hosted/core.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/hosted_fixture.h"
#include "kmd/hosted/raw_client.h"
#include "kmd/hosted/server.h"
#include "kmd/hosted/test_client.h"
#include "spdlog/spdlog.h"

namespace heddle::hosted {
namespace {

TEST_F(HostedTest, DescribesTheCard) {
  Plug();
  StartServer();
  auto c = Open();
  const auto info =
      Query<drm_heddle_device_info>(c.get(), DRM_HEDDLE_QUERY_DEVICE);
  EXPECT_EQ(info.unique, 42u);
  EXPECT_EQ(info.config, HEDDLE_CONFIG_H256 + 0u);
  EXPECT_EQ(info.max_steps, HEDDLE_STEPS_MAX);
  const auto memory =
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY);
  EXPECT_EQ(memory.total, 64 * kMiB - HEDDLE_DEVICE_RESERVE_BYTES);
  EXPECT_EQ(memory.used, 0u);
  // A caller that knows less of the structure gets that much, one that asks for
  // the size only that.
  drm_heddle_query args = {};
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args), 0);
  EXPECT_EQ(args.size, sizeof(drm_heddle_device_info));
  uint8_t part[sizeof(drm_heddle_device_info) + 8];
  std::memset(part, 0xee, sizeof(part));
  args.data = {reinterpret_cast<uint64_t>(part), 1, 8};
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args), 0);
  EXPECT_EQ(std::memcmp(part, &info, 8), 0);
  EXPECT_EQ(part[8], 0xee);
  args.data.stride = sizeof(part);
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args), 0);
  EXPECT_EQ(part[sizeof(info)], 0xee);

  char name[16] = {};
  drm_version version = {};
  version.name = name;
  version.name_len = sizeof(name);
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_VERSION, &version), 0);
  EXPECT_STREQ(name, "heddle");
  EXPECT_EQ(version.name_len, 6u);

  std::vector<CardEntry> cards;
  EXPECT_EQ(HostedClient::List(options_.socket, &cards), 0);
  ASSERT_EQ(cards.size(), 1u);
  EXPECT_EQ(cards[0].present, 1u);
  EXPECT_EQ(cards[0].unique, 42u);
}

TEST_F(HostedTest, RunsAJobAndReportsItsResult) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  auto in = NewHost(c.get(), 10000), out = NewHost(c.get(), 10000);
  for (int i = 0; i < 10000; ++i) in->data[i] = i * 7;
  const uint32_t bo = NewDevice(c.get(), 10000);
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  uint64_t seqno = 0;
  ASSERT_EQ(Submit(c.get(), context,
                   {CopyIn(in->handle, bo, 10000), RunStream(stream),
                    CopyOut(bo, out->handle, 10000)},
                   &seqno),
            0);
  EXPECT_EQ(seqno, 1u);
  drm_heddle_result result;
  ASSERT_EQ(Wait(c.get(), context, seqno, &result), 0);
  EXPECT_EQ(result.status, 0u);
  EXPECT_EQ(result.error, 0u);
  EXPECT_EQ(result.macs, 7u);
  EXPECT_EQ(std::memcmp(in->data, out->data, 10000), 0);
  EXPECT_EQ(Wait(c.get(), context, 2, &result), -ENOENT);
}

// A flag that the card does not know would be an illegal descriptor; without it
// the steps run one after another, and do the same.
TEST_F(HostedTest, OnlyACardThatKnowsItIsAskedToOverlapSteps) {
  for (const uint32_t minor : {0u, 1u}) {
    Plug();
    card_->ShowVersion(1u << HEDDLE_VERSION_MAJOR_SHIFT | minor);
    StartServer();
    auto c = Open();
    const uint32_t context = NewContext(c.get());
    auto in = NewHost(c.get(), kPage), out = NewHost(c.get(), kPage);
    for (uint64_t i = 0; i < kPage; ++i) in->data[i] = i * 7;
    const uint32_t bo = NewDevice(c.get(), kPage);
    const uint32_t to = NewDevice(c.get(), kPage);
    uint32_t stream = 0;
    ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
    drm_heddle_step copy = {};
    copy.type = DRM_HEDDLE_STEP_COPY;
    copy.src = bo;
    copy.dst = to;
    copy.length = kPage;
    std::vector<drm_heddle_step> steps = {RunStream(stream),
                                          CopyIn(in->handle, bo, kPage), copy,
                                          CopyOut(to, out->handle, kPage)};
    for (size_t i = 1; i < steps.size(); ++i) {
      steps[i].flags = DRM_HEDDLE_STEP_OVERLAP;
    }
    EXPECT_EQ(Do(c.get(), context, steps), 0u);
    EXPECT_EQ(std::memcmp(in->data, out->data, kPage), 0);
    const auto seen = card_->seen().back().steps;
    ASSERT_EQ(seen.size(), 4u);
    EXPECT_EQ(seen[0].flags, 0u);
    EXPECT_EQ(seen[2].type, HEDDLE_STEP_TYPE_COPY + 0u);
    for (size_t i = 1; i < seen.size(); ++i) {
      EXPECT_EQ(seen[i].flags, minor ? HEDDLE_STEP_FLAGS_OVERLAP_MASK : 0u)
          << i;
    }
    c = nullptr;
    StopServer();
  }
}

TEST_F(HostedTest, RunsJobsOfOneContextInOrderAndKeepsResults) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  const uint32_t bo = NewDevice(c.get(), kPage);
  auto out = NewHost(c.get(), kPage);
  uint64_t seqno = 0;
  for (uint32_t i = 1; i <= 100; ++i) {
    drm_heddle_step fill = {};
    fill.type = DRM_HEDDLE_FILL;
    fill.dst = bo;
    fill.length = kPage;
    fill.fill_value = i;
    ASSERT_EQ(Submit(c.get(), context, {fill, CopyOut(bo, out->handle, kPage)},
                     &seqno),
              0);
    EXPECT_EQ(seqno, i);
  }
  drm_heddle_result result;
  ASSERT_EQ(Wait(c.get(), context, 100, &result), 0);
  uint32_t last = 0;
  std::memcpy(&last, out->data, 4);
  EXPECT_EQ(last, 100u);
  EXPECT_EQ(Wait(c.get(), context, 1, &result, 0), 0);
  EXPECT_EQ(Query<drm_heddle_counters>(c.get(), DRM_HEDDLE_QUERY_COUNTERS).jobs,
            100u);
}

// What a job costs beside its own work: a doorbell that nobody waits for.
TEST_F(HostedTest, AJobIsOneWriteToTheCard) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  ASSERT_EQ(Do(c.get(), context, {RunStream(stream)}), 0u);
  const uint64_t before = card_->register_writes();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(Do(c.get(), context, {RunStream(stream)}), 0u);
  EXPECT_EQ(card_->register_writes() - before, 100u);
  EXPECT_EQ(card_->awaited_writes(), 0u);
}

// WAIT says the same, whether the page of results has it or the server.
TEST_F(HostedTest, PublishedResultsAreWhatWaitSays) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get()), other = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  FakeCard::Behaviour b;
  b.fail_runs = HEDDLE_ERROR_BUS_ERROR;
  card_->Set(b);
  uint64_t failed = 0;
  ASSERT_EQ(Submit(c.get(), context, {RunStream(stream)}, &failed), 0);
  drm_heddle_result result;
  ASSERT_EQ(Wait(c.get(), context, failed, &result), 0);
  EXPECT_EQ(result.status, HEDDLE_ERROR_BUS_ERROR + 0u);
  EXPECT_EQ(result.error, EIO + 0u);
  card_->Set({});
  // More jobs than the page has places; each is still known.
  uint64_t seqno = 0;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(Submit(c.get(), other, {RunStream(stream)}, &seqno), 0);
  ASSERT_EQ(Wait(c.get(), other, seqno, &result), 0);
  for (uint64_t i = 1; i <= seqno; ++i) {
    ASSERT_EQ(Wait(c.get(), other, i, &result, 0), 0) << i;
    EXPECT_EQ(result.macs, 7u);
  }
  ASSERT_EQ(Wait(c.get(), context, failed, &result, 0), 0);
  EXPECT_EQ(result.status, HEDDLE_ERROR_BUS_ERROR + 0u);
  EXPECT_EQ(Wait(c.get(), other, seqno + 1, &result, 0), -ENOENT);
  // With its context a job is gone, and with the card all are.
  drm_heddle_context_destroy destroy = {other, 0};
  ASSERT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &destroy), 0);
  EXPECT_EQ(Wait(c.get(), other, seqno, &result), -ENOENT);
  ASSERT_EQ(Submit(c.get(), context, {RunStream(stream)}, &seqno), 0);
  ASSERT_EQ(Wait(c.get(), context, seqno, &result), 0);
  card_ = nullptr;
  drm_heddle_events events = {};
  drm_heddle_event event = {};
  events.events = {reinterpret_cast<uint64_t>(&event), 1, sizeof(event)};
  events.deadline_ns = InMs(20000);
  ASSERT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events), 0);
  EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_REMOVED + 0u);
  EXPECT_EQ(Wait(c.get(), context, seqno, &result), -ENODEV);
}

TEST_F(HostedTest, GivesAPageOfResultsOnce) {
  Plug();
  StartServer();
  Raw raw(options_.socket);
  ASSERT_TRUE(raw.Open());
  const uint64_t more = 0;
  const struct {
    uint32_t bytes;
    int result;
  } cases[] = {{sizeof(more), -EPROTO}, {0, 0}, {0, -EBUSY}};
  for (const auto& tested : cases) {
    ASSERT_TRUE(raw.Send(kResults, &more, tested.bytes));
    Message reply;
    ASSERT_TRUE(raw.Receive(&reply));
    EXPECT_EQ(reply.header.result, tested.result);
    EXPECT_EQ(reply.fd >= 0, tested.result == 0);
    if (reply.fd >= 0) close(reply.fd);
  }
}

TEST_F(HostedTest, RefusesAStreamWithItsPlaceAndReason) {
  Plug();
  StartServer();
  auto c = Open();
  std::vector<uint32_t> words = {
      HEDDLE_OP_NOP | HEDDLE_HEADER_WORDS << 8, 0, 0, 0, 0xff, 0, 0, 0};
  uint32_t id = 0;
  drm_heddle_stream_create args;
  EXPECT_EQ(NewStream(c.get(), words, &id, &args), -ENOEXEC);
  EXPECT_EQ(args.error_offset, 16u);
  EXPECT_EQ(args.error_code, HEDDLE_VALIDATE_OPCODE + 0u);
}

TEST_F(HostedTest, RefusesArgumentsThatAreNotAllowed) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  const uint32_t bo = NewDevice(c.get(), kPage);
  auto host = NewHost(c.get(), kPage);
  uint64_t seqno;
  uint32_t handle;
  EXPECT_EQ(NewBo(c.get(), 0, DRM_HEDDLE_DEVICE, &handle), -EINVAL);
  EXPECT_EQ(NewBo(c.get(), 1, 7, &handle), -EINVAL);
  EXPECT_EQ(NewBo(c.get(), kForever, DRM_HEDDLE_DEVICE, &handle), -ENOSPC);
  EXPECT_EQ(NewBo(c.get(), kForever, DRM_HEDDLE_HOST, &handle), -ENOMEM);
  EXPECT_EQ(
      Submit(c.get(), context + 99, {CopyIn(host->handle, bo, 1)}, &seqno),
      -ENOENT);
  EXPECT_EQ(Submit(c.get(), context, {}, &seqno), -EINVAL);
  EXPECT_EQ(
      Submit(c.get(), context, {CopyIn(host->handle, bo + 99, 1)}, &seqno),
      -ENOENT);
  EXPECT_EQ(Submit(c.get(), context, {CopyIn(bo, host->handle, 1)}, &seqno),
            -EINVAL);
  EXPECT_EQ(
      Submit(c.get(), context, {CopyIn(host->handle, bo, kPage + 1)}, &seqno),
      -ERANGE);
  EXPECT_EQ(Submit(c.get(), context,
                   {CopyIn(host->handle, bo, kPage, kForever)}, &seqno),
            -ERANGE);
  EXPECT_EQ(Submit(c.get(), context,
                   std::vector<drm_heddle_step>(HEDDLE_STEPS_MAX + 1,
                                                CopyIn(host->handle, bo, 1)),
                   &seqno),
            -EINVAL);
  EXPECT_EQ(Submit(c.get(), context, {RunStream(99)}, &seqno), -ENOENT);
  uint32_t dummy = 0;
  EXPECT_EQ(c->Ioctl(_IOWR('d', 0x77, uint32_t), &dummy), -ENOTTY);
  // A structure that grew, and uses what this driver does not know.
  struct {
    drm_heddle_sync known;
    uint64_t extra;
  } grown = {{NewSyncobj(c.get()), 0, 0}, 1};
  drm_heddle_submit submit = {};
  const drm_heddle_step step = CopyIn(host->handle, bo, 1);
  submit.context = context;
  submit.steps = {reinterpret_cast<uint64_t>(&step), 1, sizeof(step)};
  submit.out_syncs = {reinterpret_cast<uint64_t>(&grown), 1, sizeof(grown)};
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &submit), -E2BIG);
  grown.extra = 0;
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &submit), 0);
}

TEST_F(HostedTest, ComparesWhatAStreamTouchesWithWhatIsBound) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  const uint32_t bo = NewDevice(c.get(), 4 * kPage);
  // load of 256 bytes at offset 64 of region 3
  std::vector<uint32_t> words(20);
  words[0] = HEDDLE_OP_LOAD | 20 << 8;
  words[4] = 3;
  words[5] = 64;
  words[7] = 256 | 1 << 16;
  words[8] = 1 | 1 << 16;
  words[9] = words[13] = 1;
  for (uint32_t w : EndCommand()) words.push_back(w);
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), words, &stream), 0);
  uint64_t seqno;
  std::vector<drm_heddle_region> regions = {{3, bo, 0, 319, 0, 0}};
  EXPECT_EQ(Submit(c.get(), context, {RunStream(stream, &regions)}, &seqno),
            -ERANGE);
  regions[0].index = 4;
  regions[0].size = 4 * kPage;
  EXPECT_EQ(Submit(c.get(), context, {RunStream(stream, &regions)}, &seqno),
            -ERANGE);
  regions[0] = {3, bo, 128, 4 * kPage, 0, 0};
  EXPECT_EQ(Submit(c.get(), context, {RunStream(stream, &regions)}, &seqno),
            -ERANGE);
  regions[0] = {3, bo, 128, 320, 0, 0};
  ASSERT_EQ(Submit(c.get(), context, {RunStream(stream, &regions)}, &seqno), 0);
  drm_heddle_result result;
  ASSERT_EQ(Wait(c.get(), context, seqno, &result), 0);
  const auto seen = card_->seen();
  const auto& table = seen.back().tables.at(0);
  EXPECT_EQ(table[3].size, 320u);
  EXPECT_EQ(table[3].base % HEDDLE_REGION_ALIGN, 0u);
  EXPECT_EQ(table[3].flags, 0u);
  EXPECT_EQ(table[4].size, 0u);
}

TEST_F(HostedTest, GivesZeroedDeviceMemory) {
  Plug();
  card_->Dirty(0xa5);
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  auto out = NewHost(c.get(), 3 * kPage);
  for (int round = 0; round < 3;
       ++round) {  // memory of the last round's buffer, too
    const uint32_t bo = NewDevice(c.get(), 3 * kPage);
    std::memset(out->data, 0xee, out->size);
    ASSERT_EQ(Do(c.get(), context, {CopyOut(bo, out->handle, 3 * kPage)}), 0u);
    EXPECT_EQ(std::count(out->data, out->data + 3 * kPage, 0),
              ptrdiff_t(3 * kPage));
    drm_heddle_step fill = {};
    fill.type = DRM_HEDDLE_FILL;
    fill.dst = bo;
    fill.length = 3 * kPage;
    fill.fill_value = 0x5a5a5a5a;
    ASSERT_EQ(Do(c.get(), context, {fill}), 0u);
    Close(c.get(), bo);
  }
}

TEST_F(HostedTest, ClearsSramBetweenClientsAndOnlyThen) {
  Plug();
  StartServer();
  auto a = Open(), b = Open();
  const uint32_t ca = NewContext(a.get()), cb = NewContext(b.get()),
                 ca2 = NewContext(a.get());
  uint32_t sa = 0, sb = 0;
  ASSERT_EQ(NewStream(a.get(), EndCommand(), &sa), 0);
  ASSERT_EQ(NewStream(b.get(), EndCommand(), &sb), 0);
  EXPECT_EQ(Do(a.get(), ca, {RunStream(sa)}), 0u);
  EXPECT_EQ(Do(a.get(), ca2, {RunStream(sa)}), 0u);
  EXPECT_EQ(Do(b.get(), cb, {RunStream(sb)}), 0u);
  EXPECT_EQ(Do(b.get(), cb, {RunStream(sb)}), 0u);
  EXPECT_EQ(Do(a.get(), ca, {RunStream(sa)}), 0u);
  std::vector<bool> clear;
  for (const auto& job : card_->seen()) {
    if (!job.tables.empty()) clear.push_back(job.clear_sram);
  }
  EXPECT_EQ(clear, (std::vector<bool>{true, false, true, false, true}));
}

TEST_F(HostedTest, RefusesMemoryOnlyWhenTheSumExceedsTheTotal) {
  Plug();
  StartServer();
  auto c = Open();
  const uint64_t total =
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY).total;
  for (uint64_t rest = 1; rest <= 3; ++rest) {
    uint32_t big = 0, small = 0;
    uint64_t available = 0;
    ASSERT_EQ(NewBo(c.get(), total - rest * kPage, DRM_HEDDLE_DEVICE, &big,
                    &available),
              0);
    EXPECT_EQ(available, rest * kPage);
    EXPECT_EQ(
        NewBo(c.get(), rest * kPage + 1, DRM_HEDDLE_DEVICE, &small, &available),
        -ENOSPC);
    EXPECT_EQ(available, rest * kPage);
    EXPECT_EQ(
        NewBo(c.get(), rest * kPage, DRM_HEDDLE_DEVICE, &small, &available), 0);
    EXPECT_EQ(available, 0u);
    uint32_t stream = 0;
    EXPECT_EQ(NewStream(c.get(), EndCommand(), &stream), -ENOSPC);
    Close(c.get(), small);
    EXPECT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
    drm_heddle_stream_destroy destroy = {stream, 0};
    EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_STREAM_DESTROY, &destroy), 0);
    Close(c.get(), big);
  }
}

TEST_F(HostedTest, CompactsInsteadOfFailingAndKeepsContents) {
  Plug(2 * kMiB);
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  const uint64_t total =
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY).total;
  const uint64_t n = total / kPage;
  auto host = NewHost(c.get(), kPage);
  std::vector<uint32_t> bos;
  for (uint64_t i = 0; i < n; ++i) {
    bos.push_back(NewDevice(c.get(), kPage));
    std::memset(host->data, i + 1, kPage);
    ASSERT_EQ(Do(c.get(), context, {CopyIn(host->handle, bos[i], kPage)}), 0u);
  }
  for (uint64_t i = 0; i < n; i += 2) Close(c.get(), bos[i]);
  uint32_t big = 0;
  uint64_t available = 0;
  ASSERT_EQ(
      NewBo(c.get(), (n / 2 + 1) * kPage, DRM_HEDDLE_DEVICE, &big, &available),
      -ENOSPC);
  ASSERT_EQ(NewBo(c.get(), n / 2 * kPage, DRM_HEDDLE_DEVICE, &big, &available),
            0);
  EXPECT_EQ(available, 0u);
  EXPECT_EQ(Query<drm_heddle_counters>(c.get(), DRM_HEDDLE_QUERY_COUNTERS)
                .compactions,
            1u);
  for (uint64_t i = 1; i < n; i += 2) {
    ASSERT_EQ(Do(c.get(), context, {CopyOut(bos[i], host->handle, kPage)}), 0u);
    EXPECT_EQ(
        std::count(host->data, host->data + kPage, static_cast<uint8_t>(i + 1)),
        ptrdiff_t(kPage))
        << i;
  }
  ASSERT_EQ(Do(c.get(), context, {CopyOut(big, host->handle, kPage)}), 0u);
  EXPECT_EQ(std::count(host->data, host->data + kPage, 0), ptrdiff_t(kPage));
}

TEST_F(HostedTest, GivesUpTheCardWhenACompactionFails) {
  Plug(2 * kMiB);
  StartServer();
  auto c = Open();
  std::vector<uint32_t> bos;
  for (uint64_t i = 0; i < kMiB / kPage; ++i)
    bos.push_back(NewDevice(c.get(), kPage));
  for (size_t i = 0; i < bos.size(); i += 2) Close(c.get(), bos[i]);
  FakeCard::Behaviour b;
  b.fail_copies = HEDDLE_ERROR_BUS_ERROR;
  card_->Set(b);
  uint32_t big = 0;
  EXPECT_EQ(NewBo(c.get(), 2 * kPage, DRM_HEDDLE_DEVICE, &big), -ENODEV);
}

TEST_F(HostedTest, EndsAStuckJobAndNoOther) {
  for (bool ignore_abort : {false, true}) {
    SCOPED_TRACE(ignore_abort);
    Plug();
    StartServer();
    auto a = Open(), b = Open();
    const uint32_t ca = NewContext(a.get()), cb = NewContext(b.get());
    uint32_t stream = 0;
    ASSERT_EQ(NewStream(a.get(), EndCommand(), &stream), 0);
    const uint32_t bo = NewDevice(b.get(), kPage);
    auto host = NewHost(b.get(), kPage);
    std::memset(host->data, 9, kPage);
    ASSERT_EQ(Do(b.get(), cb, {CopyIn(host->handle, bo, kPage)}), 0u);
    FakeCard::Behaviour behaviour;
    behaviour.hang_runs = true;
    behaviour.ignore_abort = ignore_abort;
    card_->Set(behaviour);
    uint64_t bad = 0, good = 0;
    ASSERT_EQ(Submit(a.get(), ca, {RunStream(stream)}, &bad), 0);
    ASSERT_EQ(Submit(b.get(), cb, {CopyOut(bo, host->handle, kPage)}, &good),
              0);
    drm_heddle_result result;
    ASSERT_EQ(Wait(a.get(), ca, bad, &result, InMs(5000)), 0);
    EXPECT_EQ(result.status, HEDDLE_ERROR_TIMEOUT + 0u);
    EXPECT_EQ(result.error, ETIME + 0u);
    ASSERT_EQ(Wait(b.get(), cb, good, &result, InMs(5000)), 0);
    EXPECT_EQ(result.status, 0u);
    EXPECT_EQ(std::count(host->data, host->data + kPage, 9), ptrdiff_t(kPage));
    EXPECT_GE(card_->resets(), 2u);  // at attach and now
    // Both learn of the reset, one that it was the culprit.
    for (auto* client : {a.get(), b.get()}) {
      drm_heddle_event event = {};
      drm_heddle_events events = {};
      events.events = {reinterpret_cast<uint64_t>(&event), 1, sizeof(event)};
      events.deadline_ns = InMs(5000);
      ASSERT_EQ(client->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events), 0);
      EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_RESET + 0u);
      EXPECT_EQ(event.value, client == a.get() ? bad : 0);
    }
    // And the context still works.
    card_->Set({});
    EXPECT_EQ(Do(a.get(), ca, {RunStream(stream)}), 0u);
    a = nullptr;
    b = nullptr;
    StopServer();
  }
}

// Or one client could keep the card from all others.
TEST_F(HostedTest, NoJobHangsLongerThanTheDriverAllows) {
  Plug();
  StartServer();
  auto a = Open(), b = Open();
  const uint32_t ca = NewContext(a.get()), cb = NewContext(b.get());
  uint32_t stream = 0, other = 0;
  ASSERT_EQ(NewStream(a.get(), EndCommand(), &stream), 0);
  ASSERT_EQ(NewStream(b.get(), EndCommand(), &other), 0);
  FakeCard::Behaviour behaviour;
  behaviour.hang_runs = true;
  card_->Set(behaviour);
  uint64_t bad = 0;
  ASSERT_EQ(Submit(a.get(), ca, {RunStream(stream)}, &bad, {}, {}, ~0ull), 0);
  drm_heddle_result result;
  ASSERT_EQ(Wait(a.get(), ca, bad, &result, InMs(5000)), 0);
  EXPECT_EQ(result.status, HEDDLE_ERROR_TIMEOUT + 0u);
  // Nor with its file closed.
  ASSERT_EQ(Submit(a.get(), ca, {RunStream(stream)}, &bad, {}, {}, ~0ull), 0);
  a = nullptr;
  usleep(20000);
  card_->Set({});
  EXPECT_EQ(Do(b.get(), cb, {RunStream(other)}), 0u);
}

TEST_F(HostedTest, ReportsTheFaultOfAJob) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  FakeCard::Behaviour b;
  b.fail_runs = HEDDLE_ERROR_INDEX_BOUNDS;
  card_->Set(b);
  uint64_t seqno;
  drm_heddle_result result;
  ASSERT_EQ(Submit(c.get(), context, {RunStream(stream)}, &seqno), 0);
  ASSERT_EQ(Wait(c.get(), context, seqno, &result), 0);
  EXPECT_EQ(result.status, HEDDLE_ERROR_INDEX_BOUNDS + 0u);
  EXPECT_EQ(result.error, ERANGE + 0u);
  b.fail_runs = 0xdead;  // a card may say anything
  card_->Set(b);
  ASSERT_EQ(Submit(c.get(), context, {RunStream(stream)}, &seqno), 0);
  ASSERT_EQ(Wait(c.get(), context, seqno, &result), 0);
  EXPECT_EQ(result.error, EIO + 0u);
}

TEST_F(HostedTest, SurvivesLostInterruptsAndForeignRecords) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  FakeCard::Behaviour b;
  b.lose_interrupts = true;
  b.wrong_sequence = true;
  card_->Set(b);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(Do(c.get(), context, {RunStream(stream)}), 0u);
}

TEST_F(HostedTest, EveryCallEndsWhenTheCardGoes) {
  Plug();
  StartServer();
  auto c = Open();
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  FakeCard::Behaviour b;
  b.hang_runs = true;
  card_->Set(b);
  const uint32_t syncobj = NewSyncobj(c.get());
  uint64_t seqno;
  ASSERT_EQ(Submit(c.get(), context, {RunStream(stream)}, &seqno, {},
                   {{syncobj, 0, 1}}, 60 * 1000000000ull),
            0);
  std::vector<std::thread> waiters;
  std::vector<int> results(3);
  waiters.emplace_back([&] {
    drm_heddle_result r;
    results[0] = Wait(c.get(), context, seqno, &r);
  });
  waiters.emplace_back(
      [&] { results[1] = WaitPoint(c.get(), syncobj, 1, INT64_MAX); });
  waiters.emplace_back([&] {
    drm_heddle_event event = {};
    drm_heddle_events events = {};
    events.events = {reinterpret_cast<uint64_t>(&event), 1, sizeof(event)};
    events.deadline_ns = kForever;
    const int err = c->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events);
    results[2] = err != 0 ? err : static_cast<int>(event.type);
  });
  usleep(50000);
  const uint64_t before = Now();
  card_ = nullptr;
  for (auto& t : waiters) t.join();
  EXPECT_LT(Now() - before, 1000000000u);
  EXPECT_EQ(results,
            (std::vector<int>{-ENODEV, -ENODEV, DRM_HEDDLE_EVENT_REMOVED}));
  uint32_t handle;
  EXPECT_EQ(NewBo(c.get(), 1, DRM_HEDDLE_DEVICE, &handle), -ENODEV);
  std::unique_ptr<HostedClient> late;
  EXPECT_EQ(HostedClient::Open(options_.socket, 0, &late), -ENXIO);

  // A card that comes back is a new one; the old file stays dead.
  Plug();
  late = OpenSoon();
  ASSERT_NE(late, nullptr);
  EXPECT_GT(late->generation(), c->generation());
  EXPECT_EQ(
      Query<drm_heddle_device_info>(late.get(), DRM_HEDDLE_QUERY_DEVICE).unique,
      42u);
  EXPECT_EQ(NewBo(c.get(), 1, DRM_HEDDLE_DEVICE, &handle), -ENODEV);
  const uint32_t fresh = NewContext(late.get());
  ASSERT_EQ(NewStream(late.get(), EndCommand(), &stream), 0);
  EXPECT_EQ(Do(late.get(), fresh, {RunStream(stream)}), 0u);
}

}  // namespace
}  // namespace heddle::hosted
