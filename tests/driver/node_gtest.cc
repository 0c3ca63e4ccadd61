// SPDX-License-Identifier: Apache-2.0
// In the guest: what a render node does beside the ioctls, and what clients can
// make the driver do: poll(), sync files, dumps, messages, wakes.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "rtl/spec/generated/heddle_hw.h"
#include "tests/driver/card_files.h"
#include "tests/guest/host_request.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/client.h"
#include "tests/uapi/streams.h"

namespace heddle::tests {
namespace {

using uapi::Client;

class Node : public Client {
 public:
  Node() : fd_(open(CardNode().c_str(), O_RDWR | O_CLOEXEC)) {
    EXPECT_GE(fd_, 0);
  }
  ~Node() override { close(fd_); }
  int Ioctl(unsigned long request, void* arg) override {
    return ioctl(fd_, request, arg) == 0 ? 0 : -errno;
  }
  void* Mmap(uint64_t, size_t, int* error) override {
    *error = -ENOSYS;
    return nullptr;
  }
  // What poll() says after at most `ms`.
  int Poll(int ms) {
    pollfd p = {fd_, POLLIN, 0};
    EXPECT_GE(poll(&p, 1, ms), 0);
    return p.revents;
  }

 private:
  const int fd_;
};

size_t Count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++n;
  }
  return n;
}

void Ctl(const std::string& command) {
  const HostAnswer answer = HostRequest("ctl 0 " + command);
  ASSERT_TRUE(answer.ok) << answer.text;
}

// A card that only computes has no frame buffers, whichever kernel it runs on:
// they would be buffers beside those that BO_CREATE checks.
TEST(NodeTest, MakesNoDumbBuffers) {
  Node c;
  drm_mode_create_dumb dumb = {};
  dumb.width = dumb.height = 64;
  dumb.bpp = 32;
  EXPECT_NE(c.Ioctl(DRM_IOCTL_MODE_CREATE_DUMB, &dumb), 0);
  EXPECT_EQ(dumb.handle, 0u);
  for (const std::string& name : Entries(CardFolder() + "/drm")) {
    if (name.compare(0, 4, "card") != 0) continue;
    const int fd = open(("/dev/dri/" + name).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0) << name;
    EXPECT_EQ(ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), -1) << name;
    EXPECT_EQ(errno, ENOSYS) << name;
    close(fd);
  }
}

TEST(NodeTest, IsReadableWhenThereAreEvents) {
  Node node;
  uapi::NewDevice(&node, uapi::kPage);  // the card stays awake
  EXPECT_EQ(node.Poll(0), 0);
  Ctl("memory 256M");
  EXPECT_EQ(node.Poll(20000), POLLIN);
  drm_heddle_event event = {};
  EXPECT_EQ(uapi::NextEvent(&node, 0, &event), 0);
  EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_MEMORY + 0u);
  EXPECT_EQ(node.Poll(0), 0);
  Ctl("memory 512M");
  EXPECT_EQ(node.Poll(20000), POLLIN);
}

// A card on which nobody has memory.
void WaitUntilAsleep() {
  const std::string status = CardFolder() + "/power/runtime_status";
  for (int i = 0; i < 6000 && ReadFile(status) != "suspended\n"; ++i) {
    usleep(10000);
  }
  EXPECT_EQ(ReadFile(status), "suspended\n");
}

// Its size changes while it sleeps, and cannot tell.
TEST(NodeTest, ACardThatWakesTellsOfItsMemory) {
  Node node;
  WaitUntilAsleep();
  Ctl("memory 256M");
  uapi::NewDevice(&node, uapi::kPage);
  EXPECT_EQ(node.Poll(20000), POLLIN);
  Ctl("memory 512M");
  drm_heddle_event event = {};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(uapi::NextEvent(&node, uapi::InMs(20000), &event), 0);
  }
  EXPECT_EQ(uapi::MemoryInfo(&node).total, event.value);
}

// A fence that user space keeps when driver and card have gone.
TEST(NodeTest, ASyncFileOutlivesTheCard) {
  int file = -1;
  {
    Node node;
    const uint32_t context = uapi::NewContext(&node, 2);
    const uint32_t stream = uapi::NewStream(&node, uapi::EmptyStream());
    const uint32_t syncobj = uapi::NewSyncobj(&node);
    uapi::Syncs syncs;
    syncs.out.push_back({syncobj, 0, 0});
    const uint64_t seqno =
        uapi::NewJob(&node, context, {uapi::RunStream(stream)}, syncs);
    EXPECT_EQ(uapi::ResultOf(&node, context, seqno).status, 0u);
    drm_syncobj_handle handle = {};
    handle.handle = syncobj;
    handle.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
    ASSERT_EQ(node.Ioctl(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), 0);
    file = handle.fd;
  }
  const std::string folder = CardFolder();
  const std::string address = folder.substr(folder.rfind('/') + 1);
  ASSERT_TRUE(WriteFile("/sys/bus/pci/drivers/heddle/unbind", address));
  usleep(200000);  // its memory is freed after a grace period
  sync_fence_info fence = {};
  sync_file_info info = {};
  info.num_fences = 1;
  info.sync_fence_info = reinterpret_cast<uint64_t>(&fence);
  EXPECT_EQ(ioctl(file, SYNC_IOC_FILE_INFO, &info), 0);
  EXPECT_EQ(info.status, 1);
  EXPECT_STREQ(fence.obj_name, "heddle");
  // Nor does the code go that the fence needs.
  EXPECT_NE(syscall(SYS_delete_module, "heddle", O_NONBLOCK), 0);
  EXPECT_EQ(errno, EWOULDBLOCK);
  ASSERT_TRUE(WriteFile("/sys/bus/pci/drivers/heddle/bind", address));
  close(file);
}

// How often the watchdog has run since the events were cleared.
class WatchRuns {
 public:
  WatchRuns() {
    mount("tracefs", kTrace, "tracefs", 0, nullptr);
    ok_ = WriteFile(kEnable, "1");
  }
  ~WatchRuns() { WriteFile(kEnable, "0"); }
  // False: a kernel without such events.
  bool ok() const { return ok_; }
  size_t During(int ms) {
    WriteFile(std::string(kTrace) + "/trace", "");
    usleep(ms * 1000);
    return Count(ReadFile(std::string(kTrace) + "/trace"), "heddle_watch");
  }

 private:
  static constexpr char kTrace[] = "/sys/kernel/tracing";
  static constexpr char kEnable[] =
      "/sys/kernel/tracing/events/workqueue/workqueue_execute_start/enable";
  bool ok_ = false;
};

// Nobody looks at a card that sleeps, nor at one that nobody has open.
TEST(NodeTest, ACardThatSleepsIsLeftAlone) {
  WatchRuns runs;
  if (!runs.ok()) GTEST_SKIP() << "this kernel has no events";
  {
    Node node;
    const uint32_t context = uapi::NewContext(&node, 2);
    const uint32_t stream = uapi::NewStream(&node, uapi::EmptyStream());
    EXPECT_EQ(uapi::Do(&node, context, {uapi::RunStream(stream)}).status, 0u);
    size_t seen = 0;
    for (int i = 0; i < 20 && seen == 0; ++i) seen = runs.During(600);
    EXPECT_GT(seen, 0u) << "it is awake";
    EXPECT_EQ(uapi::DestroyStream(&node, stream), 0);
    WaitUntilAsleep();
    runs.During(600);  // the look that found it asleep
    EXPECT_EQ(runs.During(1500), 0u);
  }
  EXPECT_EQ(runs.During(1500), 0u);
}

// A job that makes progress for long is not the end of everybody's patience:
// it ends with its file.
TEST(NodeTest, ClosingAFileAbortsWhatItRuns) {
  constexpr uint64_t kBytes = 256 << 20;
  constexpr uint64_t kSteps = 64;
  Node other;
  const uint32_t context = uapi::NewContext(&other, 2);
  const uint32_t stream = uapi::NewStream(&other, uapi::EmptyStream());
  EXPECT_EQ(uapi::Do(&other, context, {uapi::RunStream(stream)}).status, 0u);
  const uint64_t resets = uapi::Counters(&other).resets;
  uint64_t before = 0;
  {
    Node node;
    const uint32_t mine = uapi::NewContext(&node, 2);
    const uint32_t buffer = uapi::NewDevice(&node, kBytes);
    EXPECT_EQ(
        uapi::Do(&node, mine, {uapi::Fill(buffer, uapi::kPage, 1)}).status, 0u);
    before = CardStatus("progress");
    uapi::NewJob(
        &node, mine,
        std::vector<drm_heddle_step>(kSteps, uapi::Fill(buffer, kBytes, 1)));
    for (int i = 0; i < 60000 && CardStatus("progress") == before; ++i) {
      usleep(1000);
    }
  }
  EXPECT_EQ(uapi::Do(&other, context, {uapi::RunStream(stream)}).status, 0u);
  EXPECT_LT(CardStatus("progress") - before, kSteps * kBytes / uapi::kPage)
      << "it ran to its end";
  EXPECT_EQ(uapi::Counters(&other).resets, resets + 1);
  drm_heddle_event event = {};
  EXPECT_EQ(uapi::NextEvent(&other, 0, &event), -ETIME) << "it is no hang";
}

int Control(Client* c, drm_heddle_context_control* args) {
  return c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CONTROL, args);
}

TEST(NodeTest, AContextHasARunLimit) {
  Node node;
  const uint64_t limit =
      uapi::Query<drm_heddle_limits>(&node, DRM_HEDDLE_QUERY_LIMITS).run_cycles;
  const uint32_t buffer = uapi::NewDevice(&node, 1 << 20);
  drm_heddle_context_control args = {};
  args.context = uapi::NewContext(&node, 2);
  EXPECT_EQ(Control(&node, &args), 0);
  EXPECT_EQ(args.run_cycles, limit);
  EXPECT_EQ(args.state, DRM_HEDDLE_CONTEXT_USABLE + 0u);
  EXPECT_EQ(args.hangs, 0u);
  args.flags = DRM_HEDDLE_CONTROL_RUN_CYCLES;
  args.run_cycles = 10000;
  EXPECT_EQ(Control(&node, &args), 0);
  EXPECT_EQ(args.run_cycles, 10000u);
  EXPECT_EQ(uapi::Submit(&node, args.context, {uapi::Fill(buffer, 1 << 20, 1)}),
            -EFBIG);
  EXPECT_EQ(uapi::Do(&node, args.context, {uapi::Fill(buffer, uapi::kPage, 1)})
                .status,
            0u);
  args.run_cycles = 1;
  EXPECT_EQ(Control(&node, &args), 0);
  const uint32_t stream = uapi::NewStream(&node, uapi::EmptyStream());
  EXPECT_EQ(uapi::Submit(&node, args.context, {uapi::RunStream(stream)}),
            -EFBIG);
  args.run_cycles = 0;
  EXPECT_EQ(Control(&node, &args), 0);
  EXPECT_EQ(args.run_cycles, limit);
  EXPECT_EQ(
      uapi::Do(&node, args.context, {uapi::Fill(buffer, 1 << 20, 1)}).status,
      0u);
  args.run_cycles = limit + 1;
  EXPECT_EQ(Control(&node, &args), 0) << "it may: it is root";
  args.context += 1000;
  EXPECT_EQ(Control(&node, &args), -ENOENT);
}

// With long jobs of another file about, without pause, most jobs take as long
// as alone: not one of the others' each.
TEST(NodeTest, LongJobsOfOthersDoNotStandInTheWay) {
  constexpr int kJobs = 21;
  Node node;
  const uint32_t context = uapi::NewContext(&node, 2);
  const uint32_t stream = uapi::NewStream(&node, uapi::EmptyStream());
  auto median = [&] {
    std::vector<uint64_t> took;
    for (int i = 0; i < kJobs; ++i) {
      const uint64_t before = uapi::NowNs();
      EXPECT_EQ(uapi::Do(&node, context, {uapi::RunStream(stream)}).status, 0u);
      took.push_back(uapi::NowNs() - before);
    }
    std::sort(took.begin(), took.end());
    return took[kJobs / 2];
  };
  const uint64_t alone = median();
  Node greedy;
  const uint32_t contexts[] = {uapi::NewContext(&greedy, 2),
                               uapi::NewContext(&greedy, 2)};
  const uint32_t buffer = uapi::NewDevice(&greedy, 64 << 20);
  // Each job a hundred times as long as one of ours.
  const std::vector<drm_heddle_step> step = {uapi::Fill(buffer, 64 << 20, 1)};
  EXPECT_EQ(uapi::Do(&greedy, contexts[0], step).status, 0u);
  const uint64_t start = uapi::NowNs();
  EXPECT_EQ(uapi::Do(&greedy, contexts[0], step).status, 0u);
  const uint64_t step_ns = uapi::NowNs() - start;
  const std::vector<drm_heddle_step> steps(
      std::min<uint64_t>(
          std::max<uint64_t>(100 * alone, 300000000) / step_ns + 1, 64),
      step[0]);
  for (int i = 0; i < 200; ++i) {
    uapi::NewJob(&greedy, contexts[i % 2], steps);
  }
  const uint64_t beside = median();
  EXPECT_LT(beside, steps.size() * step_ns / 4)
      << alone << " ns alone, their jobs take " << steps.size() * step_ns;
  std::printf("median: %llu us alone, %llu us beside jobs of %llu us\n",
              static_cast<unsigned long long>(alone / 1000),
              static_cast<unsigned long long>(beside / 1000),
              static_cast<unsigned long long>(steps.size() * step_ns / 1000));
}

// Who has not been there for a while waits for what the card has already, not
// for everything that others have queued.
TEST(NodeTest, ANewcomerWaitsForTwoJobs) {
  constexpr int kContexts = 8;
  constexpr int kJobs = 4;  // of each
  Node node;
  const uint32_t context = uapi::NewContext(&node, 2);
  const uint32_t stream = uapi::NewStream(&node, uapi::EmptyStream());
  EXPECT_EQ(uapi::Do(&node, context, {uapi::RunStream(stream)}).status, 0u);
  Node greedy;
  const uint32_t buffer = uapi::NewDevice(&greedy, 64 << 20);
  const std::vector<drm_heddle_step> steps(16, uapi::Fill(buffer, 64 << 20, 1));
  EXPECT_EQ(uapi::Do(&greedy, uapi::NewContext(&greedy, 2), {steps[0]}).status,
            0u);
  usleep(1500000);  // after a second nobody is expected any more
  for (int i = 0; i < kContexts; ++i) {
    const uint32_t id = uapi::NewContext(&greedy, 2);
    for (int n = 0; n < kJobs; ++n) uapi::NewJob(&greedy, id, steps);
  }
  const uint64_t before = uapi::Counters(&node).jobs;
  EXPECT_EQ(uapi::Do(&node, context, {uapi::RunStream(stream)}).status, 0u);
  // One more may end before its own is queued, and its own counts, too.
  EXPECT_LE(uapi::Counters(&node).jobs - before, 2u + 2u);
}

// On a core with timing, a job that runs for longer than its bound said. (No
// job does; one that hangs takes cycles as well as time.)
TEST(TimedTest, AJobEndsWithItsCycles) {
  Node node;
  drm_heddle_context_control args = {};
  args.context = uapi::NewContext(&node, 2);
  args.flags = DRM_HEDDLE_CONTROL_RUN_CYCLES;
  args.run_cycles = 100000;
  const uint32_t stream = uapi::NewStream(&node, uapi::EmptyStream());
  EXPECT_EQ(uapi::Do(&node, args.context, {uapi::RunStream(stream)}).status,
            0u);
  EXPECT_EQ(Control(&node, &args), 0);
  Ctl("fault stuck_engine");
  const uint64_t begin = uapi::NowNs();
  const uint64_t seqno =
      uapi::NewJob(&node, args.context, {uapi::RunStream(stream)});
  EXPECT_EQ(uapi::ResultOf(&node, args.context, seqno).status,
            HEDDLE_ERROR_TIMEOUT + 0u);
  // Long before the limit of a job without progress, two minutes.
  EXPECT_LT(uapi::NowNs() - begin, 100'000'000'000u);
}

// How often the kernel's log says that a job was aborted.
size_t Warnings() {
  std::string log(1 << 20, 0);
  const int bytes = klogctl(3, &log[0], static_cast<int>(log.size()));
  log.resize(bytes > 0 ? bytes : 0);
  return Count(log, ": aborting it");
}

// Dumps and messages that a client causes are limited, per card: ten in the ten
// minutes from the first one.
TEST(NodeTest, HangsDoNotFillTheLog) {
  constexpr int kHangs = 11;
  const std::string folder = CardFolder();
  const std::string address = folder.substr(folder.rfind('/') + 1);
  ASSERT_TRUE(WriteFile("/sys/bus/pci/drivers/heddle/unbind", address));
  ASSERT_TRUE(WriteFile("/sys/bus/pci/drivers/heddle/bind", address));
  // By name: one that was given back is listed for a moment longer.
  std::set<std::string> dumps;
  const size_t before = Warnings();
  for (int i = 0; i < kHangs; ++i) {
    Node node;  // a file that hangs too often is banned
    const uint32_t context = uapi::NewContext(&node, 2);
    const uint32_t stream = uapi::NewStream(&node, uapi::EmptyStream());
    Ctl("fault stuck_engine");
    const uint64_t seqno =
        uapi::NewJob(&node, context, {uapi::RunStream(stream)}, {}, 1);
    EXPECT_EQ(uapi::ResultOf(&node, context, seqno).status,
              HEDDLE_ERROR_TIMEOUT + 0u)
        << i;
    drm_heddle_event event = {};
    EXPECT_EQ(uapi::NextEvent(&node, uapi::InMs(60000), &event), 0);
    for (const std::string& name : Entries("/sys/class/devcoredump")) {
      if (name.compare(0, 5, "devcd") != 0) continue;
      dumps.insert(name);
      WriteFile("/sys/class/devcoredump/" + name + "/data", "0");
    }
  }
  EXPECT_GT(Warnings() - before, 0u);
  EXPECT_FALSE(dumps.empty());
  EXPECT_LT(dumps.size(), static_cast<size_t>(kHangs));
  EXPECT_LT(Warnings() - before, static_cast<size_t>(kHangs));
}

}  // namespace
}  // namespace heddle::tests
