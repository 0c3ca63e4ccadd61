// SPDX-License-Identifier: Apache-2.0
// WAIT, and what it says of a job.
#include <cstring>
#include <thread>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class WaitTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    bo_ = NewDevice(c(), kPage);
    steps_ = {Fill(bo_, kPage, 1)};
  }
  int WaitRaw(uint64_t seqno, const drm_heddle_array& result,
              uint32_t pad = 0) {
    drm_heddle_wait args = {};
    args.context = context_;
    args.pad = pad;
    args.seqno = seqno;
    args.deadline_ns = InMs(20000);
    args.result = result;
    return c()->Ioctl(DRM_IOCTL_HEDDLE_WAIT, &args);
  }

  uint32_t context_ = 0, bo_ = 0;
  std::vector<drm_heddle_step> steps_;
};

TEST_F(WaitTest, WaitsWithoutALimit) {
  const uint64_t seqno = NewJob(c(), context_, steps_);
  EXPECT_EQ(Wait(c(), context_, seqno, kForever), 0);
}

TEST_F(WaitTest, AnswersAgainAndAgain) {
  const uint64_t seqno = NewJob(c(), context_, steps_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ResultOf(c(), context_, seqno).status, 0u);
  }
}

TEST_F(WaitTest, DoesNotWaitWithDeadlineZero) {
  EXPECT_EQ(
      WhileBusy(c(), context_,
                [this](uint64_t last) { return Wait(c(), context_, last, 0); }),
      -ETIME);
}

TEST_F(WaitTest, AnswersWithDeadlineZeroWhenTheJobHasEnded) {
  const uint64_t seqno = NewJob(c(), context_, steps_);
  ResultOf(c(), context_, seqno);
  EXPECT_EQ(Wait(c(), context_, seqno, 0), 0);
}

TEST_F(WaitTest, DoesNotWaitWithADeadlineInThePast) {
  for (uint64_t ago : std::initializer_list<uint64_t>{1, kSecond}) {
    EXPECT_EQ(WhileBusy(c(), context_,
                        [=](uint64_t last) {
                          return Wait(c(), context_, last, NowNs() - ago);
                        }),
              -ETIME)
        << ago;
  }
}

TEST_F(WaitTest, AMissedDeadlineDoesNotEndTheJob) {
  auto host = NewHost(c(), kPage);
  uint64_t last = 0;
  EXPECT_EQ(WhileBusy(c(), context_,
                      [&](uint64_t) {
                        last = NewJob(c(), context_,
                                      {Fill(bo_, kPage, 42),
                                       CopyOut(bo_, host->handle, 4)});
                        const uint64_t deadline = NowNs() + 20 * 1000000;
                        const int err = Wait(c(), context_, last, deadline);
                        EXPECT_TRUE(err == 0 || NowNs() >= deadline);
                        return err;
                      }),
            -ETIME);
  EXPECT_EQ(ResultOf(c(), context_, last).status, 0u);
  EXPECT_EQ(host->Word(0), 42u);
}

TEST_F(WaitTest, ReturnsWhenTheJobEndsAndNotAtTheDeadline) {
  const uint64_t seqno = NewJob(c(), context_, steps_);
  const uint64_t before = NowNs();
  EXPECT_EQ(Wait(c(), context_, seqno, before + 50 * kSecond), 0);
  EXPECT_LT(NowNs() - before, 40 * kSecond);
}

TEST_F(WaitTest, ServesSeveralThreads) {
  Load load(c());
  const uint64_t last = load.Queue(context_, 100);
  std::vector<std::thread> threads;
  std::vector<int> results(4, 1);
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      results[i] = Wait(c(), context_, i % 2 ? last : 1, InMs(30000));
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(results, std::vector<int>(4, 0));
}

TEST_F(WaitTest, RefusesContextsThatDoNotExist) {
  NewJob(c(), context_, steps_);
  for (uint32_t context : {0u, context_ + 1, ~0u}) {
    EXPECT_EQ(Wait(c(), context, 1, 0), -ENOENT) << context;
  }
}

TEST_F(WaitTest, RefusesJobZero) {
  NewJob(c(), context_, steps_);
  EXPECT_EQ(Wait(c(), context_, 0, 0), -EINVAL);
}

TEST_F(WaitTest, RefusesJobsThatDoNotExist) {
  EXPECT_EQ(Wait(c(), context_, 1, kForever), -ENOENT);
  NewJob(c(), context_, steps_);
  for (uint64_t seqno : std::initializer_list<uint64_t>{
           2, 1025, uint64_t{1} << 32, ~uint64_t{0}}) {
    EXPECT_EQ(Wait(c(), context_, seqno, kForever), -ENOENT) << seqno;
  }
}

TEST_F(WaitTest, RefusesPad) {
  NewJob(c(), context_, steps_);
  for (uint32_t bit : EachBit()) {
    EXPECT_EQ(WaitRaw(1, {}, bit), -EINVAL) << bit;
  }
}

TEST_F(WaitTest, KeepsTheLast1024Results) {
  uint64_t seqno = 0;
  while (seqno < 1025) {
    seqno = NewJob(c(), context_, steps_);
    ASSERT_NE(seqno, 0u);
    if (seqno % 100 == 0) ResultOf(c(), context_, seqno);
  }
  EXPECT_EQ(ResultOf(c(), context_, seqno).status, 0u);
  EXPECT_EQ(Wait(c(), context_, 1, 0), -ENOENT) << "forgotten";
  EXPECT_EQ(Wait(c(), context_, 2, 0), 0) << "kept";
}

TEST_F(WaitTest, GivesAResult) {
  const uint32_t stream = NewStream(c(), CopyStream(0, 1, 256));
  const std::vector<drm_heddle_region> regions = {
      Region(0, bo_, 256), Region(1, bo_, 256, DRM_HEDDLE_REGION_WRITE, 1024)};
  const auto result = Do(c(), context_, {RunStream(stream, regions)});
  EXPECT_EQ(result.status, 0u);
  EXPECT_EQ(result.error, 0u);
  EXPECT_EQ(result.commands, 4u);
  EXPECT_EQ(result.bytes_loaded, 256u);
  EXPECT_EQ(result.bytes_stored, 256u);
  EXPECT_EQ(result.macs, 0u);
}

TEST_F(WaitTest, SaysWhereAJobFaulted) {
  const uint32_t stream = NewStream(c(), FaultingStream(2));
  const std::vector<drm_heddle_region> regions = {Region(2, bo_, kPage)};
  const auto result =
      Do(c(), context_, {steps_[0], RunStream(stream, regions)});
  EXPECT_NE(result.status, 0u);
  EXPECT_EQ(result.error, uint32_t{ERANGE});
  EXPECT_EQ(result.fault_step, 1u);
  EXPECT_EQ(result.fault_offset, 64u + 16) << "behind fill and barrier";
  EXPECT_EQ(result.fault_tag, 0x1234u);
}

TEST_F(WaitTest, FillsNoMoreThanTheCallerKnows) {
  NewJob(c(), context_, steps_);
  uint8_t bytes[2 * sizeof(drm_heddle_result)];
  std::memset(bytes, 0xee, sizeof(bytes));
  ASSERT_EQ(WaitRaw(1, {reinterpret_cast<uint64_t>(bytes), 1, sizeof(bytes)}),
            0);
  for (size_t i = sizeof(drm_heddle_result); i < sizeof(bytes); ++i) {
    EXPECT_EQ(bytes[i], 0xee) << i;
  }
}

TEST_F(WaitTest, FillsNothingBeforeTheEnd) {
  drm_heddle_result result;
  EXPECT_EQ(WhileBusy(c(), context_,
                      [&](uint64_t last) {
                        std::memset(&result, 0xee, sizeof(result));
                        return Wait(c(), context_, last, 0, &result);
                      }),
            -ETIME);
  EXPECT_EQ(result.status, 0xeeeeeeeeu);
}

TEST_F(WaitTest, TakesAnyLargerStride) {
  NewJob(c(), context_, steps_);
  drm_heddle_result result = {};
  result.status = 1;
  EXPECT_EQ(WaitRaw(1, {reinterpret_cast<uint64_t>(&result), 1, 0xffffffff}),
            0);
  EXPECT_EQ(result.status, 0u);
}

TEST_F(WaitTest, RefusesASmallerStride) {
  NewJob(c(), context_, steps_);
  drm_heddle_result result;
  for (uint32_t stride : {0u, 8u, unsigned{sizeof(result) - 1}}) {
    EXPECT_EQ(WaitRaw(1, {reinterpret_cast<uint64_t>(&result), 1, stride}),
              -EINVAL)
        << stride;
  }
}

TEST_F(WaitTest, RefusesTwoResults) {
  NewJob(c(), context_, steps_);
  drm_heddle_result results[2];
  EXPECT_EQ(WaitRaw(1, ArrayOf(results, 2)), -EINVAL);
}

TEST_F(WaitTest, RefusesBadPointers) {
  NewJob(c(), context_, steps_);
  for (uint64_t bad : Driver::Get().BadPointers()) {
    EXPECT_EQ(WaitRaw(1, {bad, 1, sizeof(drm_heddle_result)}), -EFAULT) << bad;
  }
  EXPECT_EQ(ResultOf(c(), context_, 1).status, 0u) << "nothing is lost";
}

}  // namespace
}  // namespace heddle::uapi
