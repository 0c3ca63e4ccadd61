// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/device_spec.h"

#include <gtest/gtest.h>

namespace heddle::session {
namespace {

using Kind = DeviceSpec::Kind;

TEST(DeviceSpec, KnownForms) {
  EXPECT_EQ(ParseDeviceSpec("")->kind, Kind::kAuto);
  EXPECT_EQ(ParseDeviceSpec("none")->kind, Kind::kNone);
  EXPECT_EQ(ParseDeviceSpec("null")->kind, Kind::kNull);
  EXPECT_EQ(ParseDeviceSpec("null:memory=64M")->Option("memory", ""), "64M");
  EXPECT_EQ(ParseDeviceSpec("drm")->kind, Kind::kDrm);
  EXPECT_EQ(ParseDeviceSpec("drm")->ToString(), "drm");
  EXPECT_EQ(ParseDeviceSpec("drm:renderD129")->node, "/dev/dri/renderD129");
  EXPECT_EQ(ParseDeviceSpec("drm:accel1")->node, "/dev/accel/accel1");
  const auto node = ParseDeviceSpec("drm:/dev/dri/renderD128");
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->node, "/dev/dri/renderD128");
  EXPECT_EQ(node->ToString(), "drm:/dev/dri/renderD128");
  const auto serial = ParseDeviceSpec("drm:serial=18446744073709551615");
  ASSERT_TRUE(serial.ok());
  EXPECT_EQ(serial->serial, ~uint64_t{0});
  EXPECT_EQ(serial->ToString(), "drm:serial=18446744073709551615");
  const auto hosted = ParseDeviceSpec("hosted:/run/a:b.sock#3");
  ASSERT_TRUE(hosted.ok());
  EXPECT_EQ(hosted->kind, Kind::kHosted);
  EXPECT_EQ(hosted->socket, "/run/a:b.sock");
  EXPECT_EQ(hosted->card, 3u);
  EXPECT_EQ(hosted->ToString(), "hosted:/run/a:b.sock");
  const auto sim = ParseDeviceSpec("sim:memory=1G,config=h512");
  ASSERT_TRUE(sim.ok());
  EXPECT_EQ(sim->kind, Kind::kSim);
  EXPECT_FALSE(sim->card.has_value());
  EXPECT_EQ(sim->ToString(), "sim:config=h512,memory=1G");
  EXPECT_EQ(ParseDeviceSpec(sim->ToString() + "#0")->ToString(),
            sim->ToString());
}

TEST(DeviceSpec, Rejections) {
  for (const char* text : {"hosted",
                           "hosted:",
                           "hosted:/x#",
                           "hosted:/x#y",
                           "sim:",
                           "sim:config",
                           "sim:config=h1",
                           "sim:memory=1K",
                           "sim:memory=5G",
                           "sim:cards=0",
                           "sim:cards=99",
                           "sim:serial=x",
                           "sim:colour=red",
                           "sim:config=h256,config=h256",
                           "null:core=fast",
                           "null#0",
                           "none:",
                           "none#0",
                           "drm:",
                           "drm:/dev/dri/renderD128#0",
                           "drm#0",
                           "drm:serial=",
                           "drm:serial=-1",
                           "gpu",
                           " "}) {
    EXPECT_EQ(ParseDeviceSpec(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(DeviceSpec, Bytes) {
  EXPECT_EQ(*ParseBytes("65536"), 65536u);
  EXPECT_EQ(*ParseBytes("3K"), 3072u);
  EXPECT_EQ(*ParseBytes("512M"), 512u << 20);
  EXPECT_EQ(*ParseBytes("4G"), uint64_t{4} << 30);
  for (const char* text : {"", "M", "-1", "1T", "99999999999G", "1.5G"}) {
    EXPECT_FALSE(ParseBytes(text).ok()) << text;
  }
}

}  // namespace
}  // namespace heddle::session
