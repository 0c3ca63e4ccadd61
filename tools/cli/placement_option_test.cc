// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/placement_option.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "compiler/base/host_profile.h"
#include "tools/cli/file.h"

namespace heddle::cli {
namespace {

TEST(PlacementOption, ByCostWithTheDefaultProfile) {
  compiler::CompileOptions options;
  options.placement = compiler::Placement::kHost;
  ASSERT_TRUE(SetPlacement({}, &options).ok());
  EXPECT_EQ(options.placement, compiler::Placement::kCost);
  EXPECT_EQ(options.host_profile, nullptr);
}

TEST(PlacementOption, AFile) {
  const std::string path = testing::TempDir() + "/desk.profile";
  compiler::HostProfile profile = compiler::DefaultHostProfile();
  profile.name = "desk";
  ASSERT_TRUE(WriteFile(path, compiler::HostProfileText(profile)).ok());
  compiler::CompileOptions options;
  ASSERT_TRUE(SetPlacement({"host", path}, &options).ok());
  EXPECT_EQ(options.placement, compiler::Placement::kHost);
  ASSERT_NE(options.host_profile, nullptr);
  EXPECT_EQ(options.host_profile->name, "desk");
}

TEST(PlacementOption, AFileThatIsNoProfileIsNamed) {
  const std::string path = testing::TempDir() + "/no.profile";
  ASSERT_TRUE(WriteFile(path, "hello\n").ok());
  compiler::CompileOptions options;
  const absl::Status status = SetPlacement({"cost", path}, &options);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "no.profile: host profile"))
      << status;
  EXPECT_TRUE(absl::IsNotFound(
      SetPlacement({"cost", testing::TempDir() + "/none"}, &options)));
}

}  // namespace
}  // namespace heddle::cli
