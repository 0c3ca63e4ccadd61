// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace heddle::onnxifi {
namespace {

TEST(Environment, SaysHowTheHostComputes) {
  session::LoadOptions options = ParseHostOptions("", "");
  EXPECT_EQ(options.host_threads, 0u);
  EXPECT_EQ(options.host_time, absl::InfiniteDuration());
  options = ParseHostOptions("3", "0.5");
  EXPECT_EQ(options.host_threads, 3u);
  EXPECT_EQ(options.host_time, absl::Milliseconds(500));
}

TEST(Environment, WhatMakesNoSenseIsSaid) {
  for (const char* text : {"0", "-1", "many", "1e99"}) {
    testing::internal::CaptureStderr();
    const session::LoadOptions options = ParseHostOptions(text, "");
    EXPECT_EQ(options.host_threads, 0u) << text;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("HEDDLE_HOST_THREADS"), std::string::npos) << said;
  }
  for (const char* text : {"0", "-1", "long", "inf", "nan"}) {
    testing::internal::CaptureStderr();
    const session::LoadOptions options = ParseHostOptions("", text);
    EXPECT_EQ(options.host_time, absl::InfiniteDuration()) << text;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("HEDDLE_HOST_SECONDS"), std::string::npos) << said;
  }
}

TEST(Environment, ACacheIsThereIfItIsNamed) {
  EXPECT_EQ(ParseCache(""), nullptr);
  char name[] = "/tmp/hoe-XXXXXX";
  const std::string folder = mkdtemp(name);
  const auto cache = ParseCache(folder + "/cache");
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->folder(), folder + "/cache");
  testing::internal::CaptureStderr();
  EXPECT_EQ(ParseCache("/proc/nothing"), nullptr);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("HEDDLE_CACHE_DIR"), std::string::npos) << said;
  std::filesystem::remove_all(folder);
}

TEST(Environment, APackageThatIsNoneIsSaid) {
  EXPECT_TRUE(ParseShapeSets("").empty());
  testing::internal::CaptureStderr();
  EXPECT_TRUE(ParseShapeSets("/nowhere/a.hpk:/proc/version").empty());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("/nowhere/a.hpk"), std::string::npos) << said;
  EXPECT_NE(said.find("/proc/version"), std::string::npos) << said;
}

TEST(Environment, ForbidsCompiling) {
  EXPECT_FALSE(ParseNoCompile(""));
  EXPECT_FALSE(ParseNoCompile("0"));
  EXPECT_TRUE(ParseNoCompile("1"));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(ParseNoCompile("maybe"));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("HEDDLE_NO_COMPILE"),
            std::string::npos);
}

}  // namespace
}  // namespace heddle::onnxifi
