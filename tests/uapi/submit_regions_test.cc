// SPDX-License-Identifier: Apache-2.0
// SUBMIT: the regions of a run step, compared with what its stream touches.
#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class SubmitRegionsTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    from_ = NewDevice(c(), 2 * kPage);
    to_ = NewDevice(c(), 2 * kPage);
    // Touches bytes 128 to 383 of each.
    stream_ = NewStream(c(), CopyStream(3, 15, 256, 128));
    regions_ = {Region(3, from_, 384),
                Region(15, to_, 384, DRM_HEDDLE_REGION_WRITE)};
  }
  int Send() { return Submit(c(), context_, {RunStream(stream_, regions_)}); }

  uint32_t context_ = 0, from_ = 0, to_ = 0, stream_ = 0;
  std::vector<drm_heddle_region> regions_;
};

TEST_F(SubmitRegionsTest, Runs) {
  auto host = NewHost(c(), 2 * kPage);
  for (int i = 0; i < 384; ++i) host->data[i] = i * 5 + 1;
  ASSERT_EQ(
      Do(c(), context_,
         {CopyIn(host->handle, from_, kPage), RunStream(stream_, regions_),
          CopyOut(to_, host->handle, kPage, 0, kPage)})
          .status,
      0u);
  EXPECT_EQ(std::memcmp(host->data + kPage + 128, host->data + 128, 256), 0);
  EXPECT_EQ(host->data[kPage + 127], 0);
  EXPECT_EQ(host->data[kPage + 384], 0);
}

TEST_F(SubmitRegionsTest, BeginAtTheirOffset) {
  auto host = NewHost(c(), 2 * kPage);
  for (uint64_t i = 0; i < 2 * kPage; ++i) host->data[i] = i * 11 + i / 256;
  regions_[0].offset = 64;
  regions_[1].offset = kPage + 192;
  auto out = NewHost(c(), 2 * kPage);
  ASSERT_EQ(
      Do(c(), context_,
         {CopyIn(host->handle, from_, 2 * kPage), RunStream(stream_, regions_),
          CopyOut(to_, out->handle, 2 * kPage)})
          .status,
      0u);
  EXPECT_EQ(
      std::memcmp(out->data + kPage + 192 + 128, host->data + 64 + 128, 256),
      0);
}

TEST_F(SubmitRegionsTest, MayBeInAnyOrder) {
  std::swap(regions_[0], regions_[1]);
  EXPECT_EQ(Send(), 0);
}

TEST_F(SubmitRegionsTest, MayOverlap) {
  regions_[1].handle = from_;
  EXPECT_EQ(Send(), 0);
  regions_[1].offset = 64;
  EXPECT_EQ(Send(), 0);
}

TEST_F(SubmitRegionsTest, MayBeMoreThanTheStreamTouches) {
  regions_.push_back(Region(0, to_, 64));
  EXPECT_EQ(Send(), 0);
}

TEST_F(SubmitRegionsTest, MayReachToTheEndOfTheBuffer) {
  regions_[0].offset = 2 * kPage - 384;
  EXPECT_EQ(Send(), 0);
}

TEST_F(SubmitRegionsTest, MayBeAll) {
  const uint32_t stream = NewStream(c(), EmptyStream());
  std::vector<drm_heddle_region> all;
  for (uint32_t i = 0; i < 16; ++i) all.push_back(Region(i, to_, 64));
  EXPECT_EQ(Submit(c(), context_, {RunStream(stream, all)}), 0);
  all.push_back(Region(0, to_, 64));
  EXPECT_EQ(Submit(c(), context_, {RunStream(stream, all)}), -EINVAL);
}

TEST_F(SubmitRegionsTest, RefusesNumbersThatDoNotExist) {
  for (uint32_t index : {16u, 17u, 32u, 0x80000000u, ~0u}) {
    regions_.push_back(Region(index, to_, 64));
    EXPECT_EQ(Send(), -EINVAL) << index;
    regions_.pop_back();
  }
}

TEST_F(SubmitRegionsTest, RefusesANumberTwice) {
  regions_.push_back(regions_[0]);
  EXPECT_EQ(Send(), -EINVAL);
}

TEST_F(SubmitRegionsTest, RefusesHandlesThatDoNotExist) {
  for (uint32_t handle : {0u, ~0u}) {
    regions_[0].handle = handle;
    EXPECT_EQ(Send(), -ENOENT) << handle;
  }
}

TEST_F(SubmitRegionsTest, RefusesHostBuffers) {
  regions_[0].handle = NewHost(c(), kPage)->handle;
  EXPECT_EQ(Send(), -EINVAL);
}

TEST_F(SubmitRegionsTest, RefusesOffsetsThatAreNotAligned) {
  for (uint64_t offset : {1, 4, 32, 63, 65, 96}) {
    regions_[0].offset = offset;
    EXPECT_EQ(Send(), -EINVAL) << offset;
  }
}

TEST_F(SubmitRegionsTest, RefusesNoBytes) {
  regions_[0].size = 0;
  EXPECT_EQ(Send(), -EINVAL);
}

TEST_F(SubmitRegionsTest, RefusesToLeaveTheBuffer) {
  regions_[0].size = 2 * kPage + 1;
  EXPECT_EQ(Send(), -ERANGE);
  regions_[0].size = 384;
  regions_[0].offset = 2 * kPage - 384 + 64;
  EXPECT_EQ(Send(), -ERANGE);
  regions_[0].offset = 2 * kPage;
  EXPECT_EQ(Send(), -ERANGE);
}

TEST_F(SubmitRegionsTest, RefusesToWrapAround) {
  regions_[0].offset = ~uint64_t{0} - 63;
  EXPECT_EQ(Send(), -ERANGE);
  regions_[0].offset = 64;
  regions_[0].size = ~uint64_t{0} - 63;
  EXPECT_EQ(Send(), -ERANGE);
}

TEST_F(SubmitRegionsTest, RefusesFlagsThatDoNotExist) {
  for (uint32_t bit : EachBit()) {
    if (bit == DRM_HEDDLE_REGION_WRITE) continue;
    regions_[1].flags = DRM_HEDDLE_REGION_WRITE | bit;
    EXPECT_EQ(Send(), -EINVAL) << bit;
  }
}

TEST_F(SubmitRegionsTest, RefusesPad) {
  for (uint32_t bit : EachBit()) {
    regions_[1].pad = bit;
    EXPECT_EQ(Send(), -EINVAL) << bit;
  }
}

TEST_F(SubmitRegionsTest, RefusesRegionsThatAreTooSmall) {
  regions_[0].size = 383;
  EXPECT_EQ(Send(), -ERANGE);
  regions_[0].size = 384;
  regions_[1].size = 383;
  EXPECT_EQ(Send(), -ERANGE);
}

TEST_F(SubmitRegionsTest, RefusesRegionsThatAreMissing) {
  regions_.pop_back();
  EXPECT_EQ(Send(), -ERANGE);
  regions_.clear();
  EXPECT_EQ(Send(), -ERANGE);
}

TEST_F(SubmitRegionsTest, RefusesToWriteWithoutTheFlag) {
  regions_[1].flags = 0;
  EXPECT_EQ(Send(), -ERANGE);
}

TEST_F(SubmitRegionsTest, RefusesASmallerStride) {
  for (uint32_t stride : {0u, 8u, unsigned{sizeof(drm_heddle_region) - 1}}) {
    drm_heddle_step step = RunStream(stream_, regions_);
    step.regions.stride = stride;
    EXPECT_EQ(Submit(c(), context_, {step}), -EINVAL) << stride;
  }
}

TEST_F(SubmitRegionsTest, MayHaveGrown) {
  Grown<drm_heddle_region> grown[2] = {{regions_[0], 0}, {regions_[1], 0}};
  drm_heddle_step step = RunStream(stream_);
  step.regions = ArrayOf(grown, 2);
  EXPECT_EQ(Submit(c(), context_, {step}), 0);
}

TEST_F(SubmitRegionsTest, RefusesWhatIsNotKnown) {
  Grown<drm_heddle_region> grown[2] = {{regions_[0], 0}, {regions_[1], 1}};
  drm_heddle_step step = RunStream(stream_);
  step.regions = ArrayOf(grown, 2);
  EXPECT_EQ(Submit(c(), context_, {step}), -E2BIG);
}

TEST_F(SubmitRegionsTest, RefusesBadPointers) {
  for (uint64_t bad : Driver::Get().BadPointers()) {
    drm_heddle_step step = RunStream(stream_, regions_);
    step.regions.ptr = bad;
    EXPECT_EQ(Submit(c(), context_, {step}), -EFAULT) << bad;
  }
}

}  // namespace
}  // namespace heddle::uapi
