// SPDX-License-Identifier: Apache-2.0
// Which cards of heddle.ko a process sees and what it calls them, with
// heddle-hosted as the driver behind the nodes. One program, one test: the
// process remembers what it found.
#include <errno.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "drm/heddle_drm.h"
#include "runtime/hal/fake_drm.h"
#include "runtime/session/device_spec.h"
#include "runtime/session/private_card.h"
#include "runtime/session/session.h"

namespace heddle::session {
namespace {

// Nodes that can be taken away and come back under other names.
class PluggedDrm : public hal::FakeDrm {
 public:
  using FakeDrm::FakeDrm;
  int Nodes(std::vector<std::string>* found) override {
    *found = nodes;
    return 0;
  }
  int Open(const std::string& path) override {
    const bool there =
        std::find(nodes.begin(), nodes.end(), path) != nodes.end();
    if (!there) return -ENOENT;
    ++opened;
    if (open_error != 0) return open_error;
    const size_t plus = path.find('+');  // a later node of the same card
    const int fd = FakeDrm::Open(path.substr(0, plus));
    broken_fds[fd] = path == broken;
    return fd;
  }
  int Ioctl(int fd, unsigned long request, void* argument) override {
    if (broken_fds[fd] && request == DRM_IOCTL_HEDDLE_QUERY) return -EIO;
    return FakeDrm::Ioctl(fd, request, argument);
  }
  std::vector<std::string> nodes;
  std::string broken;  // the node whose card answers no question
  std::map<int, bool> broken_fds;
  int open_error = 0;
  int opened = 0;
};

TEST(DrmDiscovery, RealCardsComeFirstAndKeepTheirIds) {
  const auto cards =
      StartPrivateCards(*ParseDeviceSpec("sim:memory=64M,cards=2,serial=7"));
  ASSERT_TRUE(cards.ok()) << cards.status();
  PluggedDrm system(cards->socket);
  const hal::ScopedDrmSystem scoped(&system);
  unsetenv("HEDDLE_DEVICE");

  // HEDDLE_DEVICE=drm needs a card, but finding none is no error.
  setenv("HEDDLE_DEVICE", "drm", 1);
  EXPECT_TRUE(ListDevices()->empty());
  setenv("HEDDLE_DEVICE", "drm:fake/renderD0", 1);
  EXPECT_TRUE(ListDevices()->empty());
  unsetenv("HEDDLE_DEVICE");

  system.nodes = {"fake/renderD0", "fake/renderD1"};
  auto devices = ListDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[0].id, "drm:serial=7");
  EXPECT_EQ((*devices)[1].id, "drm:serial=8");
  EXPECT_EQ((*devices)[0].transport, "drm");
  EXPECT_EQ((*devices)[0].config, "h256");
  auto device = OpenDevice("drm:serial=8");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->description().unique, 8u);
  EXPECT_EQ((*device)->description().id, "drm:serial=8");
  EXPECT_GT((*device)->memory()->total, 0u);

  // Gone: nothing else takes its place, simulated cards least of all.
  system.nodes.clear();
  EXPECT_TRUE(ListDevices()->empty());
  EXPECT_TRUE(absl::IsUnavailable(OpenDevice("drm:serial=8").status()));
  // Back at another node.
  system.nodes = {"fake/renderD1+"};
  EXPECT_EQ(ListDevices()->size(), 1u);
  EXPECT_TRUE(OpenDevice("drm:serial=8").ok());

  // Two cards with one number: the second one has the name of its node.
  system.nodes = {"fake/renderD0", "fake/renderD0+"};
  devices = ListDevices();
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[0].id, "drm:serial=7");
  EXPECT_EQ((*devices)[1].id, "drm:fake/renderD0+");
  EXPECT_TRUE(OpenDevice("drm:fake/renderD0+").ok());

  // A card that answers no question hides no other; alone it is an error. What
  // this process lacks is one too, and not a card less.
  system.nodes = {"fake/renderD1", "fake/renderD0"};
  system.broken = "fake/renderD1";
  devices = ListDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ((*devices)[0].id, "drm:serial=7");
  system.nodes = {"fake/renderD1"};
  EXPECT_TRUE(absl::IsInternal(ListDevices().status()));
  system.broken.clear();
  system.open_error = -EMFILE;
  EXPECT_EQ(ExhaustedResource(ListDevices().status()),
            ExhaustedKind::kSystemResources);
  EXPECT_TRUE(absl::IsResourceExhausted(ListDevices().status()));
  system.open_error = 0;
  system.nodes = {"fake/renderD0"};

  // By name, and by number.
  setenv("HEDDLE_DEVICE", "drm:fake/renderD0", 1);
  devices = ListDevices();
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ((*devices)[0].id, "drm:fake/renderD0");
  setenv("HEDDLE_DEVICE", "drm:serial=7", 1);
  EXPECT_EQ(ListDevices()->size(), 1u);
  setenv("HEDDLE_DEVICE", "none", 1);
  system.opened = 0;
  EXPECT_TRUE(ListDevices()->empty());
  EXPECT_EQ(system.opened, 0);
}

}  // namespace
}  // namespace heddle::session
