// SPDX-License-Identifier: Apache-2.0
// The system goes to sleep and wakes up while clients hold device memory, have
// jobs queued and wait: all of it goes on, also when the card had no power.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "tests/guest/host_request.h"
#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

// 0 or a negative errno.
int WriteTo(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  const int result = write(fd, text.data(), text.size()) < 0 ? -errno : 0;
  close(fd);
  return result;
}

// To idle (s2idle), from which keep_awake wakes it up, or as far as `test`
// says, e.g. "platform": with all devices off and no further.
int Sleep(const std::string& test) {
  WriteTo("/sys/module/suspend/parameters/pm_test_delay", "0");
  const int error = WriteTo("/sys/power/pm_test", test);
  if (error != 0) return error;
  return WriteTo("/sys/power/state", "freeze");
}

class SleepTest : public UapiTest {
 protected:
  static constexpr uint64_t kBytes = 5 * kMiB + 3 * kPage;

  void SetUp() override {
    UapiTest::SetUp();
    context_ = NewContext(c());
    host_ = NewHost(c(), kBytes);
    std::minstd_rand random(1);
    for (uint64_t i = 0; i < kBytes; ++i) host_->data[i] = random();
    // Memory with holes: pieces of many sizes, every other one kept.
    std::vector<uint32_t> holes;
    for (uint64_t size = kPage; size <= 4 * kMiB; size *= 4) {
      kept_.push_back({NewDevice(c(), size), size});
      holes.push_back(NewDevice(c(), size));
      ASSERT_EQ(
          Do(c(), context_, {CopyIn(host_->handle, kept_.back().bo, size)})
              .status,
          0u);
    }
    kept_.push_back({NewDevice(c(), kBytes), kBytes});
    ASSERT_EQ(
        Do(c(), context_, {CopyIn(host_->handle, kept_.back().bo, kBytes)})
            .status,
        0u);
    for (uint32_t hole : holes) EXPECT_EQ(CloseBo(c(), hole), 0);
  }
  void TearDown() override {
    WriteTo("/sys/power/pm_test", "none");
    host_ = nullptr;
    UapiTest::TearDown();
  }
  void ExpectContents() {
    auto out = NewHost(c(), kBytes);
    for (const Kept& kept : kept_) {
      std::memset(out->data, 0, kBytes);
      ASSERT_EQ(
          Do(c(), context_, {CopyOut(kept.bo, out->handle, kept.size)}).status,
          0u);
      EXPECT_EQ(std::memcmp(out->data, host_->data, kept.size), 0)
          << "of " << kept.size << " bytes";
    }
  }

  struct Kept {
    uint32_t bo;
    uint64_t size;
  };
  uint32_t context_ = 0;
  std::unique_ptr<HostBuffer> host_;
  std::vector<Kept> kept_;
};

TEST_F(SleepTest, ContentsSurviveThatTheCardHasNoPower) {
  const uint32_t to = NewDevice(c(), kPage);
  const uint32_t stream = NewStream(c(), CopyStream(0, 1, 1024));
  const std::vector<drm_heddle_region> regions = {
      Region(0, kept_.back().bo, 1024),
      Region(1, to, 1024, DRM_HEDDLE_REGION_WRITE)};
  ASSERT_EQ(Do(c(), context_, {RunStream(stream, regions)}).status, 0u);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(tests::HostRequest("ctl 0 fault power_loss").ok);
    ASSERT_EQ(Sleep("platform"), 0);
    ExpectContents();
    EXPECT_EQ(Do(c(), context_,
                 {Fill(to, kPage, 0), RunStream(stream, regions),
                  CopyOut(to, host_->handle, 1024, 0, kBytes - 1024)})
                  .status,
              0u);
    EXPECT_EQ(std::memcmp(host_->data, host_->data + kBytes - 1024, 1024), 0);
    ASSERT_EQ(
        Do(c(), context_, {CopyIn(host_->handle, kept_.back().bo, kBytes)})
            .status,
        0u);
  }
  drm_heddle_event event = {};
  EXPECT_EQ(NextEvent(c(), 0, &event), -ETIME) << event.type;
}

// Another device may refuse when the card has agreed already.
TEST_F(SleepTest, ContentsSurviveASleepThatEndsEarly) {
  ASSERT_EQ(Sleep("devices"), 0);
  ExpectContents();
  ASSERT_EQ(Sleep("freezer"), 0);
  ExpectContents();
}

TEST_F(SleepTest, WhoWaitsForAJobWaitsOn) {
  for (const std::string test : {"platform", "none"}) {
    Load load(c());
    const uint32_t context = NewContext(c());
    const uint64_t last = load.Queue(context, 400);
    drm_heddle_result result = {};
    int waited = 1;
    std::thread waits(
        [&] { waited = Wait(c(), context, last, kForever, &result); });
    EXPECT_EQ(Sleep(test), 0) << test;
    waits.join();
    EXPECT_EQ(waited, 0) << test;
    EXPECT_EQ(result.status, 0u) << test;
    ExpectContents();
  }
}

}  // namespace
}  // namespace heddle::uapi
