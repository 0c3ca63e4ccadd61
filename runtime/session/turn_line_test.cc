// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/turn_line.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>

namespace heddle::session {
namespace {

constexpr int kTensors[] = {0, 1, 2};

TurnLine::Use Reads(int tensor) { return {&kTensors[tensor], false}; }
TurnLine::Use Writes(int tensor) { return {&kTensors[tensor], true}; }

class TurnLineTest : public testing::Test {
 protected:
  // Adds its name to `come` at its turn.
  TurnLine::Turn* Join(const std::string& name, std::vector<TurnLine::Use> uses,
                       TurnLine::Kind kind = TurnLine::Kind::kRun) {
    turns_.push_back(std::make_unique<TurnLine::Turn>(
        kind, std::move(uses), [this, name] { come += name; }));
    EXPECT_TRUE(line.Join(turns_.back().get(), [this, name](bool has_come) {
      if (has_come) come += name;
      return true;
    }));
    return turns_.back().get();
  }

  TurnLine line;
  std::string come;

 private:
  std::vector<std::unique_ptr<TurnLine::Turn>> turns_;
};

TEST_F(TurnLineTest, ReadersGoTogetherWritersAlone) {
  TurnLine::Turn* const a = Join("a", {Reads(0)});
  TurnLine::Turn* const b = Join("b", {Reads(0)});
  TurnLine::Turn* const c = Join("c", {Writes(0)});
  TurnLine::Turn* const d = Join("d", {Writes(0)});
  TurnLine::Turn* const e = Join("e", {Reads(0)});
  EXPECT_EQ(come, "ab");
  line.Leave(b);
  EXPECT_EQ(come, "ab");
  line.Leave(a);
  EXPECT_EQ(come, "abc");
  line.Leave(c);
  EXPECT_EQ(come, "abcd");
  line.Leave(d);
  EXPECT_EQ(come, "abcde");
  line.Leave(e);
}

TEST_F(TurnLineTest, OtherTensorsDoNotWait) {
  TurnLine::Turn* const a = Join("a", {Reads(0), Writes(1)});
  TurnLine::Turn* const b = Join("b", {Reads(1), Writes(2)});
  TurnLine::Turn* const c = Join("c", {Reads(0)});
  TurnLine::Turn* const d = Join("d", {Reads(2)});
  EXPECT_EQ(come, "ac") << "d waits for b, which waits for a";
  line.Leave(a);
  EXPECT_EQ(come, "acb");
  line.Leave(b);
  EXPECT_EQ(come, "acbd");
  line.Leave(d);
  line.Leave(c);
}

// As a run that is cancelled does.
TEST_F(TurnLineTest, OneMayLeaveBeforeItsTurn) {
  TurnLine::Turn* const a = Join("a", {Writes(0)});
  TurnLine::Turn* const b = Join("b", {Writes(0)});
  TurnLine::Turn* const c = Join("c", {Writes(0)});
  line.Leave(b);
  EXPECT_EQ(come, "a");
  line.Leave(a);
  EXPECT_EQ(come, "ac");
  line.Leave(c);
}

TEST_F(TurnLineTest, WhoIsRefusedIsNotInTheLine) {
  TurnLine::Turn turn(TurnLine::Kind::kRun, {Writes(0)}, [] {});
  EXPECT_FALSE(line.Join(&turn, [](bool has_come) {
    EXPECT_TRUE(has_come);
    return false;
  }));
  EXPECT_THROW(line.Join(&turn, [](bool) -> bool { throw std::bad_alloc(); }),
               std::bad_alloc);
  EXPECT_FALSE(line.MustWait({Reads(0)}));
  Join("a", {Writes(0)});
  EXPECT_EQ(come, "a");
}

// Transfers are queued in the order of the card once they may be.
TEST_F(TurnLineTest, OnlyRunsMakeOthersWait) {
  TurnLine::Turn* const transfer =
      Join("t", {Writes(0)}, TurnLine::Kind::kTransfer);
  EXPECT_FALSE(line.MustWait({Reads(0)}));
  TurnLine::Turn* const run = Join("r", {Reads(0)});
  EXPECT_EQ(come, "t");
  EXPECT_TRUE(line.MustWait({Writes(0)}));
  EXPECT_FALSE(line.MustWait({Reads(0)}));
  EXPECT_FALSE(line.MustWait({Writes(1)}));
  line.Leave(transfer);
  EXPECT_EQ(come, "tr");
  line.Leave(run);
  EXPECT_FALSE(line.MustWait({Writes(0)}));
}

}  // namespace
}  // namespace heddle::session
