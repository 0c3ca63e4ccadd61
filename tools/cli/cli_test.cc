// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "compiler/diagnostic.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/cli/shape_option.h"

namespace heddle::cli {
namespace {

size_t FilesIn(const std::string& folder) {
  DIR* dir = opendir(folder.c_str());
  size_t count = 0;
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count - 2;
}

TEST(File, ReplacesWholeFiles) {
  const std::string folder = testing::TempDir() + "/files";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const std::string path = folder + "/a";
  ASSERT_TRUE(WriteFile(path, "one").ok());
  ASSERT_TRUE(WriteFile(path, std::string(100000, 'x')).ok());
  EXPECT_EQ(*ReadFile(path), std::string(100000, 'x'));
  EXPECT_EQ(FilesIn(folder), 1u);
  // A folder cannot be replaced: nothing is left behind.
  ASSERT_EQ(mkdir((folder + "/d").c_str(), 0700), 0);
  EXPECT_FALSE(WriteFile(folder + "/d", "x").ok());
  EXPECT_FALSE(WriteFile(folder + "/none/x", "x").ok());
  EXPECT_EQ(FilesIn(folder), 2u);
  EXPECT_TRUE(absl::IsNotFound(ReadFile(folder + "/none").status()));
  EXPECT_FALSE(ReadFile(folder).ok());
}

TEST(ExitCode, FollowsTheStatus) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), kOk);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), kNoDevice);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), kFailed);
  EXPECT_EQ(ExitCodeOf(
                compiler::Refuse(compiler::Refusal::kUnsupportedOperator, "x")),
            kRefused);
  EXPECT_EQ(
      ExitCodeOf(compiler::Refuse(compiler::Refusal::kNoDeviceMemory, "x")),
      kFailed);
}

TEST(Shapes, Parse) {
  std::map<std::string, compiler::Shape> shapes;
  ASSERT_TRUE(ParseShapes({"a=1,3,8", "b:0=7", "s="}, &shapes).ok());
  EXPECT_EQ(shapes["a"], (compiler::Shape{1, 3, 8}));
  EXPECT_EQ(shapes["b:0"], (compiler::Shape{7}));
  EXPECT_EQ(shapes["s"], compiler::Shape());
  for (const char* text : {"", "a", "=1", "x=0", "x=-1", "x=1,", "x=1,b"}) {
    EXPECT_FALSE(ParseShapes({text}, &shapes).ok()) << text;
  }
  EXPECT_FALSE(ParseShapes({"a=1"}, &shapes).ok());
}

}  // namespace
}  // namespace heddle::cli
