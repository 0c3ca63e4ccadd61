// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/usage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"

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
  std::string format;
  int bench = 0, limit = 0;
  app.add_option("model", model);
  app.add_option("--format", format)->check(OneOf({"text", "html", "json"}));
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
           {{"a.onnx", "--hlp"},
            "unknown option '--hlp'; did you mean --help?\n"},
           {{"a.onnx", "docter"},
            "unexpected: 'docter'; did you mean doctor?\n"},
       }) {
    const Said said = Parse(words);
    EXPECT_EQ(said.code, 2) << text;
    EXPECT_NE(said.text.find(text), std::string::npos) << said.text;
    EXPECT_NE(said.text.find("\nheddle-tool --help"), std::string::npos)
        << said.text;
  }
}

// How arguments are given is no help with an option that does not exist.
TEST(UsageTest, HintsAtWhatIsSurplus) {
  const std::string hint = "One model at a time.\nheddle-tool --help";
  const auto hinted = [&hint](const std::vector<std::string>& words) {
    return Parse(words).text.find(hint) != std::string::npos;
  };
  EXPECT_TRUE(hinted({"a.onnx", "b.onnx"}));
  EXPECT_TRUE(hinted({"a.onnx", "b.onnx", "--bench", "1"}));
  EXPECT_FALSE(hinted({"a.onnx", "--bogus"}));
  EXPECT_FALSE(hinted({"a.onnx", "--bogus", "7"})) << "its value";
}

// What is missing may be there, misspelt.
TEST(UsageTest, NamesThemAlsoIfSomethingIsRequired) {
  CLI::App app("", "heddle-tool");
  std::string socket;
  app.add_option("--socket", socket)->required();
  std::vector<std::string> words = {"--soket=a"};
  ::testing::internal::CaptureStderr();
  int code = 0;
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    code = ExitOfParse(app, error);
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, 2);
  EXPECT_NE(text.find("unknown option '--soket'; did you mean --socket?\n"
                      "--socket is required\n"),
            std::string::npos)
      << text;
}

TEST(UsageTest, NamesNothingWhereNothingIsNear) {
  const Said said = Parse({"a.onnx", "--zzzzzzzz"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.text.find("did you mean"), std::string::npos) << said.text;
}

TEST(UsageTest, NamesTheNearestValueOrAll) {
  for (const auto& [value, text] :
       std::vector<std::pair<std::string, std::string>>{
           {"jsn", "--format: there is no 'jsn'; did you mean json?\n"},
           {"pdf",
            "--format: there is no 'pdf'; it is one of text, html, json\n"},
       }) {
    const Said said = Parse({"--format", value});
    EXPECT_EQ(said.code, 2) << value;
    EXPECT_NE(said.text.find(text), std::string::npos) << said.text;
  }
  EXPECT_EQ(Parse({"--format", "html"}).code, 0);
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

TEST(UsageTest, HelpFitsATerminal) {
  CLI::App app("As it is:\n  heddle-tool  a\n", "heddle-tool");
  WrapHelp(&app);
  int number = 0;
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word" + std::to_string(i) + " ";
  app.add_option("--short", number, words);
  app.add_option("--a-name-that-reaches-into-the-text", number,
                 "once more\n" + words);
  app.add_option_group("Limits", words)->add_option("--limit", number, words);
  app.add_subcommand("doctor", words)->add_option("--child", number, words);
  const std::string help = app.help();
  EXPECT_EQ(help.find("As it is:\n  heddle-tool  a\n"), 0u) << help;
  for (const std::string& text : {help, app.get_subcommand("doctor")->help()}) {
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(line.size(), 80u) << line;
    }
  }
  // Every word is there, where CLI11 has its descriptions.
  for (int i = 0; i < 40; ++i) {
    size_t count = 0;
    const std::string word = "word" + std::to_string(i);
    for (const absl::string_view other :
         absl::StrSplit(help, absl::ByAnyChar(" \n"))) {
      count += other == word;
    }
    EXPECT_EQ(count, 5u) << word;
  }
  EXPECT_NE(help.find("\n  --short INT                 word0 word1 "),
            std::string::npos)
      << help;
  EXPECT_NE(
      help.find("-text INT\n                              once more word0"),
      std::string::npos)
      << help;
}

}  // namespace
}  // namespace heddle::cli
