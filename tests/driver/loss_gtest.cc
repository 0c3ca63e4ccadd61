// SPDX-License-Identifier: Apache-2.0
// In the guest: a card that goes on writing to host memory when it was told to
// stop. Whoever gets the pages that it had, finds in them what he wrote: after
// a removal, and (faults_gtest) after resets that failed.
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "tests/driver/card_files.h"
#include "tests/driver/freed_pages.h"
#include "tests/guest/host_request.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/client.h"

namespace heddle::tests {
namespace {

using uapi::Client;

constexpr uint64_t kBytes = 4 << 20;
constexpr uint64_t kPages = kBytes / uapi::kPage;

// While it lives, this thread runs as soon as what it waits for has happened:
// on one processor, before who brought it about sleeps and is woken again.
class BeforeAllOthers {
 public:
  BeforeAllOthers() {
    const sched_param urgent = {1};
    EXPECT_EQ(sched_setscheduler(0, SCHED_FIFO, &urgent), 0);
  }
  ~BeforeAllOthers() {
    const sched_param usual = {0};
    EXPECT_EQ(sched_setscheduler(0, SCHED_OTHER, &usual), 0);
  }
};

class LossTest : public testing::Test {
 protected:
  void SetUp() override {
    int error = 0;
    client_ = uapi::Driver::Get().Open(&error);
    ASSERT_NE(client_, nullptr) << error;
    context_ = uapi::NewContext(client_.get(), 2);
    const uint32_t buffer = uapi::NewDevice(client_.get(), kBytes);
    host_ = uapi::NewHost(client_.get(), kBytes);
    std::memset(host_->data, 0, kBytes);
    const HostAnswer armed = HostRequest("ctl 0 fault runaway_dma");
    ASSERT_TRUE(armed.ok) << armed.text;
    const uint32_t syncobj = uapi::NewSyncobj(client_.get());
    uapi::Syncs syncs;
    syncs.out.push_back({syncobj, 0, 0});
    seqno_ =
        uapi::NewJob(client_.get(), context_,
                     {uapi::CopyOut(buffer, host_->handle, kBytes)}, syncs);
    drm_syncobj_handle handle = {};
    handle.handle = syncobj;
    handle.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
    ASSERT_EQ(client_->Ioctl(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), 0);
    fence_ = handle.fd;
    // Where pages are scattered it is many copies, of which the first runs
    // away.
    for (int i = 0; i < 6000 && host_->Word(0) == 0; ++i) usleep(10000);
    ASSERT_NE(host_->Word(0), 0u) << "the card does not write";
  }

  // The card takes itself back.
  void TearDown() override {
    close(fence_);
    host_.reset();
    client_.reset();
    EXPECT_TRUE(HostRequest("unplug 0").ok);
    const HostAnswer answer = HostRequest("plug 0");
    ASSERT_TRUE(answer.ok) << answer.text;
    for (int i = 0; i < 6000; ++i) {
      int error = 0;
      if (uapi::Driver::Get().Open(&error) != nullptr) return;
      usleep(10000);
    }
    FAIL() << "no node for the new card";
  }

  // The fence has signalled: the pages are the client's, who gives them back.
  void ExpectPagesAreFree() {
    host_.reset();
    client_.reset();
    ExpectNobodyWritesToFreedPages(kPages);
  }

  std::unique_ptr<Client> client_;
  std::unique_ptr<uapi::HostBuffer> host_;
  uint32_t context_ = 0;
  uint64_t seqno_ = 0;
  int fence_ = -1;  // of the job, as a file that outlives the card's node
};

TEST_F(LossTest, NothingIsWrittenAfterRemoval) {
  const std::string folder = CardFolder();
  const std::string address = folder.substr(folder.rfind('/') + 1);
  std::thread unbind([&] {
    EXPECT_TRUE(WriteFile("/sys/bus/pci/drivers/heddle/unbind", address));
  });
  {
    // Soon after the fence, the kernel takes the bus from a card without a
    // driver. (WAIT may tell that the card goes before it has gone.)
    BeforeAllOthers self;
    pollfd fence = {fence_, POLLIN, 0};
    EXPECT_EQ(poll(&fence, 1, 120000), 1);
    EXPECT_FALSE(MastersBus()) << "its client believes that it has ended";
  }
  EXPECT_EQ(uapi::Wait(client_.get(), context_, seqno_, uapi::InMs(120000)),
            -ENODEV);
  ExpectPagesAreFree();
  unbind.join();
  // Nor does the next driver give it the bus before it has stopped.
  WriteFile("/sys/bus/pci/drivers/heddle/bind", address);
  EXPECT_FALSE(MastersBus());
}

}  // namespace
}  // namespace heddle::tests
