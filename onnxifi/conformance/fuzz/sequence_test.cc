// SPDX-License-Identifier: Apache-2.0
// Sequences as text, what is drawn, how they get shorter, and what the state
// machine allows. The fuzzer as a whole: fuzz_test.sh.
#include "onnxifi/conformance/fuzz/sequence.h"

#include <gtest/gtest.h>

#include <set>

#include "onnxifi/conformance/fuzz/expectation.h"
#include "onnxifi/conformance/fuzz/shrink.h"

namespace heddle::conformance {
namespace {

TEST(Sequence, IsItsText) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = ToText(Generate(seed));
    const auto back = FromText("# a comment\n\n" + text);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(ToText(*back), text);
  }
}

TEST(Sequence, WrongLinesAreRefused) {
  for (const char* text :
       {"0 Nothing slot:0 null 0 0", "8 InitEvent slot:0 null 0 0",
        "0 InitEvent slot:9 null 0 0", "0 InitEvent slot null 0 0",
        "0 InitEvent elsewhere:1 null 0 0", "0 InitEvent slot:0 null 2 0",
        "0 InitEvent slot:0 null 0 8", "0 InitEvent slot:0 null 0",
        "-1 InitEvent slot:0 null 0 0"}) {
    EXPECT_FALSE(FromText(text).ok()) << text;
  }
}

TEST(Sequence, ASeedIsASequence) {
  EXPECT_EQ(ToText(Generate(5)), ToText(Generate(5)));
  std::set<std::string> texts;
  std::set<int> functions, threads;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Sequence sequence = Generate(seed);
    texts.insert(ToText(sequence));
    for (const Step& step : sequence) {
      functions.insert(step.function);
      threads.insert(step.thread);
    }
  }
  EXPECT_EQ(texts.size(), 300u);
  EXPECT_EQ(functions.size(), static_cast<size_t>(kStandardFunctions));
  EXPECT_EQ(threads.size(), static_cast<size_t>(kFuzzThreads));
}

TEST(Shrink, LeavesWhatFails) {
  // Fails if a SignalEvent stands somewhere before a ReleaseGraph.
  const auto fails = [](const Sequence& sequence) {
    bool signalled = false;
    for (const Step& step : sequence) {
      signalled |= step.function == kSignalEvent;
      if (signalled && step.function == kReleaseGraph) return true;
    }
    return false;
  };
  int shrunk = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Sequence sequence = Generate(seed);
    if (!fails(sequence)) continue;
    ++shrunk;
    const Sequence shorter = Shrink(sequence, 1000, fails);
    ASSERT_EQ(shorter.size(), 2u);
    EXPECT_TRUE(fails(shorter));
    EXPECT_EQ(shorter[0].thread, 0);
  }
  EXPECT_GT(shrunk, 10);
}

TEST(Shrink, AsksNoMoreThanItMay) {
  int asked = 0;
  const Sequence sequence = Generate(1);
  EXPECT_EQ(
      Shrink(sequence, 7, [&](const Sequence&) { return ++asked == 0; }).size(),
      sequence.size());
  EXPECT_EQ(asked, 7);
}

constexpr onnxStatus kOk = ONNXIFI_STATUS_SUCCESS,
                     kInvalid = ONNXIFI_STATUS_INVALID_EVENT;

TEST(Expectation, BetweenBeginningAndEndBothAreLegal) {
  Object event;
  Expectation before;
  before.Begin(&event, kInvalid);
  ++event.releases_begun;
  before.End(&event, kInvalid);
  EXPECT_TRUE(before.Allows(kOk, {kOk}));
  EXPECT_TRUE(before.Allows(kInvalid, {kOk}));
  EXPECT_FALSE(before.Allows(ONNXIFI_STATUS_INVALID_STATE, {kOk}));
}

TEST(Expectation, AloneOneStatusIsLegal) {
  Object event;
  Expectation live;
  live.Begin(&event, kInvalid);
  live.End(&event, kInvalid);
  EXPECT_FALSE(live.Allows(kInvalid, {kOk}));
  event.releases_begun = 1;
  Expectation own;
  own.Begin(&event, kInvalid);
  own.End(&event, kInvalid, /*own=*/true);
  EXPECT_FALSE(own.Allows(kInvalid, {kOk}));
  event.released = true;
  Expectation dead;
  dead.Begin(&event, kInvalid);
  dead.End(&event, kInvalid);
  EXPECT_FALSE(dead.Allows(kOk, {kOk}));
  EXPECT_TRUE(dead.Allows(kInvalid, {kOk}));
  Expectation none;
  none.Begin(nullptr, kInvalid);
  EXPECT_FALSE(none.Allows(kOk, {kOk}));
}

TEST(Expectation, RunsFailWithTheirInputs) {
  Object input, first, second;
  first.of_run = second.of_run = true;
  first.input = &input;
  second.input = &first;
  EXPECT_FALSE(second.WillBeSignalled());
  EXPECT_FALSE(second.MayFail());
  input.signalled = true;
  EXPECT_TRUE(second.WillBeSignalled());
  input.signalled = false;
  input.may_be_lost = true;
  EXPECT_TRUE(second.WillBeSignalled());
  EXPECT_TRUE(second.MayFail());
}

}  // namespace
}  // namespace heddle::conformance
