// SPDX-License-Identifier: Apache-2.0
// SUBMIT: steps that the card may execute together with a run.
#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

constexpr uint64_t kSize = 2 * kPage;
constexpr uint32_t kWrite = DRM_HEDDLE_REGION_WRITE;

drm_heddle_step Overlap(drm_heddle_step step) {
  step.flags = DRM_HEDDLE_STEP_OVERLAP;
  return step;
}

class SubmitOverlapTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    from_ = NewDevice(c(), kSize);
    to_ = NewDevice(c(), kSize);
    other_ = NewDevice(c(), kSize);
    host_ = NewHost(c(), kSize);
    for (uint64_t i = 0; i < kSize; ++i) host_->data[i] = i * 7 + i / 256;
    // Touches bytes 128 to 383 of each region.
    stream_ = NewStream(c(), CopyStream(3, 15, 256, 128));
    // Bytes 1024 to 1407 of either.
    regions_ = {Region(3, from_, 384, 0, 1024),
                Region(15, to_, 384, kWrite, 1024)};
  }
  void TearDown() override {
    host_ = nullptr;  // a mapping keeps its file
    UapiTest::TearDown();
  }
  drm_heddle_step Run() { return RunStream(stream_, regions_); }
  // What a job says whose run is followed by `step`, which may overlap it.
  int Beside(const drm_heddle_step& step) {
    return Submit(c(), context_, {Run(), Overlap(step)});
  }

  uint32_t context_ = 0, from_ = 0, to_ = 0, other_ = 0, stream_ = 0;
  std::unique_ptr<HostBuffer> host_;
  std::vector<drm_heddle_region> regions_;
};

TEST_F(SubmitOverlapTest, EveryKindOfCopyGivesItsBytes) {
  const uint32_t copied = NewDevice(c(), kSize);
  const uint32_t filled = NewDevice(c(), kSize);
  auto out = NewHost(c(), 5 * kSize);
  ASSERT_EQ(Do(c(), context_,
               {CopyIn(host_->handle, from_, kSize), Run(),
                Overlap(CopyIn(host_->handle, other_, 4001, 17, 5)),
                Overlap(CopyOnCard(other_, copied, 3999, 6, 31)),
                Overlap(Fill(filled, kSize, 0xa1b2c3d4)),
                Overlap(CopyOut(from_, out->handle, kSize)),
                CopyOut(to_, out->handle, kSize, 0, kSize),
                CopyOut(other_, out->handle, kSize, 0, 2 * kSize),
                CopyOut(copied, out->handle, kSize, 0, 3 * kSize),
                CopyOut(filled, out->handle, kSize, 0, 4 * kSize)})
                .status,
            0u);
  std::vector<uint8_t> want(5 * kSize);
  std::memcpy(want.data(), host_->data, kSize);
  std::memcpy(&want[kSize + 1024 + 128], host_->data + 1024 + 128, 256);
  std::memcpy(&want[2 * kSize + 5], host_->data + 17, 4001);
  std::memcpy(&want[3 * kSize + 31], host_->data + 18, 3999);
  const uint32_t pattern = 0xa1b2c3d4;
  for (uint64_t i = 0; i < kSize; i += 4) {
    std::memcpy(&want[4 * kSize + i], &pattern, 4);
  }
  for (uint64_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(out->data[i], want[i])
        << "step " << i / kSize << ", byte " << i % kSize;
  }
}

// As weights are streamed: what comes in beside one run is there for the next.
TEST_F(SubmitOverlapTest, TheNextRunReadsWhatCameIn) {
  auto out = NewHost(c(), 16 * kPage);
  std::vector<drm_heddle_step> steps = {
      CopyIn(host_->handle, from_, 384, 0, 1024)};
  std::vector<std::vector<drm_heddle_region>> regions;
  for (uint64_t i = 0; i < 16; ++i) {
    regions.push_back({Region(3, i % 2 ? other_ : from_, 384, 0, 1024),
                       Region(15, to_, 384, kWrite)});
  }
  for (uint64_t i = 0; i < 16; ++i) {
    steps.push_back(RunStream(stream_, regions[i]));
    steps.push_back(Overlap(CopyIn(host_->handle, i % 2 ? from_ : other_, 384,
                                   64 * (i + 1), 1024)));
    steps.push_back(CopyOut(to_, out->handle, 384, 0, i * kPage));
  }
  ASSERT_EQ(Do(c(), context_, steps).status, 0u);
  for (uint64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(std::memcmp(out->data + i * kPage + 128,
                          host_->data + 64 * i + 128, 256),
              0)
        << i;
  }
}

TEST_F(SubmitOverlapTest, TheyKeepTheirOrder) {
  auto out = NewHost(c(), kPage);
  std::vector<drm_heddle_step> steps = {Run()};
  for (uint32_t i = 1; i <= 20; ++i) {
    steps.push_back(Overlap(Fill(other_, kPage, i)));
  }
  steps.push_back(Overlap(CopyOut(other_, out->handle, kPage)));
  ASSERT_EQ(Do(c(), context_, steps).status, 0u);
  for (uint64_t i = 0; i < kPage / 4; ++i) ASSERT_EQ(out->Word(i), 20u) << i;
}

// The pages of a buffer need not be together: heddle.ko makes several steps.
TEST_F(SubmitOverlapTest, CopiesMuch) {
  constexpr uint64_t kMuch = 8 * kMiB + 4096;
  auto in = NewHost(c(), kMuch), out = NewHost(c(), kMuch);
  for (uint64_t i = 0; i < kMuch; i += 64) in->data[i] = i >> 6;
  const uint32_t bo = NewDevice(c(), kMuch), second = NewDevice(c(), kMuch);
  ASSERT_EQ(Do(c(), context_,
               {Run(), Overlap(CopyIn(in->handle, bo, kMuch)),
                Overlap(CopyOnCard(bo, second, kMuch)), Run(),
                Overlap(CopyOut(second, out->handle, kMuch))})
                .status,
            0u);
  EXPECT_EQ(std::memcmp(in->data, out->data, kMuch), 0);
}

TEST_F(SubmitOverlapTest, ANewBufferIsZeroAllAround) {
  auto out = NewHost(c(), kSize);
  std::memset(out->data, 0xee, kSize);
  const uint32_t fresh = NewDevice(c(), kSize);
  ASSERT_EQ(Do(c(), context_,
               {Run(), Overlap(CopyIn(host_->handle, fresh, 100, 0, 4000)),
                CopyOut(fresh, out->handle, kSize)})
                .status,
            0u);
  for (uint64_t i = 0; i < kSize; ++i) {
    const bool written = i >= 4000 && i < 4100;
    ASSERT_EQ(out->data[i], written ? host_->data[i - 4000] : 0) << i;
  }
}

TEST_F(SubmitOverlapTest, TheRunsFailureIsTold) {
  const uint32_t faults = NewStream(c(), FaultingStream(3));
  const auto result =
      Do(c(), context_,
         {Fill(from_, kSize, 0), RunStream(faults, regions_),
          Overlap(Fill(other_, kSize, 1)), Fill(other_, kSize, 2)});
  EXPECT_NE(result.status, 0u);
  EXPECT_EQ(result.fault_step, 1u);
  EXPECT_EQ(result.fault_tag, 0x1234u);
  EXPECT_EQ(Do(c(), context_, {Run(), Overlap(Fill(other_, kSize, 1))}).status,
            0u);
}

TEST_F(SubmitOverlapTest, MayTouchTheBytesAroundARegion) {
  EXPECT_EQ(Beside(CopyIn(host_->handle, from_, 1024)), 0);
  EXPECT_EQ(Beside(CopyIn(host_->handle, from_, 1025)), -EINVAL);
  EXPECT_EQ(Beside(CopyIn(host_->handle, from_, 64, 0, 1408)), 0);
  EXPECT_EQ(Beside(CopyIn(host_->handle, from_, 64, 0, 1407)), -EINVAL);
  EXPECT_EQ(Beside(CopyOut(to_, host_->handle, 1024)), 0);
  EXPECT_EQ(Beside(CopyOut(to_, host_->handle, 1025)), -EINVAL);
  EXPECT_EQ(Beside(CopyOut(to_, host_->handle, 64, 1408)), 0);
  EXPECT_EQ(Beside(CopyOut(to_, host_->handle, 64, 1407)), -EINVAL);
}

TEST_F(SubmitOverlapTest, MayReadWhatTheRunReads) {
  EXPECT_EQ(Beside(CopyOut(from_, host_->handle, kSize)), 0);
  EXPECT_EQ(Beside(CopyOnCard(from_, other_, kSize)), 0);
  regions_[0].flags = kWrite;  // it may be written
  EXPECT_EQ(Beside(CopyOut(from_, host_->handle, kSize)), -EINVAL);
  EXPECT_EQ(Beside(CopyOnCard(from_, other_, kSize)), -EINVAL);
}

TEST_F(SubmitOverlapTest, RefusesToWriteWhatTheRunReads) {
  EXPECT_EQ(Beside(CopyIn(host_->handle, from_, kSize)), -EINVAL);
  EXPECT_EQ(Beside(CopyOnCard(other_, from_, kSize)), -EINVAL);
  EXPECT_EQ(Beside(Fill(from_, 4, 0, 1400)), -EINVAL);
}

TEST_F(SubmitOverlapTest, RefusesToReadOrWriteWhatTheRunWrites) {
  EXPECT_EQ(Beside(CopyOut(to_, host_->handle, kSize)), -EINVAL);
  EXPECT_EQ(Beside(CopyIn(host_->handle, to_, kSize)), -EINVAL);
  EXPECT_EQ(Beside(CopyOnCard(to_, other_, kSize)), -EINVAL);
  EXPECT_EQ(Beside(CopyOnCard(other_, to_, kSize)), -EINVAL);
  EXPECT_EQ(Beside(Fill(to_, 4, 0, 1024)), -EINVAL);
}

TEST_F(SubmitOverlapTest, LooksAtBothEndsOfACopyInOneBuffer) {
  EXPECT_EQ(Beside(CopyOnCard(to_, to_, 512, 0, 512)), 0);
  EXPECT_EQ(Beside(CopyOnCard(to_, to_, 512, 0, 513)), -EINVAL);
  EXPECT_EQ(Beside(CopyOnCard(to_, to_, 512, 513, 0)), -EINVAL);
}

// The stream touches none of it.
TEST_F(SubmitOverlapTest, LooksAtEveryRegionThatIsBound) {
  EXPECT_EQ(Beside(Fill(other_, 64, 0)), 0);
  regions_.insert(regions_.begin(), Region(0, other_, 64));
  EXPECT_EQ(Beside(Fill(other_, 64, 0)), -EINVAL);
  std::swap(regions_[0], regions_[2]);
  EXPECT_EQ(Beside(Fill(other_, 64, 0)), -EINVAL);
}

TEST_F(SubmitOverlapTest, LooksAtEveryStep) {
  std::vector<drm_heddle_step> steps(8, Overlap(Fill(other_, kSize, 0)));
  steps.insert(steps.begin(), Run());
  EXPECT_EQ(Submit(c(), context_, steps), 0);
  for (size_t i = 1; i < steps.size(); ++i) {
    auto bad = steps;
    bad[i].dst = to_;
    EXPECT_EQ(Submit(c(), context_, bad), -EINVAL) << i;
    bad[i].flags = 0;  // waits for the run; those behind it follow no run
    EXPECT_EQ(Submit(c(), context_, bad), i + 1 == steps.size() ? 0 : -EINVAL)
        << i;
  }
}

TEST_F(SubmitOverlapTest, LooksAtTheRunBeforeIt) {
  const uint32_t empty = NewStream(c(), EmptyStream());
  EXPECT_EQ(Submit(c(), context_,
                   {Run(), RunStream(empty), Overlap(Fill(to_, kSize, 0))}),
            0);
  EXPECT_EQ(Submit(c(), context_,
                   {RunStream(empty), Run(), Overlap(Fill(to_, kSize, 0))}),
            -EINVAL);
  EXPECT_EQ(Submit(c(), context_,
                   {RunStream(empty), Overlap(Fill(to_, kSize, 0)), Run(),
                    Overlap(Fill(other_, kSize, 0))}),
            0);
}

TEST_F(SubmitOverlapTest, RefusesToFollowNoRun) {
  const drm_heddle_step fill = Fill(other_, kSize, 0);
  EXPECT_EQ(Submit(c(), context_, {Overlap(fill)}), -EINVAL);
  EXPECT_EQ(Submit(c(), context_, {fill, Overlap(fill)}), -EINVAL);
  EXPECT_EQ(Submit(c(), context_, {Run(), fill, Overlap(fill)}), -EINVAL);
  EXPECT_EQ(Submit(c(), context_, {Overlap(fill), Run()}), -EINVAL);
}

TEST_F(SubmitOverlapTest, RefusesRunsThatOverlap) {
  EXPECT_EQ(Submit(c(), context_, {Overlap(Run())}), -EINVAL);
  EXPECT_EQ(Submit(c(), context_, {Run(), Overlap(Run())}), -EINVAL);
}

TEST_F(SubmitOverlapTest, RefusesFlagsThatDoNotExist) {
  for (uint32_t bit : EachBit()) {
    if (bit == DRM_HEDDLE_STEP_OVERLAP) continue;
    for (uint32_t flags : {bit, bit | DRM_HEDDLE_STEP_OVERLAP}) {
      drm_heddle_step step = Fill(other_, kSize, 0);
      step.flags = flags;
      EXPECT_EQ(Submit(c(), context_, {Run(), step}), -EINVAL) << flags;
    }
  }
}

}  // namespace
}  // namespace heddle::uapi
