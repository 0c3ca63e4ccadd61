// SPDX-License-Identifier: Apache-2.0
// How far the search for the best schedule is: what CompileOptions::progress is
// told after the first attempt, where most of the time goes.
#ifndef HEDDLE_COMPILER_BACKEND_SEARCH_PROGRESS_H_
#define HEDDLE_COMPILER_BACKEND_SEARCH_PROGRESS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

#include "compiler/base/options.h"

namespace heddle::compiler {

// What is tried, in this order.
enum class SearchStage {
  kTraffic,   // other prices of traffic
  kReload,    // the same without keeping groups of weights
  kAhead,     // constants loaded farther ahead
  kGroups,    // smaller groups of weights
  kOperands,  // operands of tiles before constants
  kShortFirst,
  kCommands,  // other prices of commands
  kOutputs,   // kept in SRAM
  kEarly,     // operands beside the operation before
  kOrder,
  kCopies,
  kPackage,  // the best once more, with its constants
  kEnd,
};

// What the first attempt says of the others.
struct SearchSize {
  size_t schedules = 0;  // to compare with the first
  bool grouped = false, loads = false, operands = false, outputs = false,
       few = false;
};

class SearchProgress {
 public:
  // `threads`: so many attempts run at a time.
  SearchProgress(const CompileOptions& options, int threads,
                 const SearchSize& size);

  // So many attempts begin; from the thread that made this.
  void Begin(SearchStage stage, size_t attempts);
  // One of them is done; from any thread.
  void Ended();

 private:
  size_t Rounds(size_t attempts) const;
  void Report(double rounds);

  const std::function<void(const char*, double)> progress_;
  const size_t threads_;
  const std::thread::id owner_ = std::this_thread::get_id();
  // At most so many attempts are expected.
  std::array<size_t, static_cast<size_t>(SearchStage::kEnd)> expected_ = {};
  double before_ = 0, rounds_ = 0, total_ = 0;  // of all, of this stage, all
  double part_ = 0;                             // that was reported
  size_t attempts_ = 0;
  std::atomic<size_t> ended_ = 0;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_SEARCH_PROGRESS_H_
