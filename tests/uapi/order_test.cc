// SPDX-License-Identifier: Apache-2.0
// In which order jobs run. The evidence is what they leave in memory: each job
// copies a word of device memory to its own place and then writes its own
// number there, so that each one's predecessor is known, whenever this process
// gets to look.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class OrderTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    word_ = NewDevice(c(), kPage);
    places_ = NewHost(c(), kPage);
    load_ = std::make_unique<Load>(c());
    Do(c(), NewContext(c()), {Fill(word_, kPage, 0)});
  }
  void TearDown() override {
    places_ = nullptr;  // a mapping keeps its file
    UapiTest::TearDown();
  }
  // Job `number`, not 0.
  uint64_t Numbered(uint32_t context, uint32_t number,
                    const Syncs& syncs = {}) {
    return NewJob(c(), context,
                  {CopyOut(word_, places_->handle, 4, 0, 4 * number),
                   Fill(word_, 4, number)},
                  syncs);
  }
  // The numbers in the order in which the jobs ran; all have ended.
  std::vector<uint32_t> Order(uint32_t count) const {
    std::map<uint32_t, uint32_t> next;
    for (uint32_t i = 1; i <= count; ++i) next[places_->Word(i)] = i;
    std::vector<uint32_t> order;
    for (auto it = next.find(0); it != next.end() && order.size() < count;
         it = next.find(it->second)) {
      order.push_back(it->second);
    }
    return order;
  }
  bool Runs(uint32_t context, uint64_t seqno) {
    return Wait(c(), context, seqno, 0) == -ETIME;
  }

  uint32_t word_ = 0;
  std::unique_ptr<HostBuffer> places_;
  std::unique_ptr<Load> load_;
};

TEST_F(OrderTest, JobsOfAContextRunInTheOrderOfSubmission) {
  const uint32_t context = NewContext(c());
  uint64_t last = 0;
  std::vector<uint32_t> expected;
  for (uint32_t i = 1; i <= 200; ++i) {
    last = Numbered(context, i);
    expected.push_back(i);
  }
  EXPECT_EQ(ResultOf(c(), context, last).status, 0u);
  EXPECT_EQ(Order(200), expected);
}

// Contexts of one priority take turns: with many others, having its turn is not
// overtaking them.
TEST_F(OrderTest, AHighPriorityOvertakes) {
  constexpr uint32_t kUrgent = 61;
  std::vector<uint32_t> low;
  for (int i = 0; i < 8; ++i) low.push_back(NewContext(c(), 3));
  const uint32_t high = NewContext(c(), 1);
  for (uint64_t ms = 300;; ms *= 2) {
    ASSERT_LT(ms, 20000u) << "this machine is too busy to tell";
    load_->Queue(low[0], ms);
    std::vector<std::pair<uint32_t, uint64_t>> jobs;
    for (uint32_t i = 1; i < kUrgent; ++i) {
      const uint32_t context = low[i % low.size()];
      jobs.emplace_back(context, Numbered(context, i));
    }
    // Contexts take turns, so those of the others may come between the jobs of
    // the load: on a slow machine some have ended before the urgent one comes.
    const auto count_ended = [&] {
      return std::count_if(jobs.begin(), jobs.end(), [this](const auto& job) {
        return !Runs(job.first, job.second);
      });
    };
    const auto ended = count_ended();
    const uint64_t urgent = Numbered(high, kUrgent);
    const bool ended_since = count_ended() != ended;
    EXPECT_EQ(ResultOf(c(), high, urgent).status, 0u);
    for (const auto& [context, seqno] : jobs) {
      EXPECT_EQ(ResultOf(c(), context, seqno).status, 0u);
    }
    const std::vector<uint32_t> order = Order(kUrgent);
    Do(c(), high, {Fill(word_, kPage, 0)});
    const auto place =
        std::find(order.begin(), order.end(), kUrgent) - order.begin();
    // Of too few that are left, nothing can be told; and nothing against it
    // where others ended while it came.
    if (ended > kUrgent / 2 || (place > ended + 2 && ended_since)) continue;
    // The card may have had two jobs already.
    EXPECT_LE(place, ended + 2);
    return;
  }
}

TEST_F(OrderTest, PrioritiesAreObserved) {
  const uint32_t count = DeviceInfo(c()).priorities;
  std::vector<uint32_t> contexts;
  for (uint32_t i = 0; i < count; ++i) contexts.push_back(NewContext(c(), i));
  for (uint64_t ms = 300;; ms *= 2) {
    ASSERT_LT(ms, 20000u) << "this machine is too busy to tell";
    // The load is with the card, and more of it, when the others come.
    const uint32_t first = NewContext(c(), 0);
    const uint64_t blocker = load_->Queue(first, ms);
    std::vector<uint64_t> seqnos(count);
    for (uint32_t i = count; i-- > 0;) {
      Numbered(contexts[i], 2 * i + 1);
      seqnos[i] = Numbered(contexts[i], 2 * i + 2);
    }
    const bool in_time = Runs(first, blocker - 1);
    for (uint32_t i = 0; i < count; ++i) ResultOf(c(), contexts[i], seqnos[i]);
    const auto order = Order(2 * count);
    Do(c(), contexts[0], {Fill(word_, kPage, 0)});
    if (!in_time) continue;
    std::vector<uint32_t> expected;
    for (uint32_t i = 1; i <= 2 * count; ++i) expected.push_back(i);
    EXPECT_EQ(order, expected);
    return;
  }
}

TEST_F(OrderTest, ContextsOfOnePriorityTakeTurns) {
  const uint32_t a = NewContext(c(), 2), b = NewContext(c(), 2);
  for (uint64_t ms = 300;; ms *= 2) {
    ASSERT_LT(ms, 20000u) << "this machine is too busy to tell";
    const uint32_t first = NewContext(c(), 1);
    const uint64_t blocker = load_->Queue(first, ms);
    uint64_t last_a = 0, last_b = 0;
    for (uint32_t i = 1; i <= 40; ++i) last_a = Numbered(a, i);
    for (uint32_t i = 41; i <= 50; ++i) last_b = Numbered(b, i);
    const bool in_time = Runs(first, blocker - 1);
    ResultOf(c(), a, last_a);
    ResultOf(c(), b, last_b);
    const auto order = Order(50);
    Do(c(), a, {Fill(word_, kPage, 0)});
    if (!in_time) continue;
    ASSERT_EQ(order.size(), 50u);
    // All of b have run before a's last: it had not to wait for all of a.
    EXPECT_EQ(order.back(), 40u);
    return;
  }
}

TEST_F(OrderTest, ABinarySyncobjOrdersContexts) {
  const uint32_t first = NewContext(c(), 3), second = NewContext(c(), 1);
  const uint32_t sync = NewSyncobj(c());
  load_->Queue(first, 200);
  Numbered(first, 1, {{}, {{sync, 0, 0}}});
  const uint64_t last = Numbered(second, 2, {{{sync, 0, 0}}, {}});
  EXPECT_EQ(ResultOf(c(), second, last).status, 0u);
  EXPECT_EQ(Order(2), (std::vector<uint32_t>{1, 2}));
}

TEST_F(OrderTest, TimelinePointsOrderContexts) {
  const uint32_t contexts[] = {NewContext(c(), 3), NewContext(c(), 2),
                               NewContext(c(), 1)};
  const uint32_t line = NewSyncobj(c());
  load_->Queue(contexts[0], 200);
  uint64_t last = Numbered(contexts[0], 1, {{}, {{line, 0, 1}}});
  std::vector<uint32_t> expected = {1};
  for (uint32_t i = 2; i <= 30; ++i) {
    last = Numbered(contexts[(i - 1) % 3], i,
                    {{{line, 0, i - 1}}, {{line, 0, i}}});
    expected.push_back(i);
  }
  EXPECT_EQ(ResultOf(c(), contexts[29 % 3], last).status, 0u);
  EXPECT_EQ(Order(30), expected);
  EXPECT_EQ(WaitPoint(c(), line, 30, InMs(20000)), 0);
}

TEST_F(OrderTest, AJobWaitsForAllOfItsSyncobjs) {
  std::vector<drm_heddle_sync> syncs;
  uint32_t number = 1;
  for (uint32_t priority : {3u, 2u, 3u}) {
    const uint32_t context = NewContext(c(), priority), sync = NewSyncobj(c());
    load_->Queue(context, 60);
    Numbered(context, number++, {{}, {{sync, 0, 0}}});
    syncs.push_back({sync, 0, 0});
  }
  const uint32_t last = NewContext(c(), 1);
  EXPECT_EQ(ResultOf(c(), last, Numbered(last, 4, {syncs, {}})).status, 0u);
  const auto order = Order(4);
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order.back(), 4u);
}

TEST_F(OrderTest, DestroyingAContextCancelsItsJobs) {
  const uint32_t context = NewContext(c()), line = NewSyncobj(c());
  for (uint64_t ms = 500;; ms *= 2) {
    ASSERT_LT(ms, 20000u) << "this machine is too busy to tell";
    const uint32_t doomed = NewContext(c());
    const uint64_t blocker = load_->Queue(doomed, ms);
    for (uint32_t i = 1; i <= 20; ++i) {
      Numbered(doomed, i, {{}, {{line, 0, i}}});
    }
    const bool in_time = Runs(doomed, blocker - 1);
    ASSERT_EQ(DestroyContext(c(), doomed), 0);
    EXPECT_EQ(Wait(c(), doomed, blocker, 0), -ENOENT);
    // What waits for one of them does not wait forever.
    EXPECT_EQ(WaitPoint(c(), line, 20, InMs(20000)), 0);
    Numbered(context, 21);
    auto host = NewHost(c(), kPage);
    Do(c(), context, {CopyOut(word_, host->handle, 4)});
    EXPECT_EQ(host->Word(0), 21u);
    const uint32_t before = places_->Word(21);
    Do(c(), context, {Fill(word_, kPage, 0)});
    ASSERT_EQ(ResetSyncobj(c(), line), 0);
    if (!in_time) continue;
    EXPECT_EQ(before, 0u) << "job " << before << " ran";
    return;
  }
}

TEST_F(OrderTest, AJobStartsAlthoughWhatItWaitsForFailed) {
  const uint32_t first = NewContext(c(), 3), second = NewContext(c(), 1);
  const uint32_t sync = NewSyncobj(c());
  const uint32_t stream = NewStream(c(), FaultingStream(0));
  const std::vector<drm_heddle_region> regions = {Region(0, word_, kPage)};
  load_->Queue(first, 200);
  const uint64_t bad =
      NewJob(c(), first, {RunStream(stream, regions)}, {{}, {{sync, 0, 0}}});
  const uint64_t early = Numbered(second, 1, {{{sync, 0, 0}}, {}});
  EXPECT_NE(ResultOf(c(), first, bad).status, 0u);
  const uint64_t late = Numbered(second, 2, {{{sync, 0, 0}}, {}});
  EXPECT_EQ(ResultOf(c(), second, early).status, 0u);
  EXPECT_EQ(ResultOf(c(), second, late).status, 0u);
  EXPECT_EQ(Order(2), (std::vector<uint32_t>{1, 2}));
}

}  // namespace
}  // namespace heddle::uapi
