// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/search_progress.h"

#include <algorithm>

namespace heddle::compiler {

SearchProgress::SearchProgress(const CompileOptions& options, int threads,
                               const SearchSize& size)
    : progress_(options.progress),
      threads_(static_cast<size_t>(std::max(threads, 1))) {
  const Features& f = options.features;
  const bool thorough = options.goal == Goal::kThorough;
  const auto expect = [&](SearchStage stage, size_t attempts, bool when) {
    expected_[static_cast<size_t>(stage)] = when ? attempts : 0;
  };
  const size_t farthest = static_cast<size_t>(std::max(f.prefetch, 0));
  size_t distances = 0;
  for (size_t ahead = 2; ahead <= farthest;
       ahead = thorough ? ahead + 1 : ahead * 2) {
    ++distances;
  }
  const bool rewrites = !f.always_rewrite;
  expect(SearchStage::kTraffic, size.schedules, true);
  expect(SearchStage::kReload, size.schedules, size.grouped && f.keep_weights);
  expect(SearchStage::kAhead, distances, size.loads);
  expect(SearchStage::kGroups, thorough ? 10 : 4, size.grouped && farthest > 0);
  expect(SearchStage::kOperands, 2, size.loads);
  expect(SearchStage::kShortFirst, 1, f.short_first && rewrites);
  expect(SearchStage::kCommands, f.short_first ? 6 : 3,
         size.few && f.cost_tiles && rewrites);
  expect(SearchStage::kOutputs, 1, size.outputs && f.keep_outputs && rewrites);
  expect(SearchStage::kEarly, 1, size.operands && f.early_operands && rewrites);
  expect(SearchStage::kOrder, size.schedules, f.order && rewrites);
  expect(SearchStage::kCopies, size.schedules, f.recompute && rewrites);
  expect(SearchStage::kPackage, 1, true);
  for (const size_t attempts : expected_) {
    total_ += static_cast<double>(Rounds(attempts));
  }
}

size_t SearchProgress::Rounds(size_t attempts) const {
  return (attempts + threads_ - 1) / threads_;
}

void SearchProgress::Begin(SearchStage stage, size_t attempts) {
  if (attempts == 0) return;
  const auto at = static_cast<size_t>(stage);
  before_ = 0;
  for (size_t i = 0; i < at; ++i) {
    before_ += static_cast<double>(Rounds(expected_[i]));
  }
  rounds_ = static_cast<double>(Rounds(expected_[at]));
  attempts_ = attempts;
  ended_ = 0;
  Report(before_);
}

void SearchProgress::Ended() {
  const size_t ended = ++ended_;
  if (std::this_thread::get_id() != owner_) return;
  Report(before_ +
         rounds_ * static_cast<double>(ended) / static_cast<double>(attempts_));
}

// A stage that is repeated does not go back: that would be new work.
void SearchProgress::Report(double rounds) {
  part_ = std::max(part_, std::min(rounds / total_, 1.0));
  if (progress_) progress_("trying schedules", part_);
}

}  // namespace heddle::compiler
