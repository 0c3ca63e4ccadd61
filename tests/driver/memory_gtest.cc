// SPDX-License-Identifier: Apache-2.0
// Memory in a real kernel: pages that lie anywhere, signals, buffers shared
// with other drivers. What both drivers must do is in tests/uapi.
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "tests/driver/crumbs.h"
#include "tests/uapi/drm_nodes.h"
#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class KernelMemoryTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
  }
  uint32_t context_ = 0;
};

// A buffer whose pages lie far from each other, and one more.
class ScatteredTest : public KernelMemoryTest {
 protected:
  static constexpr uint64_t kBytes = 5120 * kPage;

  void SetUp() override {
    KernelMemoryTest::SetUp();
    device_ = NewDevice(c(), kBytes);
    crumbs_ = std::make_unique<tests::Crumbs>(kBytes / kPage);
    a_ = NewHost(c(), kBytes);
    for (uint64_t i = 0; i < kBytes; i += sizeof(uint32_t)) {
      const uint32_t value = i;
      std::memcpy(a_->data + i, &value, sizeof(value));
    }
    b_ = NewHost(c(), kBytes);
  }
  void TearDown() override {
    a_ = nullptr;
    b_ = nullptr;
    KernelMemoryTest::TearDown();
  }

  std::unique_ptr<tests::Crumbs> crumbs_;
  std::unique_ptr<HostBuffer> a_, b_;
  uint32_t device_ = 0;
};

TEST_F(ScatteredTest, IsCopiedInAndOut) {
  ASSERT_EQ(Do(c(), context_,
               {CopyIn(a_->handle, device_, kBytes),
                CopyOut(device_, b_->handle, kBytes)})
                .status,
            0u);
  EXPECT_EQ(std::memcmp(a_->data, b_->data, kBytes), 0);
}

TEST_F(ScatteredTest, IsCopiedFromAnyByteToAnyByte) {
  const uint64_t from = 5 * kPage + 3, to = 2 * kPage + 7;
  const uint64_t n = kBytes - 11 * kPage - 1;
  std::memset(b_->data, 0xee, kBytes);
  ASSERT_EQ(Do(c(), context_,
               {CopyIn(a_->handle, device_, n, from, 1),
                CopyOut(device_, b_->handle, n, 1, to)})
                .status,
            0u);
  EXPECT_EQ(std::memcmp(a_->data + from, b_->data + to, n), 0);
  EXPECT_EQ(b_->data[to - 1], 0xee);
  EXPECT_EQ(b_->data[to + n], 0xee);
}

// As many lists as a job can have, each of thousands of entries: more than the
// kernel has in one piece.
TEST_F(ScatteredTest, IsCopiedByEveryStep) {
  std::vector<drm_heddle_step> steps(DeviceInfo(c()).max_steps - 1,
                                     CopyIn(a_->handle, device_, kBytes));
  steps.push_back(CopyOut(device_, b_->handle, kBytes));
  ASSERT_EQ(Do(c(), context_, steps).status, 0u);
  EXPECT_EQ(std::memcmp(a_->data, b_->data, kBytes), 0);
}

// A copy may become many steps of the card; the submission's are what counts.
TEST_F(ScatteredTest, AFaultNamesTheStepOfTheSubmission) {
  const uint32_t stream = NewStream(c(), FaultingStream(2));
  const std::vector<drm_heddle_region> regions = {Region(2, device_, kPage)};
  for (uint32_t copies = 1; copies <= 3; ++copies) {
    std::vector<drm_heddle_step> steps(copies,
                                       CopyIn(a_->handle, device_, kBytes));
    steps.push_back(RunStream(stream, regions));
    const auto result = Do(c(), context_, steps);
    EXPECT_EQ(result.error, uint32_t{ERANGE});
    EXPECT_EQ(result.fault_step, copies);
  }
}

// Who waits for room behind other people's jobs can be interrupted, and leaves
// nothing behind.
TEST_F(KernelMemoryTest, ASignalEndsTheWaitForRoom) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  const uint64_t total = MemoryInfo(c()).total;
  Load load(c());
  int interrupted = 0;
  for (uint64_t ms = 400; interrupted != -EINTR && ms < 10000; ms *= 3) {
    const uint64_t piece = (total - MemoryInfo(c()).used) / 4 / kPage * kPage;
    const uint32_t bos[] = {NewDevice(c(), piece), NewDevice(c(), piece),
                            NewDevice(c(), piece), NewDevice(c(), piece)};
    CloseBo(c(), bos[0]);
    CloseBo(c(), bos[2]);
    const uint64_t last = load.Queue(context_, ms);
    std::atomic<bool> over{false};
    std::thread asks([&] {
      uint32_t big = 0;
      interrupted = CreateBo(c(), 2 * piece, DRM_HEDDLE_DEVICE, &big);
      over = true;
      if (interrupted == 0) {
        EXPECT_EQ(CloseBo(c(), big), 0);
      }
    });
    while (!over) {
      pthread_kill(asks.native_handle(), SIGUSR1);
      usleep(1000);
    }
    asks.join();
    EXPECT_EQ(ResultOf(c(), context_, last).status, 0u);
    CloseBo(c(), bos[1]);
    CloseBo(c(), bos[3]);
    EXPECT_TRUE(Eventually([&] { return MemoryInfo(c()).used == 16 * kMiB; }));
  }
  EXPECT_EQ(interrupted, -EINTR);
}

// One file cannot take all of a system; another one still gets what it asks
// for, and what is given back can be taken again.
TEST_F(KernelMemoryTest, AFileHasSoManyBuffers) {
  const drm_heddle_limits limits = Limits(c());
  std::vector<uint32_t> bos(limits.buffers);
  for (uint32_t& bo : bos)
    ASSERT_EQ(CreateBo(c(), kPage, DRM_HEDDLE_HOST, &bo), 0);
  uint32_t more = 0;
  EXPECT_EQ(CreateBo(c(), kPage, DRM_HEDDLE_HOST, &more), -EDQUOT);
  EXPECT_EQ(CreateBo(c(), kPage, DRM_HEDDLE_DEVICE, &more), -EDQUOT);
  EXPECT_TRUE(Eventually([&] { return MemoryInfo(c()).used == 0; }));
  auto other = Open();
  EXPECT_EQ(CreateBo(other.get(), kPage, DRM_HEDDLE_HOST, &more), 0);
  int fd = -1;
  ASSERT_EQ(ExportBo(other.get(), more, &fd), 0);
  EXPECT_EQ(ImportBo(c(), fd, &more), -EDQUOT);
  EXPECT_EQ(CloseBo(c(), bos.back()), 0);
  EXPECT_EQ(ImportBo(c(), fd, &more), 0);
  close(fd);
}

TEST_F(KernelMemoryTest, AFileHasSoManyStreams) {
  const drm_heddle_limits limits = Limits(c());
  uint32_t id = 0;
  for (uint32_t i = 0; i < limits.streams; ++i)
    ASSERT_EQ(CreateStream(c(), EmptyStream(), &id), 0) << i;
  const uint64_t used = MemoryInfo(c()).used;
  uint32_t more = 0;
  EXPECT_EQ(CreateStream(c(), EmptyStream(), &more), -EDQUOT);
  EXPECT_TRUE(Eventually([&] { return MemoryInfo(c()).used == used; }));
  EXPECT_EQ(DestroyStream(c(), id), 0);
  EXPECT_EQ(CreateStream(c(), EmptyStream(), &more), 0);
}

TEST_F(KernelMemoryTest, AFilePinsSoManyBytes) {
  const drm_heddle_limits limits = Limits(c());
  const uint32_t device = NewDevice(c(), kPage);
  const uint64_t half = limits.pinned_bytes / 2 / kPage * kPage;
  uint32_t one = 0, two = 0;
  // They have no pages before the first job that uses them.
  ASSERT_EQ(CreateBo(c(), half, DRM_HEDDLE_HOST, &one), 0);
  ASSERT_EQ(CreateBo(c(), half + 2 * kPage, DRM_HEDDLE_HOST, &two), 0);
  EXPECT_EQ(Do(c(), context_, {CopyIn(one, device, kPage)}).status, 0u);
  EXPECT_EQ(Submit(c(), context_, {CopyIn(two, device, kPage)}), -EDQUOT);
  EXPECT_EQ(Do(c(), context_, {CopyIn(one, device, kPage)}).status, 0u);
  EXPECT_EQ(CloseBo(c(), one), 0);
  EXPECT_TRUE(Eventually([&] {
    return Submit(c(), context_, {CopyIn(two, device, kPage)}) == 0;
  }));
}

// Slots of bounce buffers that are taken; with swiotlb=force, by every mapping.
uint64_t Bounced() {
  uint64_t slots = 0;
  std::ifstream("/sys/kernel/debug/swiotlb/io_tlb_used") >> slots;
  return slots;
}

// A buffer of one card, imported by another that is then removed. Both are the
// system's cards in the order of their nodes.
TEST(ImportTest, ARemovedCardHasNoMappings) {
  const std::vector<std::string> nodes = uapi::DrmNodes();
  ASSERT_GE(nodes.size(), 2u) << "two cards are needed";
  const int exporter = open(nodes[0].c_str(), O_RDWR | O_CLOEXEC);
  const int importer = open(nodes[1].c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(importer, 0);
  drm_heddle_bo_create create = {};
  create.size = 8 * kMiB;
  ASSERT_EQ(ioctl(exporter, DRM_IOCTL_HEDDLE_BO_CREATE, &create), 0);
  drm_prime_handle prime = {create.handle, DRM_RDWR | DRM_CLOEXEC, -1};
  ASSERT_EQ(ioctl(exporter, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
  const uint64_t before = Bounced();
  ASSERT_EQ(ioctl(importer, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
  ASSERT_GT(Bounced(), before + 1000) << "the importer's mapping";

  // Of a render node or an accel node.
  struct stat node = {};
  ASSERT_EQ(fstat(importer, &node), 0);
  const std::string device = "/sys/dev/char/" +
                             std::to_string(major(node.st_rdev)) + ":" +
                             std::to_string(minor(node.st_rdev)) + "/device";
  char target[4096] = {};
  ASSERT_NE(realpath(device.c_str(), target), nullptr);
  const std::string card(target), name = card.substr(card.rfind('/') + 1);
  std::ofstream(card + "/driver/unbind") << name;
  EXPECT_LE(Bounced(), before) << "mapped for a card that is gone";
  EXPECT_EQ(ioctl(importer, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), -1);
  EXPECT_EQ(errno, ENODEV);
  close(importer);
  EXPECT_LE(Bounced(), before);
  std::ofstream("/sys/bus/pci/drivers/heddle/bind") << name;
  close(prime.fd);
  close(exporter);
}

bool Ready(int fd, short events) {
  pollfd p = {fd, events, 0};
  return poll(&p, 1, 0) == 1 && (p.revents & events);
}

// Fences are explicit: the driver adds none to a shared buffer, and waits for
// none. A program adds those that another driver shall wait for.
TEST_F(KernelMemoryTest, SharedBuffersHaveTheFencesThatAProgramGivesThem) {
  auto host = NewHost(c(), kPage);
  int fd = -1;
  ASSERT_EQ(ExportBo(c(), host->handle, &fd), 0);
  const uint32_t device = NewDevice(c(), kPage), done = NewSyncobj(c());
  const uint32_t other = NewContext(c());
  auto look = [&](uint64_t) {
    // It writes to the buffer, at the end of the queue.
    const uint64_t job = NewJob(
        c(), context_,
        {Fill(device, kPage, 0x5a5a5a5a), CopyOut(device, host->handle, kPage)},
        {{}, {{done, 0, 0}}});
    const bool implicit = !Ready(fd, POLLIN) || !Ready(fd, POLLOUT);

    drm_syncobj_handle out = {};
    out.handle = done;
    out.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
    out.fd = -1;
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &out), 0);
    dma_buf_import_sync_file import = {DMA_BUF_SYNC_WRITE, out.fd};
    EXPECT_EQ(ioctl(fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import), 0);
    close(out.fd);
    const bool given = !Ready(fd, POLLIN);
    // Nor does a job of ours wait for what somebody left on the buffer.
    EXPECT_EQ(Do(c(), other, {CopyOut(device, host->handle, kPage)}).status,
              0u);

    const int over = Wait(c(), context_, job, 0);
    if (over == -ETIME) {
      EXPECT_FALSE(implicit);
      EXPECT_TRUE(given) << "others now wait for the job";
    }
    EXPECT_EQ(ResultOf(c(), context_, job).status, 0u);
    EXPECT_TRUE(Eventually([&] { return Ready(fd, POLLIN); }));
    EXPECT_EQ(host->Word(0), 0x5a5a5a5au);
    return over;
  };
  EXPECT_EQ(WhileBusy(c(), context_, look), -ETIME);
  close(fd);
}

}  // namespace
}  // namespace heddle::uapi
