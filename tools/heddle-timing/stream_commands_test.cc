// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-timing/stream_commands.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::timing {
namespace {

template <typename T>
void Add(std::vector<uint32_t>* words, uint32_t tag, T command = {}) {
  command.header.tag = tag;
  isa::Append(command, words);
}

std::vector<uint32_t> Sample() {
  std::vector<uint32_t> words;
  Add(&words, 0, isa::Load());
  Add(&words, 0, isa::SyncVector());
  Add(&words, 0, isa::Barrier());
  Add(&words, 1, isa::SyncStore());
  Add(&words, 1, isa::End());
  return words;
}

TEST(StreamCommands, ThoseOfEngines) {
  const auto commands = EngineCommands(Sample());
  ASSERT_TRUE(commands.ok()) << commands.status();
  ASSERT_EQ(commands->size(), 3u);
  EXPECT_EQ((*commands)[0].engine, isa::Engine::kLoad);
  EXPECT_STREQ((*commands)[0].mnemonic, "load");
  EXPECT_EQ((*commands)[1].engine, isa::Engine::kVector);
  EXPECT_EQ((*commands)[1].offset, 80u);
  EXPECT_EQ((*commands)[2].engine, isa::Engine::kStore);
  EXPECT_EQ((*commands)[2].tag, 1u);
  EXPECT_FALSE(EngineCommands({0xffffffff}).ok());
  EXPECT_FALSE(EngineCommands({Sample()[0]}).ok());
}

TEST(StreamCommands, WhoseTimeDependsOnIndices) {
  std::vector<uint32_t> words;
  Add(&words, 0, isa::LoadGather());
  Add(&words, 0, isa::StoreScatter());
  isa::Vrun run;
  run.enable_a = run.enable_c = true;
  run.c_type = isa::ElementType::kS32;
  Add(&words, 0, run);
  run.gather_a = true;
  run.index_stride = 4;
  run.index_bound = 1;
  Add(&words, 0, run);
  run.gather_a = false;
  run.pick_a = true;
  Add(&words, 0, run);
  const auto commands = EngineCommands(words);
  ASSERT_TRUE(commands.ok()) << commands.status();
  ASSERT_EQ(commands->size(), 5u);
  EXPECT_TRUE((*commands)[0].by_index);
  EXPECT_TRUE((*commands)[1].by_index);
  EXPECT_FALSE((*commands)[2].by_index);
  EXPECT_TRUE((*commands)[3].by_index);
  EXPECT_TRUE((*commands)[4].by_index);
}

}  // namespace
}  // namespace heddle::timing
