// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/stream_text.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "compiler/stream/stream.h"
#include "tools/heddle-asm/asm.h"

namespace heddle::compiler {
namespace {

// A store of what was loaded: one dependency.
StreamBuilder Small() {
  StreamBuilder stream(isa::kConfigs[0]);
  isa::Load load;
  load.region = 2;
  load.sram_addr = 64;
  stream.Append(load, 0);
  isa::Store store;
  store.region = 2;
  store.sram_addr = 64;
  stream.Append(store, 1);
  return stream;
}

TEST(StreamText, IsTheAssemblersLanguage) {
  const StreamBuilder stream = Small();
  const std::string commands = CommandsText(stream.commands());
  EXPECT_FALSE(absl::StrContains(commands, "wait0")) << commands;
  EXPECT_TRUE(assembler::Assemble(commands, "commands").ok()) << commands;

  const auto encoded = stream.Finish();
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  const std::string text = StreamText(encoded->words);
  EXPECT_TRUE(absl::StrContains(text, "wait0")) << text;
  const auto assembled = assembler::Assemble(text, "stream");
  ASSERT_TRUE(assembled.ok()) << assembled.status();
  EXPECT_EQ(*assembled, encoded->words);
}

TEST(StreamText, SaysWhatIsNotLegal) {
  const auto encoded = Small().Finish();
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  std::vector<uint32_t> words = encoded->words;
  words.push_back(0xffffffffu);
  const std::string text = StreamText(words);
  EXPECT_TRUE(absl::StartsWith(text, StreamText(encoded->words))) << text;
  EXPECT_GT(text.size(), StreamText(encoded->words).size());
  EXPECT_FALSE(TimelineText(words, isa::kConfigs[0], {}).empty());
}

TEST(TimelineText, OneLinePerCommand) {
  const auto encoded = Small().Finish();
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  const std::string text = TimelineText(encoded->words, isa::kConfigs[0], {});
  EXPECT_TRUE(absl::StrContains(text, " load ")) << text;
  EXPECT_TRUE(absl::StrContains(text, " store ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "cycles busy")) << text;
}

}  // namespace
}  // namespace heddle::compiler
