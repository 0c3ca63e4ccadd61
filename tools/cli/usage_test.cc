// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/usage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::cli {
namespace {

struct Said {
  int code = 0;
  std::string text;
};

// A tool with a file, an option, a group and a subcommand that has its own.
Said Parse(std::vector<std::string> words) {
  CLI::App app("", "heddle-tool");
  std::string model, child;
  int bench = 0, limit = 0;
  app.add_option("model", model);
  app.add_option("--bench", bench);
  app.add_option_group("Limits")->add_option("--max-clients", limit);
  app.add_subcommand("doctor")->add_option("--child", child);
  std::reverse(words.begin(), words.end());
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  Said said;
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    said.code = ExitOfParse(app, error, "One model at a time.");
  }
  said.text = ::testing::internal::GetCapturedStderr() +
              ::testing::internal::GetCapturedStdout();
  return said;
}

TEST(UsageTest, NamesWhatMayHaveBeenMeant) {
  for (const auto& [words, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"a.onnx", "--benhc=3"},
            "unknown option '--benhc'; did you mean --bench?\n"},
           {{"a.onnx", "--max-client"},
            "unknown option '--max-client'; did you mean --max-clients?\n"},
           {{"doctor", "--chidl"},
            "unknown option '--chidl'; did you mean --child?\n"},
           {{"a.onnx", "docter"}, "unexpected: 'docter'; did you mean doctor?"},
       }) {
    const Said said = Parse(words);
    EXPECT_EQ(said.code, 2) << text;
    EXPECT_NE(said.text.find(text), std::string::npos) << said.text;
    EXPECT_NE(said.text.find("One model at a time.\nheddle-tool --help"),
              std::string::npos)
        << said.text;
  }
}

TEST(UsageTest, NamesNothingWhereNothingIsNear) {
  const Said said = Parse({"a.onnx", "--zzzzzzzz"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.text.find("did you mean"), std::string::npos) << said.text;
}

TEST(UsageTest, PrintsNoEscapes) {
  EXPECT_EQ(Parse({"a.onnx", "--\x1b[2J"}).text.find('\x1b'),
            std::string::npos);
}

TEST(UsageTest, LeavesTheRestToCli11) {
  EXPECT_EQ(Parse({"--help"}).code, 0);
  const Said said = Parse({"--bench", "many"});
  EXPECT_EQ(said.code, 2);
  EXPECT_NE(said.text.find("many"), std::string::npos) << said.text;
  // As every other error: who says so, and where to look.
  EXPECT_EQ(said.text.find("heddle-tool: error: "), 0u) << said.text;
  EXPECT_NE(said.text.find("\nheddle-tool --help lists all options.\n"),
            std::string::npos)
      << said.text;
  EXPECT_EQ(Parse({"--bench", "\x1b[2J"}).text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace heddle::cli
