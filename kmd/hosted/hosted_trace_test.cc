// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Traces where the card is not as usual: of an earlier version, one that loses
// entries, one that goes while it writes. The usual is in tests/uapi.
#include <errno.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/hosted_fixture.h"
#include "kmd/hosted/test_client.h"

namespace heddle::hosted {
namespace {

constexpr uint32_t kEntries = 4096;
constexpr uint64_t kTraceBytes = kEntries * HEDDLE_TRACE_ENTRY_BYTES;

class HostedTraceTest : public HostedTest {
 protected:
  void Begin() {
    StartServer();
    client_ = Open();
    ASSERT_NE(client_, nullptr);
    context_ = NewContext(client_.get());
    uint32_t stream = 0;
    ASSERT_EQ(NewStream(client_.get(), EndCommand(), &stream), 0);
    steps_ = {RunStream(stream)};
  }
  void TearDown() override {
    client_ = nullptr;
    HostedTest::TearDown();
  }
  int SubmitTraced(uint64_t* seqno) {
    drm_heddle_submit args = {};
    args.context = context_;
    args.flags = DRM_HEDDLE_SUBMIT_TRACE;
    args.trace_entries = kEntries;
    args.steps = {reinterpret_cast<uint64_t>(steps_.data()),
                  static_cast<uint32_t>(steps_.size()),
                  sizeof(drm_heddle_step)};
    const int err = client_->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &args);
    *seqno = args.seqno;
    return err;
  }
  int Read(uint64_t seqno, std::vector<drm_heddle_trace_entry>* trace,
           uint32_t* count) {
    drm_heddle_wait args = {};
    args.context = context_;
    args.seqno = seqno;
    args.deadline_ns = InMs(10000);
    args.trace = {reinterpret_cast<uint64_t>(trace->data()),
                  static_cast<uint32_t>(trace->size()),
                  sizeof(drm_heddle_trace_entry)};
    const int err = client_->Ioctl(DRM_IOCTL_HEDDLE_WAIT, &args);
    *count = args.trace_count;
    return err;
  }

  std::unique_ptr<HostedClient> client_;
  uint32_t context_ = 0;
  std::vector<drm_heddle_step> steps_;
};

TEST_F(HostedTraceTest, ACardOfAnEarlierVersionHasNone) {
  Plug();
  card_->ShowVersion(1u << HEDDLE_VERSION_MAJOR_SHIFT);
  Begin();
  uint64_t seqno = 0;
  EXPECT_EQ(SubmitTraced(&seqno), -EOPNOTSUPP);
  EXPECT_EQ(Do(client_.get(), context_, steps_), 0u) << "it works without";
  EXPECT_EQ(card_->seen().back().trace_entries, 0u);
}

TEST_F(HostedTraceTest, OnlyWhoAsksHasOne) {
  Plug();
  Begin();
  uint64_t seqno = 0;
  ASSERT_EQ(Do(client_.get(), context_, steps_), 0u);
  EXPECT_EQ(card_->seen().back().trace_entries, 0u);
  ASSERT_EQ(SubmitTraced(&seqno), 0);
  drm_heddle_result result;
  ASSERT_EQ(Wait(client_.get(), context_, seqno, &result), 0);
  EXPECT_EQ(card_->seen().back().trace_entries, kEntries);
}

TEST_F(HostedTraceTest, ACallThatFailsLeavesTheArrayAsItIs) {
  Plug();
  Begin();
  uint64_t seqno = 0;
  ASSERT_EQ(SubmitTraced(&seqno), 0);
  drm_heddle_result result;
  ASSERT_EQ(Wait(client_.get(), context_, seqno, &result), 0);
  drm_heddle_trace_entry mark = {};
  mark.tag = 77;
  std::vector<drm_heddle_trace_entry> trace(kEntries + 1, mark);
  uint32_t count = 0;
  EXPECT_EQ(Read(seqno, &trace, &count), -EINVAL);
  for (const drm_heddle_trace_entry& e : trace) ASSERT_EQ(e.tag, 77u);
}

TEST_F(HostedTraceTest, AnEntryThatTheCardLosesIsCountedAndNotValid) {
  Plug();
  FakeCard::Behaviour behaviour;
  behaviour.trace_commands = kEntries + 5;
  behaviour.lose_entry = 2;
  card_->Set(behaviour);
  Begin();
  uint64_t seqno = 0;
  ASSERT_EQ(SubmitTraced(&seqno), 0);
  std::vector<drm_heddle_trace_entry> trace(kEntries);
  uint32_t count = 0;
  ASSERT_EQ(Read(seqno, &trace, &count), 0);
  EXPECT_EQ(count, kEntries + 5);
  for (uint32_t i = 0; i < kEntries; ++i) {
    EXPECT_EQ(trace[i].flags, i == 2 ? 0u : DRM_HEDDLE_TRACE_VALID + 0u) << i;
    EXPECT_EQ(trace[i].begin, i == 2 ? 0u : 10 * i) << i;
    EXPECT_EQ(trace[i].tag, i == 2 ? 0u : i) << i;
  }
}

TEST_F(HostedTraceTest, ItsMemoryGoesWithItsContext) {
  Plug();
  Begin();
  const uint64_t before = card_->mapped_bytes();
  uint64_t seqno = 0;
  drm_heddle_result result;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(SubmitTraced(&seqno), 0);
    ASSERT_EQ(Wait(client_.get(), context_, seqno, &result), 0);
  }
  // The stream's staging memory went meanwhile.
  EXPECT_GE(card_->mapped_bytes() + kPage, before + 3 * kTraceBytes);
  drm_heddle_context_destroy args = {context_, 0};
  ASSERT_EQ(client_->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &args), 0);
  EXPECT_LE(card_->mapped_bytes(), before);
}

// Its file closes and the job ends, but not before the card lets go of it.
TEST_F(HostedTraceTest, StaysUntilTheCardIsDoneWithIt) {
  Plug();
  FakeCard::Behaviour behaviour;
  behaviour.run_ms = 300;
  behaviour.ignore_abort = true;
  behaviour.trace_commands = kEntries;
  card_->Set(behaviour);
  Begin();
  uint64_t seqno = 0;
  ASSERT_EQ(SubmitTraced(&seqno), 0);
  while (card_->seen().empty() || card_->seen().back().trace_entries == 0)
    usleep(1000);
  const uint64_t mapped = card_->mapped_bytes();
  client_ = nullptr;
  while (server_clients() != 0) usleep(1000);
  EXPECT_GE(card_->mapped_bytes(), kTraceBytes) << "it may still write";
  EXPECT_LE(card_->mapped_bytes(), mapped);
  for (const uint64_t limit = InMs(5000);
       card_->mapped_bytes() > mapped - kTraceBytes && Now() < limit;)
    usleep(1000);
  EXPECT_LE(card_->mapped_bytes(), mapped - kTraceBytes);
}

TEST_F(HostedTraceTest, GoesWithACardThatIsLost) {
  Plug();
  FakeCard::Behaviour behaviour;
  behaviour.hang_runs = true;
  card_->Set(behaviour);
  options_.timeout_ns = 0;
  Begin();
  uint64_t seqno = 0;
  ASSERT_EQ(SubmitTraced(&seqno), 0);
  while (card_->seen().empty() || card_->seen().back().trace_entries == 0)
    usleep(1000);
  card_ = nullptr;
  std::vector<drm_heddle_trace_entry> trace(1);
  uint32_t count = 0;
  EXPECT_EQ(Read(seqno, &trace, &count), -ENODEV);
  Plug();
  auto again = OpenSoon();
  ASSERT_NE(again, nullptr);
  EXPECT_NE(NewContext(again.get()), 0u);
}

}  // namespace
}  // namespace heddle::hosted
