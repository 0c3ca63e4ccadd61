// SPDX-License-Identifier: Apache-2.0
// PRIME: HOST buffers as descriptors, between files.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class PrimeTest : public UapiTest {};

TEST_F(PrimeTest, SharesMemoryBetweenFiles) {
  auto other = Open();
  auto mine = NewHost(c(), 2 * kPage);
  int fd = -1;
  uint32_t theirs = 0;
  ASSERT_EQ(ExportBo(c(), mine->handle, &fd), 0);
  ASSERT_EQ(ImportBo(other.get(), fd, &theirs), 0);
  close(fd);
  drm_heddle_bo_info info;
  ASSERT_EQ(BoInfo(other.get(), theirs, &info), 0);
  EXPECT_EQ(info.size, 2 * kPage);
  EXPECT_EQ(info.placement, DRM_HEDDLE_HOST + 0u);
  auto view = MapHost(other.get(), theirs);
  std::memset(mine->data, 0x42, 2 * kPage);
  EXPECT_EQ(std::memcmp(view->data, mine->data, 2 * kPage), 0);
}

TEST_F(PrimeTest, CopiesFromAndToAnImportedBuffer) {
  auto other = Open();
  auto mine = NewHost(c(), kPage);
  std::memset(mine->data, 0x11, kPage / 2);
  int fd = -1;
  uint32_t theirs = 0;
  ASSERT_EQ(ExportBo(c(), mine->handle, &fd), 0);
  ASSERT_EQ(ImportBo(other.get(), fd, &theirs), 0);
  close(fd);
  const uint32_t context = NewContext(other.get());
  const uint32_t bo = NewDevice(other.get(), kPage);
  EXPECT_EQ(Do(other.get(), context,
               {CopyIn(theirs, bo, kPage / 2),
                CopyOut(bo, theirs, kPage / 2, 0, kPage / 2)})
                .status,
            0u);
  EXPECT_EQ(std::memcmp(mine->data, mine->data + kPage / 2, kPage / 2), 0);
}

TEST_F(PrimeTest, AnImportOutlivesTheExporter) {
  auto other = Open();
  auto mine = NewHost(other.get(), kPage);
  mine->data[7] = 70;
  int fd = -1;
  uint32_t handle = 0;
  ASSERT_EQ(ExportBo(other.get(), mine->handle, &fd), 0);
  other = nullptr;
  ASSERT_EQ(ImportBo(c(), fd, &handle), 0);
  close(fd);
  EXPECT_EQ(MapHost(c(), handle)->data[7], 70);
}

TEST_F(PrimeTest, GivesTheSameHandleForTheSameBuffer) {
  auto mine = NewHost(c(), kPage);
  int fd = -1;
  uint32_t handle = 0;
  ASSERT_EQ(ExportBo(c(), mine->handle, &fd), 0);
  ASSERT_EQ(ImportBo(c(), fd, &handle), 0);
  EXPECT_EQ(handle, mine->handle);
  close(fd);
}

TEST_F(PrimeTest, RefusesToExportDeviceMemory) {
  int fd = -1;
  EXPECT_EQ(ExportBo(c(), NewDevice(c(), kPage), &fd), -EOPNOTSUPP);
}

TEST_F(PrimeTest, RefusesToExportWhatDoesNotExist) {
  int fd = -1;
  EXPECT_EQ(ExportBo(c(), 0, &fd), -ENOENT);
  EXPECT_EQ(ExportBo(c(), ~0u, &fd), -ENOENT);
}

TEST_F(PrimeTest, RefusesExportFlagsThatDoNotExist) {
  auto mine = NewHost(c(), kPage);
  for (uint32_t bit : EachBit()) {
    if (bit & (DRM_CLOEXEC | DRM_RDWR)) continue;
    drm_prime_handle args = {mine->handle, bit, -1};
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_PRIME_HANDLE_TO_FD, &args), -EINVAL) << bit;
  }
}

TEST_F(PrimeTest, RefusesToImportNoDescriptor) {
  uint32_t handle = 0;
  EXPECT_EQ(ImportBo(c(), -1, &handle), -EBADF);
  EXPECT_EQ(ImportBo(c(), 1 << 20, &handle), -EBADF);
}

TEST_F(PrimeTest, RefusesToImportWhatIsNoBuffer) {
  uint32_t handle = 0;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(ImportBo(c(), null, &handle), -EINVAL);
  close(null);
  // Whose owner could take it away from the card.
  const int loose = memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(loose, kPage), 0);
  EXPECT_EQ(ImportBo(c(), loose, &handle), -EINVAL);
  close(loose);
}

}  // namespace
}  // namespace heddle::uapi
