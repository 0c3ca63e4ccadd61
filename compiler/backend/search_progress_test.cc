// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/search_progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "compiler/analyse.h"
#include "compiler/backend/backend.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

class SearchProgressTest : public testing::Test {
 protected:
  SearchProgressTest() {
    options_.progress = [this](const char* text, double part) {
      EXPECT_EQ(std::this_thread::get_id(), thread_);
      if (part < 0) return;
      EXPECT_STREQ(text, "trying schedules");
      parts_.push_back(part);
    };
    options_.features.short_first = options_.features.recompute = false;
    size_.schedules = 2;
  }

  const std::thread::id thread_ = std::this_thread::get_id();
  CompileOptions options_;
  SearchSize size_;
  std::vector<double> parts_;
};

// Two attempts at other prices, two in another order, and the package.
TEST_F(SearchProgressTest, CountsAttempts) {
  SearchProgress progress(options_, 1, size_);
  progress.Begin(SearchStage::kTraffic, 2);
  progress.Ended();
  progress.Ended();
  progress.Begin(SearchStage::kAhead, 0);  // says nothing
  progress.Begin(SearchStage::kOrder, 1);  // of two; one turned out needless
  progress.Ended();
  progress.Begin(SearchStage::kPackage, 1);
  EXPECT_EQ(parts_, (std::vector<double>{0, 0.2, 0.4, 0.4, 0.8, 0.8}));
}

TEST_F(SearchProgressTest, WhatRunsAtATimeIsOneRound) {
  SearchProgress progress(options_, 2, size_);
  progress.Begin(SearchStage::kOrder, 2);
  progress.Begin(SearchStage::kPackage, 1);
  EXPECT_EQ(parts_, (std::vector<double>{1 / 3., 2 / 3.}));
}

TEST_F(SearchProgressTest, MayTryMoreThanExpectedAndNeverGoesBack) {
  SearchProgress progress(options_, 1, size_);
  for (int again = 0; again < 2; ++again) {
    progress.Begin(SearchStage::kTraffic, 2);
    progress.Ended();
    progress.Ended();
  }
  progress.Begin(SearchStage::kGroups, 3);  // not expected
  for (int i = 0; i < 3; ++i) progress.Ended();
  EXPECT_EQ(parts_, (std::vector<double>{0, 0.2, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4,
                                         0.4, 0.4}));
}

TEST_F(SearchProgressTest, TheFirstAttemptSaysWhatIsExpected) {
  const auto first = [&](const SearchSize& size) {
    parts_.clear();
    SearchProgress(options_, 1, size).Begin(SearchStage::kPackage, 1);
    return parts_.at(0);
  };
  const double least = first(size_);
  for (bool SearchSize::*fact :
       {&SearchSize::grouped, &SearchSize::loads, &SearchSize::operands,
        &SearchSize::outputs, &SearchSize::few}) {
    SearchSize more = size_;
    more.*fact = true;
    EXPECT_GT(first(more), least);
  }
  options_.goal = Goal::kThorough;
  size_.loads = size_.grouped = true;
  const double thorough = first(size_);
  options_.goal = Goal::kSpeed;
  EXPECT_GT(thorough, first(size_));
}

TEST_F(SearchProgressTest, NobodyNeedListen) {
  options_.progress = nullptr;
  SearchProgress progress(options_, 1, size_);
  progress.Begin(SearchStage::kTraffic, 1);
  progress.Ended();
}

TensorData Weights(int64_t channels) {
  return TensorData::Zeros(DataType::kFloat, {channels, channels, 3, 3});
}

TEST_F(SearchProgressTest, ACompilationTellsHowFarItIs) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 16, 32, 32});
  b.Constant("w", Weights(16));
  b.Node("Conv", {"x", "w"}, {"a"});
  b.Node("Conv", {"a", "w"}, {"b"});
  b.Node("Conv", {"b", "w"}, {"y"});
  b.Output("y");
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const int threads : {1, 4}) {
    parts_.clear();
    options_.threads = threads;
    const auto made = GeneratePackage(*graph, options_);
    ASSERT_TRUE(made.ok()) << made.status();
    ASSERT_GE(parts_.size(), 4u);
    EXPECT_EQ(parts_.front(), 0);
    EXPECT_TRUE(std::is_sorted(parts_.begin(), parts_.end()));
    EXPECT_GT(parts_.back(), 0.5);
    EXPECT_LT(parts_.back(), 1);  // the package is still to be made
  }
  // The first schedule that works is no search.
  parts_.clear();
  options_.goal = Goal::kCompileTime;
  ASSERT_TRUE(GeneratePackage(*graph, options_).ok());
  EXPECT_TRUE(parts_.empty());
}

}  // namespace
}  // namespace heddle::compiler
