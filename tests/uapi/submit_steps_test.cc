// SPDX-License-Identifier: Apache-2.0
// SUBMIT: every field of a step that copies or fills.
#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

constexpr uint64_t kSize = 2 * kPage;

class SubmitStepsTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    bo_ = NewDevice(c(), kSize);
    host_ = NewHost(c(), kSize);
    for (uint64_t i = 0; i < kSize; ++i) host_->data[i] = i * 7 + i / 256;
    copies_ = {CopyIn(host_->handle, bo_, kSize),
               CopyOut(bo_, host_->handle, kSize)};
    with_host_ = copies_;
    copies_.push_back(CopyOnCard(bo_, NewDevice(c(), kSize), kSize));
    all_ = copies_;
    all_.push_back(Fill(bo_, kSize, 5));
  }
  void TearDown() override {
    host_ = nullptr;  // a mapping keeps its file
    UapiTest::TearDown();
  }
  int Send(const drm_heddle_step& step) {
    return Submit(c(), context_, {step});
  }
  // Expects it of each of `steps` after the change.
  void Expect(int result, const std::vector<drm_heddle_step>& steps,
              const std::function<void(drm_heddle_step*)>& change) {
    for (drm_heddle_step step : steps) {
      change(&step);
      EXPECT_EQ(Send(step), result) << "type " << step.type;
    }
  }

  uint32_t context_ = 0, bo_ = 0;
  std::unique_ptr<HostBuffer> host_;
  std::vector<drm_heddle_step> with_host_, copies_, all_;
};

TEST_F(SubmitStepsTest, CopiesInAndOut) {
  auto out = NewHost(c(), kSize);
  ASSERT_EQ(
      Do(c(), context_,
         {CopyIn(host_->handle, bo_, kSize), CopyOut(bo_, out->handle, kSize)})
          .status,
      0u);
  EXPECT_EQ(std::memcmp(out->data, host_->data, kSize), 0);
}

TEST_F(SubmitStepsTest, CopiesAnyByteToAnyByte) {
  auto out = NewHost(c(), kSize);
  std::memset(out->data, 0xee, kSize);
  ASSERT_EQ(Do(c(), context_,
               {CopyIn(host_->handle, bo_, 4001, 17, 5),
                CopyOut(bo_, out->handle, 3999, 6, 4090)})
                .status,
            0u);
  EXPECT_EQ(std::memcmp(out->data + 4090, host_->data + 18, 3999), 0);
  EXPECT_EQ(out->data[4089], 0xee);
  EXPECT_EQ(out->data[4090 + 3999], 0xee);
}

TEST_F(SubmitStepsTest, CopiesOneByteAtTheEnd) {
  auto out = NewHost(c(), kSize);
  ASSERT_EQ(Do(c(), context_,
               {CopyIn(host_->handle, bo_, 1, kSize - 1, kSize - 1),
                CopyOut(bo_, out->handle, 1, kSize - 1, kSize - 1)})
                .status,
            0u);
  EXPECT_EQ(out->data[kSize - 1], host_->data[kSize - 1]);
  EXPECT_EQ(out->data[kSize - 2], 0);
}

TEST_F(SubmitStepsTest, CopiesOnTheCard) {
  auto out = NewHost(c(), kSize);
  const uint32_t to = NewDevice(c(), kSize);
  ASSERT_EQ(
      Do(c(), context_,
         {CopyIn(host_->handle, bo_, kSize), Fill(to, kSize, 0xeeeeeeee),
          CopyOnCard(bo_, to, 4001, 17, 4090), CopyOut(to, out->handle, kSize)})
          .status,
      0u);
  EXPECT_EQ(std::memcmp(out->data + 4090, host_->data + 17, 4001), 0);
  EXPECT_EQ(out->data[4089], 0xee);
  EXPECT_EQ(out->data[4090 + 4001], 0xee);
}

// As if all had been read before the first byte is written.
TEST_F(SubmitStepsTest, CopiesWithinABuffer) {
  auto out = NewHost(c(), kSize);
  for (auto [from, to] : {std::pair<uint64_t, uint64_t>{0, 1},
                          {1, 0},
                          {64, 4000},
                          {4000, 64},
                          {5, 5}}) {
    ASSERT_EQ(Do(c(), context_,
                 {CopyIn(host_->handle, bo_, kSize),
                  CopyOnCard(bo_, bo_, 4100, from, to),
                  CopyOut(bo_, out->handle, kSize)})
                  .status,
              0u);
    std::vector<uint8_t> want(host_->data, host_->data + kSize);
    std::memmove(&want[to], &want[from], 4100);
    EXPECT_EQ(std::memcmp(out->data, want.data(), kSize), 0)
        << from << " to " << to;
  }
}

TEST_F(SubmitStepsTest, CopiesZeroFromANewBuffer) {
  auto out = NewHost(c(), kSize);
  std::memset(out->data, 0xee, kSize);
  const uint32_t used = NewDevice(c(), kSize);
  ASSERT_EQ(Do(c(), context_, {Fill(used, kSize, 0x55555555)}).status, 0u);
  const uint32_t from = NewDevice(c(), kSize), to = NewDevice(c(), kSize);
  ASSERT_EQ(Do(c(), context_,
               {CopyOnCard(from, used, kPage), CopyOnCard(used, to, 1, kPage),
                CopyOut(used, out->handle, kPage),
                CopyOut(to, out->handle, kPage, 0, kPage)})
                .status,
            0u);
  for (uint64_t i = 0; i < kSize; ++i) {
    ASSERT_EQ(out->data[i], i == kPage ? 0x55 : 0) << i;
  }
}

TEST_F(SubmitStepsTest, FillsAPart) {
  auto out = NewHost(c(), kSize);
  ASSERT_EQ(Do(c(), context_,
               {Fill(bo_, 8, 0xa1b2c3d4, kSize - 8),
                CopyOut(bo_, out->handle, kSize)})
                .status,
            0u);
  EXPECT_EQ(out->Word(kSize / 4 - 1), 0xa1b2c3d4u);
  EXPECT_EQ(out->Word(kSize / 4 - 2), 0xa1b2c3d4u);
  EXPECT_EQ(out->Word(kSize / 4 - 3), 0u);
}

TEST_F(SubmitStepsTest, RefusesTypesThatDoNotExist) {
  for (uint32_t type : {0u, 6u, 7u, 0x80000000u, ~0u}) {
    drm_heddle_step step = Fill(bo_, kSize, 0);
    step.type = type;
    EXPECT_EQ(Send(step), -EINVAL) << type;
  }
}

TEST_F(SubmitStepsTest, RefusesFlagsWithoutARun) {
  all_.push_back(RunStream(NewStream(c(), EmptyStream())));
  for (uint32_t bit : EachBit()) {
    Expect(-EINVAL, all_, [bit](drm_heddle_step* s) { s->flags = bit; });
  }
}

TEST_F(SubmitStepsTest, RefusesNoBytes) {
  Expect(-EINVAL, all_, [](drm_heddle_step* s) { s->length = 0; });
}

TEST_F(SubmitStepsTest, RefusesRegions) {
  const std::vector<drm_heddle_region> regions = {Region(0, bo_, 64)};
  Expect(-EINVAL, all_,
         [&](drm_heddle_step* s) { s->regions = ArrayOf(regions); });
}

TEST_F(SubmitStepsTest, RefusesSourcesThatDoNotExist) {
  for (uint32_t handle : {0u, ~0u}) {
    Expect(-ENOENT, copies_, [=](drm_heddle_step* s) { s->src = handle; });
  }
}

TEST_F(SubmitStepsTest, RefusesDestinationsThatDoNotExist) {
  for (uint32_t handle : {0u, ~0u}) {
    Expect(-ENOENT, all_, [=](drm_heddle_step* s) { s->dst = handle; });
  }
}

TEST_F(SubmitStepsTest, RefusesASourceOnTheWrongSide) {
  Expect(-EINVAL, with_host_, [](drm_heddle_step* s) { s->src = s->dst; });
  EXPECT_EQ(Send(CopyOnCard(host_->handle, bo_, kSize)), -EINVAL);
}

TEST_F(SubmitStepsTest, RefusesADestinationOnTheWrongSide) {
  Expect(-EINVAL, with_host_, [](drm_heddle_step* s) { s->dst = s->src; });
  EXPECT_EQ(Send(CopyOnCard(bo_, host_->handle, kSize)), -EINVAL);
  EXPECT_EQ(Send(Fill(host_->handle, kSize, 0)), -EINVAL);
}

TEST_F(SubmitStepsTest, RefusesToReadBehindTheSource) {
  Expect(-ERANGE, copies_, [](drm_heddle_step* s) { s->src_offset = 1; });
  Expect(-ERANGE, copies_, [](drm_heddle_step* s) {
    s->length = 1;
    s->src_offset = kSize;
  });
}

TEST_F(SubmitStepsTest, RefusesToWriteBehindTheDestination) {
  Expect(-ERANGE, all_, [](drm_heddle_step* s) { s->dst_offset = 4; });
  Expect(-ERANGE, all_, [](drm_heddle_step* s) {
    s->length = 4;
    s->dst_offset = kSize;
  });
}

TEST_F(SubmitStepsTest, RefusesLengthsThatNothingHas) {
  for (uint64_t length : std::initializer_list<uint64_t>{
           kSize + 4, uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0} - 3}) {
    Expect(-ERANGE, all_, [=](drm_heddle_step* s) { s->length = length; });
  }
}

TEST_F(SubmitStepsTest, RefusesOffsetsThatWrapAround) {
  for (uint64_t offset : std::initializer_list<uint64_t>{
           ~uint64_t{0} - kSize + 1, ~uint64_t{0} - 3, uint64_t{1} << 63}) {
    Expect(-ERANGE, copies_,
           [=](drm_heddle_step* s) { s->src_offset = offset; });
    Expect(-ERANGE, all_, [=](drm_heddle_step* s) { s->dst_offset = offset; });
  }
}

TEST_F(SubmitStepsTest, RefusesToFillHalfAWord) {
  for (uint64_t length : {1, 2, 3, 5, 4095}) {
    EXPECT_EQ(Send(Fill(bo_, length, 0)), -EINVAL) << length;
  }
}

TEST_F(SubmitStepsTest, LooksAtEveryStep) {
  std::vector<drm_heddle_step> steps(8, Fill(bo_, kSize, 0));
  for (size_t i = 0; i < steps.size(); ++i) {
    auto bad = steps;
    bad[i].length += 4;
    EXPECT_EQ(Submit(c(), context_, bad), -ERANGE) << i;
  }
  EXPECT_EQ(Submit(c(), context_, steps), 0);
}

TEST_F(SubmitStepsTest, RunRefusesStreamsThatDoNotExist) {
  const uint32_t stream = NewStream(c(), EmptyStream());
  for (uint32_t id : {0u, stream + 1, ~0u}) {
    EXPECT_EQ(Send(RunStream(id)), -ENOENT) << id;
  }
}

TEST_F(SubmitStepsTest, CopiesMuchInOneStep) {
  constexpr uint64_t kMuch = 8 * kMiB + 4096;
  auto in = NewHost(c(), kMuch), out = NewHost(c(), kMuch);
  for (uint64_t i = 0; i < kMuch; i += 64) in->data[i] = i >> 6;
  const uint32_t bo = NewDevice(c(), kMuch);
  ASSERT_EQ(Do(c(), context_,
               {CopyIn(in->handle, bo, kMuch), CopyOut(bo, out->handle, kMuch)})
                .status,
            0u);
  EXPECT_EQ(std::memcmp(in->data, out->data, kMuch), 0);
}

}  // namespace
}  // namespace heddle::uapi
