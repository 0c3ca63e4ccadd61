// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/cache_option.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heddle::run {
namespace {

TEST(CacheOption, FollowsTheEnvironment) {
  setenv("HOME", "/someone", 1);
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(DefaultCacheFolder(), "/someone/.cache/heddle/compiled");
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(DefaultCacheFolder(), "/caches/heddle/compiled");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(DefaultCacheFolder(), "/someone/.cache/heddle/compiled");
  unsetenv("HOME");
  EXPECT_EQ(DefaultCacheFolder(), "");
  std::string note;
  const auto cache = OpenCache({}, &note);
  ASSERT_TRUE(cache.ok());
  EXPECT_FALSE(cache->has_value());
  EXPECT_EQ(note, "");
}

TEST(CacheOption, AFolderThatIsNamedMustDo) {
  char name[] = "/tmp/hco-XXXXXX";
  const std::string folder = mkdtemp(name);
  std::ofstream(folder + "/file") << "x";
  CacheOption option;
  std::string note;
  option.folder = folder + "/file";
  EXPECT_FALSE(OpenCache(option, &note).ok());
  option.off = true;
  ASSERT_TRUE(OpenCache(option, &note).ok());
  EXPECT_EQ(note, "");
  option.off = false;
  option.folder = folder + "/cache";
  const auto cache = OpenCache(option, &note);
  ASSERT_TRUE(cache.ok()) << cache.status();
  ASSERT_TRUE(cache->has_value());
  EXPECT_EQ((*cache)->folder(), folder + "/cache");
  // Otherwise it is no reason to fail, and said.
  setenv("XDG_CACHE_HOME", (folder + "/file").c_str(), 1);
  const auto without = OpenCache({}, &note);
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->has_value());
  EXPECT_NE(note.find(folder), std::string::npos) << note;
  std::filesystem::remove_all(folder);
}

TEST(CacheOption, SaysWhatWasDone) {
  char name[] = "/tmp/hco-XXXXXX";
  const std::string folder = mkdtemp(name);
  const auto cache = compiler::FileCache::Open(folder);
  ASSERT_TRUE(cache.ok());
  compiler::CacheUse use;
  EXPECT_EQ(Describe(use, *cache), "");
  use.problem = absl::DataLossError("damaged");
  EXPECT_EQ(Describe(use, *cache), "compiled model not cached: damaged");
  use.stored = true;
  EXPECT_NE(Describe(use, *cache).find("damaged; compiled model stored"),
            std::string::npos);
  use = {};
  use.found = true;
  EXPECT_NE(Describe(use, *cache).find("--no-cache"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heddle::run
