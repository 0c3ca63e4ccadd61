// SPDX-License-Identifier: Apache-2.0
// What a client makes the driver allocate is charged to the client's control
// group: a container cannot take more of the system's memory than it was given
// by way of the card. Skipped where the kernel has no memory controller.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/driver/crumbs.h"
#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

constexpr char kMount[] = "/tmp/accounting";
constexpr uint64_t kMiB = uint64_t{1} << 20;
// A group takes its memory from the system in batches, and this program uses
// some itself.
constexpr uint64_t kNoise = kMiB;

bool Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

class AccountingTest : public UapiTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(mkdir(kMount, 0755) == 0 || errno == EEXIST);
    ASSERT_EQ(mount("cgroup2", kMount, "cgroup2", 0, nullptr), 0)
        << strerror(errno);
    if (!Write(root_ + "/cgroup.subtree_control", "+memory")) {
      GTEST_SKIP() << "no memory controller";
    }
    ASSERT_TRUE(mkdir(group_.c_str(), 0755) == 0 || errno == EEXIST);
    ASSERT_TRUE(Write(group_ + "/cgroup.procs", std::to_string(getpid())));
    UapiTest::SetUp();
  }

  void TearDown() override {
    if (client_ != nullptr) UapiTest::TearDown();
    Write(root_ + "/cgroup.procs", std::to_string(getpid()));
    rmdir(group_.c_str());
    umount2(kMount, MNT_DETACH);
  }

  int64_t Charged() const {
    int64_t bytes = -1;
    std::ifstream(group_ + "/memory.current") >> bytes;
    return bytes;
  }

  // `make` lets a client of its own hold at least `bytes` more, which are
  // given back with it.
  template <typename Make>
  void ExpectCharged(uint64_t bytes, const Make& make) {
    ASSERT_GE(bytes, 2 * kNoise) << "too little to be seen";
    const int64_t before = Charged();
    ASSERT_GE(before, 0);
    auto client = Open();
    ASSERT_NO_FATAL_FAILURE(make(client.get()));
    const int64_t grown = Charged() - before;
    RecordProperty("charged", std::to_string(grown));
    EXPECT_GE(grown, static_cast<int64_t>(bytes - kNoise));
    client = nullptr;
    EXPECT_TRUE(Eventually([&] {
      return Charged() < before + static_cast<int64_t>(kNoise);
    })) << Charged() - before
        << " bytes stay charged";
  }

  const std::string root_ = kMount, group_ = root_ + "/client";
};

TEST_F(AccountingTest, HostBuffers) {
  std::unique_ptr<HostBuffer> buffer;
  ExpectCharged(32 * kMiB, [&](Client* client) {
    buffer = NewHost(client, 32 * kMiB);
    std::memset(buffer->data, 1, 32 * kMiB);
    // The mapping would keep the buffer.
    buffer = nullptr;
  });
}

// The driver's notes of them: they have no pages of the system.
TEST_F(AccountingTest, DeviceBuffers) {
  constexpr uint32_t kBuffers = 8192;
  ExpectCharged(uint64_t{kBuffers} * 512, [&](Client* client) {
    for (uint32_t i = 0; i < kBuffers; ++i) {
      uint32_t handle = 0;
      ASSERT_EQ(CreateBo(client, kPage, DRM_HEDDLE_DEVICE, &handle), 0) << i;
    }
  });
}

// Lists of the pages that a job's copies reach, for all jobs that wait.
TEST_F(AccountingTest, DescriptorLists) {
  constexpr uint64_t kPages = 2048;
  constexpr uint64_t kEntryBytes = 16;
  constexpr uint64_t kJobs = 8;
  const uint32_t copies = DeviceInfo(c()).max_steps;
  tests::Crumbs crumbs(kPages);
  Load load(c());
  const uint32_t busy = NewContext(c());
  load.Queue(busy, 2000);
  ExpectCharged(kJobs * copies * kPages * kEntryBytes, [&](Client* client) {
    const uint32_t context = NewContext(client);
    const uint32_t device = NewDevice(client, kPages * kPage);
    uint32_t host = 0;
    ASSERT_EQ(CreateBo(client, kPages * kPage, DRM_HEDDLE_HOST, &host), 0);
    const std::vector<drm_heddle_step> steps(
        copies, CopyIn(host, device, kPages * kPage));
    for (uint64_t i = 0; i < kJobs; ++i)
      ASSERT_EQ(Submit(client, context, steps), 0);
  });
}

}  // namespace
}  // namespace heddle::uapi
