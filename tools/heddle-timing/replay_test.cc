// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-timing/replay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::timing {
namespace {

constexpr char kPath[] = "m.hpk";

template <typename T>
void Add(std::vector<uint32_t>* words, uint32_t tag, T command = {}) {
  command.header.tag = tag;
  isa::Append(command, words);
}

// Two streams, three layers: load 0, vector 0, barrier, store 1; load 1, load
// 2.
package::Package Sample() {
  package::Package package;
  package.config = "h256";
  package.nodes = {"first", "second", "third"};
  package.layers.resize(3);
  for (uint32_t i = 0; i < 3; ++i) package.layers[i].node = i;
  std::vector<uint32_t> words;
  Add(&words, 0, isa::Load());
  Add(&words, 0, isa::SyncVector());
  Add(&words, 0, isa::Barrier());
  Add(&words, 1, isa::SyncStore());
  Add(&words, 1, isa::End());
  package.streams.push_back(words);
  words.clear();
  Add(&words, 1, isa::SyncLoad());
  Add(&words, 2, isa::SyncLoad());
  Add(&words, 2, isa::End());
  package.streams.push_back(words);
  package.sources = {{0, 0, 0}, {1, 0, 1}, {1, 16, 2}};
  return package;
}

Record SampleRecord() {
  Record record;
  record.job_cycles = 777;
  record.streams = {
      {100, {{0, false, 10, 49}, {80, false, 12, 20}, {112, false, 60, 79}}},
      {50, {{0, false, 5, 9}, {16, false, 10, 39}}}};
  return record;
}

TEST(Replay, StreamsFollowEachOtherAndLayersAddUp) {
  const auto replay = ReplayOf(SampleRecord(), Sample(), kPath);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->cycles, 150u);
  EXPECT_EQ(replay->job_cycles, 777u);
  // The second layer ends in the second stream's tenth cycle.
  EXPECT_EQ(replay->layer_cycles, (std::vector<uint64_t>{50, 60, 40}));
  ASSERT_EQ(replay->commands.size(), 5u);
  EXPECT_STREQ(replay->commands[1].engine, "vector");
  EXPECT_EQ(replay->commands[1].node, "first");
  EXPECT_EQ(replay->commands[4].node, "third");
  EXPECT_EQ(replay->commands[4].stream, 1u);
  EXPECT_EQ(replay->commands[4].begin, 10u);
  EXPECT_EQ(replay->commands[4].end, 39u);
}

TEST(Replay, OfOtherCommandsIsRefused) {
  const auto expect_refused = [](const Record& record) {
    const auto replay = ReplayOf(record, Sample(), kPath);
    ASSERT_TRUE(absl::IsFailedPrecondition(replay.status())) << replay.status();
    EXPECT_NE(replay.status().message().find("heddle-timing m.hpk"),
              std::string::npos);
  };
  Record record = SampleRecord();
  record.streams.pop_back();
  expect_refused(record);
  record = SampleRecord();
  record.streams[0].commands.pop_back();
  expect_refused(record);
  record = SampleRecord();
  record.streams[0].commands[1].offset = 96;
  expect_refused(record);
  // The package has no command whose time depends on indices.
  record = SampleRecord();
  record.streams[1].commands[1].inexact = true;
  expect_refused(record);
}

TEST(Replay, TimesThatDependOnIndicesAreRefused) {
  package::Package package = Sample();
  Record record = SampleRecord();
  EXPECT_EQ(*WhatIsInexact(package), "");
  std::vector<uint32_t> words;
  Add(&words, 2, isa::LoadGather());
  Add(&words, 2, isa::StoreScatter());
  package.streams.push_back(words);
  package.sources.push_back({2, 0, 2});
  record.streams.push_back({30, {{0, true, 1, 20}, {48, true, 2, 25}}});
  EXPECT_EQ(*WhatIsInexact(package),
            "2 commands take a time that depends on indices, the first is "
            "load.gather of node 'third'");
  EXPECT_TRUE(CheckExact(Sample(), kPath).ok());
  for (const absl::Status& status :
       {CheckExact(package, kPath),
        ReplayOf(record, package, kPath).status()}) {
    ASSERT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_NE(status.message().find("load.gather of node 'third'"),
              std::string::npos);
    EXPECT_NE(status.message().find("heddle-run --core rtl m.hpk"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace heddle::timing
