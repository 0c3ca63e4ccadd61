// SPDX-License-Identifier: Apache-2.0
// Files and processes beside each other on one card.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class SharingTest : public UapiTest {
 protected:
  void SetUp() override {
    UapiTest::SetUp();
    other_ = Open();
    ASSERT_NE(other_, nullptr);
  }
  void TearDown() override {
    other_ = nullptr;
    UapiTest::TearDown();
  }
  Client* other() { return other_.get(); }

  std::unique_ptr<Client> other_;
};

// Ids may repeat between files, so what is asked for is one that the other has
// and this one has not.
template <typename Make>
uint32_t Foreign(Client* theirs, const Make& make) {
  uint32_t id = 0;
  for (int i = 0; i < 20; ++i) id = make(theirs);
  return id;
}

// Rounds of copy in, run, copy out; how many were right.
int Rounds(Client* c, uint8_t seed, int count) {
  const uint32_t context = NewContext(c);
  auto in = NewHost(c, kPage), out = NewHost(c, kPage);
  const uint32_t a = NewDevice(c, kPage), b = NewDevice(c, kPage);
  const uint32_t stream = NewStream(c, CopyStream(0, 1, kPage));
  const std::vector<drm_heddle_region> regions = {
      Region(0, a, kPage), Region(1, b, kPage, DRM_HEDDLE_REGION_WRITE)};
  int good = 0;
  for (int i = 0; i < count; ++i) {
    for (uint64_t at = 0; at < kPage; ++at) in->data[at] = seed + i + at / 16;
    good += Do(c, context,
               {CopyIn(in->handle, a, kPage), RunStream(stream, regions),
                CopyOut(b, out->handle, kPage)})
                    .status == 0 &&
            std::memcmp(in->data, out->data, kPage) == 0;
  }
  return good;
}

TEST_F(SharingTest, ContextsAreTheFilesOwn) {
  const uint32_t theirs =
      Foreign(other(), [](Client* client) { return NewContext(client); });
  const uint32_t stream = NewStream(c(), EmptyStream());
  EXPECT_EQ(Submit(c(), theirs, {RunStream(stream)}), -ENOENT);
  EXPECT_EQ(Wait(c(), theirs, 1, 0), -ENOENT);
  EXPECT_EQ(DestroyContext(c(), theirs), -ENOENT);
  EXPECT_EQ(DestroyContext(other(), theirs), 0);
}

TEST_F(SharingTest, BuffersAreTheFilesOwn) {
  const uint32_t theirs =
      Foreign(other(), [](Client* client) { return NewDevice(client, kPage); });
  const uint32_t context = NewContext(c());
  auto host = NewHost(c(), kPage);
  drm_heddle_bo_info info;
  EXPECT_EQ(BoInfo(c(), theirs, &info), -ENOENT);
  EXPECT_EQ(CloseBo(c(), theirs), -EINVAL);
  EXPECT_EQ(Submit(c(), context, {CopyOut(theirs, host->handle, kPage)}),
            -ENOENT);
  EXPECT_EQ(Submit(c(), context, {Fill(theirs, kPage, 1)}), -ENOENT);
  EXPECT_EQ(BoInfo(other(), theirs, &info), 0);
}

TEST_F(SharingTest, HostBuffersCannotBeMappedByOthers) {
  const uint32_t theirs = Foreign(
      other(), [](Client* client) { return NewHost(client, kPage)->handle; });
  drm_heddle_bo_info info;
  ASSERT_EQ(BoInfo(other(), theirs, &info), 0);
  int error = 0;
  EXPECT_EQ(c()->Mmap(info.mmap_offset, kPage, &error), nullptr);
  EXPECT_TRUE(error == -EACCES || error == -EINVAL) << error;
}

TEST_F(SharingTest, StreamsAreTheFilesOwn) {
  const uint32_t theirs = Foreign(
      other(), [](Client* client) { return NewStream(client, EmptyStream()); });
  EXPECT_EQ(Submit(c(), NewContext(c()), {RunStream(theirs)}), -ENOENT);
  EXPECT_EQ(DestroyStream(c(), theirs), -ENOENT);
  EXPECT_EQ(DestroyStream(other(), theirs), 0);
}

TEST_F(SharingTest, SyncobjsAreTheFilesOwn) {
  const uint32_t theirs = Foreign(other(), [](Client* client) {
    return NewSyncobj(client, DRM_SYNCOBJ_CREATE_SIGNALED);
  });
  EXPECT_EQ(WaitSyncobj(c(), theirs, 0), -ENOENT);
  const uint32_t stream = NewStream(c(), EmptyStream());
  EXPECT_EQ(Submit(c(), NewContext(c()), {RunStream(stream)}, nullptr,
                   {{{theirs, 0, 0}}, {}}),
            -ENOENT);
  EXPECT_EQ(WaitSyncobj(other(), theirs, 0), 0);
}

TEST_F(SharingTest, TwoFilesCompute) {
  EXPECT_EQ(Rounds(c(), 1, 5), 5);
  EXPECT_EQ(Rounds(other(), 100, 5), 5);
  EXPECT_EQ(Rounds(c(), 7, 5), 5);
}

TEST_F(SharingTest, TwoProcessesCompute) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    auto mine = Open();
    const bool ok = mine != nullptr && write(ready[1], "x", 1) == 1 &&
                    Rounds(mine.get(), 50, 50) == 50;
    std::fflush(nullptr);
    _exit(ok ? 0 : 1);
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(Rounds(c(), 150, 50), 50);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ready[0]);
  close(ready[1]);
}

// A file that ends with jobs queued: what has not started never will, and the
// others' go on.
TEST_F(SharingTest, ClosingCancelsJobsAndNotThoseOfOthers) {
  const uint32_t mine = NewContext(c());
  const uint32_t bo = NewDevice(c(), kPage);
  auto shared = NewHost(c(), kPage), host = NewHost(c(), kPage);
  for (uint64_t ms = 500;; ms *= 2) {
    ASSERT_LT(ms, 20000u) << "this machine is too busy to tell";
    std::memset(shared->data, 0, kPage);
    auto doomed = Open();
    int fd = -1;
    uint32_t view = 0;
    ASSERT_EQ(ExportBo(c(), shared->handle, &fd), 0);
    ASSERT_EQ(ImportBo(doomed.get(), fd, &view), 0);
    close(fd);
    const uint32_t context = NewContext(doomed.get());
    const uint32_t source = NewDevice(doomed.get(), kPage);
    Do(doomed.get(), context, {Fill(source, kPage, 0x77777777)});
    Load load(doomed.get());
    const uint64_t blocker = load.Queue(context, ms);
    for (int i = 0; i < 20; ++i) {
      NewJob(doomed.get(), context, {CopyOut(source, view, 4, 0, 4 * i)});
    }
    const uint64_t good = NewJob(
        c(), mine, {Fill(bo, kPage, 6), CopyOut(bo, host->handle, kPage)});
    const bool in_time = Wait(doomed.get(), context, blocker - 1, 0) == -ETIME;
    doomed = nullptr;
    EXPECT_EQ(ResultOf(c(), mine, good).status, 0u);
    EXPECT_EQ(host->Word(1023), 6u);
    ASSERT_TRUE(Eventually([&] { return Counters(c()).queued == 0; }));
    if (!in_time) continue;
    EXPECT_EQ(std::count(shared->data, shared->data + 80, 0x77), 0)
        << "a job ran after its file was closed";
    return;
  }
}

TEST_F(SharingTest, AKilledProcessLeavesNothing) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    auto doomed = Open();
    Load load(doomed.get());
    load.Queue(NewContext(doomed.get()), 2000);
    NewStream(doomed.get(), EmptyStream());
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(1);
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  const uint32_t context = NewContext(c());
  const uint32_t bo = NewDevice(c(), kPage);
  const uint64_t good = NewJob(c(), context, {Fill(bo, kPage, 6)});
  EXPECT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(ResultOf(c(), context, good).status, 0u);
  EXPECT_TRUE(Eventually([&] { return MemoryInfo(c()).used == kPage; }));
  EXPECT_EQ(Rounds(c(), 3, 3), 3);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace heddle::uapi
