// SPDX-License-Identifier: Apache-2.0
// BO_CREATE, BO_INFO, GEM_CLOSE and mmap.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class BoTest : public UapiTest {};

constexpr uint32_t kPlacements[] = {DRM_HEDDLE_HOST, DRM_HEDDLE_DEVICE};

TEST_F(BoTest, RoundsSizesUpToPages) {
  for (uint32_t placement : kPlacements) {
    for (uint64_t size : {uint64_t{1}, kPage - 1, kPage, kPage + 1, kMiB}) {
      uint32_t handle = 0;
      ASSERT_EQ(CreateBo(c(), size, placement, &handle), 0) << size;
      EXPECT_NE(handle, 0u);
      drm_heddle_bo_info info;
      ASSERT_EQ(BoInfo(c(), handle, &info), 0);
      EXPECT_EQ(info.size, (size + kPage - 1) / kPage * kPage) << size;
      EXPECT_EQ(info.placement, placement);
    }
  }
}

TEST_F(BoTest, RefusesSizeZero) {
  uint32_t handle;
  for (uint32_t placement : kPlacements) {
    EXPECT_EQ(CreateBo(c(), 0, placement, &handle), -EINVAL);
  }
}

TEST_F(BoTest, RefusesHostSizesThatNothingHas) {
  uint32_t handle;
  for (uint64_t size :
       std::initializer_list<uint64_t>{~uint64_t{0}, ~uint64_t{0} - kPage + 1,
                                       uint64_t{1} << 63, uint64_t{1} << 48}) {
    EXPECT_EQ(CreateBo(c(), size, DRM_HEDDLE_HOST, &handle), -ENOMEM) << size;
  }
}

TEST_F(BoTest, RefusesDeviceSizesThatNothingHas) {
  uint32_t handle;
  for (uint64_t size : std::initializer_list<uint64_t>{
           ~uint64_t{0}, ~uint64_t{0} - kPage + 1, uint64_t{1} << 63,
           uint64_t{1} << 48, MemoryInfo(c()).total + 1}) {
    EXPECT_EQ(CreateBo(c(), size, DRM_HEDDLE_DEVICE, &handle), -ENOSPC) << size;
  }
}

TEST_F(BoTest, SaysWhatIsAvailable) {
  const uint64_t total = MemoryInfo(c()).total;
  uint32_t handle;
  uint64_t available = 0;
  ASSERT_EQ(CreateBo(c(), kPage + 1, DRM_HEDDLE_DEVICE, &handle, &available),
            0);
  EXPECT_EQ(available, total - 2 * kPage);
  ASSERT_EQ(CreateBo(c(), kPage, DRM_HEDDLE_HOST, &handle, &available), 0);
  EXPECT_EQ(available, total - 2 * kPage) << "HOST buffers take none";
}

TEST_F(BoTest, SaysWhatIsAvailableWithARejection) {
  const uint64_t total = MemoryInfo(c()).total;
  NewDevice(c(), 5 * kPage);
  uint32_t handle;
  uint64_t available = 0;
  EXPECT_EQ(CreateBo(c(), total, DRM_HEDDLE_DEVICE, &handle, &available),
            -ENOSPC);
  EXPECT_EQ(available, total - 5 * kPage);
}

TEST_F(BoTest, RefusesPlacementsThatDoNotExist) {
  uint32_t handle;
  for (uint32_t placement : {2u, 3u, 0x80000000u, ~0u}) {
    EXPECT_EQ(CreateBo(c(), kPage, placement, &handle), -EINVAL) << placement;
  }
}

TEST_F(BoTest, RefusesFlags) {
  for (uint32_t bit : EachBit()) {
    drm_heddle_bo_create args = {};
    args.size = kPage;
    args.flags = bit;
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_BO_CREATE, &args), -EINVAL) << bit;
  }
}

TEST_F(BoTest, RefusesPad) {
  for (uint32_t bit : EachBit()) {
    drm_heddle_bo_create args = {};
    args.size = kPage;
    args.pad = bit;
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_BO_CREATE, &args), -EINVAL) << bit;
  }
}

TEST_F(BoTest, InfoRefusesHandlesThatDoNotExist) {
  const uint32_t bo = NewDevice(c(), kPage);
  drm_heddle_bo_info info;
  for (uint32_t handle : {0u, bo + 1, ~0u}) {
    EXPECT_EQ(BoInfo(c(), handle, &info), -ENOENT) << handle;
  }
}

TEST_F(BoTest, InfoRefusesAClosedHandle) {
  const uint32_t bo = NewDevice(c(), kPage);
  ASSERT_EQ(CloseBo(c(), bo), 0);
  drm_heddle_bo_info info;
  EXPECT_EQ(BoInfo(c(), bo, &info), -ENOENT);
}

TEST_F(BoTest, InfoGivesTheSameOffsetEachTime) {
  auto host = NewHost(c(), kPage);
  drm_heddle_bo_info a, b;
  ASSERT_EQ(BoInfo(c(), host->handle, &a), 0);
  ASSERT_EQ(BoInfo(c(), host->handle, &b), 0);
  EXPECT_EQ(a.mmap_offset, b.mmap_offset);
  EXPECT_NE(a.mmap_offset, 0u);
}

TEST_F(BoTest, DeviceBuffersHaveNoOffset) {
  drm_heddle_bo_info info;
  ASSERT_EQ(BoInfo(c(), NewDevice(c(), kPage), &info), 0);
  EXPECT_EQ(info.mmap_offset, 0u);
}

TEST_F(BoTest, HostBuffersAreZeroAtFirst) {
  auto host = NewHost(c(), kMiB);
  EXPECT_EQ(std::count(host->data, host->data + kMiB, 0), ptrdiff_t(kMiB));
}

TEST_F(BoTest, MapsTheSameMemoryTwice) {
  auto host = NewHost(c(), 2 * kPage);
  auto again = MapHost(c(), host->handle);
  std::memset(host->data, 0x17, 2 * kPage);
  EXPECT_EQ(std::memcmp(again->data, host->data, 2 * kPage), 0);
}

TEST_F(BoTest, AMappingOutlivesItsHandle) {
  auto host = NewHost(c(), kPage);
  host->data[0] = 5;
  ASSERT_EQ(CloseBo(c(), host->handle), 0);
  EXPECT_EQ(host->data[0], 5);
  host->data[kPage - 1] = 6;
}

TEST_F(BoTest, AMappingOutlivesItsFile) {
  auto other = Open();
  auto host = NewHost(other.get(), kPage);
  other = nullptr;
  host->data[kPage - 1] = 6;
  EXPECT_EQ(host->data[kPage - 1], 6);
}

TEST_F(BoTest, RefusesToMapADeviceBuffer) {
  drm_heddle_bo_info info;
  ASSERT_EQ(BoInfo(c(), NewDevice(c(), kPage), &info), 0);
  int error = 0;
  EXPECT_EQ(c()->Mmap(info.mmap_offset, kPage, &error), nullptr);
  EXPECT_EQ(error, -EINVAL);
}

TEST_F(BoTest, RefusesToMapWhereNoBufferIs) {
  auto host = NewHost(c(), 2 * kPage);
  drm_heddle_bo_info info;
  ASSERT_EQ(BoInfo(c(), host->handle, &info), 0);
  for (uint64_t offset : std::initializer_list<uint64_t>{
           uint64_t{0}, info.mmap_offset + kPage,
           info.mmap_offset + (uint64_t{1} << 40)}) {
    int error = 0;
    EXPECT_EQ(c()->Mmap(offset, kPage, &error), nullptr) << offset;
    EXPECT_EQ(error, -EINVAL) << offset;
  }
}

TEST_F(BoTest, RefusesToMapMoreThanThereIs) {
  auto host = NewHost(c(), 2 * kPage);
  drm_heddle_bo_info info;
  ASSERT_EQ(BoInfo(c(), host->handle, &info), 0);
  int error = 0;
  EXPECT_EQ(c()->Mmap(info.mmap_offset, 3 * kPage, &error), nullptr);
  EXPECT_EQ(error, -EINVAL);
}

TEST_F(BoTest, MapsLessThanThereIs) {
  auto host = NewHost(c(), 2 * kPage);
  drm_heddle_bo_info info;
  ASSERT_EQ(BoInfo(c(), host->handle, &info), 0);
  int error = 0;
  void* p = c()->Mmap(info.mmap_offset, kPage, &error);
  ASSERT_NE(p, nullptr);
  host->data[3] = 9;
  EXPECT_EQ(static_cast<uint8_t*>(p)[3], 9);
  munmap(p, kPage);
}

TEST_F(BoTest, RefusesToMapAClosedBuffer) {
  drm_heddle_bo_info info;
  auto host = NewHost(c(), kPage);
  ASSERT_EQ(BoInfo(c(), host->handle, &info), 0);
  munmap(host->data, host->size);
  host->data = nullptr;  // the last user
  ASSERT_EQ(CloseBo(c(), host->handle), 0);
  int error = 0;
  EXPECT_EQ(c()->Mmap(info.mmap_offset, kPage, &error), nullptr);
  EXPECT_EQ(error, -EINVAL);
}

TEST_F(BoTest, CloseGivesDeviceMemoryBack) {
  const uint32_t bo = NewDevice(c(), kMiB);
  EXPECT_EQ(MemoryInfo(c()).used, kMiB);
  ASSERT_EQ(CloseBo(c(), bo), 0);
  EXPECT_EQ(MemoryInfo(c()).used_here, 0u);
  // The driver may be at it still, to make it zero.
  EXPECT_TRUE(Eventually([&] { return MemoryInfo(c()).used == 0; }));
}

TEST_F(BoTest, RefusesToCloseTwice) {
  const uint32_t bo = NewDevice(c(), kPage);
  EXPECT_EQ(CloseBo(c(), bo), 0);
  EXPECT_EQ(CloseBo(c(), bo), -EINVAL);  // DRM's choice
}

TEST_F(BoTest, RefusesToCloseWhatDoesNotExist) {
  EXPECT_EQ(CloseBo(c(), 0), -EINVAL);
  EXPECT_EQ(CloseBo(c(), ~0u), -EINVAL);
}

}  // namespace
}  // namespace heddle::uapi
