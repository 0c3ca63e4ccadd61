// SPDX-License-Identifier: Apache-2.0
// In the guest, with a driver that takes its time between unplugging the card
// and saying so (slow_unplug.patch): who asks for events as soon as another
// call has failed for the card's loss is told of it, and only then -ENODEV.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/driver/card_files.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/client.h"

namespace heddle::tests {
namespace {

using uapi::Client;

TEST(EventsTest, TellOfTheLossBeforeTheyFail) {
  int error = 0;
  const auto client = uapi::Driver::Get().Open(&error);
  ASSERT_NE(client, nullptr) << error;
  const std::string folder = CardFolder();
  const std::string address = folder.substr(folder.rfind('/') + 1);
  std::thread unbind([&] {
    EXPECT_TRUE(WriteFile("/sys/bus/pci/drivers/heddle/unbind", address));
  });
  int created = 0;
  for (int i = 0; i < 3000 && created != -ENODEV; ++i) {
    drm_heddle_context_create create = {};
    create.priority = 1;
    created = client->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &create);
    if (created == 0) {
      drm_heddle_context_destroy destroy = {};
      destroy.context = create.context;
      client->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &destroy);
    }
    usleep(1000);
  }
  EXPECT_EQ(created, -ENODEV);
  drm_heddle_event event = {};
  EXPECT_EQ(uapi::NextEvent(client.get(), uapi::InMs(15000), &event), 0);
  EXPECT_EQ(event.type, static_cast<uint32_t>(DRM_HEDDLE_EVENT_REMOVED));
  EXPECT_EQ(uapi::NextEvent(client.get(), uapi::InMs(100), &event), -ENODEV);
  unbind.join();
  EXPECT_TRUE(WriteFile("/sys/bus/pci/drivers/heddle/bind", address));
}

}  // namespace
}  // namespace heddle::tests
