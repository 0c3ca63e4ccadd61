// SPDX-License-Identifier: Apache-2.0
// With two private cards, also as nodes of a made-up heddle.ko.
#include "tools/cli/missing_device.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/hal/fake_drm.h"
#include "runtime/session/device_spec.h"
#include "runtime/session/private_card.h"

namespace heddle::cli {
namespace {

const std::string& Socket() {
  static const auto cards = session::StartPrivateCards(
      *session::ParseDeviceSpec("sim:memory=64M,cards=2,serial=5"));
  static const auto* const socket =
      new std::string(cards.ok() ? cards->socket : "");
  return *socket;
}

TEST(MissingDevice, CardOfHosted) {
  const std::string device = absl::StrCat("hosted:", Socket());
  EXPECT_EQ(
      MissingDevice(device + "#3"),
      absl::StrCat("the heddle-hosted at '", Socket(),
                   "' has no card 3; there is ", device, "#0, ", device, "#1"));
  const std::string nobody = MissingDevice("hosted:/nowhere/at.all#3");
  EXPECT_TRUE(absl::StrContains(nobody, "'/nowhere/at.all'")) << nobody;
  EXPECT_TRUE(absl::StrContains(nobody, "heddle-smi doctor")) << nobody;
}

TEST(MissingDevice, NodesAndSerialNumbers) {
  hal::FakeDrm system(Socket());
  const hal::ScopedDrmSystem scoped(&system);
  EXPECT_EQ(MissingDevice("drm:/x"),
            "no card at '/x'; there is drm:fake/renderD0, drm:fake/renderD1 "
            "(heddle-smi shows them with their serial numbers)");
  EXPECT_TRUE(absl::StrContains(MissingDevice("drm:serial=9"),
                                "serial number 9; there is drm:fake/"))
      << MissingDevice("drm:serial=9");
}

TEST(MissingDevice, NoneAtAll) {
  hal::FakeDrm system("");
  const hal::ScopedDrmSystem scoped(&system);
  const std::string text = MissingDevice("drm:/x");
  EXPECT_TRUE(absl::StrContains(text, "'/x'")) << text;
  EXPECT_TRUE(absl::StrContains(text, "heddle-smi doctor")) << text;
  EXPECT_TRUE(absl::StrContains(MissingDevice("none"), "--device"));
  EXPECT_TRUE(absl::StrContains(MissingDevice(""), "heddle-smi doctor"));
  EXPECT_TRUE(absl::StrContains(MissingDevice("sim:cards=2#5"),
                                "there is sim:cards=2#0, sim:cards=2#1"))
      << MissingDevice("sim:cards=2#5");
}

}  // namespace
}  // namespace heddle::cli
