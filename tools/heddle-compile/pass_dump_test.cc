// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-compile/pass_dump.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/match.h"
#include "compiler/compiler.h"
#include "compiler/passes/registry.h"
#include "compiler/testing/model_builder.h"
#include "tools/cli/file.h"

namespace heddle::compile {
namespace {

using compiler::CompileOptions;
using compiler::DataType;

std::string Model() {
  compiler::ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4, 8, 8});
  b.Node("Identity", {"x"}, {"i"});
  b.Node("Relu", {"i"}, {"y"});
  b.Output("y", DataType::kFloat, {1, 4, 8, 8});
  return b.Bytes();
}

std::string NewFolder(const char* name) {
  return std::string(testing::TempDir()) + "/" + name;
}

TEST(PassTable, OneLinePerPass) {
  const std::string table = PassTable();
  for (const compiler::Pass& pass : compiler::Passes()) {
    EXPECT_TRUE(absl::StrContains(table, std::string("\n") + pass.name + " ") ||
                absl::StartsWith(table, std::string(pass.name) + " "))
        << table;
  }
}

TEST(PassDump, StopsAfterThePass) {
  CompileOptions options;
  PassDump dump("", "drop-identities");
  ASSERT_TRUE(dump.Attach(&options).ok());
  EXPECT_FALSE(compiler::CompileOnnx(Model(), options).ok());
  EXPECT_TRUE(dump.stopped());
  EXPECT_FALSE(absl::StrContains(dump.text(), "Identity")) << dump.text();
  EXPECT_TRUE(absl::StrContains(dump.text(), "Relu")) << dump.text();
}

TEST(PassDump, FilesBeforeAndAfterEach) {
  const std::string folder = NewFolder("files");
  CompileOptions options;
  PassDump dump(folder, "");
  ASSERT_TRUE(dump.Attach(&options).ok());
  const auto result = compiler::CompileOnnx(Model(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(dump.stopped());
  const auto before = cli::ReadFile(folder + "/02-drop-identities.before.txt");
  const auto after = cli::ReadFile(folder + "/02-drop-identities.after.txt");
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(absl::StrContains(*before, "Identity")) << *before;
  EXPECT_FALSE(absl::StrContains(*after, "Identity")) << *after;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.is_regular_file();
  }
  EXPECT_EQ(files, 2 * compiler::Passes().size() - 1);
}

TEST(PassDump, FolderThatCannotBe) {
  CompileOptions options;
  PassDump dump(NewFolder("none") + "/deeper/folder", "");
  const absl::Status status = dump.Attach(&options);
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_FALSE(options.after_pass);
}

// A file that cannot be written ends the compilation with the reason.
TEST(PassDump, FileThatCannotBe) {
  const std::string folder = NewFolder("gone");
  CompileOptions options;
  PassDump dump(folder, "");
  ASSERT_TRUE(dump.Attach(&options).ok());
  std::filesystem::remove(folder);
  const auto result = compiler::CompileOnnx(Model(), options);
  EXPECT_FALSE(result.ok());
  EXPECT_TRUE(absl::StrContains(result.status().message(), folder))
      << result.status();
  EXPECT_FALSE(dump.stopped());
}

TEST(PassDump, NothingAskedForNothingWatched) {
  CompileOptions options;
  PassDump dump("", "");
  ASSERT_TRUE(dump.Attach(&options).ok());
  EXPECT_FALSE(options.after_pass);
}

}  // namespace
}  // namespace heddle::compile
