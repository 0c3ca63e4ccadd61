// SPDX-License-Identifier: Apache-2.0
// What is special about render nodes; the rest is in cts/, which the guest runs
// on a real node.
#include "runtime/hal/drm_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "drm/heddle_drm.h"
#include "runtime/hal/device.h"
#include "runtime/hal/drm_system.h"
#include "runtime/hal/fake_drm.h"
#include "runtime/session/device_spec.h"
#include "runtime/session/private_card.h"

namespace heddle::hal {
namespace {

// Nodes that fail on demand: results of open by path, answers to ioctls.
class ScriptedSystem : public DrmSystem {
 public:
  int Nodes(std::vector<std::string>* nodes) override {
    nodes->clear();
    for (const auto& entry : opens) nodes->push_back(entry.first);
    return 0;
  }
  int Open(const std::string& path) override {
    const auto it = opens.find(path);
    if (it == opens.end()) return -ENOENT;
    return it->second < 0 ? it->second : open("/dev/null", O_RDWR | O_CLOEXEC);
  }
  int Ioctl(int, unsigned long request, void* argument) override {
    if (request != DRM_IOCTL_VERSION) return answer(request, argument);
    if (version_error != 0) return version_error;
    auto* version = static_cast<drm_version*>(argument);
    version->version_major = major;
    std::strncpy(version->name, driver.c_str(), version->name_len);
    version->name_len = driver.size();
    return 0;
  }
  void* Map(int, uint64_t, size_t) override { return nullptr; }

  std::map<std::string, int> opens = {{"/n1", 0}};
  std::string driver = "heddle";
  int major = 1;
  int version_error = 0;
  std::function<int(unsigned long, void*)> answer = [](unsigned long, void*) {
    return -EIO;
  };
};

TEST(DrmTransport, WhatIsNoHeddleNodeIsRefused) {
  ScriptedSystem system;
  EXPECT_TRUE(OpenDrm("/n1", system).ok());
  EXPECT_TRUE(absl::IsUnavailable(OpenDrm("/n2", system).status()));
  system.opens["/n1"] = -EACCES;
  const auto denied = OpenDrm("/n1", system).status();
  EXPECT_TRUE(absl::IsPermissionDenied(denied));
  EXPECT_NE(denied.message().find("usermod -aG render"), std::string::npos);
  system.opens["/n1"] = 0;
  system.driver = "i915";
  EXPECT_TRUE(absl::IsInvalidArgument(OpenDrm("/n1", system).status()));
  // Longer than the room for it.
  system.driver = std::string(100, 'h');
  EXPECT_TRUE(absl::IsInvalidArgument(OpenDrm("/n1", system).status()));
  system.driver = "heddle";
  system.major = 2;
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenDrm("/n1", system).status()));
  system.version_error = -ENOTTY;
  EXPECT_TRUE(absl::IsInvalidArgument(OpenDrm("/n1", system).status()));
  system.version_error = -ENODEV;
  EXPECT_TRUE(absl::IsUnavailable(OpenDrm("/n1", system).status()));
}

TEST(DrmTransport, ListsWhatCanBeOpened) {
  ScriptedSystem system;
  system.opens = {{"/a", -EACCES}, {"/b", 0}, {"/c", -ENODEV}};
  EXPECT_EQ(*ListDrm(system), std::vector<std::string>{"/b"});
  system.opens.erase("/b");
  EXPECT_TRUE(absl::IsPermissionDenied(ListDrm(system).status()));
  system.opens.erase("/a");
  EXPECT_TRUE(ListDrm(system)->empty());
  system.opens = {{"/b", 0}};
  system.driver = "other";
  EXPECT_TRUE(ListDrm(system)->empty());
  system.driver = "heddle";
  system.major = 9;
  EXPECT_TRUE(absl::IsFailedPrecondition(ListDrm(system).status()));
}

TEST(DrmTransport, AFullQueueIsReported) {
  ScriptedSystem system;
  int calls = 0;
  system.answer = [&](unsigned long, void*) {
    ++calls;
    return -EAGAIN;
  };
  auto transport = OpenDrm("/n1", system);
  drm_heddle_submit submit = {};
  EXPECT_EQ((*transport)->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &submit), -EAGAIN);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ((*transport)->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, nullptr), -EFAULT);
}

// A wait is cut into several; the caller sees one, with its own deadline.
TEST(DrmTransport, WaitsKeepTheirDeadlines) {
  ScriptedSystem system;
  int calls = 0;
  std::vector<uint64_t> deadlines;
  system.answer = [&](unsigned long request, void* argument) {
    ++calls;
    uint64_t deadline = 0;
    if (request == DRM_IOCTL_HEDDLE_WAIT) {
      deadline = static_cast<drm_heddle_wait*>(argument)->deadline_ns;
    } else if (request == DRM_IOCTL_HEDDLE_EVENTS) {
      deadline = static_cast<drm_heddle_events*>(argument)->deadline_ns;
    } else {
      deadline = static_cast<uint64_t>(
          static_cast<drm_syncobj_wait*>(argument)->timeout_nsec);
    }
    deadlines.push_back(deadline);
    return calls < 3 ? -ETIME : 0;
  };
  auto transport = OpenDrm("/n1", system);
  drm_heddle_wait wait = {};
  wait.deadline_ns = ~uint64_t{0};
  EXPECT_EQ((*transport)->Ioctl(DRM_IOCTL_HEDDLE_WAIT, &wait), 0);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(wait.deadline_ns, ~uint64_t{0});
  EXPECT_LT(deadlines[0], ~uint64_t{0});
  EXPECT_GE(deadlines[2], deadlines[0]);
  calls = 0;
  drm_heddle_events events = {};  // 0: do not wait
  EXPECT_EQ((*transport)->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events), -ETIME);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(deadlines.back(), 0u);
  calls = 0;
  drm_syncobj_wait sync = {};
  sync.timeout_nsec = -1;  // does not wait either
  EXPECT_EQ((*transport)->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &sync), -ETIME);
  EXPECT_EQ(calls, 1);
  calls = 0;
  sync.timeout_nsec = INT64_MAX;
  EXPECT_EQ((*transport)->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &sync), 0);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(sync.timeout_nsec, INT64_MAX);
}

TEST(CardNodes, AreThoseOfPciDevicesWithOurIds) {
  namespace fs = std::filesystem;
  const fs::path sys = fs::path(testing::TempDir()) / "sys";
  const auto node = [&](const std::string& name, const char* vendor,
                        const char* device) {
    const fs::path folder = sys / "class" / name / "device";
    fs::create_directories(folder);
    std::ofstream(folder / "vendor") << vendor << "\n";
    std::ofstream(folder / "device") << device << "\n";
  };
  std::vector<std::string> nodes = {"old"};
  fs::create_directories(sys / "class");
  EXPECT_EQ(CardNodes(sys, "/dev", &nodes), 0);
  EXPECT_TRUE(nodes.empty());  // a kernel without
  node("accel/accel10", "0x1234", "0x4e50");
  node("accel/accel2", "0x1234", "0x4e50");
  node("accel/accel0", "0x8086", "0x4e50");
  node("accel/accel1", "0x1234", "0x4e51");
  node("accel/accel3", "", "");
  fs::create_directories(sys / "class/accel/accel4");  // no PCI device
  node("drm/renderD129", "0x1234", "0x4e50");
  node("drm/card0", "0x1234", "0x4e50");
  node("drm/renderD128", "0x8086", "0x4e50");
  std::ofstream(sys / "class/drm/version") << "drm 1.1.0\n";
  EXPECT_EQ(CardNodes(sys, "/dev", &nodes), 0);
  EXPECT_EQ(nodes,
            (std::vector<std::string>{"/dev/accel/accel2", "/dev/accel/accel10",
                                      "/dev/dri/renderD129"}));
}

// A container that has got the node, and no sysfs.
TEST(CardNodes, AreAllThatThereAreWithoutSysfs) {
  namespace fs = std::filesystem;
  const fs::path box = fs::path(testing::TempDir()) / "box";
  std::vector<std::string> nodes = {"old"};
  EXPECT_EQ(CardNodes(box / "sys", box / "dev", &nodes), 0);
  EXPECT_TRUE(nodes.empty());
  fs::create_directories(box / "dev/dri");
  for (const char* name : {"card0", "renderD130", "renderD99"}) {
    std::ofstream(box / "dev/dri" / name);
  }
  EXPECT_EQ(CardNodes(box / "sys", box / "dev", &nodes), 0);
  EXPECT_EQ(nodes, (std::vector<std::string>{box / "dev/dri/renderD99",
                                             box / "dev/dri/renderD130"}));
}

// Who has no descriptor left is told so, and not that there is no card.
TEST(CardNodes, WantOfADescriptorIsAnError) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::vector<std::string> nodes;
  const int error = CardNodes(testing::TempDir(), "/dev", &nodes);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(error, -EMFILE);
}

class DrmOverHosted : public testing::Test {
 protected:
  static FakeDrm& System() {
    static const auto cards =
        session::StartPrivateCards(*session::ParseDeviceSpec("sim:memory=64M"));
    static auto* const system = new FakeDrm(cards.ok() ? cards->socket : "");
    return *system;
  }
  static std::shared_ptr<Device> Open() {
    auto transport = OpenDrm("fake/renderD0", System());
    if (!transport.ok()) return nullptr;
    auto device = Device::Open(*std::move(transport));
    return device.ok() ? *device : nullptr;
  }
};

TEST_F(DrmOverHosted, FindsACardByItsSerialNumber) {
  EXPECT_EQ(*FindDrm(1, System()), "fake/renderD0");
  EXPECT_TRUE(absl::IsUnavailable(FindDrm(2, System()).status()));
}

// Another system's nodes, of which `opens` can be opened.
class FewDescriptors : public DrmSystem {
 public:
  FewDescriptors(DrmSystem* system, int opens)
      : system_(system), opens_(opens) {}
  int Nodes(std::vector<std::string>* nodes) override {
    return system_->Nodes(nodes);
  }
  int Open(const std::string& path) override {
    return opens_-- > 0 ? system_->Open(path) : -EMFILE;
  }
  int Ioctl(int fd, unsigned long request, void* argument) override {
    return system_->Ioctl(fd, request, argument);
  }
  void* Map(int fd, uint64_t offset, size_t size) override {
    return system_->Map(fd, offset, size);
  }

 private:
  DrmSystem* const system_;
  int opens_;
};

// The card is there: the list was made, then there was no descriptor left.
TEST_F(DrmOverHosted, WantOfADescriptorIsNoMissingCard) {
  for (int opens : {0, 1}) {
    FewDescriptors system(&System(), opens);
    EXPECT_TRUE(absl::IsResourceExhausted(FindDrm(1, system).status()))
        << opens;
  }
}

// What the open file owns goes with Shutdown, as soon as no call is under way.
TEST_F(DrmOverHosted, ShutdownGivesBackMemory) {
  const auto watcher = Open();
  auto device = Open();
  ASSERT_TRUE(watcher != nullptr && device != nullptr);
  const auto buffer =
      device->CreateBuffer(4096, Placement::kDevice, "what is held");
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(watcher->Memory()->used, 4096u);
  std::thread waiter([&] {
    EXPECT_TRUE(
        absl::IsUnavailable(device->Events(absl::InfiniteFuture()).status()));
  });
  absl::SleepFor(absl::Milliseconds(10));
  device->Shutdown();
  waiter.join();
  EXPECT_TRUE(absl::IsUnavailable(device->Memory().status()));
  const absl::Time limit = absl::Now() + absl::Seconds(10);
  while (watcher->Memory()->used != 0 && absl::Now() < limit) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(watcher->Memory()->used, 0u);
}

// A child neither disturbs the parent's file nor keeps it open.
TEST_F(DrmOverHosted, AChildHasNoOpenFile) {
  const auto watcher = Open();
  auto device = Open();
  ASSERT_TRUE(watcher != nullptr && device != nullptr);
  auto host = device->CreateBuffer(4096, Placement::kHost, "a host buffer");
  auto held = device->CreateBuffer(4096, Placement::kDevice, "what is held");
  ASSERT_TRUE(host.ok() && held.ok());
  int hold[2];
  ASSERT_EQ(pipe(hold), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(hold[1]);
    const bool refused = absl::IsUnavailable(device->Memory().status());
    host->reset();
    held->reset();
    device.reset();
    char byte;
    const bool end = read(hold[0], &byte, 1) == 0;
    _exit(refused && end ? 0 : 1);
  }
  ::close(hold[0]);
  (*host)->data()[0] = 1;
  EXPECT_EQ(watcher->Memory()->used, 4096u);
  host->reset();
  held->reset();
  EXPECT_TRUE(device->Memory().ok());
  const auto leftover =
      device->CreateBuffer(4096, Placement::kDevice, "left open");
  EXPECT_EQ(watcher->Memory()->used, 4096u);
  device->Shutdown();  // the last of the parent's; the child still lives
  const absl::Time limit = absl::Now() + absl::Seconds(10);
  while (watcher->Memory()->used != 0 && absl::Now() < limit) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(watcher->Memory()->used, 0u);
  ::close(hold[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace heddle::hal
