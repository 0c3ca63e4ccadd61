// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/colour.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "tools/cli/exit_code.h"

namespace heddle::cli {
namespace {

// A terminal, and what was written to it.
class ColourTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(openpty(&other_end_, &terminal_, nullptr, nullptr, nullptr), 0);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
  }
  void TearDown() override {
    close(terminal_);
    close(other_end_);
  }
  int terminal_ = -1, other_end_ = -1;
};

TEST_F(ColourTest, OnTerminalsOnly) {
  EXPECT_TRUE(HasColour(terminal_));
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_FALSE(HasColour(pipe_ends[1]));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  EXPECT_FALSE(HasColour(-1));
}

TEST_F(ColourTest, CanBeTurnedOff) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(HasColour(terminal_));
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(HasColour(terminal_)) << "empty counts as not set";
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(HasColour(terminal_));
  unsetenv("TERM");
  EXPECT_FALSE(HasColour(terminal_));
}

TEST_F(ColourTest, Words) {
  EXPECT_EQ(Coloured("error:", Colour::kBad, false), "error:");
  EXPECT_EQ(Coloured("error:", Colour::kBad, true), "\033[1;31merror:\033[0m");
  EXPECT_NE(Coloured("x", Colour::kGood, true),
            Coloured("x", Colour::kWarning, true));
}

TEST_F(ColourTest, Errors) {
  const int before = dup(STDERR_FILENO);
  ASSERT_EQ(dup2(terminal_, STDERR_FILENO), STDERR_FILENO);
  EXPECT_EQ(Fail("tool", absl::InternalError("reason")), kFailed);
  dup2(before, STDERR_FILENO);
  close(before);
  char text[256] = {};
  ASSERT_GT(read(other_end_, text, sizeof(text) - 1), 0);
  EXPECT_STREQ(text, "tool: \033[1;31merror:\033[0m reason\r\n");
}

}  // namespace
}  // namespace heddle::cli
