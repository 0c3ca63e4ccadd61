// SPDX-License-Identifier: Apache-2.0
// In the guest: a card goes while jobs are traced. Whoever waits is told so,
// and nothing of the traces stays.
#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/driver/card_files.h"
#include "tests/guest/host_request.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/client.h"
#include "tests/uapi/streams.h"

namespace heddle::tests {
namespace {

using uapi::Client;
using Entries = std::vector<drm_heddle_trace_entry>;

constexpr int kTraced = 32;
// 1 MiB each. (Pieces of 2 MiB that are given back would wait in a list of the
// processor's, where nobody counts them as free.)
constexpr uint32_t kRoom = (1 << 20) / sizeof(drm_heddle_trace_entry);

// KiB that the kernel could give to somebody.
int64_t Available() {
  const std::string text = ReadFile("/proc/meminfo");
  const size_t at = text.find("MemAvailable:");
  EXPECT_NE(at, std::string::npos);
  return at == std::string::npos ? 0 : std::atoll(&text[at + 13]);
}

class TraceLossTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    before_ = Available();
    int error = 0;
    client_ = uapi::Driver::Get().Open(&error);
    ASSERT_NE(client_, nullptr) << error;
    bo_ = uapi::NewDevice(client_.get(), uapi::kPage);
    stream_ = uapi::NewStream(client_.get(), uapi::CopyStream(0, 1, 256));
    regions_ = {
        uapi::Region(0, bo_, 256),
        uapi::Region(1, bo_, 256, DRM_HEDDLE_REGION_WRITE, 1024),
    };
  }

  // The card comes back.
  void TearDown() override {
    client_.reset();
    if (std::string(GetParam()) == "kill") {
      EXPECT_TRUE(HostRequest("unplug 0").ok);
    }
    const HostAnswer answer = HostRequest("plug 0");
    ASSERT_TRUE(answer.ok) << answer.text;
    for (int i = 0; i < 6000; ++i) {
      int error = 0;
      if (uapi::Driver::Get().Open(&error) != nullptr) return;
      usleep(10000);
    }
    FAIL() << "no node for the new card";
  }

  uint64_t Traced(uint32_t context, uint32_t entries) {
    const std::vector<drm_heddle_step> steps = {
        uapi::RunStream(stream_, regions_)};
    drm_heddle_submit args = uapi::SubmitArgs(context, steps);
    args.flags = DRM_HEDDLE_SUBMIT_TRACE;
    args.trace_entries = entries;
    EXPECT_EQ(client_->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &args), 0);
    return args.seqno;
  }
  int Read(uint32_t context, uint64_t seqno, Entries* trace) {
    drm_heddle_wait args = {};
    args.context = context;
    args.seqno = seqno;
    args.deadline_ns = uapi::InMs(120000);
    args.trace = uapi::ArrayOf(*trace);
    return client_->Ioctl(DRM_IOCTL_HEDDLE_WAIT, &args);
  }

  std::unique_ptr<Client> client_;
  uint32_t bo_ = 0, stream_ = 0;
  std::vector<drm_heddle_region> regions_;
  int64_t before_ = 0;
};

TEST_P(TraceLossTest, TellsAndKeepsNothing) {
  const uint32_t first = uapi::NewContext(client_.get());
  const uint64_t ended = Traced(first, 2);
  Entries complete(2);
  ASSERT_EQ(Read(first, ended, &complete), 0);
  ASSERT_NE(complete[1].flags & DRM_HEDDLE_TRACE_VALID, 0);

  const HostAnswer armed = HostRequest("ctl 0 fault stuck_engine");
  ASSERT_TRUE(armed.ok) << armed.text;
  std::vector<uint32_t> contexts;
  std::vector<uint64_t> jobs;
  for (int i = 0; i < kTraced; ++i) {
    contexts.push_back(uapi::NewContext(client_.get()));
    jobs.push_back(Traced(contexts[i], kRoom));
  }
  EXPECT_LT(Available(), before_ - 24 * 1024) << "the traces take no memory";
  // One waits for the job that runs, the others ask afterwards.
  Entries waited(2);
  std::memset(waited.data(), 0xee, waited.size() * sizeof(waited[0]));
  int told = 0;
  std::thread waiter([&] { told = Read(contexts[0], jobs[0], &waited); });
  usleep(200000);
  EXPECT_TRUE(HostRequest(std::string(GetParam()) + " 0").ok);
  waiter.join();
  EXPECT_EQ(told, -ENODEV);
  EXPECT_EQ(waited[0].tag, 0xeeeeeeeeu) << "half of a trace";
  for (int i = 1; i < kTraced; ++i) {
    EXPECT_EQ(Read(contexts[i], jobs[i], &waited), -ENODEV) << i;
  }
  // Of the one that had ended: all of it, or that there is nothing more.
  Entries again(2);
  const int err = Read(first, ended, &again);
  if (err == 0) {
    EXPECT_EQ(std::memcmp(again.data(), complete.data(),
                          complete.size() * sizeof(complete[0])),
              0);
  } else {
    EXPECT_EQ(err, -ENODEV);
  }

  client_.reset();
  int64_t after = 0;
  std::string references;
  for (int i = 0; i < 1000; ++i) {
    after = Available();
    references = ReadFile("/sys/module/heddle/refcnt");
    if (after > before_ - 8 * 1024 && references == "0\n") break;
    usleep(10000);
  }
  EXPECT_GT(after, before_ - 8 * 1024) << "KiB, of " << before_;
  EXPECT_EQ(references, "0\n") << "somebody keeps the driver";
}

// By surprise, and as somebody who asks the driver first.
INSTANTIATE_TEST_SUITE_P(Ways, TraceLossTest, testing::Values("kill", "unplug"),
                         [](const auto& way) {
                           return std::string(way.param);
                         });

}  // namespace
}  // namespace heddle::tests
