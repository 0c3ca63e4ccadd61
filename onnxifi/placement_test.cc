// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/placement.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace heddle::onnxifi {
namespace {

using compiler::Placement;

TEST(Placement, IsWhatTheEnvironmentSays) {
  EXPECT_EQ(ParsePlacement(""), Placement::kCost);
  EXPECT_EQ(ParsePlacement("cost"), Placement::kCost);
  EXPECT_EQ(ParsePlacement("card"), Placement::kCard);
  EXPECT_EQ(ParsePlacement("host"), Placement::kHost);
  testing::internal::CaptureStderr();
  EXPECT_EQ(ParsePlacement("moon"), Placement::kCost);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("HEDDLE_PLACE"), std::string::npos) << said;
}

TEST(HostProfile, IsReadFromAFile) {
  EXPECT_EQ(ReadHostProfile(""), nullptr);
  const std::string path = testing::TempDir() + "/desk.profile";
  compiler::HostProfile profile = compiler::DefaultHostProfile();
  profile.name = "desk";
  std::ofstream(path) << compiler::HostProfileText(profile);
  const auto read = ReadHostProfile(path);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->name, "desk");
}

TEST(HostProfile, AFileThatIsNoneIsNamed) {
  const std::string path = testing::TempDir() + "/none.profile";
  for (const char* text : {"", "hello\n"}) {
    if (*text != '\0') std::ofstream(path) << text;
    testing::internal::CaptureStderr();
    EXPECT_EQ(ReadHostProfile(path), nullptr);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("none.profile"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace heddle::onnxifi
