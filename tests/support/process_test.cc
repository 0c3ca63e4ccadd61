// SPDX-License-Identifier: Apache-2.0
#include "tests/support/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

namespace heddle::tests {
namespace {

Command Shell(const std::string& script) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.env = {{"GREETING", "good morning"}};
  return command;
}

TEST(ProcessTest, GivesOutputAndExitCode) {
  const Finished finished =
      RunCommand(Shell("echo $GREETING; echo oh >&2; exit 7"));
  EXPECT_EQ(finished.code, 7);
  EXPECT_EQ(finished.out, "good morning\n");
  EXPECT_EQ(finished.err, "oh\n");
}

TEST(ProcessTest, GivesTheSignal) {
  auto process = Process::Start(Shell("while :; do sleep 1; done"));
  ASSERT_NE(process, nullptr);
  EXPECT_FALSE(process->Wait(absl::Milliseconds(1)).has_value());
  process->Signal(SIGKILL);
  EXPECT_EQ(process->Wait(absl::Seconds(5)), 128 + SIGKILL);
  EXPECT_EQ(process->Wait(absl::ZeroDuration()), 128 + SIGKILL);
}

TEST(ProcessTest, KillsWithItsObject) {
  pid_t pid;
  {
    auto process = Process::Start(Shell("exec sleep 1000"));
    ASSERT_NE(process, nullptr);
    pid = process->pid();
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(ProcessTest, FolderIsRemovedWithItsContents) {
  std::string path;
  {
    TempFolder folder;
    path = folder.path();
    WriteFileOrDie(folder / "x", "y");
    EXPECT_EQ(ReadFileOrDie(folder / "x"), "y");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace heddle::tests
